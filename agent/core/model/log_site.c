// SPDX-License-Identifier: Apache-2.0
/*
 * Patterns of the site for the kernel log: the setting kernel_log.patterns.
 *
 * A flood of messages must not become dear, whatever a site looks for. So a regex needs what those
 * of the table have (log_table.c): a literal that is searched for first, here found in the regex
 * itself, and one start for regexec(), here by ".*" in front. What makes a matcher slow or large is
 * refused: repetitions of repetitions, counted ones, back-references, and many choices. glibc keeps
 * each state of its automaton that a message has led to, some 2.5 KiB each.
 */
#include "rna/model/log_site.h"

#include <ctype.h>
#include <errno.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "rna/base/arena.h"
#include "rna/base/characters.h"
#include "rna/base/cleanup.h"

enum {
	NAME_MAX_LEN = 48,
	REGEX_MAX = 256,
	WHOLE_MAX = REGEX_MAX + 3, /* with "^.*" in front */
	MEANING_MAX = 160,
	REMEDY_MAX = 300,
	REPETITIONS_MAX = 8, /* of a regex: * and + */
	CHOICES_MAX = 12,    /* of . [ ( | ? : each may double the states of regexec() */
	DEPTH_MAX = 8,       /* of parentheses */
};

enum member { NAME, REGEX, SEVERITY, MEANING, REMEDY, MEMBERS };

const char *const rna_log_site_members[] = {
	[NAME] = "name",       [REGEX] = "regex",   [SEVERITY] = "severity",
	[MEANING] = "meaning", [REMEDY] = "remedy", [MEMBERS] = NULL,
};

/* The members of an entry; those that are missing are empty. False: there are more of them. */
static bool split(const char *entry, struct rna_text ret[MEMBERS])
{
	for (size_t i = 0; i < MEMBERS; i++) {
		ret[i] = (struct rna_text){entry, strcspn(entry, "\n")};
		entry += ret[i].len;
		entry += *entry == '\n' && i + 1 < MEMBERS;
	}
	return *entry == '\0';
}

static bool is_text(const struct rna_text *text, const char *other)
{
	return text->len == strlen(other) && memcmp(text->data, other, text->len) == 0;
}

/* -- The literal of a regex -------------------------------------------------------------------- */

struct literal {
	char text[REGEX_MAX + 1];
	size_t len;
};

/* Where the look at a regex is. */
struct scan {
	const char *at;
	size_t depth; /* of parentheses */
	bool repeats[DEPTH_MAX + 1];
	size_t repetitions;
	size_t choices;
	bool atom;                /* what stands before is a literal, outside of parentheses */
	struct literal run, best; /* characters in a row that each message has */
	const char *why;          /* NULL: nothing is wrong so far */
};

static void end_run(struct scan *scan)
{
	if (scan->run.len > scan->best.len)
		scan->best = scan->run;
	scan->run.len = 0;
	scan->atom = false;
}

static void add_literal(struct scan *scan, char c)
{
	scan->atom = scan->depth == 0;
	if (scan->atom)
		scan->run.text[scan->run.len++] = c;
}

static bool is_repetition(char c)
{
	return c == '*' || c == '+' || c == '?';
}

static void take_escape(struct scan *scan)
{
	if (!ispunct((unsigned char)scan->at[1])) {
		scan->why = "a backslash must stand in front of punctuation: \\d, \\w and "
			    "back-references are not allowed";
		return;
	}
	add_literal(scan, scan->at[1]);
	scan->at += 2;
}

/* Of "[^]a-z[:digit:]]"; one without an end is regcomp()'s to report. */
static void take_bracket(struct scan *scan)
{
	const char *at = scan->at + 1;

	end_run(scan);
	at += *at == '^';
	at += *at == ']';
	while (*at && *at != ']') {
		const char *class =
			at[0] == '[' && at[1] && strchr(":.=", at[1]) ? strchr(at + 2, ']') : NULL;

		at = class ? class + 1 : at + 1;
	}
	scan->at = at + (*at == ']');
}

static void open_group(struct scan *scan)
{
	end_run(scan);
	scan->at++;
	if (scan->depth == DEPTH_MAX) {
		scan->why = "more than 8 parentheses within each other";
		return;
	}
	scan->repeats[++scan->depth] = false;
}

static void close_group(struct scan *scan)
{
	bool repeats = scan->repeats[scan->depth];

	end_run(scan);
	scan->at++;
	if (scan->depth == 0) {
		scan->why = "unmatched )";
		return;
	}
	scan->depth--;
	scan->repeats[scan->depth] |= repeats;
	if (repeats && (*scan->at == '*' || *scan->at == '+'))
		scan->why = "a repetition of a repetition is not allowed, as in (a+)*";
}

/* The character before it need not be there, or follows itself. */
static void take_repetition(struct scan *scan)
{
	if (scan->atom && *scan->at != '+')
		scan->run.len--;
	end_run(scan);
	scan->repeats[scan->depth] = true;
	scan->repetitions += *scan->at != '?';
	scan->at++;
	if (is_repetition(*scan->at))
		scan->why = "a repetition of a repetition is not allowed, as in a+*";
	else if (scan->repetitions > REPETITIONS_MAX)
		scan->why = "more than 8 repetitions (* and +)";
}

static void take_character(struct scan *scan)
{
	char c = *scan->at;

	scan->choices += strchr(".[(|?", c) != NULL;
	if (scan->choices > CHOICES_MAX)
		scan->why = "more than 12 of . [...] (...) | and ? together";
	else if (c == '\\')
		take_escape(scan);
	else if (c == '[')
		take_bracket(scan);
	else if (c == '(')
		open_group(scan);
	else if (c == ')')
		close_group(scan);
	else if (is_repetition(c))
		take_repetition(scan);
	else if (c == '{')
		scan->why = "counted repetitions such as {2,5} are not allowed; a brace itself is "
			    "written \\{";
	else if (c == '|' && scan->depth == 0)
		scan->why = "alternatives must be in parentheses: (one|other)";
	else if (strchr(".^$|", c)) {
		end_run(scan);
		scan->at++;
	} else {
		add_literal(scan, c);
		scan->at++;
	}
}

/* What is wrong with a regex; NULL: nothing, and *ret is its longest literal. */
static const char *scan_regex(const char *regex, struct literal *ret)
{
	struct scan scan = {.at = regex};

	while (*scan.at && !scan.why)
		take_character(&scan);
	end_run(&scan);
	if (!scan.why && scan.best.len < RNA_LOG_ANCHOR_MIN)
		scan.why = "it needs 8 characters in a row, outside of parentheses, that each such "
			   "message has: they are searched for first, which keeps a flood of "
			   "messages cheap";
	*ret = scan.best;
	ret->text[ret->len] = '\0';
	return scan.why;
}

/* -- Checks ------------------------------------------------------------------------------------ */

static bool is_name(const struct rna_text *name)
{
	bool valid =
		name->len > 0 && name->len <= NAME_MAX_LEN && islower((unsigned char)name->data[0]);

	for (size_t i = 0; i < name->len; i++)
		valid &= islower((unsigned char)name->data[i]) ||
			 isdigit((unsigned char)name->data[i]) || name->data[i] == '-';
	return valid;
}

static bool is_of_table(const struct rna_text *name)
{
	return RNA_ANY(i, rna_log_pattern_count, is_text(name, rna_log_patterns[i].name));
}

static bool is_line(const struct rna_text *text, size_t most)
{
	return text->len <= most && rna_characters_are_plain(text->data, text->len);
}

/* As regexec() gets it: with one start. */
static void complete_regex(const char *regex, char ret[WHOLE_MAX + 1])
{
	(void)snprintf(ret, WHOLE_MAX + 1, "%s%s", *regex == '^' ? "" : "^.*", regex);
}

static void explain_regex(const struct rna_text *text, struct rna_strbuf *out)
{
	char regex[REGEX_MAX + 1], whole[WHOLE_MAX + 1], reason[128];
	struct literal literal;
	const char *why;
	regex_t compiled;
	int status;

	if (text->len == 0 || !is_line(text, REGEX_MAX)) {
		rna_strbuf_puts(out, "regex: expected a POSIX extended regular expression of 1 to "
				     "256 characters");
		return;
	}
	(void)snprintf(regex, sizeof(regex), "%.*s", (int)text->len, text->data);
	why = scan_regex(regex, &literal);
	if (why) { /* regcomp() itself could be slow */
		rna_strbuf_printf(out, "regex: %s", why);
		return;
	}
	complete_regex(regex, whole);
	status = regcomp(&compiled, whole, REG_EXTENDED | REG_NOSUB);
	if (status == 0) {
		regfree(&compiled);
		return;
	}
	(void)regerror(status, &compiled, reason, sizeof(reason));
	rna_strbuf_printf(out, "regex: %s", reason);
}

static void explain_severity(const struct rna_text *severity, struct rna_strbuf *out)
{
	if (severity->len > 0 && !is_text(severity, "info") && !is_text(severity, "warning"))
		rna_strbuf_printf(out, "severity: \"%.*s\" is not one of info, warning",
				  (int)severity->len, severity->data);
}

void rna_log_site_explain(const char *entry, struct rna_strbuf *out)
{
	struct rna_text members[MEMBERS];

	if (!split(entry, members))
		rna_strbuf_puts(out, "a text has more than one line");
	else if (!is_name(&members[NAME]))
		rna_strbuf_puts(out, "name: expected at most 48 characters of a-z, 0-9 and -, the "
				     "first of them a letter");
	else if (is_of_table(&members[NAME]))
		rna_strbuf_puts(out, "name: the agent has a pattern of its own of that name");
	else
		explain_regex(&members[REGEX], out);
	if (out->len == 0)
		explain_severity(&members[SEVERITY], out);
	if (out->len == 0 &&
	    (members[MEANING].len == 0 || !is_line(&members[MEANING], MEANING_MAX)))
		rna_strbuf_puts(out,
				"meaning: expected a clause of 1 to 160 bytes, for the text of "
				"the finding");
	if (out->len == 0 && !is_line(&members[REMEDY], REMEDY_MAX))
		rna_strbuf_puts(out, "remedy: more than 300 bytes");
}

bool rna_log_site_is_valid(const char *entry)
{
	RNA_STRBUF struct rna_strbuf why = RNA_STRBUF_INIT;

	rna_log_site_explain(entry, &why);
	return why.len == 0 && !why.failed;
}

/* -- The patterns ------------------------------------------------------------------------------ */

/* Made before other threads are, const afterwards, and never freed: findings point to patterns. */
static struct {
	const struct rna_log_matcher *matcher;
	struct rna_log_pattern *patterns;
	size_t count;
} site;

static const char *keep(struct rna_arena *arena, const struct rna_text *text, bool *failed)
{
	const char *copy = rna_arena_printf(arena, "%.*s", (int)text->len, text->data);

	*failed |= !copy;
	return copy ? copy : "";
}

static bool make_pattern(struct rna_arena *arena, const char *entry, struct rna_log_pattern *ret)
{
	struct rna_text members[MEMBERS];
	char whole[WHOLE_MAX + 1];
	struct literal literal;
	bool failed = false;
	const char *regex;

	(void)split(entry, members);
	regex = keep(arena, &members[REGEX], &failed);
	(void)scan_regex(regex, &literal);
	complete_regex(regex, whole);
	*ret = (struct rna_log_pattern){
		.name = keep(arena, &members[NAME], &failed),
		.driver = "site",
		.anchor = rna_arena_keep(arena, literal.text, &failed),
		.regex = rna_arena_keep(arena, whole, &failed),
		.object = RNA_LOG_OBJECT_NODE,
		.kind = RNA_LOG_SITE,
		.severity = is_text(&members[SEVERITY], "info") ? RNA_SEVERITY_INFO
								: RNA_SEVERITY_WARNING,
		.end = RNA_LOG_ENDS_RUNNING,
		.meaning = keep(arena, &members[MEANING], &failed),
		.remedy = members[REMEDY].len > 0 ? keep(arena, &members[REMEDY], &failed) : NULL,
		.source = "kernel_log.patterns",
	};
	return !failed;
}

static size_t count_entries(char *const *entries)
{
	size_t count = 0;

	while (entries && entries[count] && count < RNA_LOG_SITE_MAX)
		count++;
	return count;
}

int rna_log_site_set(char *const *entries)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = NULL;
	size_t count = count_entries(entries);
	struct rna_log_pattern *patterns;

	if (site.matcher || count == 0)
		return 0;
	arena = rna_arena_new(4096);
	patterns = arena ? rna_arena_array(arena, count, sizeof(*patterns)) : NULL;
	if (!patterns)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		if (!make_pattern(arena, entries[i], &patterns[i]))
			return -ENOMEM;
	site.matcher = rna_log_matcher_new(arena, patterns, count);
	if (!site.matcher)
		return -ENOMEM;
	site.patterns = patterns;
	site.count = count;
	(void)RNA_TAKE(arena);
	return 0;
}

bool rna_log_site_match(const char *message, size_t len, struct rna_log_match *ret)
{
	struct rna_log_pending none = {0};

	return site.matcher && rna_log_match(site.matcher, &none, message, len, NULL, ret);
}

const struct rna_log_pattern *rna_log_site_find(const char *name)
{
	return RNA_FIND(i, site.patterns, site.count, strcmp(site.patterns[i].name, name) == 0);
}
