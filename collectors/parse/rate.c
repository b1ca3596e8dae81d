// SPDX-License-Identifier: Apache-2.0
#include "rate.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "rna/base/cleanup.h"

#define BYTES_PER_MBIT ((uint64_t)125000)
#define BYTES_PER_GBIT (1000 * BYTES_PER_MBIT)

enum {
	GBIT_MAX = 1000000, /* above any link speed, and safe from overflow */
	LANES_MAX = 64,
};

static const struct rna_speed speeds[] = {
	{1, "SDR", 2500 * BYTES_PER_MBIT},  {2, "DDR", 5 * BYTES_PER_GBIT},
	{4, "QDR", 10 * BYTES_PER_GBIT},    {8, "FDR10", 10 * BYTES_PER_GBIT},
	{16, "FDR", 14 * BYTES_PER_GBIT},   {32, "EDR", 25 * BYTES_PER_GBIT},
	{64, "HDR", 50 * BYTES_PER_GBIT},   {128, "NDR", 100 * BYTES_PER_GBIT},
	{256, "XDR", 200 * BYTES_PER_GBIT},
};

const struct rna_speed *rna_speed_from_code(uint64_t code)
{
	return RNA_FIND(i, speeds, RNA_ARRAY_SIZE(speeds), speeds[i].code == code);
}

const struct rna_speed *rna_speed_from_name(const char *name)
{
	return RNA_FIND(i, speeds, RNA_ARRAY_SIZE(speeds), strcmp(speeds[i].name, name) == 0);
}

unsigned rna_lanes_from_code(uint64_t code)
{
	switch (code) {
	case 1:
		return 1;
	case 2:
		return 4;
	case 4:
		return 8;
	case 8:
		return 12;
	case 16:
		return 2;
	default:
		return 0;
	}
}

/* Parses a leading decimal number of at most max; sets *text behind it. */
static int take_number(const char **text, unsigned max, unsigned *ret)
{
	unsigned number = 0;

	if (!isdigit((unsigned char)**text))
		return -EBADMSG;
	for (; isdigit((unsigned char)**text); (*text)++) {
		number = number * 10 + (unsigned)(**text - '0');
		if (number > max)
			return -EBADMSG;
	}
	*ret = number;
	return 0;
}

static int take_word(const char **text, const char *word)
{
	size_t len = strlen(word);

	if (strncmp(*text, word, len) != 0)
		return -EBADMSG;
	*text += len;
	return 0;
}

/* Parses " HDR)" or ")": old kernels do not print SDR. */
static int take_speed(const char *text, const struct rna_speed **ret)
{
	char name[16];
	size_t len;

	*ret = NULL;
	if (strcmp(text, ")") == 0)
		return 0;
	if (take_word(&text, " ") < 0)
		return -EBADMSG;
	len = strcspn(text, ")");
	if (len == 0 || len >= sizeof(name) || strcmp(text + len, ")") != 0)
		return -EBADMSG;
	memcpy(name, text, len);
	name[len] = '\0';
	*ret = rna_speed_from_name(name);
	return 0;
}

/* The kernel prints only the fraction ".5". */
static int take_gbits(const char **text, uint64_t *ret_bytes)
{
	unsigned whole, tenths = 0;

	if (take_number(text, GBIT_MAX, &whole) < 0)
		return -EBADMSG;
	if (take_word(text, ".") == 0 && take_number(text, 9, &tenths) < 0)
		return -EBADMSG;
	*ret_bytes = whole * BYTES_PER_GBIT + tenths * 100 * BYTES_PER_MBIT;
	return 0;
}

int rna_rate_parse(const char *text, struct rna_link_rate *ret)
{
	struct rna_link_rate rate;

	if (take_gbits(&text, &rate.bytes) < 0 || take_word(&text, " Gb/sec (") < 0 ||
	    take_number(&text, LANES_MAX, &rate.lanes) < 0 || take_word(&text, "X") < 0 ||
	    take_speed(text, &rate.speed) < 0)
		return -EBADMSG;
	if (rate.bytes == 0 || rate.lanes == 0)
		return -EBADMSG;
	*ret = rate;
	return 0;
}
