// SPDX-License-Identifier: Apache-2.0
/* Values as files of sysfs have them: numbers, GIDs, rates, PCI addresses, names. */
#include <inttypes.h>
#include <string.h>

#include "rna/base/parse.h"
#include "rna/base/root.h"
#include "rna/model/gid.h"

#include "parse/pci.h"
#include "parse/rate.h"
#include "record/disguise.h"

#include "fuzz.h"

static void read_numbers(const char *text)
{
	char again[32];
	uint64_t number, leading;
	int64_t with_sign;

	if (rna_parse_u64(text, &number) == 0) {
		(void)snprintf(again, sizeof(again), "%" PRIu64, number);
		FUZZ_WANT(strcmp(again, text + strspn(text, "0")) == 0 || number == 0);
		FUZZ_WANT(rna_parse_leading_u64(text, &leading) == 0 && leading == number);
	}
	if (rna_parse_i64(text, &with_sign) == 0 && rna_parse_u64(text, &number) == 0)
		FUZZ_WANT(with_sign >= 0 && (uint64_t)with_sign == number);
	(void)rna_parse_hex_u64(text, &number);
	(void)rna_parse_leading_u64(text, &number);
}

static void read_gid(const char *text)
{
	struct rna_gid gid, again;
	char out[RNA_GID_TEXT_MAX], ipv4[RNA_IPV4_TEXT_MAX];

	if (rna_gid_parse(text, &gid) < 0)
		return;
	rna_gid_format(&gid, out);
	FUZZ_WANT(rna_gid_parse(out, &again) == 0 && rna_gid_is_same(&gid, &again));
	FUZZ_WANT(rna_gid_ipv4(&gid, ipv4) == (rna_gid_family(&gid) == RNA_GID_IPV4));
}

static void read_address(const char *text)
{
	size_t len = 0;
	const char *found = rna_pci_find_last(text, &len);

	FUZZ_WANT(!found || rna_pci_is_address(found, len));
	FUZZ_WANT(!found || (found >= text && found + len <= text + strlen(text)));
}

/* An order has two sides. */
static void compare(const char *a, const char *b)
{
	int one = rna_compare_names(a, b), other = rna_compare_names(b, a);

	FUZZ_WANT((one > 0) == (other < 0) && (one == 0) == (other == 0));
	FUZZ_WANT(rna_compare_names(a, a) == 0);
}

/* Recordings go to strangers: a disguise of any kind gives each text the same stand-in. */
static void disguise(const char *text)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(0);
	struct rna_disguise *disguise = rna_disguise_new();

	FUZZ_WANT(arena && disguise);
	for (enum rna_disguise_kind kind = 0; kind <= RNA_DISGUISE_TEXT; kind++) {
		const char *first = rna_disguise(disguise, kind, text, arena);
		const char *second = rna_disguise(disguise, kind, text, arena);

		FUZZ_WANT(first && second && strcmp(first, second) == 0);
	}
	(void)rna_disguise_free(disguise);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	RNA_FREE char *text = NULL;
	char *rest, *first;
	struct rna_link_rate rate;

	if (size > 2 * RNA_ATTRIBUTE_MAX)
		return 0; /* two values; none is longer than a page */
	rest = text = fuzz_text(data, size);
	first = fuzz_line(&rest);
	read_numbers(first);
	read_gid(first);
	read_address(first);
	if (rna_rate_parse(first, &rate) == 0)
		FUZZ_WANT(rate.lanes > 0);
	compare(first, rest ? rest : "mlx5_10");
	disguise(first);
	return 0;
}
