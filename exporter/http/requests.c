// SPDX-License-Identifier: Apache-2.0
#include "requests.h"

#include <errno.h>
#include <strings.h>
#include <systemd/sd-event.h>
#include <time.h>

enum {
	NUMBER_MAX = 24,    /* bytes of one in decimal, with the end */
	COPIED = 32 * 1024, /* bytes at a time by a libmicrohttpd that has to copy a body */
};

/* -- Negotiation ------------------------------------------------------------------------------- */

/*
 * What a client wants to have. Both headers are lists of "thing;name=value;q=0.5, thing, ...". The
 * weights are compared as thousandths, the finest that the RFC allows. What is malformed counts as
 * absent; nothing here can fail, and quoted strings, which no client sends in these headers, are
 * read as they stand.
 */
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

/* -- For http.c, too --------------------------------------------------------------------------- */

rna_usec rna_http_time(const struct rna_http *http)
{
	rna_usec now = 0;

	(void)sd_event_now(http->event, CLOCK_MONOTONIC, &now); /* cannot fail while it runs */
	return now;
}

struct rna_web *rna_http_web(const struct rna_http *http)
{
	return http->source.web ? http->source.web(http->source.userdata) : NULL;
}

struct rna_http_client *rna_http_client_of(struct MHD_Connection *connection)
{
	return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)
		->socket_context;
}

/* -- Libmicrohttpd ----------------------------------------------------------------------------- */

static struct MHD_Response *free_response(struct MHD_Response *response)
{
	if (response)
		MHD_destroy_response(response); /* drops our reference; MHD holds its own */
	return NULL;
}
RNA_DEFINE_CLEANUP(struct MHD_Response, free_response)

static void body_sent(void *body)
{
	(void)rna_body_unref(body);
}

#if MHD_VERSION >= 0x00097302 && !defined(RNA_COPY_BODIES)
static struct MHD_Response *response_of(struct rna_body *body)
{
	return MHD_create_response_from_buffer_with_free_callback_cls(body->len, body->data,
								      body_sent, body);
}
#else
/* For libmicrohttpd 0.9.72, which RHEL 9 has. ./check builds and runs it with RNA_COPY_BODIES. */
static ssize_t copy_body(void *userdata, uint64_t position, char *buffer, size_t room)
{
	const struct rna_body *body = userdata;
	size_t rest = body->len - position;
	size_t count = room < rest ? room : rest;

	memcpy(buffer, body->data + position, count);
	return (ssize_t)count;
}

static struct MHD_Response *response_of(struct rna_body *body)
{
	return MHD_create_response_from_callback(body->len, COPIED, copy_body, body, body_sent);
}
#endif

static const char *header_of(const struct rna_http_client *client, const char *name)
{
	return MHD_lookup_connection_value(client->connection, MHD_HEADER_KIND, name);
}

static const struct rna_web_options *options_of(const struct rna_http *http)
{
	const struct rna_web *web = rna_http_web(http);

	return web ? rna_web_options(web) : NULL;
}

/* What each reply has; a configuration may choose others, or none. */
static void set_headers(const struct rna_web_options *web, struct rna_reply *reply)
{
	rna_reply_set(reply, "Cache-Control", "no-store");
	rna_reply_set(reply, "X-Content-Type-Options", "nosniff");
	rna_reply_set(reply, "X-Frame-Options", "deny");
	rna_reply_set(reply, "Referrer-Policy", "no-referrer");
	/* page and drawings bring their style along and need nothing else from anywhere */
	rna_reply_set(reply, "Content-Security-Policy",
		      "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; "
		      "form-action 'none'; frame-ancestors 'none'");
	for (size_t i = 0; web && i < web->headers.count; i++)
		rna_reply_set(reply, web->headers.items[i].name, web->headers.items[i].value);
}

/* -- Who may have an answer -------------------------------------------------------------------- */

/* Probes are open: kubelets have no password, and probes disclose nothing. */
static bool is_probe(const char *path)
{
	return strcmp(path, "/healthz") == 0 || strcmp(path, "/readyz") == 0;
}

static bool is_within_rate(struct rna_http *http, const struct rna_web_options *web,
			   rna_usec *ret_wait)
{
	const struct rna_rate_limit limit = {web->rate_interval, web->rate_burst};

	return limit.interval == 0 ||
	       rna_bucket_take(&http->requests, &limit, rna_http_time(http), ret_wait);
}

static enum rna_login ask_login(struct rna_http_client *client, const struct rna_web_options *web,
				rna_usec *ret_wait)
{
	struct rna_http *http = client->listener->http;
	const struct rna_login_request request = {
		.users = &web->users,
		.authorization = header_of(client, MHD_HTTP_HEADER_AUTHORIZATION),
		.address = client->address,
		.proof = &client->proof,
		.who = client,
	};

	return rna_logins_ask(http->logins, &request, rna_http_time(http), ret_wait);
}

/* Of a request; *ret_wait: with LIMITED, when to come again. */
static enum rna_login admit(struct rna_http_client *client, const struct rna_web_options *web,
			    const char *path, rna_usec *ret_wait)
{
	enum rna_login known = client->login;

	client->login = RNA_LOGIN_PENDING; /* of the next request */
	if (known != RNA_LOGIN_PENDING)
		return known;
	if (!web || client->listener->is_private || is_probe(path))
		return RNA_LOGIN_OK;
	if (!is_within_rate(client->listener->http, web, ret_wait))
		return RNA_LOGIN_LIMITED;
	return web->users.count == 0 ? RNA_LOGIN_OK : ask_login(client, web, ret_wait);
}

static void wait_for_login(struct rna_http_client *client)
{
	struct rna_http *http = client->listener->http;

	client->next = http->waiting;
	http->waiting = client;
	rna_connection_waits(&client->line, rna_http_time(http));
	MHD_suspend_connection(client->connection);
}

/* Its login is known, and is not asked for again. */
static void postpone(struct rna_http_client *client)
{
	struct rna_http *http = client->listener->http;

	client->login = RNA_LOGIN_OK;
	client->again = true;
	client->next = http->postponed;
	http->postponed = client;
	rna_connection_waits(&client->line, rna_http_time(http));
	MHD_suspend_connection(client->connection);
}

/* -- Replies ----------------------------------------------------------------------------------- */

static int reply_refused(struct rna_reply *reply)
{
	rna_reply_set(reply, MHD_HTTP_HEADER_WWW_AUTHENTICATE,
		      "Basic realm=\"rdma-node-agent\", charset=\"UTF-8\"");
	return rna_reply_text(reply, MHD_HTTP_UNAUTHORIZED, "unauthorized");
}

static int reply_limited(struct rna_reply *reply, rna_usec wait, char text[NUMBER_MAX])
{
	(void)snprintf(text, NUMBER_MAX, "%u", rna_whole_seconds(wait));
	rna_reply_set(reply, MHD_HTTP_HEADER_RETRY_AFTER, text);
	return rna_reply_text(reply, MHD_HTTP_TOO_MANY_REQUESTS, "too many requests");
}

static int reply_route(struct rna_http_client *client, const char *path, struct rna_reply *reply)
{
	struct rna_http *http = client->listener->http;
	const struct rna_request request = {
		.path = path,
		.format = rna_negotiate_exposition(header_of(client, MHD_HTTP_HEADER_ACCEPT)),
		.gzip = rna_negotiate_gzip(header_of(client, MHD_HTTP_HEADER_ACCEPT_ENCODING)),
		.scraper = &client->line.scraper,
		.again = client->again,
		.now = rna_http_time(http),
	};
	int ret = rna_routes_answer(http->routes, &request, reply);

	if (ret == 0 && reply->status == MHD_HTTP_OK && strcmp(path, "/metrics") == 0 &&
	    client->line.has_slot && client->line.slot.kind < RNA_CLASS_NODE)
		rna_slots_scraped(&http->connections.slots, &client->line.slot.address,
				  request.now);
	return ret;
}

static enum MHD_Result send_reply(struct rna_http_client *client, struct rna_reply *reply)
{
	RNA_CLEANUP(rna_body_unref_p) struct rna_body *body = reply->body;
	RNA_CLEANUP(free_response_p) struct MHD_Response *response = NULL;
	struct rna_http *http = client->listener->http;
	enum MHD_Result ok = MHD_YES;

	client->again = client->waited = false;
	rna_connection_replies(&http->connections, &client->line, body, rna_http_time(http));
	response = response_of(body);
	if (!response)
		return MHD_NO;
	(void)RNA_TAKE(body); /* the response's now */

	for (size_t i = 0; ok == MHD_YES && i < reply->header_count; i++)
		if (*reply->headers[i].value)
			ok = MHD_add_response_header(response, reply->headers[i].name,
						     reply->headers[i].value);
	return ok == MHD_YES ? MHD_queue_response(client->connection, reply->status, response)
			     : MHD_NO;
}

/* Replies to a GET or HEAD, or suspends it. */
static enum MHD_Result reply_to(struct rna_http_client *client, const char *path)
{
	const struct rna_web_options *web = options_of(client->listener->http);
	struct rna_reply reply = {0};
	char text[NUMBER_MAX];
	rna_usec wait = RNA_USEC_PER_SEC; /* unless admit() knows better */
	int ret;

	set_headers(web, &reply);
	switch (admit(client, web, path, &wait)) {
	case RNA_LOGIN_PENDING:
		wait_for_login(client);
		return MHD_YES;
	case RNA_LOGIN_REFUSED:
		ret = reply_refused(&reply);
		break;
	case RNA_LOGIN_LIMITED:
		ret = reply_limited(&reply, wait, text);
		break;
	default:
		ret = reply_route(client, path, &reply);
	}
	if (ret == -EAGAIN) {
		postpone(client);
		return MHD_YES;
	}
	return ret < 0 ? MHD_NO : send_reply(client, &reply);
}

/* Nothing that the client says of itself changes this reply, which has one more header. */
static enum MHD_Result refuse(struct rna_http_client *client, unsigned status, const char *text,
			      const char *name, const char *value)
{
	struct rna_reply reply = {0};

	set_headers(options_of(client->listener->http), &reply);
	rna_reply_set(&reply, name, value);
	return rna_reply_text(&reply, status, text) < 0 ? MHD_NO : send_reply(client, &reply);
}

static enum MHD_Result refuse_bad(struct rna_http_client *client, const char *text)
{
	return refuse(client, MHD_HTTP_BAD_REQUEST, text, MHD_HTTP_HEADER_CONNECTION, "close");
}

/*
 * MHD calls this before it unescapes the target, of which we get a C string: "/metrics%00x" is
 * "/metrics" then, but another path for a proxy that forbids this one.
 */
void *rna_http_look_at_target(void *userdata, const char *target, struct MHD_Connection *connection)
{
	struct rna_http_client *client = rna_http_client_of(connection);

	(void)userdata;
	if (client && target) {
		client->has_nul = strstr(target, "%00");
		client->target_end = target + strlen(target);
	}
	return NULL; /* the state of the first call of answer() */
}

/*
 * A byte that is NUL ends the text as well. Up to 0.9.77 MHD splits the line in its place, so that
 * the version follows the target (parse_initial_message_line()); 1.0 refuses the byte.
 */
static bool has_nul(const struct rna_http_client *client, const char *version)
{
	return client->has_nul || (MHD_VERSION < 0x01000000 && version != client->target_end + 1);
}

/* The headers of a request that tell where it ends. */
struct framing {
	unsigned lengths, encodings;
	bool bad;
};

static enum MHD_Result look_at_header(void *userdata, enum MHD_ValueKind kind, const char *name,
				      const char *value)
{
	struct framing *framing = userdata;

	(void)kind;
	framing->lengths += strcasecmp(name, MHD_HTTP_HEADER_CONTENT_LENGTH) == 0;
	if (strcasecmp(name, MHD_HTTP_HEADER_TRANSFER_ENCODING) == 0) {
		framing->encodings++;
		framing->bad |= !value || strcasecmp(value, "chunked") != 0;
	}
	framing->bad |= strpbrk(name, " \t") != NULL; /* before the colon */
	return MHD_YES;
}

/*
 * Is it clear where the request ends? If a proxy takes another end for it, the rest of the body
 * becomes a request of the next client (RFC 9112, sections 5.1, 6.1 and 6.3). libmicrohttpd refuses
 * only lengths that are no number.
 */
static bool has_clear_end(struct MHD_Connection *connection)
{
	struct framing framing = {0};

	(void)MHD_get_connection_values(connection, MHD_HEADER_KIND, look_at_header, &framing);
	return !framing.bad && framing.lengths + framing.encodings <= 1;
}

/*
 * MHD calls this when the headers are there, then for each piece of a body, and once more at the
 * end, or when the connection was suspended there. GET and HEAD are answered at the end, which
 * leaves the connection fit for the next request; other methods at once, so that clients do
 * not send a body. MHD_NO closes.
 */
enum MHD_Result rna_http_answer(void *userdata, struct MHD_Connection *connection, const char *path,
				const char *method, const char *version, const char *upload,
				size_t *upload_size, void **state)
{
	bool allowed = strcmp(method, MHD_HTTP_METHOD_GET) == 0 ||
		       strcmp(method, MHD_HTTP_METHOD_HEAD) == 0;
	struct rna_http_client *client = rna_http_client_of(connection);
	bool first = !*state;

	(void)upload;
	if (!client || client->line.state == RNA_CONNECTION_CUT)
		return MHD_NO;
	*state = userdata; /* anything but NULL */
	if (first)
		rna_connection_asks(&client->line, rna_http_time(client->listener->http));
	if (first && !has_clear_end(connection))
		return refuse_bad(client, "bad request");
	if (first && has_nul(client, version))
		return refuse_bad(client, "bad request: a NUL in the path or the query");
	if (allowed && (first || *upload_size > 0)) {
		*upload_size = 0;
		return MHD_YES;
	}
	if (!allowed) /* nothing can be changed over HTTP */
		return refuse(client, MHD_HTTP_METHOD_NOT_ALLOWED, "method not allowed",
			      MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	return reply_to(client, rna_negotiate_path(path));
}
