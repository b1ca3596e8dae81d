// SPDX-License-Identifier: Apache-2.0
/*
 * The client, with libcurl. Its symbols are few, and one table names them. HTTP/1.1 only: there is
 * never more than one request at a time.
 */
#include "rna/https.h"

#include <curl/curl.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "rna/base/library.h"

#define LIBRARY "libcurl.so.4" /* the ABI of libcurl since 2006 */

struct library {
	void *handle;
	__typeof__(&curl_easy_init) init;
	__typeof__(&curl_easy_setopt) setopt;
	__typeof__(&curl_easy_perform) perform;
	__typeof__(&curl_easy_getinfo) getinfo;
	__typeof__(&curl_easy_strerror) strerror;
	__typeof__(&curl_easy_cleanup) cleanup;
	__typeof__(&curl_slist_append) append;
	__typeof__(&curl_slist_free_all) free_all;
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
	const struct rna_symbol symbols[] = {
		{"curl_easy_init", &library->init},
		{"curl_easy_setopt", &library->setopt},
		{"curl_easy_perform", &library->perform},
		{"curl_easy_getinfo", &library->getinfo},
		{"curl_easy_strerror", &library->strerror},
		{"curl_easy_cleanup", &library->cleanup},
		{"curl_slist_append", &library->append},
		{"curl_slist_free_all", &library->free_all},
	};
	const char *missing;

	library->handle = rna_library_open(LIBRARY, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE, symbols,
					   RNA_ARRAY_SIZE(symbols), &missing);
	if (!library->handle)
		return rna_error_say(error, -EOPNOTSUPP,
				     "talking HTTP needs " LIBRARY " (package libcurl4)");
	return missing ? rna_error_say(error, -EOPNOTSUPP, LIBRARY " has no %s", missing) : 0;
}

/* -- The reply --------------------------------------------------------------------------------- */

struct sink {
	struct rna_https *https;
	const struct rna_https_request *request;
	struct rna_https_reply *reply;
	size_t len; /* of the body so far */
	int status; /* of taking it */
	struct rna_error *error;
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
	struct sink *sink = userdata;
	const struct rna_https_request *request = sink->request;
	size_t len = size * count;

	if (sink->len == 0)
		fill_reply(sink->https, sink->reply);
	sink->len += len;
	sink->https->too_large = sink->len > sink->https->peer.reply_max;
	if (sink->https->too_large)
		return 0;
	sink->status = request->take ? request->take(sink->reply, data, len, request->userdata,
						     sink->error)
				     : add_to_body(sink->reply, data, len);
	return sink->status < 0 ? 0 : len;
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
	       set_text(https, CURLOPT_USERAGENT, "rdma-node-agent/" RNA_VERSION);
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

static int perform(struct rna_https *https, const struct rna_https_request *request,
		   struct rna_https_reply *reply, struct rna_error *error)
{
	struct sink sink = {https, request, reply, .error = error};
	CURLcode code;

	https->too_large = false;
	*https->why = '\0';
	(void)https->library.setopt(https->curl, CURLOPT_WRITEDATA, &sink);
	code = https->library.perform(https->curl);
	if (request->take && sink.status < 0)
		return sink.status;
	if (code != CURLE_OK)
		return fail(https, code, error);
	fill_reply(https, reply);
	return 0;
}

int rna_https_ask(struct rna_https *https, const struct rna_https_request *request,
		  struct rna_https_reply *reply, struct rna_error *error)
{
	RNA_STRBUF struct rna_strbuf url = RNA_STRBUF_INIT;
	struct curl_slist *headers = NULL;
	int ret = -ENOMEM;

	rna_strbuf_printf(&url, "%s%s", https->peer.origin, request->path);
	reply->body.len = 0;
	if (rna_strbuf_ok(&url) && add_headers(&https->library, request->headers, &headers) &&
	    set_request(https, request, url.data, headers))
		ret = perform(https, request, reply, error);
	else
		(void)rna_error_set(error, ret, "%s", https->peer.origin);
	https->library.free_all(headers);
	return ret;
}
