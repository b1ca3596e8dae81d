// SPDX-License-Identifier: Apache-2.0
#include "guid.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "rna/base/arena.h"
#include "rna/base/parse.h"

const char *rna_guid_parse(const char *text)
{
	static const char pattern[] = "xxxx:xxxx:xxxx:xxxx";
	size_t len = strlen(text), want = sizeof(pattern) - 1;
	bool zero = true;

	/* a GID is a prefix followed by the GUID */
	if (len > want && text[len - want - 1] == ':')
		text += len - want;
	else if (len != want)
		return NULL;
	for (size_t i = 0; i < want; i++) {
		if (pattern[i] == ':' ? text[i] != ':' : !isxdigit((unsigned char)text[i]))
			return NULL;
		zero &= text[i] == '0' || text[i] == ':';
	}
	return zero ? NULL : text;
}

void rna_guid_write(uint64_t guid, char ret[RNA_GUID_TEXT])
{
	(void)snprintf(ret, RNA_GUID_TEXT, "%04x:%04x:%04x:%04x", (unsigned)(guid >> 48),
		       (unsigned)(guid >> 32 & 0xffff), (unsigned)(guid >> 16 & 0xffff),
		       (unsigned)(guid & 0xffff));
}

const char *rna_guid_keep(uint64_t guid, struct rna_arena *arena, bool *failed)
{
	char text[RNA_GUID_TEXT];

	rna_guid_write(guid, text);
	return guid ? rna_arena_keep(arena, text, failed) : NULL;
}

int rna_vf_parse_guid(const char *text, uint64_t *ret)
{
	uint64_t guid = 0;

	for (size_t i = 0; i < 8; i++, text += 3) {
		char digits[3] = {text[0], text[0] ? text[1] : '\0'};
		uint64_t byte;

		if (strlen(digits) != 2 || (text[2] != ':') != (i == 7) ||
		    rna_parse_hex_u64(digits, &byte) < 0)
			return -EBADMSG;
		guid = guid << 8 | byte;
		if (i == 7 && text[2])
			return -EBADMSG;
	}
	*ret = guid;
	return 0;
}
