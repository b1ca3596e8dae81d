// SPDX-License-Identifier: Apache-2.0
#include "basic.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "view/base64.h"

enum { ROOM = 2 * RNA_BASIC_MAX };

/* Padding has to be there, and bits that are left over have to be none, as in Go. */
static int decode(const char *text, char *out, size_t size)
{
	size_t len = strlen(text), used = 0;
	struct rna_base64 state = {0};

	if (len % 4 != 0)
		return -EINVAL;
	for (int pad = 0; pad < 2 && len > 0 && text[len - 1] == '='; pad++)
		len--;
	for (size_t i = 0; i < len; i++) {
		int byte = rna_base64_take(&state, text[i]);

		if (byte == -EAGAIN)
			continue;
		if (byte < 0)
			return byte;
		if (used + 1 >= size)
			return -ENAMETOOLONG;
		out[used++] = (char)byte;
	}
	out[used] = '\0';
	/* a NUL would hide what is behind it from those who compare */
	return state.rest == 0 && strlen(out) == used ? 0 : -EINVAL;
}

static int copy(const char *from, size_t len, char ret[RNA_BASIC_MAX])
{
	if (len >= RNA_BASIC_MAX)
		return -ENAMETOOLONG;
	memcpy(ret, from, len);
	ret[len] = '\0';
	return 0;
}

static int read_pair(const char *header, char text[ROOM], struct rna_basic *ret)
{
	static const char scheme[] = "Basic ";
	const char *colon;
	int status;

	if (!header || strncasecmp(header, scheme, sizeof(scheme) - 1) != 0)
		return -EINVAL;
	status = decode(header + sizeof(scheme) - 1, text, ROOM);
	if (status < 0)
		return status;
	colon = strchr(text, ':');
	if (!colon)
		return -EINVAL;
	status = copy(text, (size_t)(colon - text), ret->user);
	return status < 0 ? status : copy(colon + 1, strlen(colon + 1), ret->password);
}

int rna_basic_read(const char *header, struct rna_basic *ret)
{
	char text[ROOM];
	int status = read_pair(header, text, ret);

	explicit_bzero(text, sizeof(text));
	return status;
}
