/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The datagrams of probes: their form, the code that proves who made them, and what the headers in
 * front of a received one say. Pure functions. Thread: any.
 *
 *   0  magic "RNAP"      4  version      5  kind      6  flags      7  class of the source port
 *   8  session of the sender             16  session of the receiver, as the sender knows it
 *  24  target            28  number      32  held     36  number of the probe that was held
 *  40  DSCP    41  ECN   42  hop limit   43  late     44  zeros
 *  48  code: HMAC-SHA256 of bytes 0 to 47
 *
 * Numbers are in network order. Target and number are those of the probe, also in its answer. A
 * large probe has padding behind these bytes, which the code does not cover: what counts is that
 * it arrives. An answer is always small, so that it never has more bytes than its probe.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rna/prober.h"

enum {
	RNA_PACKET_SIZE = 64,
	RNA_PACKET_HEADERS = 40, /* in front of each datagram of an unreliable QP (IBTA 8.3, 9.9) */
};

enum rna_packet_kind {
	RNA_PACKET_PROBE = 1,
	RNA_PACKET_ANSWER = 2,
};

struct rna_packet {
	enum rna_packet_kind kind;
	bool large;
	uint8_t source_class;
	uint64_t from;   /* session of the sender's port */
	uint64_t to;     /* session of the receiver's port, as the sender knows it */
	uint32_t target; /* of the prober's side */
	uint32_t number; /* small and large probes of a target are counted separately, from 0 */
	/*
	 * Answers: for how long the responder held an earlier probe of the same target and size, in
	 * nanoseconds; 0: not known. It can be told only when that answer has left.
	 */
	uint32_t held;
	uint32_t held_number;
	struct rna_probe_way there; /* answers: what the probe's headers said */
	/* Answers: seconds for which the responder stood still just before; 0: it did not. */
	uint8_t late;
};

/* What both ends derive from the key. */
struct rna_packet_key {
	uint8_t code[RNA_PROBER_KEY_SIZE]; /* for the code of datagrams */
	uint8_t qkey[RNA_PROBER_KEY_SIZE]; /* for the Q_Keys of sessions */
};

/* 0 or -ENOMEM. */
int rna_packet_key_make(const uint8_t key[RNA_PROBER_KEY_SIZE], struct rna_packet_key *ret);

/*
 * The Q_Key of the QPs of a port with that session; its top bit is 0. Packets have it in plain
 * text, so it is another one whenever the port is opened. 0 or -ENOMEM.
 */
int rna_packet_qkey(const struct rna_packet_key *key, uint64_t session, uint32_t *ret);

/* Writes RNA_PACKET_SIZE bytes. 0 or -ENOMEM. */
int rna_packet_write(const struct rna_packet *packet, const struct rna_packet_key *key,
		     uint8_t ret[RNA_PACKET_SIZE]);

/*
 * Reads a received datagram without the headers in front of it. True: *ret is a valid packet of a
 * peer that knows the secret.
 */
bool rna_packet_read(const uint8_t *data, size_t len, const struct rna_packet_key *key,
		     struct rna_packet *ret);

/*
 * What the headers of a received datagram say. grh: is there a GRH or IP header (IBV_WC_GRH)?
 * Otherwise, and where the bytes are no header, all is unknown (255). In RoCE v2 over IPv4 the IP
 * header is in the last 20 of the 40 bytes.
 */
struct rna_probe_way rna_packet_way(const uint8_t headers[RNA_PACKET_HEADERS], bool grh);

/* The GID of the sender by the same headers; zeros: they do not say. */
void rna_packet_source(const uint8_t headers[RNA_PACKET_HEADERS], bool grh, uint8_t ret[16]);
