// SPDX-License-Identifier: Apache-2.0
/*
 * Floods a port that probes, for suite-prober and suite-probes:
 *
 *   prober-flood DEVICE GID_INDEX SECRET SESSION GID QPN SECONDS
 *
 * Sends datagrams from port 1 of DEVICE as fast as it can. Their Q_Key is right for the session of
 * that port (hexadecimal), as an attacker may have seen it, and their code is wrong. Prints how
 * many were sent.
 */
#include <stdlib.h>
#include <string.h>

#include "prober/probe_port.h"

#include "own_gid.h"

static void die(const char *why)
{
	fprintf(stderr, "prober-flood: %s\n", why);
	exit(EXIT_FAILURE);
}

static uint32_t make_qkey(const char *secret, uint64_t session)
{
	uint8_t bytes[RNA_PROBER_KEY_SIZE];
	struct rna_packet_key key;
	uint32_t qkey = 0;

	if (rna_prober_key(secret, strlen(secret), bytes) < 0 ||
	    rna_packet_key_make(bytes, &key) < 0 || rna_packet_qkey(&key, session, &qkey) < 0)
		die("no key can be made of this secret");
	return qkey;
}

/* All is right but the code. */
static void make_packet(uint64_t session, uint8_t ret[RNA_PACKET_SIZE])
{
	static const struct rna_packet_key none;

	(void)rna_packet_write(&(const struct rna_packet){.kind = RNA_PACKET_PROBE,
							  .from = 1,
							  .to = session,
							  .target = 1},
			       &none, ret);
}

static uint64_t flood(struct rna_probe_verbs *verbs, const struct rna_probe_end *to,
		      uint64_t session, rna_usec end)
{
	uint8_t packet[RNA_PACKET_SIZE];
	struct rna_probe_event event;
	uint64_t sent = 0;

	make_packet(session, packet);
	while (rna_clock_monotonic() < end) {
		while (rna_probe_verbs_send(verbs, (unsigned)sent, to, packet, sizeof(packet), 0) ==
		       0)
			sent++;
		while (rna_probe_verbs_next(verbs, &event) > 0)
			;
	}
	return sent;
}

int main(int argc, char *argv[])
{
	struct rna_aim_request request = {0};
	struct rna_probe_end to = {0};
	struct rna_probe_verbs *verbs;
	struct rna_error error;
	struct rna_aim *aim;
	uint8_t gid[16];
	uint64_t session;

	if (argc != 8)
		die("usage: DEVICE GID_INDEX SECRET SESSION GID QPN SECONDS");
	session = strtoull(argv[4], NULL, 16);
	if (!read_own_gid(argv[1], atoi(argv[2]), gid) ||
	    inet_pton(AF_INET6, argv[5], request.gid) != 1)
		die("a GID is not valid");
	if (rna_probe_verbs_open(argv[1], 1, atoi(argv[2]), gid, 0, &verbs, &error) < 0)
		die(error.text);
	if (rna_aim_make(verbs, &request, &aim) < 0)
		die("the GID cannot be reached");
	to.aim = aim;
	to.qpn = (uint32_t)strtoul(argv[6], NULL, 10);
	to.qkey = make_qkey(argv[3], session);
	printf("flooded %lu\n",
	       flood(verbs, &to, session,
		     rna_clock_monotonic() + (rna_usec)atoi(argv[7]) * RNA_USEC_PER_SEC));
	(void)rna_aim_free(aim);
	(void)rna_probe_verbs_close(verbs);
	return 0;
}
