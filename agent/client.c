// SPDX-License-Identifier: Apache-2.0
/*
 * The client, with libcurl. It is loaded when a command needs it and not before: it would double
 * the start of the daemon and take megabytes that the daemon has no use for. The symbols are few,
 * and one table names them.
 */
#include "client.h"

#include <curl/curl.h>
#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#define LIBRARY "libcurl.so.4" /* the ABI of libcurl since 2006 */

enum { PATIENCE_SECONDS = 5, HTTP_OK = 200 };

struct library {
	void *handle;
	__typeof__(&curl_easy_init) init;
	__typeof__(&curl_easy_setopt) setopt;
	__typeof__(&curl_easy_perform) perform;
	__typeof__(&curl_easy_getinfo) getinfo;
	__typeof__(&curl_easy_strerror) strerror;
	__typeof__(&curl_easy_cleanup) cleanup;
};

/* Type checks of curl.h are macros over the names of functions; ours are called as they are. */
#undef curl_easy_setopt
#undef curl_easy_getinfo

static void close_library(struct library *library)
{
	if (library->handle)
		(void)dlclose(library->handle);
}

static int open_library(struct library *library, struct rna_error *error)
{
	const struct {
		const char *name;
		void *place;
	} symbols[] = {
		{"curl_easy_init", &library->init},
		{"curl_easy_setopt", &library->setopt},
		{"curl_easy_perform", &library->perform},
		{"curl_easy_getinfo", &library->getinfo},
		{"curl_easy_strerror", &library->strerror},
		{"curl_easy_cleanup", &library->cleanup},
	};

	library->handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	for (size_t i = 0; library->handle && i < RNA_ARRAY_SIZE(symbols); i++) {
		void *symbol = dlsym(library->handle, symbols[i].name);

		if (!symbol)
			return rna_error_say(error, -EOPNOTSUPP, LIBRARY " has no %s",
					     symbols[i].name);
		memcpy(symbols[i].place, &symbol, sizeof(symbol)); /* dlsym(3) */
	}
	if (library->handle)
		return 0;
	return rna_error_say(error, -EOPNOTSUPP,
			     "asking a running agent needs " LIBRARY " (package libcurl4)");
}

/* -- Where the agent is ------------------------------------------------------------------------ */

/* What a listening address means to a client: all of a machine's addresses are its own one. */
static void write_url(const char *address, const char *path, struct rna_strbuf *out)
{
	const char *port = strrchr(address, ':');
	int host_len = (int)(port - address);

	rna_strbuf_puts(out, "http://");
	if (host_len == 0 || strncmp(address, "0.0.0.0:", 8) == 0)
		rna_strbuf_puts(out, "127.0.0.1");
	else if (strncmp(address, "[::]:", 5) == 0)
		rna_strbuf_puts(out, "[::1]");
	else
		rna_strbuf_printf(out, "%.*s", host_len, address);
	rna_strbuf_printf(out, "%s%s", port, path);
}

static void set_address(const struct library *library, CURL *curl, const char *address,
			const char *path, struct rna_strbuf *url)
{
	static const char prefix[] = RNA_LISTEN_UNIX;
	const char *name = address + sizeof(prefix) - 1;

	if (strncmp(address, prefix, sizeof(prefix) - 1) != 0) {
		write_url(address, path, url);
		return;
	}
	rna_strbuf_printf(url, "http://localhost%s", path);
	if (*name == '@')
		(void)library->setopt(curl, CURLOPT_ABSTRACT_UNIX_SOCKET, name + 1);
	else
		(void)library->setopt(curl, CURLOPT_UNIX_SOCKET_PATH, name);
}

/* -- The request ------------------------------------------------------------------------------- */

static size_t take(char *data, size_t size, size_t count, void *userdata)
{
	struct rna_strbuf *out = userdata;

	rna_strbuf_add(out, data, size * count);
	return rna_strbuf_ok(out) ? size * count : 0;
}

static int fail_request(const struct library *library, CURLcode code, const char *address,
			struct rna_error *error)
{
	if (code == CURLE_COULDNT_CONNECT)
		return rna_error_say(error, -ECONNREFUSED,
				     "no agent listens on %s; is it running, and with this "
				     "configuration?",
				     address);
	return rna_error_say(error, -EIO, "%s: %s", address, library->strerror(code));
}

static int request(const struct library *library, CURL *curl, const char *address,
		   struct rna_strbuf *ret, struct rna_error *error)
{
	long status = 0;
	CURLcode code;

	(void)library->setopt(curl, CURLOPT_PROXY, ""); /* nobody else's business */
	(void)library->setopt(curl, CURLOPT_TIMEOUT, (long)PATIENCE_SECONDS);
	(void)library->setopt(curl, CURLOPT_NOSIGNAL, 1L);
	(void)library->setopt(curl, CURLOPT_WRITEFUNCTION, take);
	(void)library->setopt(curl, CURLOPT_WRITEDATA, ret);
	code = library->perform(curl);
	if (code != CURLE_OK)
		return fail_request(library, code, address, error);
	(void)library->getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
	if (status != HTTP_OK)
		return rna_error_say(error, -EPROTO, "%s answers %ld: %.*s", address, status,
				     (int)strcspn(ret->data ? ret->data : "", "\n"),
				     ret->data ? ret->data : "");
	return 0;
}

int rna_client_get(const struct rna_settings *settings, const char *path, struct rna_strbuf *ret,
		   struct rna_error *error)
{
	RNA_CLEANUP(close_library) struct library library = {0};
	RNA_STRBUF struct rna_strbuf url = RNA_STRBUF_INIT;
	const char *address = settings->http_listen[0];
	int status;
	CURL *curl;

	status = open_library(&library, error);
	if (status < 0)
		return status;
	curl = library.init();
	if (!curl)
		return rna_error_set(error, -ENOMEM, "%s", address);
	set_address(&library, curl, address, path, &url);
	status = -ENOMEM;
	if (rna_strbuf_ok(&url) && library.setopt(curl, CURLOPT_URL, url.data) == CURLE_OK)
		status = request(&library, curl, address, ret, error);
	else
		(void)rna_error_set(error, status, "%s", address);
	library.cleanup(curl);
	return status;
}
