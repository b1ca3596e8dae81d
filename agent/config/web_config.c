// SPDX-License-Identifier: Apache-2.0
/*
 * The web configuration file: one table of sections and keys, as exporter-toolkit has them, up to
 * its version 0.15. Some configurations that exporter-toolkit accepts without effect are errors
 * here, because they would leave a node unprotected: TLS without a certificate, and client
 * certificates signed by any public CA. Then, the configuration in use, which is read again when
 * its files have changed.
 */
#include "web_config.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>

#include "rna/base/duration.h"
#include "rna/base/file.h"
#include "rna/base/log.h"
#include "rna/base/parse.h"
#include "rna/base/schema.h"
#include "rna/base/words.h"

enum {
	PEM_MAX = 1024 * 1024, /* bytes of a file */
	BURST_MAX = 1000000,
	HEADER_MAX = 1024,  /* bytes */
	ENTRIES_MAX = 1000, /* of a list, and users: each login and each handshake searches them */
	TREE = 8 * 1024,    /* bytes that a common file takes, certificates included */
};

#define INTERVAL_MAX (24 * 3600 * RNA_USEC_PER_SEC)

/* Times of files come by the tick: within it one can change twice and look the same. */
#define TICK RNA_USEC_PER_SEC

/* -- Values ------------------------------------------------------------------------------------ */

static int refuse(struct rna_schema_load *load, const struct rna_schema_row *row, const char *why)
{
	return rna_error_say(&load->error, -EINVAL, "%s: %s", row->key, why);
}

static const struct rna_schema_choice client_auths[] = {
	{"NoClientCert", RNA_WEB_NO_CLIENT_CERT},
	{"RequestClientCert", RNA_WEB_REQUEST_CLIENT_CERT},
	{"RequireAnyClientCert", RNA_WEB_REQUIRE_ANY_CLIENT_CERT},
	{"VerifyClientCertIfGiven", RNA_WEB_VERIFY_CLIENT_CERT_IF_GIVEN},
	{"RequireAndVerifyClientCert", RNA_WEB_REQUIRE_AND_VERIFY_CLIENT_CERT},
	{"RequireClientCert", RNA_WEB_REQUIRE_ANY_CLIENT_CERT}, /* its old name */
	{NULL, 0},
};

static const struct rna_schema_choice versions[] = {
	{"TLS10", RNA_WEB_TLS10},
	{"TLS11", RNA_WEB_TLS11},
	{"TLS12", RNA_WEB_TLS12},
	{"TLS13", RNA_WEB_TLS13},
	{NULL, 0},
};

static const struct rna_schema_choice booleans[] = {{"true", true}, {"false", false}, {NULL, 0}};

static int take_boolean(struct rna_schema_load *load, const struct rna_schema_row *row,
			const char *text, void *field)
{
	int value = 0;
	int ret = rna_schema_choice.take(load, row, text, &value);

	*(bool *)field = value;
	return ret;
}

static const struct rna_schema_type boolean = {.choices = booleans, .take = take_boolean};

/* The value has no effect: the agent supports HTTP/1.1 only, which every client supports. */
static int take_nothing(struct rna_schema_load *load, const struct rna_schema_row *row,
			const char *text, void *field)
{
	bool ignored;

	(void)field;
	return take_boolean(load, row, text, &ignored);
}

static const struct rna_schema_type nothing = {.choices = booleans, .take = take_nothing};

static int take_interval(struct rna_schema_load *load, const struct rna_schema_row *row,
			 const char *text, void *field)
{
	if (strcmp(text, "0") == 0)
		return 0;
	if (rna_duration_parse(text, field) == 0 && *(rna_usec *)field <= INTERVAL_MAX)
		return 0;
	return refuse(load, row,
		      "expected a duration such as 100ms or 1s (at most 24h), or 0 for none");
}

static const struct rna_schema_type interval = {.take = take_interval};

static int take_burst(struct rna_schema_load *load, const struct rna_schema_row *row,
		      const char *text, void *field)
{
	uint64_t number;

	if (rna_parse_u64(text, &number) < 0 || number > BURST_MAX)
		return refuse(load, row, "expected an integer, at most 1000000");
	*(unsigned *)field = (unsigned)number;
	return 0;
}

static const struct rna_schema_type burst = {.take = take_burst};

/* "web.yml:3: rate_limit.burst": the start of later errors. NULL: no memory. */
static const char *place(const struct rna_schema_load *load, const struct rna_schema_row *row)
{
	return rna_arena_printf(load->arena, "%s:%zu: %s", load->path, load->line, row->key);
}

static int take_word(struct rna_schema_load *load, const struct rna_schema_row *row,
		     const char *text, void *entry)
{
	const struct rna_web_word word = {place(load, row), text};

	*(struct rna_web_word *)entry = word;
	return word.where ? 0 : -ENOMEM;
}

static const struct rna_schema_type word = {
	.take = take_word,
	.size = sizeof(struct rna_web_word),
};

/* -- Certificates and keys --------------------------------------------------------------------- */

static int put_pem(struct rna_schema_load *load, const struct rna_schema_row *row, const char *text,
		   struct rna_web_pem *pem)
{
	if (pem->text)
		return refuse(load, row,
			      "is specified twice, inline and as a file; remove one of them");
	pem->where = place(load, row);
	pem->text = rna_arena_strdup(load->arena, text);
	return pem->where && pem->text ? 0 : -ENOMEM;
}

static int take_pem(struct rna_schema_load *load, const struct rna_schema_row *row,
		    const char *text, void *field)
{
	return *text ? put_pem(load, row, text, field) : 0;
}

static const struct rna_schema_type pem = {.take = take_pem};

static int take_pem_file(struct rna_schema_load *load, const struct rna_schema_row *row,
			 const char *name, void *field)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	struct rna_web_options *options = load->object;
	const char *path;

	if (*name == '\0')
		return 0;
	path = rna_file_beside(load->arena, load->path, name);
	if (!path)
		return -ENOMEM;
	options->files[options->file_count++] = path;
	if (rna_file_read(path, PEM_MAX, &text, &load->error) < 0)
		return rna_error_prefix(&load->error, "%s", row->key);
	return put_pem(load, row, text.data ? text.data : "", field);
}

static const struct rna_schema_type pem_file = {.take = take_pem_file};

/* -- Users and headers ------------------------------------------------------------------------- */

/* Mistakes in these, or NULL. A value may be a password, so messages do not repeat it. */

/* A colon ends the user name (RFC 7617), so such a user could not log in. */
static const char *check_user(const char *name, const char *hash)
{
	int cost = rna_web_hash_cost(hash);

	if (strchr(name, ':'))
		return "a user name must not contain a colon";
	if (cost < 0)
		return "not a bcrypt hash, which begins with $2y$ or $2b$; create one with "
		       "`htpasswd -nBC 10 NAME`; if this was a password, change it";
	if (cost > RNA_WEB_COST_MAX)
		return "the cost of this hash makes logins too slow; create one with "
		       "`htpasswd -nBC 10 NAME`";
	return NULL;
}

/* The headers that exporter-toolkit allows, and their values. */
static const char *check_header(const char *name, const char *value)
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

	if (strpbrk(value, "\r\n") || strlen(value) > HEADER_MAX)
		return "a header must be one line of at most 1024 bytes";
	for (size_t i = 0; i < RNA_ARRAY_SIZE(headers); i++) {
		const char *const *values = headers[i].values;

		if (strcmp(headers[i].name, name) != 0)
			continue;
		if (!*values || *value == '\0' || rna_words_have(values, value))
			return NULL;
		return values[1] ? "expected deny or sameorigin" : "expected nosniff";
	}
	return "header not allowed; allowed: Strict-Transport-Security, X-Content-Type-Options, "
	       "X-Frame-Options, X-XSS-Protection and Content-Security-Policy";
}

static int put_pair(struct rna_schema_load *load, const struct rna_schema_row *row,
		    const struct rna_yaml_pair *pair,
		    const char *(*check)(const char *name, const char *value),
		    struct rna_web_pair *entry)
{
	const char *name = pair->key->text, *value = pair->value->text, *why;

	if (!value)
		return rna_schema_fail(load, pair->key->line,
				       "%s.%s: expected a single value, found %s", row->key, name,
				       rna_yaml_kind_name(pair->value));
	why = check(name, value);
	if (why)
		return rna_schema_fail(load, pair->key->line, "%s.%s: %s", row->key, name, why);
	*entry = (struct rna_web_pair){name, value};
	return 0;
}

static int take_user(struct rna_schema_load *load, const struct rna_schema_row *row,
		     const struct rna_yaml_pair *pair, void *entry)
{
	return put_pair(load, row, pair, check_user, entry);
}

static const struct rna_schema_type users = {
	.take_pair = take_user,
	.size = sizeof(struct rna_web_pair),
};

static int take_header(struct rna_schema_load *load, const struct rna_schema_row *row,
		       const struct rna_yaml_pair *pair, void *entry)
{
	return put_pair(load, row, pair, check_header, entry);
}

static const struct rna_schema_type headers = {
	.take_pair = take_header,
	.size = sizeof(struct rna_web_pair),
};

/* -- The table --------------------------------------------------------------------------------- */

#define FIELD(name) offsetof(struct rna_web_options, name)

static const struct rna_schema_row rows[] = {
	{"tls_server_config.cert_file", &pem_file, FIELD(certificate)},
	{"tls_server_config.key_file", &pem_file, FIELD(key)},
	{"tls_server_config.client_ca_file", &pem_file, FIELD(client_ca)},
	{"tls_server_config.cert", &pem, FIELD(certificate)},
	{"tls_server_config.key", &pem, FIELD(key)},
	{"tls_server_config.client_ca", &pem, FIELD(client_ca)},
	{"tls_server_config.client_auth_type", &rna_schema_choice, FIELD(client_auth),
	 .choices = client_auths},
	{"tls_server_config.client_allowed_sans", &word, FIELD(allowed_sans), .most = ENTRIES_MAX},
	{"tls_server_config.min_version", &rna_schema_choice, FIELD(min_version),
	 .choices = versions},
	{"tls_server_config.max_version", &rna_schema_choice, FIELD(max_version),
	 .choices = versions},
	{"tls_server_config.cipher_suites", &word, FIELD(suites), .most = ENTRIES_MAX},
	{"tls_server_config.curve_preferences", &word, FIELD(curves), .most = ENTRIES_MAX},
	{"tls_server_config.prefer_server_cipher_suites", &boolean, FIELD(prefer_server)},
	{"http_server_config.http2", &nothing, 0},
	{"http_server_config.headers", &headers, FIELD(headers), .most = ENTRIES_MAX},
	{"rate_limit.interval", &interval, FIELD(rate_interval)},
	{"rate_limit.burst", &burst, FIELD(rate_burst)},
	{"basic_auth_users", &users, FIELD(users), .most = ENTRIES_MAX},
};

static const struct rna_schema schema = {.count = RNA_ARRAY_SIZE(rows), .rows = rows};

/* -- The whole --------------------------------------------------------------------------------- */

static int say_whole(struct rna_schema_load *load, const char *why)
{
	return rna_error_say(&load->error, -EINVAL, "%s: %s", load->path, why);
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
static int check_tls(struct rna_schema_load *load)
{
	const struct rna_web_options *options = load->object;

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

static int check_together(struct rna_schema_load *load)
{
	const struct rna_web_options *options = load->object;

	if (options->tls && check_tls(load) < 0)
		return -EINVAL;
	if (options->rate_interval > 0 && options->rate_burst == 0)
		return say_whole(
			load,
			"rate_limit: burst 0 would reject every request; set burst to 1 or more");
	return 0;
}

static int read_file(struct rna_schema_load *load)
{
	struct rna_web_options *options = load->object;
	const struct rna_yaml *root = NULL, *tls;
	int status = rna_yaml_read(load->path, load->arena, &root, &load->error);

	if (status < 0)
		return status;
	if (root && !rna_yaml_is_empty(root))
		status = rna_schema_read(load, &schema, "the file", root);
	tls = rna_yaml_get(root, "tls_server_config");
	options->tls = tls && !rna_yaml_is_empty(tls);
	return status < 0 ? status : check_together(load);
}

int rna_web_config_read(const char *path, struct rna_arena *arena, struct rna_web_options *ret,
			struct rna_error *error)
{
	struct rna_schema_load load = {
		.path = path,
		.arena = arena,
		.object = ret,
		.advice = "see docs/web-configuration.md of prometheus/exporter-toolkit",
		.brief = true,
	};

	*ret = (struct rna_web_options){
		.files = {path},
		.file_count = 1,
		.min_version = RNA_WEB_TLS12,
		.max_version = RNA_WEB_TLS13,
		.prefer_server = true,
	};
	return rna_schema_end(&load, read_file(&load), error);
}

/* -- The configuration in use ------------------------------------------------------------------ */

/* What tells one content of a file from another; zeroed while there is none. */
struct stamp {
	dev_t device;
	ino_t inode;
	off_t size;
	struct timespec modified, changed;
};

struct rna_web_use {
	char *path;
	char *paths[RNA_WEB_FILES]; /* that the last attempt read, or wanted to */
	struct stamp stamps[RNA_WEB_FILES];
	rna_usec looked; /* when that was */
	bool unsure;     /* a file was as young as a tick then */
	struct rna_web *web;
	struct rna_error error; /* of the last attempt; its code is 0 where that made web */
	rna_usec loaded;
};

static struct stamp stamp_of(const char *path)
{
	struct stat info;

	if (!path || stat(path, &info) < 0)
		return (struct stamp){0};
	return (struct stamp){info.st_dev, info.st_ino, info.st_size, info.st_mtim, info.st_ctim};
}

static bool same_time(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

static bool same_stamp(const struct stamp *a, const struct stamp *b)
{
	return a->device == b->device && a->inode == b->inode && a->size == b->size &&
	       same_time(&a->modified, &b->modified) && same_time(&a->changed, &b->changed);
}

static bool has_changed(const struct rna_web_use *use)
{
	for (size_t i = 0; i < RNA_WEB_FILES; i++) {
		struct stamp stamp = stamp_of(use->paths[i]);

		if (!same_stamp(&stamp, &use->stamps[i]))
			return true;
	}
	return false;
}

static bool is_young(const struct stamp *stamp, rna_usec now)
{
	return (rna_usec)(stamp->changed.tv_sec + 1) * RNA_USEC_PER_SEC + TICK > now;
}

/* Without memory a file is not looked at again before the next reload. */
static void note_files(struct rna_web_use *use, const struct rna_web_options *options, rna_usec now)
{
	use->looked = now;
	use->unsure = false;
	for (size_t i = 0; i < RNA_WEB_FILES; i++) {
		free(use->paths[i]);
		use->paths[i] = options->files[i] ? strdup(options->files[i]) : NULL;
		use->stamps[i] = stamp_of(use->paths[i]);
		use->unsure |= use->paths[i] && is_young(&use->stamps[i], now);
	}
}

static int load(struct rna_web_use *use, rna_usec now, struct rna_web **ret,
		struct rna_error *error)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(TREE);
	struct rna_web_options options;
	int status;

	if (!arena)
		return rna_error_set(error, -ENOMEM, "%s", use->path);
	status = rna_web_config_read(use->path, arena, &options, error);
	note_files(use, &options, now);
	return status < 0 ? status : rna_web_new(&options, RNA_TAKE(arena), ret, error);
}

/* Whether a listener speaks TLS is decided when it is opened. */
static int check_kind(const struct rna_web_use *use, const struct rna_web *web,
		      struct rna_error *error)
{
	bool tls = rna_web_options(web)->tls;

	if (tls == rna_web_options(use->web)->tls)
		return 0;
	return rna_error_say(error, -EBUSY,
			     "%s: tls_server_config has %s, which takes a reload of the agent "
			     "(SIGHUP)",
			     use->path, tls ? "come" : "gone");
}

static int refresh(struct rna_web_use *use, rna_usec now, struct rna_error *error)
{
	RNA_CLEANUP(rna_web_unref_p) struct rna_web *web = NULL;
	int status;

	status = load(use, now, &web, error);
	if (status >= 0)
		status = check_kind(use, web, error);
	if (status < 0)
		return status;
	(void)rna_web_unref(use->web);
	use->web = RNA_TAKE(web);
	use->loaded = now;
	return 0;
}

struct rna_web *rna_web_use_newest(struct rna_web_use *use, rna_usec now)
{
	struct rna_error error = {0};
	bool changed;

	if (!use)
		return NULL;
	changed = has_changed(use);
	if (!changed && (!use->unsure || rna_usec_since(use->looked, now) < TICK))
		return use->web;
	(void)refresh(use, now, &error); /* error has its code, too */
	if (error.code < 0 && strcmp(error.text, use->error.text) != 0)
		rna_log_error("web configuration not reloaded, the old one stays: %s", error.text);
	else if (error.code == 0 && (changed || use->error.code < 0))
		rna_log_notice("web configuration reloaded: %s", use->path);
	use->error = error;
	return use->web;
}

int rna_web_use_open(const char *path, rna_usec now, struct rna_web_use **ret,
		     struct rna_error *error)
{
	RNA_CLEANUP(rna_web_use_close_p) struct rna_web_use *use = calloc(1, sizeof(*use));
	int status;

	if (!use)
		return rna_error_set(error, -ENOMEM, "%s", path);
	use->path = strdup(path);
	if (!use->path)
		return rna_error_set(error, -ENOMEM, "%s", path);
	status = load(use, now, &use->web, error);
	if (status < 0)
		return status;
	use->loaded = now;
	*ret = RNA_TAKE(use);
	return 0;
}

int rna_web_config_check(const char *path, rna_usec now, struct rna_error *error)
{
	RNA_CLEANUP(rna_web_use_close_p) struct rna_web_use *web = NULL;

	return *path ? rna_web_use_open(path, now, &web, error) : 0;
}

struct rna_web_use *rna_web_use_close(struct rna_web_use *use)
{
	if (!use)
		return NULL;
	for (size_t i = 0; i < RNA_WEB_FILES; i++)
		free(use->paths[i]);
	(void)rna_web_unref(use->web);
	free(use->path);
	free(use);
	return NULL;
}

bool rna_web_use_same_kind(const struct rna_web_use *a, const struct rna_web_use *b)
{
	if (!a || !b)
		return a == b;
	return rna_web_options(a->web)->tls == rna_web_options(b->web)->tls;
}

struct rna_web_status rna_web_use_status(const struct rna_web_use *use)
{
	if (!use)
		return (struct rna_web_status){0};
	return (struct rna_web_status){
		.used = true,
		.ok = use->error.code == 0,
		.loaded = use->loaded,
		.certificate_end = rna_web_certificate_end(use->web),
	};
}
