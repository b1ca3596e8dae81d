// SPDX-License-Identifier: Apache-2.0
#include "basic.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "rna/base/secret.h"

#define WHITE_SPACE " \t\n\v\f\r" /* GnuTLS ignores it; no client sends it */

enum { ROOM = 2 * RNA_BASIC_MAX };

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
	header += sizeof(scheme) - 1;
	if (strpbrk(header, WHITE_SPACE))
		return -EINVAL;
	status = rna_secret_decode(header, text, ROOM);
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
