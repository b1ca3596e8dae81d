// SPDX-License-Identifier: Apache-2.0
#include "access.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "rna/base/file.h"
#include "rna/base/hash.h"
#include "rna/base/secret.h"
#include "rna/base/yaml.h"

enum {
	TOKEN_MAX = 64 * 1024,
	PEM_MAX = 1024 * 1024, /* a bundle of authorities has some 200 KiB */
};

struct reading {
	struct rna_arena *arena;
	struct rna_error *error;
	const char *path; /* of the kubeconfig */
};

static bool is_given(const char *text)
{
	return text && *text;
}

static int fail_memory(const struct reading *reading)
{
	return rna_error_set(reading->error, -ENOMEM, "cannot read the credentials for Kubernetes");
}

/* -- Files ------------------------------------------------------------------------------------- */

static int read_text(const struct reading *reading, const char *path, size_t max, const char **ret)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	int status;

	status = rna_file_read(path, max, &text, reading->error);
	if (status < 0)
		return status;
	*ret = rna_arena_strdup(reading->arena, text.data ? text.data : "");
	return *ret ? 0 : fail_memory(reading);
}

static int check_pem(const struct reading *reading, const char *where, const char *text)
{
	if (strstr(text, "-----BEGIN "))
		return 0;
	return rna_error_say(reading->error, -EINVAL, "%s: contains no PEM data", where);
}

static int read_pem(const struct reading *reading, const char *path, const char **ret)
{
	int status = read_text(reading, path, PEM_MAX, ret);

	return status < 0 ? status : check_pem(reading, path, *ret);
}

/*
 * A token becomes part of a header: spaces at its end come from an editor, others would start
 * another header. An empty one would make us anonymous, and all answers 403.
 */
static int set_token(const struct reading *reading, const char *where, const char *text,
		     const char **ret)
{
	char *token = rna_arena_strdup(reading->arena, text);
	size_t len;

	if (!token)
		return fail_memory(reading);
	len = strlen(token);
	while (len > 0 && isspace((unsigned char)token[len - 1]))
		token[--len] = '\0';
	for (size_t i = 0; i < len; i++)
		if (!isgraph((unsigned char)token[i]))
			len = 0;
	if (len == 0)
		return rna_error_say(reading->error, -EINVAL, "%s: contains no token", where);
	*ret = token;
	return 0;
}

static int read_token(const struct reading *reading, const char *path, const char **ret)
{
	const char *text;
	int status;

	status = read_text(reading, path, TOKEN_MAX, &text);
	return status < 0 ? status : set_token(reading, path, text, ret);
}

/* Tokens and keys go over TLS, or not at all. */
static int set_server(const struct reading *reading, const char *where, const char *server,
		      const char **ret)
{
	char *copy = rna_arena_strdup(reading->arena, server);
	size_t len;

	if (!copy)
		return fail_memory(reading);
	len = strlen(copy);
	while (len > 0 && copy[len - 1] == '/')
		copy[--len] = '\0';
	for (size_t i = 0; i < len; i++)
		if (!isgraph((unsigned char)copy[i]))
			len = 0;
	if (len <= 8 || strncmp(copy, "https://", 8) != 0)
		return rna_error_say(
			reading->error, -EINVAL,
			"%s: the server must have the form https://HOST:PORT, not %.*s", where, 100,
			server);
	*ret = copy;
	return 0;
}

/* -- The service account ----------------------------------------------------------------------- */

static int find_server(const struct reading *reading, const char **ret)
{
	const char *host = getenv("KUBERNETES_SERVICE_HOST");
	const char *port = getenv("KUBERNETES_SERVICE_PORT");
	const char *server;

	if (!is_given(host))
		return rna_error_say(reading->error, -EINVAL,
				     "$KUBERNETES_SERVICE_HOST is not set (not in a pod?); set "
				     "kubernetes.kubeconfig or kubernetes.server");
	server = rna_arena_printf(reading->arena,
				  strchr(host, ':') ? "https://[%s]:%s" : "https://%s:%s", host,
				  is_given(port) ? port : "443");
	return server ? set_server(reading, "$KUBERNETES_SERVICE_HOST", server, ret)
		      : fail_memory(reading);
}

static int read_service_account(const struct reading *reading,
				const struct rna_kubernetes_options *options,
				struct rna_kube_access *ret)
{
	const char *directory =
		is_given(options->service_account) ? options->service_account : RNA_SERVICE_ACCOUNT;
	const char *token = rna_arena_printf(reading->arena, "%s/token", directory);
	const char *authorities = rna_arena_printf(reading->arena, "%s/ca.crt", directory);
	int status = 0;

	if (!token || !authorities)
		return fail_memory(reading);
	if (!ret->server)
		status = find_server(reading, &ret->server);
	if (status >= 0)
		status = read_token(reading, token, &ret->token);
	if (status >= 0)
		status = read_pem(reading, authorities, &ret->authorities);
	return status;
}

/* -- The kubeconfig ---------------------------------------------------------------------------- */

static const char *text_under(const struct rna_yaml *node, const char *key)
{
	const struct rna_yaml *value = rna_yaml_get(node, key);

	return value && is_given(value->text) && !rna_yaml_is_empty(value) ? value->text : NULL;
}

/* In the list of that name, the entry called name, and what is in it: "clusters", "cluster". */
static int find_entry(const struct reading *reading, const struct rna_yaml *root, const char *kind,
		      const char *name, const struct rna_yaml **ret)
{
	RNA_STRBUF struct rna_strbuf list_name = RNA_STRBUF_INIT;
	const struct rna_yaml *list;

	rna_strbuf_printf(&list_name, "%ss", kind);
	if (!rna_strbuf_ok(&list_name))
		return fail_memory(reading);
	list = rna_yaml_get(root, list_name.data);
	for (size_t i = 0; list && list->kind == RNA_YAML_LIST && i < list->count; i++) {
		const struct rna_yaml *entry = list->pairs[i].value;
		const char *its_name = text_under(entry, "name");

		if (!its_name || strcmp(its_name, name) != 0)
			continue;
		*ret = rna_yaml_get(entry, kind);
		if (*ret)
			return 0;
	}
	return rna_error_say(reading->error, -EINVAL, "%s: no %s \"%s\"", reading->path, kind,
			     name);
}

/* Base64 as in kubeconfigs: line breaks are allowed, padding is required, as in client-go. */
static int read_base64(const struct reading *reading, const struct rna_yaml *node, const char *name,
		       const char **ret)
{
	const char *base64 = text_under(node, name);
	size_t size = strlen(base64) + 1; /* more than enough */
	char *text = rna_arena_alloc(reading->arena, size);
	int status = text ? rna_secret_decode(base64, text, size) : -ENOMEM;

	if (status == -ENOMEM)
		return fail_memory(reading);
	if (status < 0)
		return rna_error_say(reading->error, -EINVAL, "%s:%zu: %s is not valid base64",
				     reading->path, rna_yaml_get(node, name)->line, name);
	*ret = text;
	return check_pem(reading, name, text);
}

/* name-data: base64 in place; name: a file. *ret stays NULL when there is neither. */
static int read_either(const struct reading *reading, const struct rna_yaml *node, const char *name,
		       const char **ret)
{
	const char *data_name = rna_arena_printf(reading->arena, "%s-data", name);
	const char *file = text_under(node, name);

	if (!data_name)
		return fail_memory(reading);
	if (text_under(node, data_name))
		return read_base64(reading, node, data_name, ret);
	if (!file)
		return 0;
	file = rna_file_beside(reading->arena, reading->path, file);
	return file ? read_pem(reading, file, ret) : fail_memory(reading);
}

/* What would change whom we talk to, or how, and is not done here: better no access than another.
 */
static int refuse(const struct reading *reading, const struct rna_yaml *node,
		  const char *const *names, const char *instead)
{
	for (; *names; names++) {
		const struct rna_yaml *value = rna_yaml_get(node, *names);

		if (!value || rna_yaml_is_empty(value) ||
		    (value->text && strcmp(value->text, "false") == 0))
			continue;
		return rna_error_say(reading->error, -EOPNOTSUPP, "%s:%zu: %s is not supported; %s",
				     reading->path, value->line, *names, instead);
	}
	return 0;
}

static int read_cluster(const struct reading *reading, const struct rna_yaml *cluster,
			struct rna_kube_access *ret)
{
	static const char *const refused[] = {"insecure-skip-tls-verify", "tls-server-name",
					      "proxy-url", NULL};
	const char *server = text_under(cluster, "server");
	int status;

	status = refuse(reading, cluster, refused,
			"use a server address that its certificate contains, and set "
			"certificate-authority");
	if (status >= 0 && !ret->server)
		status = set_server(reading, reading->path, server ? server : "", &ret->server);
	if (status >= 0)
		status = read_either(reading, cluster, "certificate-authority", &ret->authorities);
	return status;
}

static int read_user(const struct reading *reading, const struct rna_yaml *user,
		     struct rna_kube_access *ret)
{
	static const char *const refused[] = {"exec", "auth-provider", "username", "as", NULL};
	const char *file = text_under(user, "tokenFile"), *token = text_under(user, "token");
	int status;

	status = refuse(
		reading, user, refused,
		"use a token, a tokenFile or a client certificate (the agent runs no programs)");
	if (status >= 0)
		status = read_either(reading, user, "client-certificate", &ret->certificate);
	if (status >= 0)
		status = read_either(reading, user, "client-key", &ret->key);
	if (status < 0)
		return status;
	if (file) {
		file = rna_file_beside(reading->arena, reading->path, file);
		return file ? read_token(reading, file, &ret->token) : fail_memory(reading);
	}
	if (token)
		return set_token(reading, reading->path, token, &ret->token);
	if (!ret->certificate || !ret->key)
		return rna_error_say(
			reading->error, -EINVAL,
			"%s: the user has neither a token nor a client certificate with key",
			reading->path);
	return 0;
}

static int read_kubeconfig(const struct reading *reading, struct rna_kube_access *ret)
{
	const struct rna_yaml *root = NULL, *context, *cluster, *user;
	const char *name;
	int status;

	status = rna_yaml_read(reading->path, reading->arena, &root, reading->error);
	if (status < 0)
		return status;
	name = text_under(root, "current-context");
	if (!name)
		return rna_error_say(reading->error, -EINVAL, "%s: no current-context",
				     reading->path);
	status = find_entry(reading, root, "context", name, &context);
	if (status < 0)
		return status;
	name = text_under(context, "cluster");
	status = find_entry(reading, root, "cluster", name ? name : "", &cluster);
	if (status < 0)
		return status;
	name = text_under(context, "user");
	status = find_entry(reading, root, "user", name ? name : "", &user);
	if (status >= 0)
		status = read_cluster(reading, cluster, ret);
	return status < 0 ? status : read_user(reading, user, ret);
}

int rna_kube_access_read(const struct rna_kubernetes_options *options, struct rna_arena *arena,
			 struct rna_kube_access *ret, struct rna_error *error)
{
	const struct reading reading = {arena, error, options->kubeconfig};
	int status = 0;

	*ret = (struct rna_kube_access){0};
	if (is_given(options->server))
		status = set_server(&reading, "the configuration", options->server, &ret->server);
	if (status < 0)
		return status;
	return is_given(options->kubeconfig) ? read_kubeconfig(&reading, ret)
					     : read_service_account(&reading, options, ret);
}

int rna_kubernetes_check_access(const struct rna_kubernetes_options *options,
				struct rna_error *error)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(8192);
	struct rna_kube_access access;

	return arena ? rna_kube_access_read(options, arena, &access, error)
		     : rna_error_set(error, -ENOMEM, "credentials");
}

const char *rna_kubernetes_node_name(const char *given)
{
	const char *name = is_given(given) ? given : getenv("NODE_NAME");

	return is_given(name) ? name : NULL;
}

static uint64_t hash_text(uint64_t hash, const char *text)
{
	return rna_hash_number(rna_hash_text(hash, text ? text : ""), 0);
}

uint64_t rna_kube_access_stamp(const struct rna_kubernetes_options *options)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(8192);
	uint64_t hash = RNA_HASH_INIT;
	struct rna_kube_access access = {0};
	struct rna_error error = {0};

	if (!arena || rna_kube_access_read(options, arena, &access, &error) < 0)
		return hash_text(hash, error.text);
	hash = hash_text(hash, access.server);
	hash = hash_text(hash, access.authorities);
	hash = hash_text(hash, access.token);
	hash = hash_text(hash, access.certificate);
	return hash_text(hash, access.key);
}
