// SPDX-License-Identifier: Apache-2.0
/*
 * The client of options with a URL: the agent of another node, or a Prometheus. What can stand
 * between, such as TLS, a login or a proxy, is named in errors, together with the option that
 * deals with it.
 */
#include <errno.h>
#include <string.h>
#include <sys/resource.h>

#include "rna/base/file.h"
#include "rna/base/words.h"

#include "client.h"

enum {
	FILE_MAX = 1024 * 1024, /* bytes; bundles of authorities have hundreds of KiB */
	REDIRECT = 300,
	CLIENT_ERROR = 400,
	HTTP_FORBIDDEN = 403,
	HTTP_NOT_FOUND = 404,
	FILES_EACH = 3,  /* descriptors of a connection: its own, and two while its name is asked */
	FILES_ELSE = 64, /* of everything else */
};

static const char json_type[] = "application/json", agent_service[] = "an rdma-node-agent";

/* What the options give. Texts are its own. */
struct far {
	const struct rna_client_far *target;
	const char *const *options;
	const char *origin; /* the server's, "https://node17:10879" */
	struct rna_strbuf authorities, certificate, key, password, authorization;
};

static void deinit_far(struct far *far)
{
	rna_strbuf_deinit(&far->authorities);
	rna_strbuf_deinit(&far->certificate);
	rna_strbuf_deinit(&far->key);
	rna_strbuf_deinit(&far->password);
	rna_strbuf_deinit(&far->authorization);
}

/* -- Files ------------------------------------------------------------------------------------- */

static int read_file(const struct far *far, enum rna_option_id id, struct rna_strbuf *ret,
		     struct rna_error *error)
{
	const char *path = far->options[id];

	if (!path)
		return 0;
	if (rna_file_read(path, FILE_MAX, ret, error) < 0)
		return rna_error_prefix(error, "--%s", rna_options[id].name);
	if (ret->len == 0)
		return rna_error_say(error, -ENODATA, "--%s: %s: the file is empty",
				     rna_options[id].name, path);
	return 0;
}

/* Editors and echo put a line end behind a secret. */
static int read_secret(const struct far *far, enum rna_option_id id, struct rna_strbuf *ret,
		       struct rna_error *error)
{
	int status = read_file(far, id, ret, error);

	if (status < 0 || !far->options[id])
		return status;
	while (ret->len > 0 && strchr("\r\n", ret->data[ret->len - 1]))
		ret->data[--ret->len] = '\0';
	if (ret->len == 0 || strpbrk(ret->data, "\r\n") || strlen(ret->data) < ret->len)
		return rna_error_say(error, -EINVAL, "--%s: %s: expected one line",
				     rna_options[id].name, far->options[id]);
	return 0;
}

/* As a header. */
static int read_token(struct far *far, struct rna_error *error)
{
	RNA_STRBUF struct rna_strbuf token = RNA_STRBUF_INIT;
	int status = read_secret(far, RNA_OPTION_TOKEN_FILE, &token, error);

	if (status < 0 || !token.data)
		return status;
	rna_strbuf_printf(&far->authorization, "Authorization: Bearer %s", token.data);
	return rna_strbuf_ok(&far->authorization)
		       ? 0
		       : rna_error_set(error, -ENOMEM, "--%s",
				       rna_options[RNA_OPTION_TOKEN_FILE].name);
}

static int read_files(struct far *far, struct rna_error *error)
{
	int status = read_file(far, RNA_OPTION_CA_FILE, &far->authorities, error);

	if (status == 0)
		status = read_file(far, RNA_OPTION_CERT_FILE, &far->certificate, error);
	if (status == 0)
		status = read_file(far, RNA_OPTION_KEY_FILE, &far->key, error);
	if (status == 0)
		status = read_secret(far, RNA_OPTION_PASSWORD_FILE, &far->password, error);
	return status == 0 ? read_token(far, error) : status;
}

/* -- Errors ------------------------------------------------------------------------------------ */

static bool has_login(const struct far *far)
{
	return far->options[RNA_OPTION_USER] || far->options[RNA_OPTION_TOKEN_FILE];
}

/* Which option helps; the texts are those of libcurl with OpenSSL and GnuTLS. */
static const char *find_hint(const struct far *far, const struct rna_error *error)
{
	const char *text = error->text;

	if (strstr(text, "certificate required") || strstr(text, "bad certificate"))
		return "; it wants a client certificate, see --cert-file and --key-file";
	if (strstr(text, "wrong version number") || strstr(text, "packet length"))
		return "; this port does not speak TLS";
	if (error->code == -EKEYREJECTED && !far->options[RNA_OPTION_CA_FILE])
		return "; see --ca-file";
	if (error->code == -EIO && strncmp(far->origin, "http:", strlen("http:")) == 0)
		return "; this port may want https";
	/* closed in the handshake: how libcurl sees why depends on the moment */
	if (error->code == -EIO && !far->options[RNA_OPTION_CERT_FILE])
		return "; this port may not speak TLS, or may want a client certificate, see "
		       "--cert-file and --key-file";
	return "";
}

static int explain(const struct far *far, struct rna_error *error)
{
	const struct rna_error why = *error;

	return rna_error_say(error, why.code, "%s%s", why.text, find_hint(far, &why));
}

/* Why the reply is of no use. */
static int refuse(const struct far *far, const char *path, const struct rna_https_reply *reply,
		  struct rna_error *error)
{
	const char *origin = far->origin, *text = reply->body.data ? reply->body.data : "";

	if (reply->status == RNA_HTTP_UNAUTHORIZED && !has_login(far))
		return rna_error_say(error, -EPROTO,
				     "%s: requires a login (HTTP status 401); see --user, "
				     "--password-file and --token-file",
				     origin);
	if (reply->status == RNA_HTTP_UNAUTHORIZED || reply->status == HTTP_FORBIDDEN)
		return rna_error_say(error, -EPROTO, "%s: refuses this login (HTTP status %u)",
				     origin, reply->status);
	if (reply->status >= REDIRECT && reply->status < CLIENT_ERROR)
		return rna_error_say(error, -EPROTO,
				     "%s: redirects to another address (HTTP status %u), which the "
				     "command does not follow",
				     origin, reply->status);
	if (reply->status == HTTP_NOT_FOUND)
		return rna_error_say(error, -EPROTO,
				     "%s: there is no %.*s (HTTP status 404): not %s, or an older "
				     "one",
				     origin, (int)strcspn(path, "?"), path, far->target->service);
	return rna_error_say(error, -EPROTO, "%s: HTTP status %u: %.*s", origin, reply->status,
			     RNA_SHOWN(text));
}

/* Another service, or the page of a proxy that asks people to log in. */
static int check_type(const struct far *far, const char *type, const struct rna_https_reply *reply,
		      struct rna_error *error)
{
	if (strncmp(reply->type, type, strlen(type)) == 0)
		return 0;
	return rna_error_say(error, -EPROTO, "%s: not %s: the reply is of type %s instead of %s",
			     far->origin, far->target->service,
			     *reply->type ? reply->type : "unknown", type);
}

/* Prometheus says in JSON why it does not answer a query. */
static bool is_answer(const struct far *far, const struct rna_https_reply *reply)
{
	return reply->status == RNA_HTTP_OK ||
	       (far->target->json_errors && reply->status >= CLIENT_ERROR &&
		strncmp(reply->type, json_type, strlen(json_type)) == 0);
}

/* -- The request ------------------------------------------------------------------------------- */

/* The body of what is no answer is kept for the error. */
static int take(struct rna_https_reply *reply, const char *data, size_t len, void *userdata,
		struct rna_error *error)
{
	const struct far *far = userdata;
	const struct rna_client_far *target = far->target;

	if (is_answer(far, reply) && check_type(far, json_type, reply, NULL) == 0)
		return target->take(data, len, target->userdata, error) < 0
			       ? rna_error_prefix(error, "%s", far->origin)
			       : 0;
	rna_strbuf_add(&reply->body, data, len);
	return rna_strbuf_ok(&reply->body) ? 0 : rna_error_set(error, -ENOMEM, "the reply");
}

static struct rna_https_peer peer_of(const struct far *far)
{
	return (struct rna_https_peer){
		.origin = far->origin,
		.authorities = far->authorities.data,
		.certificate = far->certificate.data,
		.key = far->key.data,
		.user = far->options[RNA_OPTION_USER],
		.password = far->password.data,
		.connect_deadline = RNA_CLIENT_PATIENCE,
		.deadline = far->target->deadline,
		.reply_max = far->target->reply_max,
	};
}

/* 0, or why there is no reply of use; status: of asking. */
static int judge(const struct far *far, const char *path, int status,
		 const struct rna_https_reply *reply, struct rna_error *error)
{
	if (status < 0)
		return explain(far, error);
	if (!is_answer(far, reply))
		return refuse(far, path, reply, error);
	return check_type(far, strstr(path, ".txt") ? "text/plain" : json_type, reply, error);
}

int rna_client_ask_far(const struct rna_client_far *target, const char *path,
		       struct rna_strbuf *ret, struct rna_error *error)
{
	RNA_CLEANUP(deinit_far)
	struct far far = {.target = target, .options = target->options};
	RNA_STRBUF struct rna_strbuf origin = RNA_STRBUF_INIT;
	RNA_HTTPS_REPLY struct rna_https_reply reply = RNA_HTTPS_REPLY_INIT;
	const char *url = target->options[target->url], *headers[] = {NULL, NULL};
	const struct rna_https_request request = {.method = "GET",
						  .path = path,
						  .headers = headers,
						  .compressed = target->compressed,
						  .take = target->take ? take : NULL,
						  .userdata = &far};
	struct rna_https_peer peer;
	size_t len = strlen(url);
	int status;

	while (url[len - 1] == '/')
		len--;
	rna_strbuf_add(&origin, url, len);
	if (!rna_strbuf_ok(&origin))
		return rna_error_set(error, -ENOMEM, "%s", url);
	far.origin = origin.data;
	status = read_files(&far, error);
	if (status < 0)
		return status;
	headers[0] = far.authorization.data;
	peer = peer_of(&far);
	status = judge(&far, path, rna_client_ask(&peer, &request, &reply, error), &reply, error);
	if (status < 0)
		return status;
	*ret = reply.body;
	reply.body = RNA_STRBUF_INIT;
	return 0;
}

int rna_client_get_far(const struct rna_arguments *arguments, const char *path,
		       struct rna_strbuf *ret, struct rna_error *error)
{
	const struct rna_client_far target = {
		.options = arguments->options,
		.url = RNA_OPTION_URL,
		.service = agent_service,
		.deadline = RNA_CLIENT_PATIENCE,
		.reply_max = RNA_CLIENT_REPLY_MAX,
	};

	return rna_client_ask_far(&target, path, ret, error);
}

/* -- Many -------------------------------------------------------------------------------------- */

struct asking {
	const struct rna_client_many *many;
	const char *path;
	struct far far; /* of the one that is asked or judged now */
};

static void set_peer(size_t i, void *userdata, struct rna_https_peer *ret)
{
	struct asking *asking = userdata;

	asking->far.origin = asking->many->origins[i];
	*ret = peer_of(&asking->far);
}

static void judge_one(size_t i, int status, struct rna_https_reply *reply, struct rna_error *error,
		      void *userdata)
{
	struct asking *asking = userdata;
	const struct rna_client_many *many = asking->many;

	asking->far.origin = many->origins[i];
	status = judge(&asking->far, asking->path, status, reply, error);
	many->done(i, status, &reply->body, error, many->userdata);
}

/* Processes start with 1,024 descriptors at most because of select(2), which nothing here uses. */
static size_t find_at_once(void)
{
	struct rlimit limit = {0};
	rlim_t wanted = FILES_EACH * RNA_CLIENT_AT_ONCE + FILES_ELSE;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur >= wanted)
		return RNA_CLIENT_AT_ONCE;
	limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
	(void)setrlimit(RLIMIT_NOFILE, &limit); /* the limit of before is read then */
	(void)getrlimit(RLIMIT_NOFILE, &limit);
	if (limit.rlim_cur >= wanted)
		return RNA_CLIENT_AT_ONCE;
	return limit.rlim_cur < FILES_ELSE + FILES_EACH
		       ? 1
		       : (size_t)(limit.rlim_cur - FILES_ELSE) / FILES_EACH;
}

int rna_client_ask_many(const struct rna_client_many *many, const char *path,
			struct rna_error *error)
{
	const struct rna_client_far target = {
		.options = many->options,
		.service = agent_service,
		.deadline = many->patience,
		.reply_max = many->reply_max,
	};
	struct asking asking = {many, path, {.target = &target, .options = many->options}};
	const char *headers[] = {NULL, NULL};
	const struct rna_https_request request = {.method = "GET",
						  .path = path,
						  .headers = headers};
	const struct rna_https_many requests = {
		.count = many->count,
		.at_once = find_at_once(),
		.until = many->until,
		.request = &request,
		.peer = set_peer,
		.done = judge_one,
		.userdata = &asking,
	};
	int status = read_files(&asking.far, error);

	headers[0] = asking.far.authorization.data;
	if (status == 0)
		status = rna_https_ask_many(&requests, error);
	deinit_far(&asking.far);
	return status;
}
