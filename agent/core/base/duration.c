// SPDX-License-Identifier: Apache-2.0
#include "rna/base/duration.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

static const struct unit {
	const char *name;
	rna_usec length;
} units[] = {
	{"d", 24 * 60 * 60 * RNA_USEC_PER_SEC},
	{"h", 60 * 60 * RNA_USEC_PER_SEC},
	{"m", 60 * RNA_USEC_PER_SEC},
	{"s", RNA_USEC_PER_SEC},
	{"ms", RNA_USEC_PER_MSEC},
};

/* Finds the unit at text among units[*index] and later ones; sets *index behind it. */
static const struct unit *take_unit(const char **text, size_t *index)
{
	size_t len = strspn(*text, "dhms");

	while (*index < RNA_ARRAY_SIZE(units)) {
		const struct unit *unit = &units[(*index)++];

		if (strlen(unit->name) == len && strncmp(unit->name, *text, len) == 0) {
			*text += len;
			return unit;
		}
	}
	return NULL;
}

static int take_number(const char **text, uint64_t *ret)
{
	uint64_t number = 0;

	if (!isdigit((unsigned char)**text))
		return -EINVAL;
	for (; isdigit((unsigned char)**text); (*text)++)
		if (__builtin_mul_overflow(number, 10, &number) ||
		    __builtin_add_overflow(number, (uint64_t)(**text - '0'), &number))
			return -ERANGE;
	*ret = number;
	return 0;
}

int rna_duration_parse(const char *text, rna_usec *ret)
{
	rna_usec sum = 0;
	size_t index = 0;

	do {
		const struct unit *unit;
		uint64_t number;
		int status;

		status = take_number(&text, &number);
		if (status < 0)
			return status;
		unit = take_unit(&text, &index);
		if (!unit)
			return -EINVAL;
		if (__builtin_mul_overflow(number, unit->length, &number) ||
		    __builtin_add_overflow(sum, number, &sum))
			return -ERANGE;
	} while (*text != '\0');
	*ret = sum;
	return 0;
}

void rna_duration_write(rna_usec duration, struct rna_strbuf *out)
{
	size_t start = out->len;

	for (size_t i = 0; i < RNA_ARRAY_SIZE(units); i++) {
		uint64_t number = duration / units[i].length;

		if (number == 0)
			continue;
		rna_strbuf_add_u64(out, number);
		rna_strbuf_puts(out, units[i].name);
		duration %= units[i].length;
	}
	if (out->len == start)
		rna_strbuf_puts(out, "0s");
}
