/* SPDX-License-Identifier: Apache-2.0 */
/* Netlink requests for the backends. A socket is open only for the duration of its requests. */
#pragma once

struct nl_msg;
struct nl_sock;

/* Opens a socket. 0 or negative errno. */
int rna_netlink_open(int protocol, struct nl_sock **ret);

/* Sends message and calls parse for each message of the answer. 0 or negative errno. */
int rna_netlink_ask(struct nl_sock *socket, struct nl_msg *message,
		    int (*parse)(struct nl_msg *message, void *userdata), void *userdata);

void rna_netlink_close(struct nl_sock **socket);        /* *ret may be NULL; for RNA_CLEANUP */
void rna_netlink_free_message(struct nl_msg **message); /* for RNA_CLEANUP */
