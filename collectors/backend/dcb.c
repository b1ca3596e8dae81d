// SPDX-License-Identifier: Apache-2.0
/*
 * The DCB backends: RTM_GETDCB over rtnetlink, and the same bytes from a recording.
 *
 * One request returns all settings of the driver: PFC, ETS, the application table (with the DSCPs),
 * trust and buffers. Reading needs no privilege. Most drivers except those of data centre NICs have
 * no DCB (EOPNOTSUPP). Some have only the predecessor of IEEE 802.1Qaz (CEE), from which PFC is
 * read.
 */
#include "dcb.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <linux/dcbnl.h>
#include <linux/rtnetlink.h>

#include "parse/message.h"

#include "netlink.h"
#include "recorded.h"

/* Not in the headers of Linux 6.1; the numbers are stable ABI. */
enum {
	ATTR_APP_TRUST_TABLE = DCB_ATTR_DCB_BUFFER + 1, /* Linux 6.2 */
	SELECTOR_PCP = 255,
};

/* -- IEEE 802.1Qaz ----------------------------------------------------------------------------- */

static void read_ets(const struct ieee_ets *ets, struct rna_dcb *dcb)
{
	memcpy(dcb->traffic_class, ets->prio_tc, sizeof(dcb->traffic_class));
	memcpy(dcb->bandwidth, ets->tc_tx_bw, sizeof(dcb->bandwidth));
	memcpy(dcb->algorithm, ets->tc_tsa, sizeof(dcb->algorithm));
	dcb->has_ets = true;
}

static void read_pfc(const struct nlattr *attribute, struct rna_dcb *dcb)
{
	struct ieee_pfc pfc;

	memcpy(&pfc, nla_data(attribute), sizeof(pfc)); /* it is not aligned to 8 bytes */
	dcb->pfc = rna_value_ok(pfc.pfc_en);
	dcb->pfc_limit = rna_value_ok(pfc.pfc_cap);
	for (size_t i = 0; i < RNA_PRIORITY_COUNT; i++) {
		dcb->pfc_sent[i] = rna_value_ok(pfc.requests[i]);
		dcb->pfc_received[i] = rna_value_ok(pfc.indications[i]);
	}
}

static void read_buffers(const struct dcbnl_buffer *buffer, struct rna_dcb *dcb)
{
	memcpy(dcb->priority_buffer, buffer->prio2buffer, sizeof(dcb->priority_buffer));
	memcpy(dcb->buffer_bytes, buffer->buffer_size, sizeof(dcb->buffer_bytes));
	dcb->buffers_bytes = buffer->total_size;
	dcb->has_buffers = true;
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

/*
 * An application entry is a DSCP, a port or an Ethernet type; Ethernet type 0 is the default. 0 or
 * -EBADMSG.
 */
static int read_applications(const struct nlattr *table, struct rna_dcb *dcb)
{
	const struct dcb_app *application;
	struct nlattr *entry;
	int left;

	nla_for_each_nested (entry, table, left) {
		application = nla_data(entry);
		if (nla_len(entry) < (int)sizeof(*application))
			return -EBADMSG;
		if (application->selector == IEEE_8021QAZ_APP_SEL_DSCP)
			add_dscp(dcb, application);
		else if (application->selector == IEEE_8021QAZ_APP_SEL_ETHERTYPE &&
			 application->protocol == 0)
			dcb->default_priority = rna_value_ok(application->priority);
	}
	return left > 0 ? -EBADMSG : 0;
}

/* Selectors in order of precedence; the first known one is used. 0 or -EBADMSG. */
static int read_trust(const struct nlattr *table, struct rna_dcb *dcb)
{
	struct nlattr *entry;
	int left;

	nla_for_each_nested (entry, table, left) {
		if (nla_len(entry) < (int)sizeof(uint8_t))
			return -EBADMSG;
		if (dcb->trust == RNA_TRUST_UNKNOWN &&
		    nla_get_u8(entry) == IEEE_8021QAZ_APP_SEL_DSCP)
			dcb->trust = RNA_TRUST_DSCP;
		else if (dcb->trust == RNA_TRUST_UNKNOWN && nla_get_u8(entry) == SELECTOR_PCP)
			dcb->trust = RNA_TRUST_PCP;
	}
	return left > 0 ? -EBADMSG : 0;
}

static int read_ieee(const struct nlattr *nest, struct rna_dcb *dcb)
{
	static const struct nla_policy policy[ATTR_APP_TRUST_TABLE + 1] = {
		[DCB_ATTR_IEEE_ETS] = {.minlen = sizeof(struct ieee_ets)},
		[DCB_ATTR_IEEE_PFC] = {.minlen = sizeof(struct ieee_pfc)},
		[DCB_ATTR_DCB_BUFFER] = {.minlen = sizeof(struct dcbnl_buffer)},
	};
	struct nlattr *ieee[ATTR_APP_TRUST_TABLE + 1];
	int status = rna_nest_parse(nest, policy, ATTR_APP_TRUST_TABLE, ieee);

	if (status < 0)
		return status;
	if (ieee[DCB_ATTR_IEEE_ETS])
		read_ets(nla_data(ieee[DCB_ATTR_IEEE_ETS]), dcb);
	if (ieee[DCB_ATTR_IEEE_PFC])
		read_pfc(ieee[DCB_ATTR_IEEE_PFC], dcb);
	if (ieee[DCB_ATTR_DCB_BUFFER])
		read_buffers(nla_data(ieee[DCB_ATTR_DCB_BUFFER]), dcb);
	if (ieee[DCB_ATTR_IEEE_APP_TABLE])
		status = read_applications(ieee[DCB_ATTR_IEEE_APP_TABLE], dcb);
	if (status == 0 && ieee[ATTR_APP_TRUST_TABLE])
		status = read_trust(ieee[ATTR_APP_TRUST_TABLE], dcb);
	return status;
}

/* -- CEE --------------------------------------------------------------------------------------- */

static int read_cee(const struct nlattr *nest, struct rna_dcb *dcb)
{
	static const struct nla_policy policy[DCB_PFC_UP_ATTR_MAX + 1] = {
		[DCB_PFC_UP_ATTR_0... DCB_PFC_UP_ATTR_7] = {.type = NLA_U8}};
	struct nlattr *cee[DCB_ATTR_CEE_MAX + 1], *pfc[DCB_PFC_UP_ATTR_MAX + 1];

	if (rna_nest_parse(nest, NULL, DCB_ATTR_CEE_MAX, cee) < 0)
		return -EBADMSG;
	if (!cee[DCB_ATTR_CEE_PFC])
		return 0;
	if (rna_nest_parse(cee[DCB_ATTR_CEE_PFC], policy, DCB_PFC_UP_ATTR_MAX, pfc) < 0)
		return -EBADMSG;
	for (int i = DCB_PFC_UP_ATTR_0; i <= DCB_PFC_UP_ATTR_7; i++) {
		if (!pfc[i])
			continue;
		dcb->pfc.state = RNA_VALUE_OK;
		if (nla_get_u8(pfc[i]) != 0) /* for one direction or both */
			dcb->pfc.number |= UINT64_C(1) << (i - DCB_PFC_UP_ATTR_0);
	}
	return 0;
}

/* -- The answer -------------------------------------------------------------------------------- */

int rna_dcb_parse(struct rna_bytes message, struct rna_dcb *ret)
{
	static const struct nla_policy policy[DCB_ATTR_MAX + 1] = {
		[DCB_ATTR_DCBX] = {.type = NLA_U8}};
	static const struct rna_message_kind kind = {RTM_GETDCB, sizeof(struct dcbmsg),
						     DCB_ATTR_MAX, policy};
	struct nlattr *attributes[DCB_ATTR_MAX + 1];
	const struct dcbmsg *dcb = rna_message_parse(message, &kind, attributes);
	int status = 0;

	*ret = (struct rna_dcb){0};
	memset(ret->dscp_priority, RNA_PRIORITY_NONE, sizeof(ret->dscp_priority));
	if (!dcb || (dcb->cmd != DCB_CMD_IEEE_GET && dcb->cmd != DCB_CMD_CEE_GET))
		return -EBADMSG;
	if (attributes[DCB_ATTR_IEEE])
		status = read_ieee(attributes[DCB_ATTR_IEEE], ret);
	if (status == 0 && attributes[DCB_ATTR_CEE])
		status = read_cee(attributes[DCB_ATTR_CEE], ret);
	if (attributes[DCB_ATTR_DCBX])
		ret->dcbx = rna_value_ok(nla_get_u8(attributes[DCB_ATTR_DCBX]));
	return status;
}

/* -- Backends ---------------------------------------------------------------------------------- */

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

static int ask_kernel(const struct rna_root *root, const char *netdev,
		      enum rna_dcb_question question, struct rna_arena *arena,
		      struct rna_bytes *ret)
{
	const struct dcbmsg dcb = {.dcb_family = AF_UNSPEC, .cmd = questions[question].command};
	const struct rna_netlink_attribute name = {DCB_ATTR_IFNAME, (int)strlen(netdev) + 1,
						   netdev};

	(void)root; /* always the interfaces of the kernel */
	if (name.len > IF_NAMESIZE)
		return -ENODEV;
	return rna_netlink_keep(&(struct rna_netlink_question){.type = RTM_GETDCB,
							       .body = &dcb,
							       .body_size = sizeof(dcb),
							       .attributes = &name,
							       .count = 1},
				arena, ret);
}

const struct rna_dcb_backend rna_dcb = {.ask = ask_kernel};

static int ask_recording(const struct rna_root *root, const char *netdev,
			 enum rna_dcb_question question, struct rna_arena *arena,
			 struct rna_bytes *ret)
{
	const char *path =
		rna_arena_printf(arena, RNA_RECORDED_DCB, netdev, questions[question].name);

	return rna_recorded_message(root, path, arena, ret);
}

const struct rna_dcb_backend rna_recorded_dcb = {.ask = ask_recording};
