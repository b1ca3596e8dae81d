// SPDX-License-Identifier: Apache-2.0
/*
 * What other programs answer to commands, and what commands write of it to a terminal: agents of
 * other nodes, their proxies, a Prometheus, an API server. HTTP ends at a double of rna/https.h.
 * The first byte of an input chooses the command, from A on; each reply begins with a line of its
 * own:
 *
 *	= STATUS TYPE	    "= 200 text/plain", and its body up to the next such line
 *
 * Further requests find no connection.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "rna/base/json_document.h"
#include "rna/base/log.h"
#include "rna/base/parse.h"
#include "rna/check.h"

#include "cli/client.h"
#include "cli/trial.h"

#include "fuzz.h"

enum {
	WORDS_MAX = 8,
	SLURM_MAX = 240, /* bytes, as plugin.c has them */
	NPD_MAX = 80,
};

#define URL " --url http://peer:9879"

/* TEXT: JSON of others too, which is passed on as it is. */
enum form { TEXT, DOCUMENT, PLUGIN, SCHEDULER };

static const struct row {
	const char *line;
	enum form form;
	size_t max; /* bytes of the line for a scheduler */
} rows[] = {
	{"events" URL, TEXT},
	{"events --json" URL, TEXT},
	{"probe" URL, TEXT},
	{"probe --wide" URL, TEXT},
	{"probe --json" URL, TEXT},
	{"check" URL, PLUGIN}, /* remedies and runbooks */
	{"check --format slurm" URL, SCHEDULER, SLURM_MAX},
	{"check --format nhc" URL, SCHEDULER, SLURM_MAX},
	{"check --format npd" URL, SCHEDULER, NPD_MAX},
	{"check --json" URL, TEXT},
	{"mesh --prometheus http://prometheus:9090", TEXT},
	{"mesh --json --prometheus http://prometheus:9090", DOCUMENT},
	{"kube agents --root /dev/shm", TEXT},
	{"check --nodes kubernetes", TEXT},
};

static struct {
	struct rna_settings settings;
	int capture; /* what is written */
	const uint8_t *replies;
	size_t left;
	size_t reply_max;
} world = {.capture = -1};

/* -- Doubles ----------------------------------------------------------------------------------- */

struct rna_time __wrap_rna_clock_now(void);
int __wrap_nanosleep(const struct timespec *duration, struct timespec *left);
int __wrap_rna_trial_run(rna_trial *try, void *userdata, rna_usec until, struct rna_strbuf *ret,
			 struct rna_error *error);

/* As the seeds have it: data of an agent must not be old. */
struct rna_time __wrap_rna_clock_now(void)
{
	return (struct rna_time){1000 * RNA_USEC_PER_SEC, 1763716800 * RNA_USEC_PER_SEC};
}

int __wrap_nanosleep(const struct timespec *duration, struct timespec *left)
{
	(void)duration, (void)left;
	return 0;
}

/* Without a process of its own. */
int __wrap_rna_trial_run(rna_trial *try, void *userdata, rna_usec until, struct rna_strbuf *ret,
			 struct rna_error *error)
{
	FUZZ_WANT(until > 0);
	return try(userdata, ret, error);
}

int rna_https_open(const struct rna_https_peer *peer, struct rna_https **ret,
		   struct rna_error *error)
{
	(void)error;
	world.reply_max = peer->reply_max;
	*ret = (struct rna_https *)(void *)&world;
	return 0;
}

struct rna_https *rna_https_close(struct rna_https *https)
{
	(void)https;
	return NULL;
}

/* "= 200 text/plain" */
static void read_head(char *line, struct rna_https_reply *reply)
{
	const char *word = strsep(&line, " ");
	uint64_t status = 0;

	word = line ? strsep(&line, " ") : word;
	(void)rna_parse_leading_u64(word, &status);
	reply->status = (unsigned)(status % 1000);
	(void)snprintf(reply->type, sizeof(reply->type), "%s", line ? line : "");
}

/* Up to the next head, or the end. */
static size_t body_length(const uint8_t *body, size_t left)
{
	const uint8_t *next = left > 0 ? memmem(body, left, "\n= ", 3) : NULL;

	return next ? (size_t)(next - body) : left;
}

int rna_https_ask(struct rna_https *https, const struct rna_https_request *request,
		  struct rna_https_reply *reply, struct rna_error *error)
{
	const uint8_t *body = world.left > 0 ? memchr(world.replies, '\n', world.left) : NULL;
	RNA_FREE char *head = NULL;
	size_t len;

	(void)https;
	FUZZ_WANT(request->path[0] == '/');
	if (!body)
		return rna_error_say(error, -ECONNREFUSED, "http://peer: cannot connect");
	head = fuzz_text(world.replies, (size_t)(body - world.replies));
	read_head(head, reply);
	body++;
	world.left -= (size_t)(body - world.replies);
	len = body_length(body, world.left);
	world.replies = body + len + (len < world.left); /* a line feed is in front of a head */
	world.left -= len + (len < world.left);
	if (len > world.reply_max)
		return rna_error_say(error, -EMSGSIZE, "http://peer: the reply is too long");
	if (request->take && len > 0)
		return request->take(reply, (const char *)body, len, request->userdata, error);
	rna_strbuf_add(&reply->body, body, len);
	return 0;
}

/* One after the other. */
int rna_https_ask_many(const struct rna_https_many *many, struct rna_error *error)
{
	(void)error;
	for (size_t i = 0; i < many->count; i++) {
		RNA_HTTPS_REPLY struct rna_https_reply reply = RNA_HTTPS_REPLY_INIT;
		struct rna_https *https = NULL;
		struct rna_https_peer peer;
		struct rna_error why = {0};
		int status;

		many->peer(i, many->userdata, &peer);
		status = rna_https_open(&peer, &https, &why);
		if (status == 0)
			status = rna_https_ask(https, many->request, &reply, &why);
		many->done(i, status, &reply, &why, many->userdata);
	}
	return 0;
}

/* -- What is written --------------------------------------------------------------------------- */

/* Redirects a descriptor of this process into memory. Returns what it was. */
static int begin_capture(int fd)
{
	int before = dup(fd);

	FUZZ_WANT(before >= 0 && ftruncate(world.capture, 0) == 0);
	FUZZ_WANT(lseek(world.capture, 0, SEEK_SET) == 0 && dup2(world.capture, fd) == fd);
	return before;
}

static void end_capture(int fd, int before, struct rna_strbuf *ret)
{
	struct stat stat;
	char *room;

	FUZZ_WANT(dup2(before, fd) == fd && close(before) == 0);
	FUZZ_WANT(fstat(world.capture, &stat) == 0);
	if (stat.st_size == 0)
		return;
	room = rna_strbuf_reserve(ret, (size_t)stat.st_size);
	FUZZ_WANT(room && pread(world.capture, room, (size_t)stat.st_size, 0) == stat.st_size);
	ret->len = (size_t)stat.st_size;
}

/* The log replaces control characters; bytes that are not UTF-8 it leaves to its reader. */
static void want_log(const struct rna_error *why)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	int before = begin_capture(STDERR_FILENO);

	rna_log_error("%s", why->text);
	end_capture(STDERR_FILENO, before, &text);
	FUZZ_WANT(text.len > 0 && text.data[text.len - 1] == '\n');
	for (size_t i = 0; i + 1 < text.len; i++)
		FUZZ_WANT((unsigned char)text.data[i] >= ' ' && text.data[i] != 0x7f);
}

static size_t count(const struct rna_strbuf *text, char c, size_t len)
{
	size_t ret = 0;

	for (size_t i = 0; i < len; i++)
		ret += text->data[i] == c;
	return ret;
}

/* Most systems show the first line alone, and cut it at "|". */
static void want_plugin(const struct rna_strbuf *text)
{
	const char *end = text->len > 0 ? memchr(text->data, '\n', text->len) : NULL;

	FUZZ_WANT(end && strncmp(text->data, "RDMA ", 5) == 0);
	FUZZ_WANT(count(text, '|', (size_t)(end - text->data)) <= 1);
}

/* One line, which schedulers pass to a shell. */
static void want_line(const struct rna_strbuf *text, size_t max)
{
	FUZZ_WANT(text->len > 0 && text->len <= max + 1);
	FUZZ_WANT(count(text, '\n', text->len) == 1 && text->data[text->len - 1] == '\n');
	FUZZ_WANT(count(text, '\'', text->len) == 0 && count(text, '"', text->len) == 0);
	FUZZ_WANT(count(text, '`', text->len) == 0 && count(text, '\\', text->len) == 0);
}

static void want_output(const struct row *row, const struct rna_strbuf *text, int code)
{
	RNA_CLEANUP(rna_json_free_p) json_t *document = NULL;

	fuzz_want_printable(text->data, text->len);
	if (row->form == PLUGIN)
		want_plugin(text);
	else if (row->form == SCHEDULER)
		want_line(text, row->max);
	else if (row->form == DOCUMENT && code >= 0)
		document = json_loadb(text->data, text->len, 0, NULL);
	FUZZ_WANT(document || row->form != DOCUMENT || code < 0);
}

static bool is_documented(const struct rna_command *command, int code)
{
	const struct rna_exit_meaning *meanings =
		command->exits ? command->exits : rna_exit_meanings;

	for (; meanings->meaning; meanings++)
		if (meanings->code == code)
			return true;
	return false;
}

/* -- The commands ------------------------------------------------------------------------------ */

static void parse(const struct row *row, struct rna_arguments *ret)
{
	static char line[256];
	char *words[WORDS_MAX + 1] = {line}, *rest = line;
	struct rna_error error;
	int count = 1;

	(void)snprintf(line, sizeof(line), "%s", row->line);
	while (rest) {
		FUZZ_WANT(count < WORDS_MAX);
		words[count++] = strsep(&rest, " ");
	}
	FUZZ_WANT(rna_arguments_parse(count, words, ret, &error) == 0);
}

/* As command_line.c does it. */
static int execute(const struct row *row, struct rna_strbuf *ret_text, struct rna_error *error)
{
	struct rna_call call = {.settings = world.settings};
	int before, code;

	parse(row, &call.arguments);
	before = begin_capture(STDOUT_FILENO);
	code = call.arguments.command->execute(&call, error);
	if (code < 0 && call.arguments.command->fail)
		code = call.arguments.command->fail(&call.arguments, error);
	else if (code < 0 && call.arguments.command->failure)
		code = call.arguments.command->failure;
	end_capture(STDOUT_FILENO, before, ret_text);
	FUZZ_WANT(code < 0 || is_documented(call.arguments.command, code));
	return code;
}

static void set(char **setting, const char *value)
{
	free(*setting);
	*setting = strdup(value);
	FUZZ_WANT(*setting);
}

/* Without one, a token of a pod is wanted, and no request is sent. */
static void set_kubeconfig(void)
{
	static const char text[] = "{clusters: [{name: c, cluster: {server: 'https://api:6443'}}], "
				   "users: [{name: u, user: {token: t}}], current-context: x, "
				   "contexts: [{name: x, context: {cluster: c, user: u}}]}";
	int file = memfd_create("kubeconfig", MFD_CLOEXEC);
	char path[64];

	FUZZ_WANT(file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text));
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	set(&world.settings.kubernetes_kubeconfig, path);
}

static void start(void)
{
	world.capture = memfd_create("output", MFD_CLOEXEC);
	FUZZ_WANT(world.capture >= 0 && rna_settings_init(&world.settings) == 0);
	set(&world.settings.probe_members_kubernetes, "monitoring/rdma-node-agent");
	set_kubeconfig();
	rna_log_set_plain();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	const struct row *row =
		&rows[(uint8_t)((size > 0 ? *data : 'A') - 'A') % RNA_ARRAY_SIZE(rows)];
	const uint8_t *first = size > 0 ? memchr(data, '=', size) : NULL;
	struct rna_error error = {0};
	int code;

	if (world.capture < 0)
		start();
	world.replies = first;
	world.left = first ? size - (size_t)(first - data) : 0;
	code = execute(row, &text, &error);
	FUZZ_WANT(code >= 0 || error.code < 0);
	if (error.code < 0)
		want_log(&error);
	want_output(row, &text, error.code);
	return 0;
}
