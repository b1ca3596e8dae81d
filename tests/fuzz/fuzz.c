// SPDX-License-Identifier: Apache-2.0
#include "fuzz.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

char *fuzz_text(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	FUZZ_WANT(text);
	if (size > 0)
		memcpy(text, data, size);
	text[size] = '\0';
	return text;
}

/* In memory: thousands of them a second. */
const char *fuzz_file(const uint8_t *data, size_t size)
{
	static char path[32];
	static int fd = -1;

	if (fd < 0) {
		fd = memfd_create("input", MFD_CLOEXEC);
		FUZZ_WANT(fd >= 0);
		(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	}
	FUZZ_WANT(ftruncate(fd, 0) == 0);
	FUZZ_WANT(pwrite(fd, data, size, 0) == (ssize_t)size);
	return path;
}

void fuzz_want_error(int status, const struct rna_error *error)
{
	if (status >= 0)
		return;
	FUZZ_WANT(error->code == status);
	FUZZ_WANT(error->text[0] != '\0');
	FUZZ_WANT(memchr(error->text, '\0', sizeof(error->text)));
}

char *fuzz_line(char **text)
{
	return *text ? strsep(text, "\n") : NULL;
}
