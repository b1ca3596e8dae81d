// SPDX-License-Identifier: Apache-2.0
/*
 * The transport of netlink: libnl's sockets and messages, without its caches and objects. Those of
 * libnl-route would be built for each route of a table that may have a million.
 */
#include "netlink.h"

#include <errno.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

enum {
	DUMP_TRIES = 3,
	MESSAGES_MAX = 200000, /* of one answer: more are an unfiltered table that is too large */
};

static void close_socket(struct nl_sock **socket)
{
	nl_socket_free(*socket); /* NULL: nothing */
}

static void free_message(struct nl_msg **message)
{
	nlmsg_free(*message); /* NULL: nothing */
}

/* libnl's codes are less precise than the kernel's errno, which on_error() stores. */
static int nl_errno(int code)
{
	switch (-code) {
	case NLE_NOMEM:
		return -ENOMEM;
	case NLE_PERM: /* a filter of system calls refuses sockets */
		return -EPERM;
	case NLE_DUMP_INTR: /* the list changed during the dump: try again */
		return -EAGAIN;
	case NLE_AGAIN:
		return -ETIMEDOUT;
	case NLE_PROTO_MISMATCH:
	case NLE_AF_NOSUPPORT:
		return -EPROTONOSUPPORT;
	default:
		return -EIO;
	}
}

/*
 * The kernel answers while it is asked. The timeout is for a lost answer: a driver that holds the
 * lock of all interfaces blocks the lane anyway.
 */
static int open_socket(int protocol, struct nl_sock **ret)
{
	static const struct timeval patience = {.tv_sec = 2};
	RNA_CLEANUP(close_socket) struct nl_sock *socket = nl_socket_alloc();
	int code;

	if (!socket)
		return -ENOMEM;
	nl_socket_disable_auto_ack(socket);
	code = nl_connect(socket, protocol);
	if (code < 0)
		return nl_errno(code);
	(void)setsockopt(nl_socket_get_fd(socket), SOL_SOCKET, SO_RCVTIMEO, &patience,
			 sizeof(patience));
	*ret = RNA_TAKE(socket);
	return 0;
}

/* Strict checking: without it the kernel ignores what a dump is limited to. */
static bool set_strict(struct nl_sock *socket)
{
	static const int yes = 1;

	return setsockopt(nl_socket_get_fd(socket), SOL_NETLINK, NETLINK_GET_STRICT_CHK, &yes,
			  sizeof(yes)) == 0;
}

bool rna_netlink_filters(void)
{
	RNA_CLEANUP(close_socket) struct nl_sock *socket = NULL;

	return open_socket(NETLINK_ROUTE, &socket) == 0 && set_strict(socket);
}

/* -- Questions --------------------------------------------------------------------------------- */

static int put_attributes(struct nl_msg *message, const struct rna_netlink_attribute *attributes,
			  int count)
{
	int code = 0;

	for (int i = 0; i < count && code >= 0; i++) {
		const struct rna_netlink_attribute *attribute = &attributes[i];
		struct nlattr *nest;

		if (!attribute->nested) {
			code = nla_put(message, attribute->type, attribute->len, attribute->data);
			continue;
		}
		nest = nla_nest_start(message, attribute->type);
		code = nest ? put_attributes(message, attribute->nested, attribute->len)
			    : -NLE_NOMEM;
		if (code >= 0)
			nla_nest_end(message, nest);
	}
	return code;
}

/* NULL: no memory. */
static struct nl_msg *new_message(const struct rna_netlink_question *question)
{
	RNA_CLEANUP(free_message)
	struct nl_msg *message =
		nlmsg_alloc_simple(question->type, NLM_F_REQUEST | question->flags);

	if (!message ||
	    nlmsg_append(message, (void *)(uintptr_t)question->body, question->body_size,
			 NLMSG_ALIGNTO) < 0 ||
	    put_attributes(message, question->attributes, question->count) < 0)
		return NULL;
	return RNA_TAKE(message);
}

/* -- Answers ----------------------------------------------------------------------------------- */

struct exchange {
	rna_netlink_take *take;
	void *userdata;
	size_t messages;
	int error; /* of the kernel or of take */
};

static int on_message(struct nl_msg *message, void *userdata)
{
	const struct nlmsghdr *head = nlmsg_hdr(message);
	const struct rna_bytes bytes = {(const uint8_t *)head, head->nlmsg_len};
	struct exchange *exchange = userdata;

	exchange->error = ++exchange->messages > MESSAGES_MAX
				  ? -EMSGSIZE
				  : exchange->take(bytes, exchange->userdata);
	return exchange->error < 0 ? NL_STOP : NL_OK;
}

static int on_error(struct sockaddr_nl *from, struct nlmsgerr *message, void *userdata)
{
	struct exchange *exchange = userdata;

	(void)from;
	exchange->error = message->error;
	return NL_STOP;
}

/* A dump that fails after its start says so at its end, which libnl does not look at. */
static int on_end(struct nl_msg *message, void *userdata)
{
	const struct nlmsghdr *head = nlmsg_hdr(message);
	struct exchange *exchange = userdata;
	int error = 0;

	if (nlmsg_datalen(head) >= (int)sizeof(error))
		memcpy(&error, nlmsg_data(head), sizeof(error));
	if (error < 0)
		exchange->error = error;
	return NL_OK;
}

static int ask_once(const struct rna_netlink_question *question, struct exchange *exchange)
{
	RNA_CLEANUP(close_socket) struct nl_sock *socket = NULL;
	RNA_CLEANUP(free_message) struct nl_msg *message = new_message(question);
	int error = message ? open_socket(question->protocol, &socket) : -ENOMEM, code;

	if (error < 0)
		return error;
	if (question->protocol == NETLINK_ROUTE)
		(void)set_strict(socket); /* see rna_netlink_filters() */
	nl_socket_modify_cb(socket, NL_CB_VALID, NL_CB_CUSTOM, on_message, exchange);
	nl_socket_modify_cb(socket, NL_CB_FINISH, NL_CB_CUSTOM, on_end, exchange);
	nl_socket_modify_err_cb(socket, NL_CB_CUSTOM, on_error, exchange);
	code = nl_send_auto(socket, message);
	if (code >= 0)
		code = nl_recvmsgs_default(socket);
	if (exchange->error < 0)
		return exchange->error;
	return code < 0 ? nl_errno(code) : 0;
}

int rna_netlink_ask(const struct rna_netlink_question *question, rna_netlink_take *take,
		    void *userdata)
{
	const bool dump = question->flags & NLM_F_DUMP;
	int status = -EAGAIN;

	for (unsigned i = 0; i < DUMP_TRIES && status == -EAGAIN; i++) {
		struct exchange exchange = {.take = take, .userdata = userdata};

		if (question->begin)
			question->begin(userdata);
		status = ask_once(question, &exchange);
		if (!dump)
			return status == 0 && exchange.messages == 0 ? -EBADMSG : status;
	}
	return status;
}

struct kept {
	struct rna_arena *arena;
	struct rna_bytes *bytes;
};

static int keep_message(struct rna_bytes message, void *userdata)
{
	const struct kept *kept = userdata;
	uint8_t *copy = rna_arena_alloc(kept->arena, message.len);

	if (!copy)
		return -ENOMEM;
	memcpy(copy, message.data, message.len);
	*kept->bytes = (struct rna_bytes){copy, message.len};
	return 0;
}

int rna_netlink_keep(const struct rna_netlink_question *question, struct rna_arena *arena,
		     struct rna_bytes *ret)
{
	struct kept kept = {arena, ret};

	return rna_netlink_ask(question, keep_message, &kept);
}
