// SPDX-License-Identifier: Apache-2.0
/*
 * The configuration file: YAML into settings, with an error that says where, what and what instead.
 *
 * libyaml's document API gives nodes that carry line and column, and our own settings table is the
 * schema. libcyaml was the plan and is left out: it tells positions only in the text of its log,
 * its 1.3.1 (Debian 12) knows no numeric ranges, and it stands on libyaml anyway.
 *
 * A file is a mapping of sections, a section is a mapping of settings: "poll:", below it "state:",
 * is poll.state. Errors name the line of the key, for behind an alias the value stands elsewhere.
 */
#include "settings_table.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <yaml.h>

#include "duration.h"
#include "words.h"

enum {
	FILE_MAX = 1024 * 1024, /* bytes */
	CHUNK = 16 * 1024,      /* bytes that are read at a time */
	KEY_MAX = 128,          /* bytes; longer than any known key, what is longer is cut */
};

struct load {
	const char *path;
	yaml_document_t *document;
	struct rna_settings *settings;
	size_t lines[RNA_SETTINGS_MAX]; /* where each setting is given; 0: nowhere */
	struct rna_error *error;
};

/* -- The file ---------------------------------------------------------------------------------- */

/* O_NONBLOCK: opening a FIFO would wait for its writer, and a reload happens in the loop. */
static int open_file(const char *path, struct rna_error *error)
{
	RNA_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat info;
	int ret;

	if (fd < 0)
		return rna_error_set(error, -errno, "%s: cannot open", path);
	if (fstat(fd, &info) < 0)
		return rna_error_set(error, -errno, "%s: cannot look at it", path);
	if (S_ISDIR(info.st_mode))
		return rna_error_say(error, -EISDIR, "%s: this is a directory; name a file", path);
	if (!S_ISREG(info.st_mode))
		return rna_error_say(error, -EINVAL, "%s: this is not a regular file", path);
	ret = fd;
	fd = -1;
	return ret;
}

static int read_file(const char *path, struct rna_strbuf *text, struct rna_error *error)
{
	RNA_CLOSE int fd = open_file(path, error);

	if (fd < 0)
		return fd;
	for (;;) {
		char *end = rna_strbuf_reserve(text, CHUNK);
		ssize_t len;

		if (!end)
			return rna_error_set(error, -ENOMEM, "%s", path);
		len = read(fd, end, CHUNK);
		if (len < 0)
			return rna_error_set(error, -errno, "%s: cannot read", path);
		if (len == 0)
			return 0;
		text->len += (size_t)len;
		if (text->len > FILE_MAX)
			return rna_error_say(error, -EFBIG, "%s: larger than 1 MiB", path);
	}
}

/* -- One setting ------------------------------------------------------------------------------- */

static size_t line_of(const yaml_node_t *node)
{
	return node->start_mark.line + 1;
}

/* The text of a scalar; NULL for other nodes, and for what C would read only half of. */
static const char *text_of(const yaml_node_t *node)
{
	const char *text = (const char *)node->data.scalar.value;

	if (node->type != YAML_SCALAR_NODE || strlen(text) != node->data.scalar.length)
		return NULL;
	return text;
}

static const char *kind_of(const yaml_node_t *node)
{
	switch (node->type) {
	case YAML_SEQUENCE_NODE:
		return "a list";
	case YAML_MAPPING_NODE:
		return "a section";
	default:
		return text_of(node) ? "a single value" : "text with a NUL character";
	}
}

static int put_text(struct load *load, const struct rna_setting *setting, const yaml_node_t *value,
		    size_t line)
{
	const char *text = text_of(value);
	int ret;

	if (!text)
		return rna_error_say(load->error, -EINVAL,
				     "%s:%zu: %s: wants a single value, not %s", load->path, line,
				     setting->key, kind_of(value));
	ret = rna_setting_put(setting, text, load->settings, load->error);
	if (ret < 0)
		(void)rna_error_prefix(load->error, "%s:%zu", load->path, line);
	return ret;
}

static int put_list(struct load *load, const struct rna_setting *setting, const yaml_node_t *value,
		    size_t line)
{
	const yaml_node_item_t *item = value->data.sequence.items.start;
	const yaml_node_item_t *end = value->data.sequence.items.top;

	if (value->type != YAML_SEQUENCE_NODE)
		return rna_error_say(load->error, -EINVAL,
				     "%s:%zu: %s: wants a list, for example [\"%s\"], not %s",
				     load->path, line, setting->key,
				     setting->standard ? setting->standard : "*", kind_of(value));
	if (item == end && setting->standard)
		return rna_error_say(load->error, -EINVAL, "%s:%zu: %s: the list is empty",
				     load->path, line, setting->key);
	rna_setting_clear(setting, load->settings);
	for (; item < end; item++) {
		const yaml_node_t *entry = yaml_document_get_node(load->document, *item);
		int ret = put_text(load, setting, entry, line_of(entry));

		if (ret < 0)
			return ret;
	}
	return 0;
}

/* -- Keys -------------------------------------------------------------------------------------- */

static bool is_section(const char *path)
{
	size_t len = strlen(path);

	for (size_t i = 0; i < rna_setting_count; i++)
		if (strncmp(rna_setting_table[i].key, path, len) == 0 &&
		    rna_setting_table[i].key[len] == '.')
			return true;
	return false;
}

static int fail_unknown(const struct load *load, const char *path, size_t line)
{
	struct rna_hint hint = RNA_HINT(path);

	for (size_t i = 0; i < rna_setting_count; i++) {
		const char *key = rna_setting_table[i].key;

		rna_hint_offer(&hint, key, strlen(key));
		rna_hint_offer(&hint, key, strcspn(key, "."));
	}
	if (!hint.best)
		return rna_error_say(load->error, -EINVAL,
				     "%s:%zu: unknown key %.*s; `rdma-node-agent describe "
				     "settings` lists them all",
				     load->path, line, RNA_SHOWN(path));
	return rna_error_say(load->error, -EINVAL, "%s:%zu: unknown key %.*s; did you mean %.*s?",
			     load->path, line, RNA_SHOWN(path), (int)hint.best_len, hint.best);
}

/* "poll.state: 1s" at the top of a file: one way of writing a setting is enough. */
static int fail_dotted(const struct load *load, const char *path, size_t line)
{
	int section_len = (int)strcspn(path, ".");

	return rna_error_say(load->error, -EINVAL,
			     "%s:%zu: %s: write it in its section: \"%.*s:\", and \"%s:\" indented "
			     "on a line below",
			     load->path, line, path, section_len, path, path + section_len + 1);
}

/* The line on which the same mapping has the key of pair before; 0: nowhere. */
static size_t find_earlier(const struct load *load, const yaml_node_t *mapping,
			   const yaml_node_pair_t *pair, const char *key)
{
	const yaml_node_pair_t *earlier = mapping->data.mapping.pairs.start;

	for (; earlier < pair; earlier++) {
		const yaml_node_t *node = yaml_document_get_node(load->document, earlier->key);

		if (strcmp(text_of(node), key) == 0)
			return line_of(node);
	}
	return 0;
}

static int read_section(struct load *load, const char *section, const yaml_node_t *node,
			size_t line);

static int read_value(struct load *load, const char *path, const yaml_node_t *value, size_t line)
{
	const struct rna_setting *setting = rna_setting_find(path);

	if (!setting && is_section(path))
		return read_section(load, path, value, line);
	if (!setting)
		return fail_unknown(load, path, line);
	load->lines[setting - rna_setting_table] = line;
	if (setting->type == RNA_SETTING_LIST)
		return put_list(load, setting, value, line);
	return put_text(load, setting, value, line);
}

static int read_pair(struct load *load, const char *section, const yaml_node_t *mapping,
		     const yaml_node_pair_t *pair)
{
	const yaml_node_t *node = yaml_document_get_node(load->document, pair->key);
	const yaml_node_t *value = yaml_document_get_node(load->document, pair->value);
	const char *key = text_of(node);
	char path[KEY_MAX];
	size_t earlier;

	if (!key)
		return rna_error_say(load->error, -EINVAL, "%s:%zu: a key is wanted, not %s",
				     load->path, line_of(node), kind_of(node));
	(void)snprintf(path, sizeof(path), "%s%s%s", section, *section ? "." : "", key);
	earlier = find_earlier(load, mapping, pair, key);
	if (earlier > 0)
		return rna_error_say(load->error, -EINVAL,
				     "%s:%zu: %.*s is given twice; first on line %zu", load->path,
				     line_of(node), RNA_SHOWN(path), earlier);
	if (strchr(key, '.') && rna_setting_find(path))
		return fail_dotted(load, path, line_of(node));
	return read_value(load, path, value, line_of(node));
}

/* "poll:" with nothing behind it, as in a file where all settings are comments. */
static bool is_empty(const yaml_node_t *node)
{
	const char *text = text_of(node);

	if (!text || node->data.scalar.style != YAML_PLAIN_SCALAR_STYLE)
		return false;
	return strcmp(text, "") == 0 || strcmp(text, "~") == 0 || strcmp(text, "null") == 0;
}

/* section: "" for the file itself. Goes no deeper than the table has dots. */
static int read_section(struct load *load, const char *section, const yaml_node_t *node,
			size_t line)
{
	if (is_empty(node))
		return 0;
	if (node->type != YAML_MAPPING_NODE)
		return rna_error_say(load->error, -EINVAL,
				     "%s:%zu: %s%swants \"key: value\" lines below it, not %s",
				     load->path, line, section, *section ? ": " : "the file ",
				     kind_of(node));
	for (const yaml_node_pair_t *pair = node->data.mapping.pairs.start;
	     pair < node->data.mapping.pairs.top; pair++) {
		int ret = read_pair(load, section, node, pair);

		if (ret < 0)
			return ret;
	}
	return 0;
}

/* -- The whole --------------------------------------------------------------------------------- */

static size_t line_given(const struct load *load, const char *key)
{
	return load->lines[rna_setting_find(key) - rna_setting_table];
}

/* What no single setting can know. */
static int check_together(const struct load *load)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	size_t handover = line_given(load, "poll.handover");
	size_t deadline = line_given(load, "poll.deadline");

	if (load->settings->poll_handover < load->settings->poll_deadline)
		return 0;
	rna_strbuf_puts(&text, "poll.handover (");
	rna_duration_write(load->settings->poll_handover, &text);
	rna_strbuf_puts(&text, ") must be shorter than poll.deadline (");
	rna_duration_write(load->settings->poll_deadline, &text);
	rna_strbuf_puts(&text, ")");
	if (!rna_strbuf_ok(&text))
		return rna_error_set(load->error, -ENOMEM, "%s", load->path);
	return rna_error_say(load->error, -EINVAL, "%s:%zu: %s", load->path,
			     handover > deadline ? handover : deadline, text.data);
}

static size_t line_at(const struct rna_strbuf *text, size_t offset)
{
	size_t line = 1;

	for (size_t i = 0; i < offset && i < text->len; i++)
		line += text->data[i] == '\n';
	return line;
}

/* What libyaml says of broken text; bytes that are no UTF-8 it locates by offset only. */
static int fail_syntax(const struct load *load, const yaml_parser_t *parser,
		       const struct rna_strbuf *text)
{
	if (parser->error == YAML_MEMORY_ERROR)
		return rna_error_set(load->error, -ENOMEM, "%s", load->path);
	if (parser->error == YAML_READER_ERROR)
		return rna_error_say(load->error, -EINVAL, "%s:%zu: not text in UTF-8: %s",
				     load->path, line_at(text, parser->problem_offset),
				     parser->problem);
	return rna_error_say(load->error, -EINVAL, "%s:%zu: not valid YAML: %s%s%s", load->path,
			     parser->problem_mark.line + 1, parser->context ? parser->context : "",
			     parser->context ? ", " : "", parser->problem);
}

static int read_documents(struct load *load, yaml_parser_t *parser, const struct rna_strbuf *text)
{
	RNA_CLEANUP(yaml_document_delete) yaml_document_t document = {0};
	RNA_CLEANUP(yaml_document_delete) yaml_document_t second = {0};
	const yaml_node_t *root;
	int ret;

	if (!yaml_parser_load(parser, &document) || !yaml_parser_load(parser, &second))
		return fail_syntax(load, parser, text);
	if (yaml_document_get_root_node(&second))
		return rna_error_say(load->error, -EINVAL,
				     "%s:%zu: a second document begins here; only one is read",
				     load->path, second.start_mark.line + 1);
	root = yaml_document_get_root_node(&document);
	if (!root)
		return 0; /* empty, or comments only */
	load->document = &document;
	ret = read_section(load, "", root, line_of(root));
	return ret < 0 ? ret : check_together(load);
}

static int parse(struct load *load, const struct rna_strbuf *text)
{
	RNA_CLEANUP(yaml_parser_delete) yaml_parser_t parser = {0};

	if (!yaml_parser_initialize(&parser))
		return rna_error_set(load->error, -ENOMEM, "%s", load->path);
	yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&parser, (const unsigned char *)text->data, text->len);
	return read_documents(load, &parser, text);
}

static int load_file(const char *path, struct rna_settings *settings, struct rna_error *error)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	struct load load = {.path = path, .settings = settings, .error = error};
	int ret;

	ret = read_file(path, &text, error);
	return ret < 0 ? ret : parse(&load, &text);
}

int rna_config_load(const char *path, struct rna_settings *ret, struct rna_error *error)
{
	RNA_CLEANUP(rna_settings_deinit) struct rna_settings settings = {0};
	bool optional = !path && access(RNA_CONFIG_DEFAULT, F_OK) < 0 && errno == ENOENT;
	int status;

	if (!path)
		path = RNA_CONFIG_DEFAULT;
	status = rna_settings_init(&settings);
	if (status < 0)
		return rna_error_set(error, status, "%s", path);
	if (!optional)
		status = load_file(path, &settings, error);
	if (status < 0)
		return status;
	*ret = settings;
	settings = (struct rna_settings){0};
	return 0;
}
