/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the targets share. A target is one file: a parser that takes what others wrote, and what has
 * to be true of its result whatever that was. libFuzzer calls it with inputs that it makes of the
 * corpus, replay.c with the corpus itself.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "rna/base/cleanup.h"
#include "rna/base/error.h"

/* data has size bytes and not one more: sanitizers see who reads behind it. Always 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Sanitizers, which have no other way to say it, call abort() as well. */
#define FUZZ_WANT(condition)                                                                       \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			(void)fprintf(stderr, "%s:%d: wanted: %s\n", __FILE__, __LINE__,           \
				      #condition);                                                 \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

/* A copy with a NUL behind it; freed by the caller. */
char *fuzz_text(const uint8_t *data, size_t size);

/* A file with that content, until the next call. Its path. */
const char *fuzz_file(const uint8_t *data, size_t size);

/* A failure has its code and a text, for the reader of the log. */
void fuzz_want_error(int status, const struct rna_error *error);

/* Text for people and programs: UTF-8 without NUL bytes. */
void fuzz_want_text(const char *text, size_t len);

/* Text for a terminal: besides, no control character but line feeds and tabs. */
void fuzz_want_printable(const char *text, size_t len);

/*
 * The next line of *text, which loses it; NULL: there is none. For inputs that are several texts in
 * one: a line feed stands between them.
 */
char *fuzz_line(char **text);

/* For inputs that are a sequence of numbers. */
struct fuzz_bytes {
	const uint8_t *at;
	size_t left;
};

/* The next one; 0 behind the last. */
unsigned fuzz_byte(struct fuzz_bytes *bytes);

/*
 * Makes the size bytes of data up to max bytes, by copies of a line or of some bytes of them. In
 * half of the cases a word of each copy is numbered, because equal entries are often refused at
 * once. The new size; size if there is nothing to copy. The same seed does the same.
 */
size_t fuzz_grow(uint8_t *data, size_t size, size_t max, unsigned seed);
