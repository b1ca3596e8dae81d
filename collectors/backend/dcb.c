// SPDX-License-Identifier: Apache-2.0
/*
 * The DCB backends: RTM_GETDCB over rtnetlink, and the same bytes from a recording.
 *
 * One request returns all settings of the driver: PFC, ETS, the application table (with the DSCPs),
 * trust and buffers. Reading needs no privilege. Most drivers except those of data centre NICs have
 * no DCB (EOPNOTSUPP). Some have only the predecessor of IEEE 802.1Qaz (CEE), from which PFC is
 * read.
 *
 * No library is used: libnl has no DCB support, and the attributes are nested but simple. Messages
 * of the kernel are not trusted either: lengths are checked before any access.
 */
#include "dcb.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>
#include <linux/dcbnl.h>
#include <linux/rtnetlink.h>

#include "rna/base/parse.h"

#include "parse/attribute.h"

#include "recorded.h"

/* Not in the headers of Linux 6.1; the numbers are stable ABI. */
enum {
	ATTR_APP_TRUST_TABLE = DCB_ATTR_DCB_BUFFER + 1, /* Linux 6.2 */
	SELECTOR_PCP = 255,
};

/* -- Attributes -------------------------------------------------------------------------------- */

/* The macros of linux/netlink.h are signed. */
#define MESSAGE_LEN sizeof(struct nlmsghdr)
#define HEAD_LEN    sizeof(struct nlattr)

struct attribute {
	uint16_t type;
	struct rna_bytes content;
};

/* Copies the first bytes of content to a struct; newer kernels may have extended it. */
static int copy(struct rna_bytes content, void *ret, size_t size)
{
	if (content.len < size)
		return -EBADMSG;
	memcpy(ret, content.data, size);
	return 0;
}

/* Calls parse for each attribute of a list. 0 or -EBADMSG. */
static int for_each_attribute(struct rna_bytes list,
			      int (*parse)(const struct attribute *, struct rna_dcb *),
			      struct rna_dcb *dcb)
{
	struct attribute attribute;
	int status;

	while ((status = rna_attribute_next(&list, &attribute.type, &attribute.content)) > 0) {
		status = parse(&attribute, dcb);
		if (status < 0)
			return status;
	}
	return status;
}

/* -- IEEE 802.1Qaz ----------------------------------------------------------------------------- */

static int parse_ets(struct rna_bytes content, struct rna_dcb *dcb)
{
	struct ieee_ets ets;
	int status = copy(content, &ets, sizeof(ets));

	if (status < 0)
		return status;
	memcpy(dcb->traffic_class, ets.prio_tc, sizeof(dcb->traffic_class));
	memcpy(dcb->bandwidth, ets.tc_tx_bw, sizeof(dcb->bandwidth));
	memcpy(dcb->algorithm, ets.tc_tsa, sizeof(dcb->algorithm));
	dcb->has_ets = true;
	return 0;
}

static int parse_pfc(struct rna_bytes content, struct rna_dcb *dcb)
{
	struct ieee_pfc pfc;
	int status = copy(content, &pfc, sizeof(pfc));

	if (status < 0)
		return status;
	dcb->pfc = rna_value_ok(pfc.pfc_en);
	dcb->pfc_limit = rna_value_ok(pfc.pfc_cap);
	for (size_t i = 0; i < RNA_PRIORITY_COUNT; i++) {
		dcb->pfc_sent[i] = rna_value_ok(pfc.requests[i]);
		dcb->pfc_received[i] = rna_value_ok(pfc.indications[i]);
	}
	return 0;
}

static int parse_buffers(struct rna_bytes content, struct rna_dcb *dcb)
{
	struct dcbnl_buffer buffer;
	int status = copy(content, &buffer, sizeof(buffer));

	if (status < 0)
		return status;
	memcpy(dcb->priority_buffer, buffer.prio2buffer, sizeof(dcb->priority_buffer));
	memcpy(dcb->buffer_bytes, buffer.buffer_size, sizeof(dcb->buffer_bytes));
	dcb->buffers_bytes = buffer.total_size;
	dcb->has_buffers = true;
	return 0;
}

static void add_dscp(struct rna_dcb *dcb, const struct dcb_app *application)
{
	uint8_t *priority;

	if (application->protocol >= RNA_DSCP_COUNT || application->priority >= RNA_PRIORITY_COUNT)
		return;
	priority = &dcb->dscp_priority[application->protocol];
	if (*priority == RNA_PRIORITY_NONE)
		*priority = application->priority;
	else if (*priority != application->priority)
		*priority = RNA_PRIORITY_SEVERAL;
	dcb->dscp_count++;
}

/* An application entry is a DSCP, a port or an Ethernet type; Ethernet type 0 is the default. */
static int parse_application(const struct attribute *attribute, struct rna_dcb *dcb)
{
	struct dcb_app application;
	int status = copy(attribute->content, &application, sizeof(application));

	if (status < 0)
		return status;
	if (application.selector == IEEE_8021QAZ_APP_SEL_DSCP)
		add_dscp(dcb, &application);
	else if (application.selector == IEEE_8021QAZ_APP_SEL_ETHERTYPE &&
		 application.protocol == 0)
		dcb->default_priority = rna_value_ok(application.priority);
	return 0;
}

/* Selectors in order of precedence; the first known one is used. */
static int parse_trust(const struct attribute *attribute, struct rna_dcb *dcb)
{
	uint8_t selector;
	int status = copy(attribute->content, &selector, sizeof(selector));

	if (status == 0 && dcb->trust == RNA_TRUST_UNKNOWN && selector == IEEE_8021QAZ_APP_SEL_DSCP)
		dcb->trust = RNA_TRUST_DSCP;
	else if (status == 0 && dcb->trust == RNA_TRUST_UNKNOWN && selector == SELECTOR_PCP)
		dcb->trust = RNA_TRUST_PCP;
	return status;
}

static int parse_ieee(const struct attribute *attribute, struct rna_dcb *dcb)
{
	switch (attribute->type) {
	case DCB_ATTR_IEEE_ETS:
		return parse_ets(attribute->content, dcb);
	case DCB_ATTR_IEEE_PFC:
		return parse_pfc(attribute->content, dcb);
	case DCB_ATTR_IEEE_APP_TABLE:
		return for_each_attribute(attribute->content, parse_application, dcb);
	case DCB_ATTR_DCB_BUFFER:
		return parse_buffers(attribute->content, dcb);
	case ATTR_APP_TRUST_TABLE:
		return for_each_attribute(attribute->content, parse_trust, dcb);
	default:
		return 0;
	}
}

/* -- CEE --------------------------------------------------------------------------------------- */

static int parse_cee_priority(const struct attribute *attribute, struct rna_dcb *dcb)
{
	uint8_t mode;
	int status = copy(attribute->content, &mode, sizeof(mode));

	if (status < 0 || attribute->type < DCB_PFC_UP_ATTR_0 ||
	    attribute->type > DCB_PFC_UP_ATTR_7)
		return status;
	dcb->pfc.state = RNA_VALUE_OK;
	if (mode != 0) /* for one direction or both */
		dcb->pfc.number |= UINT64_C(1) << (attribute->type - DCB_PFC_UP_ATTR_0);
	return 0;
}

static int parse_cee(const struct attribute *attribute, struct rna_dcb *dcb)
{
	if (attribute->type != DCB_ATTR_CEE_PFC)
		return 0;
	return for_each_attribute(attribute->content, parse_cee_priority, dcb);
}

/* -- The answer -------------------------------------------------------------------------------- */

static int parse_outer(const struct attribute *attribute, struct rna_dcb *dcb)
{
	uint8_t dcbx;
	int status;

	switch (attribute->type) {
	case DCB_ATTR_IEEE:
		return for_each_attribute(attribute->content, parse_ieee, dcb);
	case DCB_ATTR_CEE:
		return for_each_attribute(attribute->content, parse_cee, dcb);
	case DCB_ATTR_DCBX:
		status = copy(attribute->content, &dcbx, sizeof(dcbx));
		if (status == 0)
			dcb->dcbx = rna_value_ok(dcbx);
		return status;
	default:
		return 0;
	}
}

int rna_dcb_parse(const void *message, size_t len, struct rna_dcb *ret)
{
	struct nlmsghdr head;
	struct dcbmsg dcb;

	*ret = (struct rna_dcb){0};
	memset(ret->dscp_priority, RNA_PRIORITY_NONE, sizeof(ret->dscp_priority));
	if (len < MESSAGE_LEN + sizeof(dcb))
		return -EBADMSG;
	memcpy(&head, message, sizeof(head));
	memcpy(&dcb, (const uint8_t *)message + MESSAGE_LEN, sizeof(dcb));
	if (head.nlmsg_type != RTM_GETDCB || head.nlmsg_len > len ||
	    head.nlmsg_len < MESSAGE_LEN + sizeof(dcb) ||
	    (dcb.cmd != DCB_CMD_IEEE_GET && dcb.cmd != DCB_CMD_CEE_GET))
		return -EBADMSG;
	return for_each_attribute(
		(struct rna_bytes){
			.data = (const uint8_t *)message + MESSAGE_LEN + sizeof(dcb),
			.len = head.nlmsg_len - MESSAGE_LEN - sizeof(dcb),
		},
		parse_outer, ret);
}

/* -- The kernel -------------------------------------------------------------------------------- */

static const struct {
	const char *name; /* name of the file in a recording */
	uint8_t command;
} questions[RNA_DCB_QUESTION_COUNT] = {
	[RNA_DCB_IEEE] = {"ieee", DCB_CMD_IEEE_GET},
	[RNA_DCB_CEE] = {"cee", DCB_CMD_CEE_GET},
};

const char *rna_dcb_question_name(enum rna_dcb_question question)
{
	return questions[question].name;
}

/*
 * The timeout is for a lost answer. A driver that holds the lock of all interfaces blocks the lane
 * anyway.
 */
static int open_socket(void)
{
	static const struct timeval patience = {.tv_sec = 2};
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);

	if (fd >= 0)
		(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	return fd < 0 ? -errno : fd;
}

static int send_question(int fd, const char *netdev, uint8_t command)
{
	struct {
		struct nlmsghdr head;
		struct dcbmsg dcb;
		struct nlattr name_head;
		char name[IF_NAMESIZE];
	} message = {
		.head = {.nlmsg_type = RTM_GETDCB, .nlmsg_flags = NLM_F_REQUEST},
		.dcb = {.dcb_family = AF_UNSPEC, .cmd = command},
		.name_head = {.nla_type = DCB_ATTR_IFNAME},
	};
	size_t len = strlen(netdev) + 1,
	       padded = (len + NLA_ALIGNTO - 1) / NLA_ALIGNTO * NLA_ALIGNTO;

	if (len > sizeof(message.name))
		return -ENODEV;
	memcpy(message.name, netdev, len);
	message.name_head.nla_len = (uint16_t)(HEAD_LEN + len);
	message.head.nlmsg_len = (uint32_t)(offsetof(typeof(message), name) + padded);
	return send(fd, &message, message.head.nlmsg_len, 0) < 0 ? -errno : 0;
}

/* The errno in an error message of the kernel. */
static int error_of(const void *message, size_t len)
{
	struct nlmsgerr error;

	if (len < MESSAGE_LEN + sizeof(error))
		return -EBADMSG;
	memcpy(&error, (const uint8_t *)message + MESSAGE_LEN, sizeof(error));
	return error.error < 0 ? error.error : -EBADMSG;
}

static ssize_t ask_kernel(const struct rna_root *root, const char *netdev,
			  enum rna_dcb_question question, void *buffer, size_t size)
{
	RNA_CLOSE int fd = open_socket();
	struct nlmsghdr head;
	ssize_t len = fd;

	(void)root; /* always the interfaces of the kernel */
	if (len >= 0)
		len = send_question(fd, netdev, questions[question].command);
	if (len < 0)
		return len;
	len = recv(fd, buffer, size, MSG_TRUNC);
	if (len < 0)
		return errno == EAGAIN ? -ETIMEDOUT : -errno;
	if ((size_t)len > size)
		return -EMSGSIZE;
	if ((size_t)len < sizeof(head))
		return -EBADMSG;
	memcpy(&head, buffer, sizeof(head));
	return head.nlmsg_type == NLMSG_ERROR ? error_of(buffer, (size_t)len) : len;
}

const struct rna_dcb_backend rna_dcb = {.ask = ask_kernel};

/* -- A recording ------------------------------------------------------------------------------- */

static ssize_t ask_recording(const struct rna_root *root, const char *netdev,
			     enum rna_dcb_question question, void *buffer, size_t size)
{
	enum { HEX_MAX = 3 * RNA_DCB_ANSWER_MAX };
	RNA_FREE char *path = NULL, *text = malloc(HEX_MAX);
	ssize_t len;

	if (asprintf(&path, RNA_RECORDED_DCB, netdev, questions[question].name) < 0)
		path = NULL;
	if (!path || !text)
		return -ENOMEM;
	len = rna_root_read(root, path, text, HEX_MAX);
	if (len == -ENOENT)
		return -EOPNOTSUPP;
	return len < 0 ? len : rna_parse_hex_bytes(text, buffer, size);
}

const struct rna_dcb_backend rna_recorded_dcb = {.ask = ask_recording};
