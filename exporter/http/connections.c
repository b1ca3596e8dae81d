// SPDX-License-Identifier: Apache-2.0
#include "connections.h"

#include <netinet/in.h>
#include <string.h>
#include <unistd.h>

/* Of all clients of a unix socket that is open to all users; in the block that IPv6 discards. */
static const struct rna_address local_users = {{0x01}};

static bool is_loopback(const struct rna_address *address)
{
	static const struct rna_address nowhere; /* ::1 is in the /64 of zeros */
	static const unsigned char v4_loopback[] = {
		[10] = 0xff, [11] = 0xff, [12] = IN_LOOPBACKNET};

	return memcmp(address, &nowhere, sizeof(nowhere)) == 0 ||
	       memcmp(address, v4_loopback, sizeof(v4_loopback)) == 0;
}

/* Both ends of a connection within a machine have the same address, unless the client binds. */
static bool has_same_ends(int fd, const struct sockaddr *address)
{
	struct sockaddr_storage own = {0};
	socklen_t len = sizeof(own);

	if (getsockname(fd, (struct sockaddr *)&own, &len) < 0 ||
	    own.ss_family != address->sa_family)
		return false;
	if (own.ss_family == AF_INET)
		return ((const struct sockaddr_in *)&own)->sin_addr.s_addr ==
		       ((const struct sockaddr_in *)(const void *)address)->sin_addr.s_addr;
	return own.ss_family == AF_INET6 &&
	       IN6_ARE_ADDR_EQUAL(&((const struct sockaddr_in6 *)&own)->sin6_addr,
				  &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr);
}

int rna_connections_admit(struct rna_connections *connections, int fd,
			  const struct sockaddr *address, bool is_private, rna_usec now,
			  struct rna_slot *ret)
{
	*ret = (struct rna_slot){.address = rna_address_of(address)};
	if (is_private) {
		ret->guest = RNA_GUEST_PRIVATE;
	} else if (address->sa_family == AF_UNIX) {
		ret->address = local_users;
	} else if (is_loopback(&ret->address) || has_same_ends(fd, address)) {
		ret->guest = RNA_GUEST_NODE;
		ret->address = (struct rna_address){0};
	}
	return rna_slots_take(&connections->slots, ret, now);
}

/* If that fails, the kernel sends what is left, and the end is the same. */
static void drop_output(int fd)
{
	const struct linger drop = {.l_onoff = 1, .l_linger = 0};

	(void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &drop, sizeof(drop));
}

void rna_connection_reset(int fd)
{
	drop_output(fd);
	(void)close(fd);
}

void rna_connection_cut(int fd)
{
	drop_output(fd);
	(void)shutdown(fd, SHUT_RDWR);
}
