// SPDX-License-Identifier: Apache-2.0
/*
 * The web configuration file: one table of sections and keys, as exporter-toolkit has them, up to
 * its version 0.15. Some configurations that exporter-toolkit accepts without effect are errors
 * here, because they would leave a node unprotected: TLS without a certificate, and client
 * certificates signed by any public CA.
 */
#include "web_config.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "rna/base/duration.h"
#include "rna/base/file.h"
#include "rna/base/parse.h"
#include "rna/base/words.h"
#include "rna/base/yaml.h"

enum {
	PEM_MAX = 1024 * 1024, /* bytes of a file */
	BURST_MAX = 1000000,
	HEADER_MAX = 1024,  /* bytes */
	ENTRIES_MAX = 1000, /* of a list, and users: each login and each handshake searches them */
};

#define INTERVAL_MAX (24 * 3600 * RNA_USEC_PER_SEC)

struct load {
	const char *path;
	struct rna_arena *arena;
	struct rna_web_options *options;
	struct rna_error *error;
};

/* A key with its value, while it is read. */
struct entry {
	const char *key; /* with its section: "rate_limit.burst" */
	const struct rna_yaml *value;
	size_t line;
	void *field; /* of the options */
};

struct key {
	const char *name;
	int (*put)(const struct load *load, const struct entry *entry);
	size_t offset;
};

/* Of keys that a table knows, or of any. */
struct section {
	const char *name;
	const struct key *keys; /* NULL-ended; NULL: any, and all of it goes to put */
	int (*put)(const struct load *load, const struct entry *entry);
	size_t offset;
};

/* -- Errors and memory ------------------------------------------------------------------------- */

static int fail_memory(const struct load *load)
{
	return rna_error_set(load->error, -ENOMEM, "%s", load->path);
}

/* "web.yml:3: rate_limit.burst": the start of an error. NULL: no memory. */
static const char *place(const struct load *load, const struct entry *entry)
{
	return rna_arena_printf(load->arena, "%s:%zu: %s", load->path, entry->line, entry->key);
}

static int refuse(const struct load *load, const struct entry *entry, const char *why)
{
	return rna_error_say(load->error, -EINVAL, "%s:%zu: %s: %s", load->path, entry->line,
			     entry->key, why);
}

static int want_text(const struct load *load, const struct entry *entry)
{
	if (entry->value->text)
		return 0;
	return rna_error_say(load->error, -EINVAL, "%s:%zu: %s: expected a single value, found %s",
			     load->path, entry->line, entry->key, rna_yaml_kind_name(entry->value));
}

static int want_list(const struct load *load, const struct entry *entry)
{
	if (entry->value->kind == RNA_YAML_LIST)
		return 0;
	return rna_error_say(load->error, -EINVAL, "%s:%zu: %s: expected a list, found %s",
			     load->path, entry->line, entry->key, rna_yaml_kind_name(entry->value));
}

static int want_mapping(const struct load *load, const struct entry *entry)
{
	if (entry->value->kind == RNA_YAML_MAPPING)
		return 0;
	return rna_error_say(load->error, -EINVAL,
			     "%s:%zu: %s: expected \"key: value\" lines below, found %s",
			     load->path, entry->line, entry->key, rna_yaml_kind_name(entry->value));
}

static int check_count(const struct load *load, const struct entry *entry)
{
	if (entry->value->count <= ENTRIES_MAX)
		return 0;
	return rna_error_say(load->error, -EINVAL,
			     "%s:%zu: %s: %zu entries; at most %d are allowed", load->path,
			     entry->line, entry->key, entry->value->count, ENTRIES_MAX);
}

/* -- Values ------------------------------------------------------------------------------------ */

struct choice {
	const char *name; /* NULL ends a list */
	int value;
};

static int put_choice(const struct load *load, const struct entry *entry,
		      const struct choice *choices, int *ret)
{
	RNA_STRBUF struct rna_strbuf allowed = RNA_STRBUF_INIT;

	if (want_text(load, entry) < 0)
		return -EINVAL;
	for (const struct choice *choice = choices; choice->name; choice++) {
		if (strcmp(choice->name, entry->value->text) == 0) {
			*ret = choice->value;
			return 0;
		}
		rna_strbuf_printf(&allowed, "%s%s", choice == choices ? "" : ", ", choice->name);
	}
	if (!rna_strbuf_ok(&allowed))
		return fail_memory(load);
	return rna_error_say(load->error, -EINVAL, "%s:%zu: %s: \"%.*s\" is not one of %s",
			     load->path, entry->line, entry->key, RNA_SHOWN(entry->value->text),
			     allowed.data);
}

static int put_client_auth(const struct load *load, const struct entry *entry)
{
	static const struct choice choices[] = {
		{"NoClientCert", RNA_WEB_NO_CLIENT_CERT},
		{"RequestClientCert", RNA_WEB_REQUEST_CLIENT_CERT},
		{"RequireAnyClientCert", RNA_WEB_REQUIRE_ANY_CLIENT_CERT},
		{"VerifyClientCertIfGiven", RNA_WEB_VERIFY_CLIENT_CERT_IF_GIVEN},
		{"RequireAndVerifyClientCert", RNA_WEB_REQUIRE_AND_VERIFY_CLIENT_CERT},
		{"RequireClientCert", RNA_WEB_REQUIRE_ANY_CLIENT_CERT}, /* its old name */
		{NULL, 0},
	};
	int value = 0;
	int ret = put_choice(load, entry, choices, &value);

	*(enum rna_web_client_auth *)entry->field = (enum rna_web_client_auth)value;
	return ret;
}

static int put_version(const struct load *load, const struct entry *entry)
{
	static const struct choice choices[] = {
		{"TLS10", RNA_WEB_TLS10},
		{"TLS11", RNA_WEB_TLS11},
		{"TLS12", RNA_WEB_TLS12},
		{"TLS13", RNA_WEB_TLS13},
		{NULL, 0},
	};
	int value = 0;
	int ret = put_choice(load, entry, choices, &value);

	*(enum rna_web_version *)entry->field = (enum rna_web_version)value;
	return ret;
}

static int put_boolean(const struct load *load, const struct entry *entry)
{
	static const struct choice choices[] = {{"true", true}, {"false", false}, {NULL, 0}};
	int value = 0;
	int ret = put_choice(load, entry, choices, &value);

	*(bool *)entry->field = value;
	return ret;
}

/* The value has no effect: the agent supports HTTP/1.1 only, which every client supports. */
static int put_nothing(const struct load *load, const struct entry *entry)
{
	bool ignored;
	struct entry copy = *entry;

	copy.field = &ignored;
	return put_boolean(load, &copy);
}

static int put_interval(const struct load *load, const struct entry *entry)
{
	if (want_text(load, entry) < 0)
		return -EINVAL;
	if (strcmp(entry->value->text, "0") == 0)
		return 0;
	if (rna_duration_parse(entry->value->text, entry->field) < 0 ||
	    *(rna_usec *)entry->field > INTERVAL_MAX)
		return refuse(
			load, entry,
			"expected a duration such as 100ms or 1s (at most 24h), or 0 for none");
	return 0;
}

static int put_burst(const struct load *load, const struct entry *entry)
{
	uint64_t burst;

	if (want_text(load, entry) < 0)
		return -EINVAL;
	if (rna_parse_u64(entry->value->text, &burst) < 0 || burst > BURST_MAX)
		return refuse(load, entry, "expected an integer, at most 1000000");
	*(unsigned *)entry->field = (unsigned)burst;
	return 0;
}

static int put_words(const struct load *load, const struct entry *entry)
{
	struct rna_web_words *words = entry->field;
	struct rna_web_word *items;

	if (want_list(load, entry) < 0 || check_count(load, entry) < 0)
		return -EINVAL;
	items = rna_arena_array(load->arena, entry->value->count, sizeof(*items));
	if (!items)
		return fail_memory(load);
	for (size_t i = 0; i < entry->value->count; i++) {
		const struct rna_yaml *value = entry->value->pairs[i].value;
		const struct entry item = {entry->key, value, value->line, NULL};

		if (want_text(load, &item) < 0)
			return -EINVAL;
		items[i] = (struct rna_web_word){place(load, &item), value->text};
		if (!items[i].where)
			return fail_memory(load);
	}
	*words = (struct rna_web_words){entry->value->count, items};
	return 0;
}

/* -- Certificates and keys --------------------------------------------------------------------- */

static int put_pem(const struct load *load, const struct entry *entry, const char *text)
{
	struct rna_web_pem *pem = entry->field;

	if (pem->text)
		return refuse(load, entry,
			      "is specified twice, inline and as a file; remove one of them");
	pem->where = place(load, entry);
	pem->text = rna_arena_strdup(load->arena, text);
	return pem->where && pem->text ? 0 : fail_memory(load);
}

static int put_pem_text(const struct load *load, const struct entry *entry)
{
	if (want_text(load, entry) < 0)
		return -EINVAL;
	return *entry->value->text ? put_pem(load, entry, entry->value->text) : 0;
}

static int put_pem_file(const struct load *load, const struct entry *entry)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	const char *path;
	int ret;

	if (want_text(load, entry) < 0)
		return -EINVAL;
	if (*entry->value->text == '\0')
		return 0;
	path = rna_file_beside(load->arena, load->path, entry->value->text);
	if (!path)
		return fail_memory(load);
	load->options->files[load->options->file_count++] = path;
	ret = rna_file_read(path, PEM_MAX, &text, load->error);
	if (ret < 0)
		return rna_error_prefix(load->error, "%s:%zu: %s", load->path, entry->line,
					entry->key);
	return put_pem(load, entry, text.data ? text.data : "");
}

/* -- Users and headers ------------------------------------------------------------------------- */

/* The value may be a password, so the message does not repeat it. */
static int check_hash(const struct load *load, const struct entry *entry)
{
	int cost = rna_web_hash_cost(entry->value->text);

	if (cost < 0)
		return refuse(load, entry,
			      "not a bcrypt hash, which begins with $2y$ or $2b$; create one with "
			      "`htpasswd -nBC 10 NAME`; if this was a password, change it");
	if (cost > RNA_WEB_COST_MAX)
		return refuse(load, entry,
			      "the cost of this hash makes logins too slow; create one with "
			      "`htpasswd -nBC 10 NAME`");
	return 0;
}

/* A colon ends the user name (RFC 7617), so such a user could not log in. */
static int check_user(const struct load *load, const struct entry *entry, const char *name)
{
	if (strchr(name, ':'))
		return refuse(load, entry, "a user name must not contain a colon");
	return check_hash(load, entry);
}

/* The headers that exporter-toolkit allows, and their values. */
static int check_header(const struct load *load, const struct entry *entry, const char *name)
{
	static const struct {
		const char *name;
		const char *values[3]; /* none: any */
	} headers[] = {
		{"Strict-Transport-Security", {NULL}},
		{"X-Content-Type-Options", {"nosniff"}},
		{"X-Frame-Options", {"deny", "sameorigin"}},
		{"X-XSS-Protection", {NULL}},
		{"Content-Security-Policy", {NULL}},
	};
	const char *value = entry->value->text;

	if (strpbrk(value, "\r\n") || strlen(value) > HEADER_MAX)
		return refuse(load, entry, "a header must be one line of at most 1024 bytes");
	for (size_t i = 0; i < RNA_ARRAY_SIZE(headers); i++) {
		const char *const *values = headers[i].values;

		if (strcmp(headers[i].name, name) != 0)
			continue;
		if (!*values || *value == '\0' || rna_words_have(values, value))
			return 0;
		return refuse(load, entry,
			      values[1] ? "expected deny or sameorigin" : "expected nosniff");
	}
	return refuse(load, entry,
		      "header not allowed; allowed: Strict-Transport-Security, "
		      "X-Content-Type-Options, X-Frame-Options, X-XSS-Protection and "
		      "Content-Security-Policy");
}

static int put_pairs(const struct load *load, const struct entry *entry,
		     int (*check)(const struct load *load, const struct entry *entry,
				  const char *name))
{
	struct rna_web_pairs *pairs = entry->field;
	struct rna_web_pair *items;

	if (want_mapping(load, entry) < 0 || check_count(load, entry) < 0)
		return -EINVAL;
	items = rna_arena_array(load->arena, entry->value->count, sizeof(*items));
	if (!items)
		return fail_memory(load);
	for (size_t i = 0; i < entry->value->count; i++) {
		const struct rna_yaml_pair *pair = &entry->value->pairs[i];
		const char *name = pair->key->text;
		struct entry item = {NULL, pair->value, pair->key->line, NULL};

		if (!name)
			return refuse(load, entry, "expected a name before the colon");
		item.key = rna_arena_printf(load->arena, "%s.%s", entry->key, name);
		if (!item.key)
			return fail_memory(load);
		if (want_text(load, &item) < 0 || check(load, &item, name) < 0)
			return -EINVAL;
		for (size_t j = 0; j < i; j++)
			if (strcmp(items[j].name, name) == 0)
				return refuse(load, &item, "is specified twice");
		items[i] = (struct rna_web_pair){name, pair->value->text};
	}
	*pairs = (struct rna_web_pairs){entry->value->count, items};
	return 0;
}

static int put_users(const struct load *load, const struct entry *entry)
{
	return put_pairs(load, entry, check_user);
}

static int put_headers(const struct load *load, const struct entry *entry)
{
	return put_pairs(load, entry, check_header);
}

/* -- The table --------------------------------------------------------------------------------- */

#define FIELD(name) offsetof(struct rna_web_options, name)

static const struct key tls_keys[] = {
	{"cert_file", put_pem_file, FIELD(certificate)},
	{"key_file", put_pem_file, FIELD(key)},
	{"client_ca_file", put_pem_file, FIELD(client_ca)},
	{"cert", put_pem_text, FIELD(certificate)},
	{"key", put_pem_text, FIELD(key)},
	{"client_ca", put_pem_text, FIELD(client_ca)},
	{"client_auth_type", put_client_auth, FIELD(client_auth)},
	{"client_allowed_sans", put_words, FIELD(allowed_sans)},
	{"min_version", put_version, FIELD(min_version)},
	{"max_version", put_version, FIELD(max_version)},
	{"cipher_suites", put_words, FIELD(suites)},
	{"curve_preferences", put_words, FIELD(curves)},
	{"prefer_server_cipher_suites", put_boolean, FIELD(prefer_server)},
	{NULL},
};

static const struct key http_keys[] = {
	{"http2", put_nothing, 0},
	{"headers", put_headers, FIELD(headers)},
	{NULL},
};

static const struct key rate_keys[] = {
	{"interval", put_interval, FIELD(rate_interval)},
	{"burst", put_burst, FIELD(rate_burst)},
	{NULL},
};

static const struct section sections[] = {
	{"tls_server_config", tls_keys, NULL, 0},
	{"http_server_config", http_keys, NULL, 0},
	{"rate_limit", rate_keys, NULL, 0},
	{"basic_auth_users", NULL, put_users, FIELD(users)},
};

/* -- Walking the file -------------------------------------------------------------------------- */

static int fail_unknown(const struct load *load, const struct entry *entry,
			const struct rna_hint *hint)
{
	if (hint->best)
		return rna_error_say(load->error, -EINVAL,
				     "%s:%zu: unknown key %.*s; did you mean %.*s?", load->path,
				     entry->line, RNA_SHOWN(entry->key), (int)hint->best_len,
				     hint->best);
	return rna_error_say(load->error, -EINVAL,
			     "%s:%zu: unknown key %.*s; see docs/web-configuration.md of "
			     "prometheus/exporter-toolkit",
			     load->path, entry->line, RNA_SHOWN(entry->key));
}

static void *field_of(const struct load *load, size_t offset)
{
	return (char *)load->options + offset;
}

static int read_key(const struct load *load, const struct section *section, const char *name,
		    struct entry *entry)
{
	struct rna_hint hint = RNA_HINT(name);

	entry->key = rna_arena_printf(load->arena, "%s.%s", section->name, name);
	if (!entry->key)
		return fail_memory(load);
	for (const struct key *key = section->keys; key->name; key++) {
		if (strcmp(key->name, name) == 0) {
			entry->field = field_of(load, key->offset);
			return rna_yaml_is_empty(entry->value) ? 0 : key->put(load, entry);
		}
		rna_hint_offer(&hint, key->name, strlen(key->name));
	}
	return fail_unknown(load, entry, &hint);
}

/* Calls read for each pair of mapping, none of which comes twice. */
static int read_pairs(const struct load *load, const struct entry *mapping,
		      const struct section *section,
		      int (*read)(const struct load *load, const struct section *section,
				  const char *name, struct entry *entry))
{
	if (want_mapping(load, mapping) < 0)
		return -EINVAL;
	for (size_t i = 0; i < mapping->value->count; i++) {
		const struct rna_yaml_pair *pair = &mapping->value->pairs[i];
		struct entry entry = {pair->key->text, pair->value, pair->key->line, NULL};
		int ret;

		if (!entry.key)
			return refuse(load, mapping, "expected a key before the colon");
		for (size_t j = 0; j < i; j++)
			if (strcmp(mapping->value->pairs[j].key->text, entry.key) == 0)
				return refuse(load, &entry, "is specified twice");
		ret = read(load, section, entry.key, &entry);
		if (ret < 0)
			return ret;
	}
	return 0;
}

static int read_section(const struct load *load, const struct section *none, const char *name,
			struct entry *entry)
{
	struct rna_hint hint = RNA_HINT(name);

	(void)none;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(sections); i++) {
		const struct section *section = &sections[i];

		rna_hint_offer(&hint, section->name, strlen(section->name));
		if (strcmp(section->name, name) != 0)
			continue;
		if (rna_yaml_is_empty(entry->value))
			return 0;
		load->options->tls |= section->keys == tls_keys;
		entry->field = field_of(load, section->offset);
		if (section->keys)
			return read_pairs(load, entry, section, read_key);
		return section->put(load, entry);
	}
	return fail_unknown(load, entry, &hint);
}

/* -- The whole --------------------------------------------------------------------------------- */

static int say_whole(const struct load *load, const char *why)
{
	return rna_error_say(load->error, -EINVAL, "%s: %s", load->path, why);
}

static bool wants_authorities(const struct rna_web_options *options)
{
	return options->client_auth == RNA_WEB_VERIFY_CLIENT_CERT_IF_GIVEN ||
	       options->client_auth == RNA_WEB_REQUIRE_AND_VERIFY_CLIENT_CERT;
}

static bool requires_certificate(const struct rna_web_options *options)
{
	return options->client_auth == RNA_WEB_REQUIRE_ANY_CLIENT_CERT ||
	       options->client_auth == RNA_WEB_REQUIRE_AND_VERIFY_CLIENT_CERT;
}

/* What no single key can know. */
static int check_tls(const struct load *load)
{
	const struct rna_web_options *options = load->options;

	if (!options->certificate.text || !options->key.text)
		return say_whole(load, "tls_server_config: cert_file and key_file are required; "
				       "specify both, or remove the section");
	if (options->client_ca.text && options->client_auth == RNA_WEB_NO_CLIENT_CERT)
		return say_whole(load, "tls_server_config: client_ca_file has no effect without "
				       "client_auth_type; set it to RequireAndVerifyClientCert");
	if (wants_authorities(options) && !options->client_ca.text)
		return say_whole(load,
				 "tls_server_config: client_auth_type requires client_ca_file; "
				 "otherwise any certificate of a public CA would be accepted");
	if (options->allowed_sans.count > 0 && !requires_certificate(options))
		return say_whole(load, "tls_server_config: client_allowed_sans requires "
				       "client_auth_type RequireAndVerifyClientCert or "
				       "RequireAnyClientCert");
	if (options->min_version > options->max_version)
		return say_whole(load, "tls_server_config: min_version exceeds max_version");
	return 0;
}

static int check_together(const struct load *load)
{
	if (load->options->tls && check_tls(load) < 0)
		return -EINVAL;
	if (load->options->rate_interval > 0 && load->options->rate_burst == 0)
		return say_whole(
			load,
			"rate_limit: burst 0 would reject every request; set burst to 1 or more");
	return 0;
}

int rna_web_config_read(const char *path, struct rna_arena *arena, struct rna_web_options *ret,
			struct rna_error *error)
{
	struct load load = {.path = path, .arena = arena, .options = ret, .error = error};
	const struct rna_yaml *root = NULL;
	int status;

	*ret = (struct rna_web_options){
		.files = {path},
		.file_count = 1,
		.min_version = RNA_WEB_TLS12,
		.max_version = RNA_WEB_TLS13,
		.prefer_server = true,
	};
	status = rna_yaml_read(path, arena, &root, error);
	if (status < 0)
		return status;
	if (root && !rna_yaml_is_empty(root)) {
		const struct entry whole = {"the file", root, root->line, NULL};

		status = read_pairs(&load, &whole, NULL, read_section);
	}
	return status < 0 ? status : check_together(&load);
}
