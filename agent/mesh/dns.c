// SPDX-License-Identifier: Apache-2.0
#include "dns.h"

#include <arpa/inet.h>
#include <arpa/nameser.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <resolv.h>
#include <stdlib.h>
#include <string.h>

#include "rna/base/cleanup.h"
#include "rna/base/parse.h"

enum { SRV_FIXED = 6 /* priority, weight and port before the target */ };

/* -- Places ------------------------------------------------------------------------------------ */

static bool is_name(const char *text)
{
	size_t len = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				  "0123456789.-_");

	return len > 0 && text[len] == '\0' && text[0] != '.' && text[0] != '-' &&
	       !strstr(text, "..");
}

/* "_service._tcp.name": the agent's HTTP has no other protocol. */
static bool is_service(const char *name)
{
	const char *rest = strchr(name, '.');

	return name[0] == '_' && rest && rest > name + 1 && strncmp(rest, "._tcp.", 6) == 0 &&
	       rest[6] != '\0';
}

bool rna_dns_place_parse(const char *text, struct rna_dns_place *ret)
{
	const char *colon = strchr(text, ':');
	size_t len = colon ? (size_t)(colon - text) : strlen(text);
	uint64_t port = RNA_MEMBERS_PORT;

	*ret = (struct rna_dns_place){0};
	if (len >= sizeof(ret->name))
		return false;
	memcpy(ret->name, text, len);
	if (!is_name(ret->name) ||
	    (colon && (rna_parse_u64(colon + 1, &port) < 0 || port == 0 || port > UINT16_MAX)))
		return false;
	ret->port = (unsigned)port;
	ret->service = is_service(ret->name);
	ret->https = strncmp(ret->name, "_https.", 7) == 0;
	return ret->service ? !colon : ret->name[0] != '_';
}

bool rna_dns_place_or_none_is_valid(const char *text)
{
	struct rna_dns_place place;

	return text[0] == '\0' || rna_dns_place_parse(text, &place);
}

/* -- Answers ----------------------------------------------------------------------------------- */

struct reading {
	const struct rna_dns_place *place;
	struct rna_arena *arena;
	struct rna_members *members;
	ns_msg message;
};

static int add(struct reading *reading, const char *host, bool brackets, unsigned port)
{
	struct rna_member member = {
		.name = rna_arena_strdup(reading->arena, host),
		.address = rna_arena_printf(reading->arena, brackets ? "[%s]:%u" : "%s:%u", host,
					    port),
		.leaf = "",
		.https = reading->place->https,
	};

	if (!member.name || !member.address)
		return -ENOMEM;
	return rna_members_add(reading->members, reading->arena, &member);
}

static int add_address(struct reading *reading, const ns_rr *record)
{
	bool is_v6 = ns_rr_type(*record) == ns_t_aaaa;
	char text[INET6_ADDRSTRLEN];

	if (ns_rr_rdlen(*record) != (is_v6 ? NS_IN6ADDRSZ : NS_INADDRSZ) ||
	    !inet_ntop(is_v6 ? AF_INET6 : AF_INET, ns_rr_rdata(*record), text, sizeof(text)))
		return 0;
	return add(reading, text, is_v6, reading->place->port);
}

/* The target "." says that there is no such service (RFC 2782). */
static int add_service(struct reading *reading, const ns_rr *record)
{
	const uint8_t *data = ns_rr_rdata(*record);
	char target[NS_MAXDNAME];
	unsigned port;

	if (ns_rr_rdlen(*record) <= SRV_FIXED ||
	    ns_name_uncompress(ns_msg_base(reading->message), ns_msg_end(reading->message),
			       data + SRV_FIXED, target, sizeof(target)) < 0)
		return 0;
	port = ns_get16(data + 4);
	if (port == 0 || target[0] == '.' || !rna_member_host_is_valid(target, strlen(target)))
		return 0;
	return add(reading, target, false, port);
}

int rna_dns_read(const uint8_t *message, size_t len, const struct rna_dns_place *place, int type,
		 struct rna_arena *arena, struct rna_members *members, uint32_t *ttl,
		 struct rna_error *error)
{
	struct reading reading = {place, arena, members, {0}};
	int status = 0;
	ns_rr record;

	if (len > RNA_DNS_MESSAGE_MAX || ns_initparse(message, (int)len, &reading.message) < 0)
		return rna_error_say(error, -EBADMSG, "%s: the answer is no message of DNS",
				     place->name);
	for (int i = 0; i < ns_msg_count(reading.message, ns_s_an); i++) {
		if (ns_parserr(&reading.message, ns_s_an, i, &record) < 0)
			return rna_error_say(error, -EBADMSG,
					     "%s: record %d of the answer is damaged", place->name,
					     i + 1);
		if (ns_rr_class(record) != ns_c_in)
			continue;
		*ttl = ns_rr_ttl(record) < *ttl ? ns_rr_ttl(record) : *ttl;
		if ((int)ns_rr_type(record) == type)
			status = type == ns_t_srv ? add_service(&reading, &record)
						  : add_address(&reading, &record);
		if (status == -E2BIG)
			return rna_error_say(error, status, "%s: more than %d members", place->name,
					     RNA_MEMBERS_MAX);
		if (status < 0)
			return rna_error_set(error, status, "%s", place->name);
	}
	return 0;
}

/* -- Questions --------------------------------------------------------------------------------- */

static const char *name_type(int type)
{
	return type == ns_t_srv ? "SRV" : type == ns_t_aaaa ? "AAAA" : "A";
}

static int fail(const struct rna_dns_place *place, int type, int why, struct rna_error *error)
{
	if (why == TRY_AGAIN)
		return rna_error_say(error, -EAGAIN,
				     "%s: no DNS server answered the question for %s records "
				     "(servers: /etc/resolv.conf)",
				     place->name, name_type(type));
	if (why == NO_RECOVERY)
		return rna_error_say(error, -EIO,
				     "%s: the DNS server refused the question for %s records",
				     place->name, name_type(type));
	return rna_error_say(error, -EIO, "%s: the resolver failed: %s", place->name,
			     hstrerror(why));
}

/* Adds what there is. 0, also if there is nothing of that type. */
static int ask(struct __res_state *resolver, const struct rna_dns_place *place, int type,
	       struct rna_arena *arena, struct rna_members *members, uint32_t *ttl,
	       struct rna_error *error)
{
	RNA_FREE uint8_t *message = malloc(RNA_DNS_MESSAGE_MAX);
	int len;

	if (!message)
		return rna_error_set(error, -ENOMEM, "%s", place->name);
	len = res_nsearch(resolver, place->name, ns_c_in, type, message, RNA_DNS_MESSAGE_MAX);
	if (len >= 0)
		return rna_dns_read(message, (size_t)len, place, type, arena, members, ttl, error);
	if (resolver->res_h_errno == HOST_NOT_FOUND || resolver->res_h_errno == NO_DATA)
		return 0;
	return fail(place, type, resolver->res_h_errno, error);
}

int rna_dns_look(const struct rna_dns_place *place, struct rna_arena *arena,
		 struct rna_members *ret, rna_usec *ttl, struct rna_error *error)
{
	struct __res_state resolver = {0};
	uint32_t seconds = UINT32_MAX;
	int status;

	*ret = (struct rna_members){0};
	if (res_ninit(&resolver) < 0)
		return rna_error_say(error, -EIO, "%s: cannot read /etc/resolv.conf", place->name);
	status = ask(&resolver, place, place->service ? ns_t_srv : ns_t_a, arena, ret, &seconds,
		     error);
	/* Where nodes have both, the same address of each is to be taken by all. */
	if (status == 0 && ret->count == 0 && !place->service)
		status = ask(&resolver, place, ns_t_aaaa, arena, ret, &seconds, error);
	res_nclose(&resolver);
	if (status == 0 && ret->count == 0)
		status = rna_error_say(error, -ENOENT, "%s: DNS has no %s records", place->name,
				       place->service ? "SRV" : "A or AAAA");
	rna_members_sort(ret);
	*ttl = seconds * RNA_USEC_PER_SEC;
	return status;
}
