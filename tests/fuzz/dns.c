// SPDX-License-Identifier: Apache-2.0
/* Answers of DNS servers: a byte for the type that was asked for, and the message. */
#include "mesh/dns.h"

#include <arpa/nameser.h>
#include <string.h>

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const int types[] = {ns_t_a, ns_t_aaaa, ns_t_srv};
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(4096);
	struct rna_members members = {0};
	struct rna_error error = {0};
	struct rna_dns_place place;
	uint32_t ttl = UINT32_MAX;
	int status;

	FUZZ_WANT(arena);
	FUZZ_WANT(rna_dns_place_parse("agents.example:80", &place));
	if (size < 1)
		return 0;
	status = rna_dns_read(data + 1, size - 1, &place, types[data[0] % 3], arena, &members, &ttl,
			      &error);
	fuzz_want_error(status, &error);
	rna_members_sort(&members);
	for (size_t i = 0; i < members.count; i++) {
		const struct rna_member *member = &members.members[i];
		const char *colon = strrchr(member->address, ':');

		FUZZ_WANT(colon && colon > member->address);
		FUZZ_WANT(rna_member_host_is_valid(member->address, strlen(member->address)));
		FUZZ_WANT(member->name[0] != '\0' &&
			  (i == 0 || strcmp(member[-1].name, member->name) < 0));
	}
	return 0;
}
