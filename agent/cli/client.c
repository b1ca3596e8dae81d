// SPDX-License-Identifier: Apache-2.0
#include "client.h"

#include <errno.h>
#include <string.h>

/* Writes the URL for a listening address; an address for all interfaces becomes loopback. */
static void write_origin(const char *address, struct rna_strbuf *out)
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
	rna_strbuf_puts(out, port);
}

int rna_client_ask(const struct rna_https_peer *peer, const struct rna_https_request *request,
		   struct rna_https_reply *reply, struct rna_error *error)
{
	RNA_CLEANUP(rna_https_close_p) struct rna_https *https = NULL;
	int ret;

	ret = rna_https_open(peer, &https, error);
	return ret < 0 ? ret : rna_https_ask(https, request, reply, error);
}

static int judge(const char *address, const struct rna_https_reply *reply, struct rna_error *error)
{
	const char *text = reply->body.data ? reply->body.data : "";

	if (reply->status == RNA_HTTP_OK)
		return 0;
	return rna_error_say(error, -EPROTO, "%s: HTTP status %u: %.*s", address, reply->status,
			     (int)strcspn(text, "\n"), text);
}

static bool is_unix(const char *address)
{
	return strncmp(address, RNA_LISTEN_UNIX, sizeof(RNA_LISTEN_UNIX) - 1) == 0;
}

/* The first; with http.web_config_file, which may require TLS or logins, a unix socket. */
static const char *choose_address(const struct rna_settings *settings)
{
	for (char **address = settings->http_listen; settings->http_web_config_file[0] && *address;
	     address++)
		if (is_unix(*address))
			return *address;
	return settings->http_listen[0];
}

/* A server with TLS closes a connection without it; other errors need no explanation. */
static int explain(const struct rna_settings *settings, const char *address,
		   const struct rna_https_reply *reply, struct rna_error *error)
{
	if (!settings->http_web_config_file[0] || is_unix(address) ||
	    (error->code != -EIO && reply->status != RNA_HTTP_UNAUTHORIZED))
		return error->code;
	return rna_error_say(error, error->code,
			     "%s requires TLS or a login (http.web_config_file); use --url, or add "
			     "unix:/run/rdma-node-agent/http.sock to http.listen",
			     address);
}

static int get_near(const struct rna_settings *settings, const char *path, struct rna_strbuf *ret,
		    struct rna_error *error)
{
	const struct rna_https_request request = {.method = "GET", .path = path};
	RNA_STRBUF struct rna_strbuf origin = RNA_STRBUF_INIT;
	RNA_HTTPS_REPLY struct rna_https_reply reply = RNA_HTTPS_REPLY_INIT;
	const char *address = choose_address(settings);
	struct rna_https_peer peer = {
		.connect_deadline = RNA_CLIENT_PATIENCE,
		.deadline = RNA_CLIENT_PATIENCE,
		.reply_max = RNA_CLIENT_REPLY_MAX,
	};
	int status;

	if (is_unix(address)) {
		peer.unix_socket = address + sizeof(RNA_LISTEN_UNIX) - 1;
		rna_strbuf_puts(&origin, "http://localhost");
	} else {
		write_origin(address, &origin);
	}
	if (!rna_strbuf_ok(&origin))
		return rna_error_set(error, -ENOMEM, "%s", address);
	peer.origin = origin.data;
	status = rna_client_ask(&peer, &request, &reply, error);
	if (status == -ECONNREFUSED)
		return rna_error_say(error, status,
				     "no agent listens on %s; is it running, and with this "
				     "configuration?",
				     address);
	if (status >= 0)
		status = judge(address, &reply, error);
	if (status < 0)
		return explain(settings, address, &reply, error);
	*ret = reply.body;
	reply.body = RNA_STRBUF_INIT;
	return status;
}

int rna_client_get(const struct rna_call *call, const char *path, struct rna_strbuf *ret,
		   struct rna_error *error)
{
	if (call->arguments.options[RNA_OPTION_URL])
		return rna_client_get_far(&call->arguments, path, ret, error);
	return get_near(&call->settings, path, ret, error);
}
