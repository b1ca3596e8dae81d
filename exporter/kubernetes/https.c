// SPDX-License-Identifier: Apache-2.0
/*
 * The client, with libcurl. Its symbols are few, and one table names them. HTTP/1.1 only: there is
 * never more than one request at a time to a server.
 */
#include "rna/https.h"

#include <curl/curl.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "rna/base/library.h"
#include "rna/base/project.h"

#define LIBRARY "libcurl.so.4" /* the ABI of libcurl since 2006 */

enum {
	TURN = 1000, /* milliseconds at most that libcurl waits; it knows its timers */
	STARTS = 16, /* in a turn, so that handshakes under way do not wait for CPU until they fail
		      */
};

/* What it is called here, and there. */
#define FUNCTIONS(DO)                                                                              \
	DO(init, curl_easy_init)                                                                   \
	DO(setopt, curl_easy_setopt)                                                               \
	DO(perform, curl_easy_perform)                                                             \
	DO(getinfo, curl_easy_getinfo)                                                             \
	DO(strerror, curl_easy_strerror)                                                           \
	DO(cleanup, curl_easy_cleanup)                                                             \
	DO(append, curl_slist_append)                                                              \
	DO(free_all, curl_slist_free_all)                                                          \
	DO(multi_init, curl_multi_init)                                                            \
	DO(multi_add, curl_multi_add_handle)                                                       \
	DO(multi_perform, curl_multi_perform)                                                      \
	DO(multi_poll, curl_multi_poll)                                                            \
	DO(multi_read, curl_multi_info_read)                                                       \
	DO(multi_remove, curl_multi_remove_handle)                                                 \
	DO(multi_cleanup, curl_multi_cleanup)
#define MEMBER(member, function) __typeof__(&(function)) member;
#define SYMBOL(member, function) {#function, &library->member},

struct library {
	void *handle;
	FUNCTIONS(MEMBER)
};

struct rna_https {
	struct library library;
	struct rna_https_peer peer;
	CURL *curl;
	char why[CURL_ERROR_SIZE];
	bool too_large; /* the reply, of the request that runs */
};

/* Type checks of <curl.h> are macros over the names of functions; ours are called as they are. */
#undef curl_easy_setopt
#undef curl_easy_getinfo

static void close_library(struct library *library)
{
	if (library->handle)
		(void)dlclose(library->handle);
}

/* It is never unmapped: OpenSSL leaves handlers behind that run when the process ends. */
static int open_library(struct library *library, struct rna_error *error)
{
	const struct rna_symbol symbols[] = {FUNCTIONS(SYMBOL)};
	const char *missing;

	library->handle = rna_library_open(LIBRARY, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE, symbols,
					   RNA_ARRAY_SIZE(symbols), &missing);
	if (!library->handle)
		return rna_error_say(error, -EOPNOTSUPP,
				     "talking HTTP needs " LIBRARY " (package libcurl4)");
	return missing ? rna_error_say(error, -EOPNOTSUPP, LIBRARY " has no %s", missing) : 0;
}

/* -- The reply --------------------------------------------------------------------------------- */

/* A request and its reply. libcurl has the address. */
struct exchange {
	struct rna_https *https;
	const struct rna_https_request *request;
	struct rna_https_reply *reply;
	struct rna_error *error;
	size_t len; /* of the body so far */
	int status; /* of taking it */
	struct curl_slist *headers;
};

/* What is known once the headers are there. */
static void fill_reply(const struct rna_https *https, struct rna_https_reply *reply)
{
	curl_off_t retry_after = 0;
	const char *type = NULL;
	long status = 0;

	(void)https->library.getinfo(https->curl, CURLINFO_RESPONSE_CODE, &status);
	(void)https->library.getinfo(https->curl, CURLINFO_RETRY_AFTER, &retry_after);
	(void)https->library.getinfo(https->curl, CURLINFO_CONTENT_TYPE, &type);
	(void)snprintf(reply->type, sizeof(reply->type), "%s", type ? type : "");
	reply->status = (unsigned)status;
	reply->retry_after = retry_after > 0 ? (rna_usec)retry_after * RNA_USEC_PER_SEC : 0;
}

static int add_to_body(struct rna_https_reply *reply, const char *data, size_t len)
{
	rna_strbuf_add(&reply->body, data, len);
	return rna_strbuf_ok(&reply->body) ? 0 : -ENOMEM;
}

static size_t take(char *data, size_t size, size_t count, void *userdata)
{
	struct exchange *exchange = userdata;
	const struct rna_https_request *request = exchange->request;
	struct rna_https *https = exchange->https;
	size_t len = size * count;

	if (exchange->len == 0)
		fill_reply(https, exchange->reply);
	exchange->len += len;
	https->too_large = exchange->len > https->peer.reply_max;
	if (https->too_large)
		return 0;
	exchange->status = request->take ? request->take(exchange->reply, data, len,
							 request->userdata, exchange->error)
					 : add_to_body(exchange->reply, data, len);
	return exchange->status < 0 ? 0 : len;
}

/* Called about once a second, and whenever something moves. Not 0: stop. */
static int look_for_end(void *userdata, curl_off_t down, curl_off_t down_now, curl_off_t up,
			curl_off_t up_now)
{
	const struct rna_https *https = userdata;

	(void)down, (void)down_now, (void)up, (void)up_now;
	return https->peer.cancel && atomic_load(https->peer.cancel);
}

/* -- Options ----------------------------------------------------------------------------------- */

static bool set_text(struct rna_https *https, CURLoption option, const char *text)
{
	return !text || https->library.setopt(https->curl, option, text) == CURLE_OK;
}

static bool set_pem(struct rna_https *https, CURLoption option, const char *pem)
{
	struct curl_blob blob = {.flags = CURL_BLOB_COPY};

	if (!pem)
		return true;
	blob.data = (void *)(uintptr_t)pem; /* it is only read */
	blob.len = strlen(pem);
	return https->library.setopt(https->curl, option, &blob) == CURLE_OK;
}

static long milliseconds(rna_usec usec)
{
	return (long)(usec / RNA_USEC_PER_MSEC);
}

/* Authorities of our own take the place of the system's, which libcurl would add otherwise. */
static bool set_identities(struct rna_https *https)
{
	const struct rna_https_peer *peer = &https->peer;
	const struct library *library = &https->library;

	if (peer->authorities && (library->setopt(https->curl, CURLOPT_CAINFO, NULL) != CURLE_OK ||
				  library->setopt(https->curl, CURLOPT_CAPATH, NULL) != CURLE_OK))
		return false;
	return set_pem(https, CURLOPT_CAINFO_BLOB, peer->authorities) &&
	       set_pem(https, CURLOPT_SSLCERT_BLOB, peer->certificate) &&
	       set_pem(https, CURLOPT_SSLKEY_BLOB, peer->key);
}

static bool set_peer(struct rna_https *https)
{
	const struct rna_https_peer *peer = &https->peer;
	const struct library *library = &https->library;
	const char *name = peer->unix_socket;
	CURL *curl = https->curl;

	(void)library->setopt(curl, CURLOPT_ERRORBUFFER, https->why);
	(void)library->setopt(curl, CURLOPT_NOSIGNAL, 1L);
	(void)library->setopt(curl, CURLOPT_CONNECTTIMEOUT_MS,
			      milliseconds(peer->connect_deadline));
	(void)library->setopt(curl, CURLOPT_TIMEOUT_MS, milliseconds(peer->deadline));
	(void)library->setopt(curl, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	(void)library->setopt(curl, CURLOPT_WRITEFUNCTION, take);
	(void)library->setopt(curl, CURLOPT_XFERINFOFUNCTION, look_for_end);
	(void)library->setopt(curl, CURLOPT_XFERINFODATA, https);
	(void)library->setopt(curl, CURLOPT_NOPROGRESS, 0L);
	if (name && *name == '@' && !set_text(https, CURLOPT_ABSTRACT_UNIX_SOCKET, name + 1))
		return false;
	if (name && *name != '@' && !set_text(https, CURLOPT_UNIX_SOCKET_PATH, name))
		return false;
	return set_text(https, CURLOPT_PROXY, "") && set_identities(https) &&
	       set_text(https, CURLOPT_USERNAME, peer->user) &&
	       set_text(https, CURLOPT_PASSWORD, peer->password) &&
	       set_text(https, CURLOPT_USERAGENT, RNA_USER_AGENT);
}

int rna_https_open(const struct rna_https_peer *peer, struct rna_https **ret,
		   struct rna_error *error)
{
	RNA_CLEANUP(rna_https_close_p) struct rna_https *https = calloc(1, sizeof(*https));
	int status;

	if (!https)
		return rna_error_set(error, -ENOMEM, "%s", peer->origin);
	https->peer = *peer;
	status = open_library(&https->library, error);
	if (status < 0)
		return status;
	https->curl = https->library.init();
	if (!https->curl)
		return rna_error_set(error, -ENOMEM, "%s", peer->origin);
	if (!set_peer(https))
		return rna_error_say(error, -EOPNOTSUPP,
				     "%s: this libcurl is too old, or has no TLS; 7.77 is wanted",
				     peer->origin);
	*ret = RNA_TAKE(https);
	return 0;
}

struct rna_https *rna_https_close(struct rna_https *https)
{
	if (!https)
		return NULL;
	if (https->curl)
		https->library.cleanup(https->curl);
	close_library(&https->library);
	free(https);
	return NULL;
}

/* -- The request ------------------------------------------------------------------------------- */

static int code_of(const struct rna_https *https, CURLcode code)
{
	switch (code) {
	case CURLE_COULDNT_CONNECT:
	case CURLE_COULDNT_RESOLVE_HOST:
		return -ECONNREFUSED;
	case CURLE_OPERATION_TIMEDOUT:
		return -ETIMEDOUT;
	case CURLE_PEER_FAILED_VERIFICATION:
	case CURLE_SSL_CACERT_BADFILE:
	case CURLE_SSL_CERTPROBLEM:
		return -EKEYREJECTED;
	case CURLE_WRITE_ERROR:
		return https->too_large ? -EMSGSIZE : -ENOMEM;
	case CURLE_OUT_OF_MEMORY:
		return -ENOMEM;
	case CURLE_ABORTED_BY_CALLBACK:
		return -ECANCELED;
	default:
		return -EIO;
	}
}

static int fail(const struct rna_https *https, CURLcode code, struct rna_error *error)
{
	int ret = code_of(https, code);

	if (ret == -EMSGSIZE)
		return rna_error_say(error, ret, "%s: the reply has more than %zu KiB",
				     https->peer.origin, https->peer.reply_max / 1024);
	return rna_error_say(error, ret, "%s: %s", https->peer.origin,
			     *https->why ? https->why : https->library.strerror(code));
}

static bool add_headers(const struct library *library, const char *const *headers,
			struct curl_slist **list)
{
	for (; headers && *headers; headers++) {
		struct curl_slist *longer = library->append(*list, *headers);

		if (!longer)
			return false;
		*list = longer;
	}
	return true;
}

/* What one request leaves behind in the handle, the next one sets anew. */
static bool set_request(struct rna_https *https, const struct rna_https_request *request,
			const char *url, const struct curl_slist *headers)
{
	const struct library *library = &https->library;
	CURL *curl = https->curl;

	if (request->body) {
		(void)library->setopt(curl, CURLOPT_POST, 1L);
		(void)library->setopt(curl, CURLOPT_POSTFIELDSIZE, (long)strlen(request->body));
		(void)library->setopt(curl, CURLOPT_POSTFIELDS, request->body); /* not copied */
	} else {
		(void)library->setopt(curl, CURLOPT_HTTPGET, 1L);
	}
	/* An empty text stands for each form that this libcurl can read. */
	if (library->setopt(curl, CURLOPT_ACCEPT_ENCODING, request->compressed ? "" : NULL) !=
	    CURLE_OK)
		return false;
	return set_text(https, CURLOPT_URL, url) &&
	       set_text(https, CURLOPT_CUSTOMREQUEST, request->method) &&
	       library->setopt(curl, CURLOPT_HTTPHEADER, headers) == CURLE_OK;
}

/* Hands the request to libcurl, which sends it when it performs. 0, or -ENOMEM with error. */
static int begin(struct exchange *exchange)
{
	RNA_STRBUF struct rna_strbuf url = RNA_STRBUF_INIT;
	const struct rna_https_request *request = exchange->request;
	struct rna_https *https = exchange->https;

	rna_strbuf_printf(&url, "%s%s", https->peer.origin, request->path);
	exchange->reply->body.len = 0;
	https->too_large = false;
	*https->why = '\0';
	(void)https->library.setopt(https->curl, CURLOPT_WRITEDATA, exchange);
	if (rna_strbuf_ok(&url) &&
	    add_headers(&https->library, request->headers, &exchange->headers) &&
	    set_request(https, request, url.data, exchange->headers))
		return 0;
	return rna_error_set(exchange->error, -ENOMEM, "%s", https->peer.origin);
}

/* As rna_https_ask(). */
static int end(struct exchange *exchange, CURLcode code)
{
	if (exchange->request->take && exchange->status < 0)
		return exchange->status;
	if (code != CURLE_OK)
		return fail(exchange->https, code, exchange->error);
	fill_reply(exchange->https, exchange->reply);
	return 0;
}

int rna_https_ask(struct rna_https *https, const struct rna_https_request *request,
		  struct rna_https_reply *reply, struct rna_error *error)
{
	struct exchange exchange = {https, request, reply, error};
	int ret = begin(&exchange);

	if (ret == 0)
		ret = end(&exchange, https->library.perform(https->curl));
	https->library.free_all(exchange.headers);
	return ret;
}

/* -- Many at once ------------------------------------------------------------------------------ */

/* One of those that run. */
struct one {
	size_t number;
	struct rna_https *https; /* NULL: none runs here */
	struct rna_https_reply reply;
	struct rna_error error;
	struct exchange exchange;
};

struct many {
	const struct rna_https_many *options;
	struct library library;
	CURLM *multi;
	struct one *ones; /* at_once of them */
	size_t next, running;
};

static void deinit_one(struct one *one)
{
	if (one->https)
		one->https->library.free_all(one->exchange.headers);
	one->https = rna_https_close(one->https);
	rna_https_reply_deinit(&one->reply);
}

static void deinit_many(struct many *many)
{
	for (size_t i = 0; many->ones && i < many->options->at_once; i++) {
		if (many->ones[i].https)
			(void)many->library.multi_remove(many->multi, many->ones[i].https->curl);
		deinit_one(&many->ones[i]);
	}
	free(many->ones);
	if (many->multi)
		(void)many->library.multi_cleanup(many->multi);
	close_library(&many->library);
}

/*
 * The connection is not kept, because no second request follows. A host whose name server does not
 * answer must not hold up the others, as it does before libcurl 7.87.
 */
static void set_alone(struct one *one)
{
	const struct rna_https *https = one->https;

	(void)https->library.setopt(https->curl, CURLOPT_PRIVATE, one);
	(void)https->library.setopt(https->curl, CURLOPT_FORBID_REUSE, 1L);
#if LIBCURL_VERSION_NUM >= 0x075700
	(void)https->library.setopt(https->curl, CURLOPT_QUICK_EXIT, 1L);
#endif
}

/* Gives the next one to libcurl. 0, or negative errno with its error. */
static int start(struct many *many, struct one *one)
{
	const struct rna_https_many *options = many->options;
	rna_usec now = rna_clock_monotonic();
	struct rna_https_peer peer;
	int status;

	*one = (struct one){.number = many->next++};
	options->peer(one->number, options->userdata, &peer);
	if (options->until > 0 && now + RNA_USEC_PER_MSEC > options->until)
		return rna_error_say(&one->error, -ETIMEDOUT, "%s: not asked before the deadline",
				     peer.origin);
	if (options->until > 0 && options->until - now < peer.deadline)
		peer.deadline = options->until - now;
	status = rna_https_open(&peer, &one->https, &one->error);
	if (status < 0)
		return status;
	set_alone(one);
	one->exchange = (struct exchange){one->https, options->request, &one->reply, &one->error};
	status = begin(&one->exchange);
	if (status == 0 && many->library.multi_add(many->multi, one->https->curl) != CURLM_OK)
		status = rna_error_set(&one->error, -ENOMEM, "%s", peer.origin);
	return status;
}

static void finish(const struct many *many, struct one *one, int status)
{
	const struct rna_https_many *options = many->options;

	options->done(one->number, status, &one->reply, &one->error, options->userdata);
	deinit_one(one);
}

/* one is free. */
static void start_next(struct many *many, struct one *one)
{
	while (many->next < many->options->count) {
		int status = start(many, one);

		if (status == 0) {
			many->running++;
			return;
		}
		finish(many, one, status);
	}
}

static void start_some(struct many *many)
{
	size_t started = 0;

	for (size_t i = 0; i < many->options->at_once && started < STARTS; i++)
		if (!many->ones[i].https) {
			start_next(many, &many->ones[i]);
			started++;
		}
}

static void take_finished(struct many *many)
{
	const CURLMsg *message;
	int left;

	while ((message = many->library.multi_read(many->multi, &left))) {
		CURLcode code = message->data.result; /* the message ends with its handle */
		struct one *one = NULL;

		(void)many->library.getinfo(message->easy_handle, CURLINFO_PRIVATE, &one);
		(void)many->library.multi_remove(many->multi, one->https->curl);
		many->running--;
		finish(many, one, end(&one->exchange, code));
	}
}

static int find_wait(const struct many *many)
{
	return many->next < many->options->count && many->running < many->options->at_once ? 0
											   : TURN;
}

int rna_https_ask_many(const struct rna_https_many *options, struct rna_error *error)
{
	RNA_CLEANUP(deinit_many) struct many many = {.options = options};
	CURLMcode code = CURLM_OK;
	int status = open_library(&many.library, error), still;

	if (status < 0)
		return status;
	many.multi = many.library.multi_init();
	many.ones = calloc(options->at_once, sizeof(*many.ones));
	if (!many.multi || !many.ones)
		return rna_error_set(error, -ENOMEM, "cannot send requests");
	while (code == CURLM_OK && (many.running > 0 || many.next < options->count)) {
		start_some(&many);
		code = many.library.multi_perform(many.multi, &still);
		take_finished(&many);
		if (code == CURLM_OK && many.running > 0)
			code = many.library.multi_poll(many.multi, NULL, 0, find_wait(&many), NULL);
	}
	return code == CURLM_OK ? 0 : rna_error_set(error, -ENOMEM, "cannot send requests");
}
