// SPDX-License-Identifier: Apache-2.0
#include "fuzz.h"

#include <ctype.h>
#include <stdbool.h>
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

/* -- Growing ----------------------------------------------------------------------------------- */

struct piece {
	size_t start, len;
	size_t word; /* where the word that is numbered may be, from the start */
	bool numbered;
};

static struct piece choose(const uint8_t *data, size_t size, unsigned seed)
{
	enum { SHORT_MAX = 16 };
	size_t at = seed / 4 % size, end = at;
	struct piece ret = {.word = seed / 64, .numbered = seed & 2};

	if (seed & 1) { /* a line */
		while (at > 0 && data[at - 1] != '\n')
			at--;
		while (end < size && data[end++] != '\n')
			;
	} else {
		end += 1 + seed / 16 % SHORT_MAX;
	}
	ret.start = at;
	ret.len = (end < size ? end : size) - at;
	ret.word %= ret.len;
	return ret;
}

/* Writes the number over the end of the word in text, as far as that goes. */
static void number_word(uint8_t *text, size_t len, size_t word, size_t number)
{
	while (word < len && !isalnum(text[word]))
		word++;
	while (word + 1 < len && isalnum(text[word + 1]))
		word++;
	for (; word < len && isalnum(text[word]) && number > 0; number /= 10) {
		text[word] = (uint8_t)('0' + number % 10);
		if (word-- == 0)
			return;
	}
}

size_t fuzz_grow(uint8_t *data, size_t size, size_t max, unsigned seed)
{
	struct piece piece;
	uint8_t original[4096];
	size_t copies;

	if (size == 0 || size >= max)
		return size;
	piece = choose(data, size, seed);
	if (piece.len > sizeof(original))
		piece.len = sizeof(original);
	copies = (max - size) / piece.len >> seed / 8 % 4;
	memcpy(original, data + piece.start, piece.len);
	memmove(data + piece.start + copies * piece.len, data + piece.start, size - piece.start);
	for (size_t i = 0; i < copies; i++) {
		uint8_t *copy = data + piece.start + i * piece.len;

		memcpy(copy, original, piece.len);
		if (piece.numbered)
			number_word(copy, piece.len, piece.word % piece.len, i + 1);
	}
	return size + copies * piece.len;
}
