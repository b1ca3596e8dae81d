// SPDX-License-Identifier: Apache-2.0
#include "rna/base/parse.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Parses leading decimal digits. Returns the first other character, or NULL. */
static const char *read_digits(const char *text, uint64_t *ret)
{
	uint64_t number = 0;

	if (!isdigit((unsigned char)*text))
		return NULL;
	for (; isdigit((unsigned char)*text); text++)
		if (__builtin_mul_overflow(number, 10, &number) ||
		    __builtin_add_overflow(number, (uint64_t)(*text - '0'), &number))
			return NULL;
	*ret = number;
	return text;
}

int rna_parse_u64(const char *text, uint64_t *ret)
{
	uint64_t number;
	const char *end = read_digits(text, &number);

	if (!end || *end != '\0')
		return -EBADMSG;
	*ret = number;
	return 0;
}

int rna_parse_leading_u64(const char *text, uint64_t *ret)
{
	uint64_t number;
	const char *end = read_digits(text, &number);

	if (!end || (*end != '\0' && *end != ':' && !isspace((unsigned char)*end)))
		return -EBADMSG;
	*ret = number;
	return 0;
}

int rna_parse_hex_u64(const char *text, uint64_t *ret)
{
	char *end;

	if (strncmp(text, "0x", 2) == 0)
		text += 2;
	if (!isxdigit((unsigned char)*text))
		return -EBADMSG;
	errno = 0;
	uint64_t number = strtoull(text, &end, 16);
	if (*end != '\0')
		return -EBADMSG;
	if (errno == ERANGE)
		return -ERANGE;
	*ret = number;
	return 0;
}

int rna_hex_digit(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *found = c ? strchr(digits, tolower((unsigned char)c)) : NULL;

	return found ? (int)(found - digits) : -1;
}

bool rna_pci_is_short_address(const char *text, size_t len)
{
	static const char pattern[] = "xx:xx.7";

	if (len != sizeof(pattern) - 1)
		return false;
	for (size_t i = 0; i < len; i++) {
		bool fits = pattern[i] == 'x'   ? rna_hex_digit(text[i]) >= 0
			    : pattern[i] == '7' ? text[i] >= '0' && text[i] <= '7'
						: text[i] == pattern[i];

		if (!fits)
			return false;
	}
	return true;
}

bool rna_pci_is_address(const char *text, size_t len)
{
	enum { DOMAIN_MIN = 4, DOMAIN_MAX = 8 /* digits of 32 bits */ };
	size_t digits = 0;

	while (digits < len && rna_hex_digit(text[digits]) >= 0)
		digits++;
	return digits >= DOMAIN_MIN && digits <= DOMAIN_MAX && digits < len &&
	       text[digits] == ':' && rna_pci_is_short_address(text + digits + 1, len - digits - 1);
}

ssize_t rna_parse_hex_bytes(const char *text, uint8_t *ret, size_t size)
{
	size_t digits = 0;

	for (; *text; text++) {
		int digit = rna_hex_digit(*text);

		if (isspace((unsigned char)*text))
			continue;
		if (digit < 0)
			return -EBADMSG;
		if (digits / 2 == size)
			return -EMSGSIZE;
		ret[digits / 2] = (uint8_t)(digits % 2 ? ret[digits / 2] << 4 | digit : digit);
		digits++;
	}
	return digits % 2 ? -EBADMSG : (ssize_t)(digits / 2);
}

int rna_parse_i64(const char *text, int64_t *ret)
{
	char *end;

	if (!isdigit((unsigned char)*text) && *text != '-')
		return -EBADMSG;
	errno = 0;
	int64_t number = strtoll(text, &end, 10);
	if (end == text || *end != '\0')
		return -EBADMSG;
	if (errno == ERANGE)
		return -ERANGE;
	*ret = number;
	return 0;
}

/* strverscmp() is almost this, but takes "01" before "1" and treats leading zeros as fractions. */
int rna_compare_names(const char *a, const char *b)
{
	const char *whole_a = a, *whole_b = b;

	while (*a && *b) {
		uint64_t number_a, number_b;
		const char *end_a = read_digits(a, &number_a);
		const char *end_b = read_digits(b, &number_b);

		if (end_a && end_b) {
			if (number_a != number_b)
				return number_a < number_b ? -1 : 1;
			a = end_a;
			b = end_b;
			continue;
		}
		if (*a != *b)
			return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
		a++;
		b++;
	}
	if (*a || *b)
		return *a ? 1 : -1;
	return strcmp(whole_a, whole_b); /* "mlx5_01" and "mlx5_1" differ */
}

int rna_compare_text_items(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

int rna_compare_name_items(const void *a, const void *b)
{
	return rna_compare_names(*(const char *const *)a, *(const char *const *)b);
}

bool rna_same_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

bool rna_text_set(char **field, const char *text)
{
	char *copy;

	if (rna_same_text(*field, text))
		return true;
	copy = text ? strdup(text) : NULL;
	if (text && !copy)
		return false;
	free(*field);
	*field = copy;
	return true;
}

size_t rna_text_stem(const char *text, const char *end)
{
	size_t len = strlen(text), end_len = strlen(end);

	return len > end_len && strcmp(text + len - end_len, end) == 0 ? len - end_len : 0;
}

int rna_compare_u64(const void *a, const void *b)
{
	const uint64_t *first = a, *second = b;

	return (*first > *second) - (*first < *second);
}
