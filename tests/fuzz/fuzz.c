// SPDX-License-Identifier: Apache-2.0
#include "fuzz.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "rna/base/json_document.h"

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

/* jansson makes no string of what is not UTF-8. */
void fuzz_want_text(const char *text, size_t len)
{
	RNA_CLEANUP(rna_json_free_p) json_t *string = json_stringn(text ? text : "", len);

	FUZZ_WANT(string);
	FUZZ_WANT(len == 0 || !memchr(text, '\0', len));
}

/* C0, DEL, C1, and what changes the order of a line: U+202A to U+202E, U+2066 to U+2069. */
static bool is_control(const unsigned char *text, size_t len)
{
	if (text[0] < ' ')
		return text[0] != '\n' && text[0] != '\t';
	if (len >= 2 && text[0] == 0xc2)
		return text[1] < 0xa0;
	if (len >= 3 && text[0] == 0xe2)
		return (text[1] == 0x80 && text[2] >= 0xaa && text[2] <= 0xae) ||
		       (text[1] == 0x81 && text[2] >= 0xa6 && text[2] <= 0xa9);
	return text[0] == 0x7f;
}

void fuzz_want_printable(const char *text, size_t len)
{
	fuzz_want_text(text, len);
	for (size_t i = 0; i < len; i++)
		FUZZ_WANT(!is_control((const unsigned char *)text + i, len - i));
}

char *fuzz_line(char **text)
{
	return *text ? strsep(text, "\n") : NULL;
}

unsigned fuzz_byte(struct fuzz_bytes *bytes)
{
	if (bytes->left == 0)
		return 0;
	bytes->left--;
	return *bytes->at++;
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
