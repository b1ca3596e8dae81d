/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conversations by netlink, for the backends that have them. A socket lives as long as what is
 * asked and no longer.
 */
#pragma once

struct nl_msg;
struct nl_sock;

/* Opens a socket. 0 or negative errno. */
int rna_netlink_open(int protocol, struct nl_sock **ret);

/* Sends message and hands each message of the answer to parse. 0 or negative errno. */
int rna_netlink_ask(struct nl_sock *socket, struct nl_msg *message,
		    int (*parse)(struct nl_msg *message, void *userdata), void *userdata);

void rna_netlink_close(struct nl_sock **socket);        /* accepts NULL in it; for RNA_CLEANUP */
void rna_netlink_free_message(struct nl_msg **message); /* likewise */
