// SPDX-License-Identifier: Apache-2.0
/*
 * Datagrams of strangers and peers: headers, packet, visitors and answers. The code in a packet is
 * made right first, or nothing behind it would ever be reached.
 */
#include <string.h>

#include "rna/base/secret.h"

#include "prober/under_way.h"
#include "prober/visitors.h"

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t bytes[RNA_PROBER_KEY_SIZE];
	uint8_t headers[RNA_PACKET_HEADERS] = {0}, copy[RNA_PACKET_SIZE], digest[RNA_SECRET_DIGEST];
	static struct rna_visitors visitors;
	static struct rna_under_way under_way;
	struct rna_packet_key key;
	struct rna_packet packet;
	struct rna_visitor *visitor;
	uint8_t gid[16];
	rna_usec now = 1;
	struct rna_aims old;

	if (rna_packet_key_make(bytes, &key) < 0)
		return 0;
	memcpy(headers, data, size < sizeof(headers) ? size : sizeof(headers));
	(void)rna_packet_way(headers, true);
	rna_packet_source(headers, true, gid);
	(void)rna_packet_read(data, size, &key, &packet);
	memset(&visitors, 0, sizeof(visitors));
	rna_under_way_init(&under_way);
	for (; size >= sizeof(copy); data += sizeof(copy), size -= sizeof(copy), now += 1000) {
		memcpy(copy, data, sizeof(copy));
		(void)rna_secret_digest(key.code, sizeof(key.code), copy, 48, digest);
		memcpy(copy + 48, digest, 16);
		if (!rna_packet_read(copy, sizeof(copy), &key, &packet))
			continue;
		(void)rna_under_way_send(&under_way, packet.large, packet.source_class, now);
		(void)rna_under_way_answer(&under_way, &packet, packet.there, now, packet.from);
		(void)rna_visitors_find(&visitors, &packet, now, &visitor, &old);
		if (visitor)
			(void)rna_visitor_accept(visitor, &packet, now);
	}
	return 0;
}
