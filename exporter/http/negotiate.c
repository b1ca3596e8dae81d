// SPDX-License-Identifier: Apache-2.0
/*
 * What a client wants to have.
 *
 * Both headers are lists of "thing;name=value;q=0.5, thing, ...". The weights are compared as
 * thousandths, the finest that the RFC allows. What is malformed counts as absent; nothing here
 * can fail, and quoted strings, which no client sends in these headers, are read as they stand.
 */
#include "negotiate.h"

#include <string.h>
#include <strings.h>

enum { WEIGHT_ABSENT = -1, WEIGHT_NONE = 0, WEIGHT_FULL = 1000 };

/* A piece of a header, blanks around it cut. */
struct word {
	const char *text;
	size_t len;
};

/* One element of the list. */
struct choice {
	struct word name;
	struct word version;
	int weight;
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static bool word_is(struct word word, const char *text)
{
	return word.len == strlen(text) && strncasecmp(word.text, text, word.len) == 0;
}

/* Cuts the next word off *at, up to one of stops or the end. */
static struct word next_word(const char **at, const char *stops)
{
	size_t len = strcspn(*at, stops);
	struct word word = {*at, len};

	*at += len;
	while (word.len > 0 && is_blank(word.text[0])) {
		word.text++;
		word.len--;
	}
	while (word.len > 0 && is_blank(word.text[word.len - 1]))
		word.len--;
	return word;
}

/* "0.75" is 750; what is no weight is none at all. */
static int parse_weight(struct word word)
{
	int weight = 0, digit_worth = WEIGHT_FULL;

	for (size_t i = 0; i < word.len; i++) {
		if (i == 1 && word.text[i] == '.')
			continue;
		if (word.text[i] < '0' || word.text[i] > '9' || digit_worth == 0)
			return WEIGHT_NONE;
		weight += (word.text[i] - '0') * digit_worth;
		digit_worth /= 10;
	}
	return weight <= WEIGHT_FULL ? weight : WEIGHT_NONE;
}

/* Takes the next element of the list; false at its end. */
static bool next_choice(const char **at, struct choice *ret)
{
	if (**at == '\0')
		return false;
	*ret = (struct choice){.name = next_word(at, ";,"), .weight = WEIGHT_FULL};
	while (**at == ';') {
		struct word name, value;

		(*at)++;
		name = next_word(at, "=;,");
		if (**at != '=')
			continue;
		(*at)++;
		value = next_word(at, ";,");
		if (word_is(name, "q"))
			ret->weight = parse_weight(value);
		else if (word_is(name, "version"))
			ret->version = value;
	}
	if (**at == ',')
		(*at)++;
	return true;
}

static bool is_openmetrics(const struct choice *choice)
{
	if (!word_is(choice->name, "application/openmetrics-text"))
		return false;
	/* 0.0.1 is the draft; its readers read 1.0.0, and Prometheus asked for it until 2.x */
	return choice->version.len == 0 || word_is(choice->version, "1.0.0") ||
	       word_is(choice->version, "0.0.1");
}

static bool is_text(const struct choice *choice)
{
	return word_is(choice->name, "text/plain") || word_is(choice->name, "text/*") ||
	       word_is(choice->name, "*/*");
}

enum rna_exposition rna_negotiate_exposition(const char *accept)
{
	int openmetrics = WEIGHT_NONE, text = WEIGHT_NONE;
	struct choice choice;

	while (accept && next_choice(&accept, &choice)) {
		if (is_openmetrics(&choice) && choice.weight > openmetrics)
			openmetrics = choice.weight;
		else if (is_text(&choice) && choice.weight > text)
			text = choice.weight;
	}
	return openmetrics > WEIGHT_NONE && openmetrics >= text ? RNA_EXPOSITION_OPENMETRICS
								: RNA_EXPOSITION_CLASSIC;
}

bool rna_negotiate_gzip(const char *accept_encoding)
{
	int gzip = WEIGHT_ABSENT, any = WEIGHT_NONE;
	struct choice choice;

	while (accept_encoding && next_choice(&accept_encoding, &choice)) {
		if (word_is(choice.name, "gzip") || word_is(choice.name, "x-gzip"))
			gzip = choice.weight;
		else if (word_is(choice.name, "*"))
			any = choice.weight;
	}
	return (gzip == WEIGHT_ABSENT ? any : gzip) > WEIGHT_NONE;
}

const char *rna_negotiate_path(const char *target)
{
	static const char *const schemes[] = {"http://", "https://"};

	for (size_t i = 0; i < RNA_ARRAY_SIZE(schemes); i++) {
		size_t len = strlen(schemes[i]);
		const char *path;

		if (strncasecmp(target, schemes[i], len) != 0)
			continue;
		path = strchr(target + len, '/');
		return path ? path : "/";
	}
	return target;
}
