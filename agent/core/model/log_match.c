// SPDX-License-Identifier: Apache-2.0
/*
 * Messages of the kernel log against the patterns.
 *
 * The pass for anchors is that of Wu and Manber (A fast algorithm for multi-pattern searching,
 * 1994): a window of RNA_LOG_ANCHOR_MIN bytes moves over the message, and the two bytes at its end
 * tell how far it can move, because no anchor has them nearer to that end. Where it cannot move,
 * the anchors whose first bytes end so are compared.
 */
#include "rna/model/log_match.h"

#include <ctype.h>
#include <net/if.h>
#include <pthread.h>
#include <regex.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "rna/base/arena.h"
#include "rna/base/parse.h"
#include "rna/model/log_site.h"

enum {
	PAIRS = 4096, /* hashes of two bytes: their table stays in the first cache */
	NONE = UINT16_MAX,
	WORDS = 4, /* of 64 bits: the patterns whose anchors occur */
	PATTERNS_MAX = WORDS * 64,
};

struct anchor {
	size_t len;
	uint16_t next; /* pattern whose anchor has the same pair; NONE: no other */
};

typedef _Atomic(regex_t *) regex_slot;

struct rna_log_matcher {
	const struct rna_log_pattern *patterns;
	regex_slot *regexes, *follows; /* of each pattern; NULL: not compiled yet */
	uint8_t shift[PAIRS]; /* how far the window can move at a pair; 0: look at the anchors */
	uint16_t first[PAIRS];
	struct anchor anchors[PATTERNS_MAX];
};

/* -- Making it --------------------------------------------------------------------------------- */

static size_t pair_of(const char *text)
{
	return ((size_t)(unsigned char)text[0] << 5 ^ (unsigned char)text[1]) % PAIRS;
}

static void add_anchor(struct rna_log_matcher *matcher, uint16_t index)
{
	enum { LAST = RNA_LOG_ANCHOR_MIN - 2 };
	const char *anchor = matcher->patterns[index].anchor;
	size_t last = pair_of(anchor + LAST);

	for (size_t i = 0; i <= LAST; i++)
		if (matcher->shift[pair_of(anchor + i)] > LAST - i)
			matcher->shift[pair_of(anchor + i)] = (uint8_t)(LAST - i);
	matcher->anchors[index] = (struct anchor){strlen(anchor), matcher->first[last]};
	matcher->first[last] = index;
}

static void make_matcher(struct rna_log_matcher *matcher, size_t count)
{
	memset(matcher->shift, RNA_LOG_ANCHOR_MIN - 1, sizeof(matcher->shift));
	for (size_t i = 0; i < PAIRS; i++)
		matcher->first[i] = NONE;
	for (size_t i = 0; i < count && i < PATTERNS_MAX; i++)
		add_anchor(matcher, (uint16_t)i);
}

static struct rna_log_matcher the_matcher;

static void make_the_matcher(void)
{
	static regex_slot regexes[PATTERNS_MAX], follows[PATTERNS_MAX];

	the_matcher.patterns = rna_log_patterns;
	the_matcher.regexes = regexes;
	the_matcher.follows = follows;
	make_matcher(&the_matcher, rna_log_pattern_count);
}

const struct rna_log_matcher *rna_log_matcher(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	(void)pthread_once(&once, make_the_matcher);
	return &the_matcher;
}

const struct rna_log_matcher *rna_log_matcher_new(struct rna_arena *arena,
						  const struct rna_log_pattern *patterns,
						  size_t count)
{
	struct rna_log_matcher *matcher = rna_arena_alloc(arena, sizeof(*matcher));

	if (!matcher)
		return NULL;
	matcher->patterns = patterns;
	matcher->regexes = rna_arena_array(arena, count, sizeof(*matcher->regexes));
	matcher->follows = rna_arena_array(arena, count, sizeof(*matcher->follows));
	if (!matcher->regexes || !matcher->follows)
		return NULL;
	make_matcher(matcher, count);
	return matcher;
}

const struct rna_log_pattern *rna_log_pattern_find(const char *name)
{
	for (size_t i = 0; i < rna_log_pattern_count; i++)
		if (strcmp(rna_log_patterns[i].name, name) == 0)
			return &rna_log_patterns[i];
	return rna_log_site_find(name);
}

/* -- Regexes ----------------------------------------------------------------------------------- */

/*
 * Compiled when their anchor occurs for the first time, because each takes 17 KiB, and 150 KiB when
 * glibc has its automaton complete: a healthy node needs none. Kept until the process ends.
 */
static regex_t *regex_new(const char *text)
{
	regex_t *ret = malloc(sizeof(*ret));

	if (!ret || regcomp(ret, text, REG_EXTENDED | REG_NOSUB) != 0) {
		free(ret);
		return NULL;
	}
	return ret;
}

/* NULL: no memory. If two threads come at once, one of them makes it in vain. */
static const regex_t *regex_of(regex_slot *slot, const char *text)
{
	regex_t *known = atomic_load(slot), *made;

	if (known)
		return known;
	made = regex_new(text);
	if (!made || atomic_compare_exchange_strong(slot, &known, made))
		return made;
	regfree(made);
	free(made);
	return known;
}

/* A message whose regex cannot be compiled for lack of memory does not match. */
static bool matches(regex_slot *slot, const char *text, const char *line)
{
	const regex_t *regex = regex_of(slot, text);

	return regex && regexec(regex, line, 0, NULL, 0) == 0;
}

/* -- Anchors ----------------------------------------------------------------------------------- */

/* The patterns whose anchors occur in a message. */
struct candidates {
	uint64_t bits[WORDS];
	bool any;
};

static void compare_anchors(const struct rna_log_matcher *matcher, const char *text, size_t len,
			    struct candidates *ret)
{
	size_t pair = pair_of(text + RNA_LOG_ANCHOR_MIN - 2);

	for (uint16_t i = matcher->first[pair]; i != NONE; i = matcher->anchors[i].next) {
		size_t anchor_len = matcher->anchors[i].len;

		if (anchor_len > len || memcmp(text, matcher->patterns[i].anchor, anchor_len) != 0)
			continue;
		ret->bits[i / 64] |= UINT64_C(1) << i % 64;
		ret->any = true;
	}
}

static void find_anchors(const struct rna_log_matcher *matcher, const char *text, size_t len,
			 struct candidates *ret)
{
	size_t at = 0;

	*ret = (struct candidates){0};
	while (at + RNA_LOG_ANCHOR_MIN <= len) {
		size_t shift = matcher->shift[pair_of(text + at + RNA_LOG_ANCHOR_MIN - 2)];

		if (shift == 0) {
			compare_anchors(matcher, text + at, len - at, ret);
			shift = 1;
		}
		at += shift;
	}
}

/* -- Objects ----------------------------------------------------------------------------------- */

/* Is text an address of a PCI function, "0000:3b:00.0" or, without its domain, "3b:00.0"? */
static bool is_pci(struct rna_text text, bool domain)
{
	return domain ? rna_pci_is_address(text.data, text.len)
		      : rna_pci_is_short_address(text.data, text.len);
}

/* As dev_valid_name() of net/core/dev.c has it; names in parentheses stand for none. */
static bool is_name(struct rna_text text)
{
	return text.len > 0 && text.data[0] != '(' && !memchr(text.data, ':', text.len) &&
	       !memchr(text.data, '/', text.len);
}

static bool is_netdev(struct rna_text text)
{
	return is_name(text) && text.len < IFNAMSIZ;
}

/* The next word of *rest, which loses it; nothing at the end. */
static struct rna_text next_word(struct rna_text *rest)
{
	struct rna_text ret = {rest->data, 0};

	while (rest->len > 0 && *rest->data == ' ')
		*rest = (struct rna_text){rest->data + 1, rest->len - 1};
	ret.data = rest->data;
	while (rest->len > 0 && *rest->data != ' ') {
		*rest = (struct rna_text){rest->data + 1, rest->len - 1};
		ret.len++;
	}
	return ret;
}

static void set_name(enum rna_log_object object, struct rna_text name, struct rna_log_match *ret)
{
	if (object == RNA_LOG_OBJECT_NETDEV && is_netdev(name))
		ret->netdev = name;
	if (object == RNA_LOG_OBJECT_RDMA && is_name(name))
		ret->rdma = name;
}

/*
 * The start of messages, as dev_printk(), netdev_printk() and ibdev_printk() write it: "DRIVER
 * ADDRESS: ", "DRIVER ADDRESS NAME: ", "infiniband NAME: ", "NAME: ".
 */
static void read_start(const char *line, size_t len, enum rna_log_object object,
		       struct rna_log_match *ret)
{
	const char *end = memmem(line, len, ": ", 2);
	struct rna_text rest = {line, end ? (size_t)(end - line) : 0};
	struct rna_text first = next_word(&rest), second = next_word(&rest);

	if (is_pci(second, true)) {
		ret->pci = second;
		set_name(object, next_word(&rest), ret);
	} else if (first.len == strlen("infiniband") &&
		   memcmp(first.data, "infiniband", first.len) == 0) {
		set_name(object, second, ret);
	} else if (second.len == 0) {
		set_name(object, first, ret);
	}
}

/* The object behind the words that stand before it. False: the message is cut within its name. */
static bool read_named(const char *line, size_t len, const struct rna_log_pattern *pattern,
		       struct rna_log_match *ret)
{
	const char *words = memmem(line, len, pattern->named_after, strlen(pattern->named_after));
	struct rna_text name;

	if (!words)
		return true;
	name.data = words + strlen(pattern->named_after);
	name.len = strcspn(name.data, " ,])");
	if (pattern->object == RNA_LOG_OBJECT_PCI && (is_pci(name, true) || is_pci(name, false)))
		ret->pci = name; /* whole: its last digit has no second one */
	else if (name.data[name.len] == '\0')
		return false;
	if (name.len > 0 && name.data[name.len - 1] == ':')
		name.len--;
	set_name(pattern->object, name, ret);
	return true;
}

static void read_device(const char *device, enum rna_log_object object, struct rna_log_match *ret)
{
	static const char pci[] = "+pci:", rdma[] = "+infiniband:";
	struct rna_text name;

	if (strncmp(device, pci, strlen(pci)) == 0 && ret->pci.len == 0) {
		name = (struct rna_text){device + strlen(pci), strlen(device + strlen(pci))};
		if (is_pci(name, true))
			ret->pci = name;
	}
	if (strncmp(device, rdma, strlen(rdma)) == 0 && object == RNA_LOG_OBJECT_RDMA &&
	    ret->rdma.len == 0) {
		name = (struct rna_text){device + strlen(rdma), strlen(device + strlen(rdma))};
		set_name(object, name, ret);
	}
}

/* Texts that lie in line are moved to message, of which it is a copy. */
static void move_text(struct rna_text *text, const char *line, const char *message)
{
	if (text->data >= line && text->data <= line + RNA_LOG_MESSAGE_MAX)
		text->data = message + (text->data - line);
}

/* False: the message does not name the object that all messages of its pattern name. */
static bool find_object(const char *line, const char *message, size_t len, const char *device,
			struct rna_log_match *ret)
{
	const struct rna_log_pattern *pattern = ret->pattern;

	if (pattern->object == RNA_LOG_OBJECT_NODE)
		return true;
	read_start(line, len, pattern->object, ret);
	if (pattern->named_after && !read_named(line, len, pattern, ret))
		return false;
	if (device)
		read_device(device, pattern->object, ret);
	if (ret->pci.len == 0 && ret->netdev.len == 0 && ret->rdma.len == 0)
		return false;
	move_text(&ret->pci, line, message);
	move_text(&ret->netdev, line, message);
	move_text(&ret->rdma, line, message);
	return true;
}

bool rna_log_pci_is(const char *named, const char *address)
{
	const char *colon = strchr(address, ':');

	if (strcmp(named, address) == 0)
		return true;
	return colon && strcmp(named, colon + 1) == 0;
}

/* -- Matching ---------------------------------------------------------------------------------- */

/* The message as a text for regexec(). Its length, without blanks at its end. */
static size_t copy_line(char line[RNA_LOG_MESSAGE_MAX + 1], const char *message, size_t len)
{
	for (size_t i = 0; i < len; i++)
		line[i] = message[i] == '\0' ? ' ' : message[i];
	while (len > 0 && isspace((unsigned char)line[len - 1]))
		len--;
	line[len] = '\0';
	return len;
}

/* Index of the first candidate whose regex matches; NONE: there is none. */
static size_t first_match(const struct rna_log_matcher *matcher,
			  const struct candidates *candidates, const char *line)
{
	for (size_t word = 0; word < WORDS; word++) {
		for (uint64_t bits = candidates->bits[word]; bits != 0; bits &= bits - 1) {
			size_t i = word * 64 + (size_t)__builtin_ctzll(bits);

			if (matches(&matcher->regexes[i], matcher->patterns[i].regex, line))
				return i;
		}
	}
	return NONE;
}

/* A message that may have a pattern. */
struct message {
	const char *text;
	size_t len;
	const char *device;
};

/*
 * Does the message complete the report that has begun? A stack ends at </TASK> on x86, and what
 * follows "cut here" is another report.
 */
static bool completes(const struct rna_log_matcher *matcher, struct rna_log_pending *pending,
		      const struct message *message, struct rna_log_match *ret)
{
	const struct rna_log_pattern *pattern = pending->pattern;
	const char *word = pattern->named_after ? pattern->named_after : "+0x";
	char line[RNA_LOG_MESSAGE_MAX + 1];
	size_t len;

	if (pending->lines_left-- <= 1 || memmem(message->text, message->len, "</TASK>", 7) ||
	    memmem(message->text, message->len, "[ cut here ]", 12))
		pending->pattern = NULL;
	if (!memmem(message->text, message->len, word, strlen(word)))
		return false;
	len = copy_line(line, message->text, message->len);
	if (!matches(&matcher->follows[pattern - matcher->patterns], pattern->follows, line))
		return false;
	pending->pattern = NULL;
	*ret = (struct rna_log_match){.pattern = pattern};
	return find_object(line, message->text, len, message->device, ret);
}

/* The pattern whose anchor and regex the message has. A report over several lines begins here. */
static bool match_line(const struct rna_log_matcher *matcher, struct rna_log_pending *pending,
		       const struct candidates *candidates, const struct message *message,
		       struct rna_log_match *ret)
{
	char line[RNA_LOG_MESSAGE_MAX + 1];
	size_t line_len = copy_line(line, message->text, message->len);
	size_t index = first_match(matcher, candidates, line);

	if (index == NONE)
		return false;
	*ret = (struct rna_log_match){.pattern = &matcher->patterns[index]};
	if (!ret->pattern->follows)
		return find_object(line, message->text, line_len, message->device, ret);
	*pending = (struct rna_log_pending){ret->pattern, RNA_LOG_REPORT_LINES};
	return false;
}

bool rna_log_match(const struct rna_log_matcher *matcher, struct rna_log_pending *pending,
		   const char *message, size_t len, const char *device, struct rna_log_match *ret)
{
	struct message whole = {message, len, device};
	struct candidates candidates;

	if (whole.len > RNA_LOG_MESSAGE_MAX)
		whole.len = RNA_LOG_MESSAGE_MAX;
	if (pending->pattern && completes(matcher, pending, &whole, ret))
		return true;
	find_anchors(matcher, message, whole.len, &candidates);
	return candidates.any && match_line(matcher, pending, &candidates, &whole, ret);
}
