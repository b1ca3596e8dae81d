// SPDX-License-Identifier: Apache-2.0
/* Texts of PCIe files: link speeds and widths, and sums of AER counters. */
#include "pcie_texts.h"

#include <errno.h>
#include <string.h>

#include "rna/base/parse.h"

enum { SPEED_MAX = 1024 * 1000 }; /* millions of transfers per second; generation 7 has 128,000 */

/* Parses "16.0", with up to three digits after the point, as thousandths; *ret_end: the rest. */
static int parse_thousandths(const char *text, uint64_t *ret, const char **ret_end)
{
	size_t whole = strspn(text, "0123456789"), part = 0;
	uint64_t number = 0;

	if (whole == 0 || whole > 6)
		return -EBADMSG;
	for (size_t i = 0; i < whole; i++)
		number = number * 10 + (uint64_t)(text[i] - '0');
	text += whole;
	if (*text == '.') {
		part = strspn(++text, "0123456789");
		if (part == 0 || part > 3)
			return -EBADMSG;
	}
	for (size_t i = 0; i < 3; i++)
		number = number * 10 + (i < part ? (uint64_t)(text[i] - '0') : 0);
	*ret = number;
	*ret_end = text + part;
	return 0;
}

/* Kernels before 5.7 write "16 GT/s". "Unknown" and "Unknown speed" mean no link. */
int rna_pcie_parse_speed(const char *text, uint64_t *ret)
{
	static const char unit[] = " GT/s", unknown[] = "Unknown";
	const char *end;
	uint64_t speed;
	int status;

	if (strncmp(text, unknown, sizeof(unknown) - 1) == 0)
		return -ENOENT;
	status = parse_thousandths(text, &speed, &end);
	if (status < 0)
		return status;
	if (strncmp(end, unit, sizeof(unit) - 1) != 0 ||
	    (end[sizeof(unit) - 1] && strcmp(end + sizeof(unit) - 1, " PCIe") != 0))
		return -EBADMSG;
	if (speed == 0 || speed > SPEED_MAX)
		return -ENOENT;
	*ret = speed;
	return 0;
}

/* 0: no link. A device that does not respond reports 63 or 255 lanes, which are invalid. */
int rna_pcie_parse_width(const char *text, uint64_t *ret)
{
	uint64_t width;
	int status = rna_parse_u64(*text == 'x' ? text + 1 : text, &width);

	if (status < 0)
		return strcmp(text, "Unknown") == 0 ? -ENOENT : -EBADMSG;
	if (width == 0 || width > 32)
		return -ENOENT;
	*ret = width;
	return 0;
}

int rna_pcie_parse_errors(const char *text, const char *total, uint64_t *ret)
{
	size_t len = strlen(total);
	char number[32];

	while (text && (strncmp(text, total, len) != 0 || text[len] != ' ')) {
		text = strchr(text, '\n');
		text = text ? text + 1 : NULL;
	}
	if (!text)
		return -EBADMSG;
	text += len + 1;
	len = strcspn(text, "\n");
	if (len >= sizeof(number))
		return -EBADMSG;
	memcpy(number, text, len);
	number[len] = '\0';
	return rna_parse_u64(number, ret);
}
