// SPDX-License-Identifier: Apache-2.0
/* Does one function or version fit what a profile says of it? Pure. */
#include <ctype.h>
#include <fnmatch.h>
#include <string.h>

#include "rna/base/parse.h"
#include "rna/model/device_filter.h"

#include "profile.h"

enum { VENDOR_MELLANOX = 0x15b3 };

static bool take_id(const char *text, size_t len, uint32_t *ret)
{
	char digits[5] = "";
	uint64_t number;

	if (len != 4)
		return false;
	memcpy(digits, text, len);
	if (!isxdigit((unsigned char)digits[0]) || !isxdigit((unsigned char)digits[1]) ||
	    rna_parse_hex_u64(digits, &number) < 0)
		return false;
	*ret = (uint32_t)number;
	return true;
}

/* "MT4129": the number is the PCI device. */
static bool take_mellanox(const char *text, struct rna_profile_model *ret)
{
	uint64_t number;

	if (strncmp(text, "MT", 2) != 0 || rna_parse_u64(text + 2, &number) < 0 || number == 0 ||
	    number > UINT16_MAX)
		return false;
	ret->vendor_id = VENDOR_MELLANOX;
	ret->device_id = (uint32_t)number;
	return true;
}

bool rna_profile_model_parse(const char *text, struct rna_profile_model *ret)
{
	const char *colon = strchr(text, ':');

	*ret = (struct rna_profile_model){.text = text};
	if (take_mellanox(text, ret))
		return true;
	if (colon)
		return take_id(text, (size_t)(colon - text), &ret->vendor_id) &&
		       take_id(colon + 1, strlen(colon + 1), &ret->device_id) &&
		       ret->vendor_id != 0;
	return rna_device_glob_is_valid(text) && text[strspn(text, "*")] != '\0';
}

bool rna_profile_model_fits(const struct rna_profile_model *model, uint32_t vendor_id,
			    uint32_t device_id, const char *hca_type)
{
	if (model->vendor_id != 0)
		return model->vendor_id == vendor_id && model->device_id == device_id;
	return hca_type && fnmatch(model->text, hca_type, 0) == 0;
}

/* -- Versions ---------------------------------------------------------------------------------- */

/* The next number of a version ("24.10-0.7.0"); 0 behind its end. Any other character ends it. */
static uint64_t next_number(const char **text)
{
	uint64_t number = 0;
	const char *at = *text;

	for (; isdigit((unsigned char)*at); at++)
		if (number < UINT32_MAX)
			number = number * 10 + (uint64_t)(*at - '0');
	*text = (*at == '.' || *at == '-') && at > *text ? at + 1 : at;
	return number;
}

/* By number, not by letter: 28.9 is before 28.39. */
static int compare_versions(const char *a, const char *b)
{
	while (isdigit((unsigned char)*a) || isdigit((unsigned char)*b)) {
		uint64_t x = next_number(&a), y = next_number(&b);

		if (x != y)
			return x < y ? -1 : 1;
	}
	return 0;
}

bool rna_profile_version_fits(const char *wanted, const char *version)
{
	if (strncmp(wanted, ">= ", 3) == 0)
		return compare_versions(version, wanted + 3) >= 0;
	return strcmp(wanted, version) == 0;
}
