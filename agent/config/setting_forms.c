// SPDX-License-Identifier: Apache-2.0
#include "setting_forms.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/un.h>

#include "rna/base/parse.h"
#include "rna/kubernetes.h"

#include "baseline/baseline.h"
#include "settings/settings.h"

static bool is_port(const char *text)
{
	uint64_t port;

	return rna_parse_u64(text, &port) == 0 && port >= 1 && port <= UINT16_MAX;
}

static bool is_host(const char *text, size_t len)
{
	char host[INET6_ADDRSTRLEN + 2]; /* and brackets */
	struct in6_addr address;         /* large enough for both */

	if (len == 0)
		return true;
	if (len >= sizeof(host))
		return false;
	memcpy(host, text, len);
	host[len] = '\0';
	if (host[0] != '[')
		return strcmp(host, "localhost") == 0 || inet_pton(AF_INET, host, &address) == 1;
	if (host[len - 1] != ']')
		return false;
	host[len - 1] = '\0';
	return inet_pton(AF_INET6, host + 1, &address) == 1;
}

/* A path, or a name without a file (unix(7), abstract), neither of them empty. */
static bool is_socket_name(const char *text)
{
	return (text[0] == '/' || text[0] == '@') && text[1] != '\0' &&
	       strlen(text) < sizeof(((struct sockaddr_un *)NULL)->sun_path);
}

/* Host names are left out on purpose: looking one up may wait for the network. */
bool rna_listen_address_is_valid(const char *entry)
{
	const char *colon = strrchr(entry, ':');

	if (strncmp(entry, RNA_LISTEN_UNIX, strlen(RNA_LISTEN_UNIX)) == 0)
		return is_socket_name(entry + strlen(RNA_LISTEN_UNIX));
	return colon && is_port(colon + 1) && is_host(entry, (size_t)(colon - entry));
}

bool rna_path_or_none_is_valid(const char *text)
{
	return *text == '/' || *text == '\0';
}

bool rna_path_is_valid(const char *text)
{
	return *text == '/';
}

bool rna_profile_setting_is_valid(const char *text)
{
	return rna_path_or_none_is_valid(text) || strcmp(text, RNA_BASELINE_AUTO) == 0;
}

bool rna_any_text_is_valid(const char *text)
{
	(void)text;
	return true;
}

/* The prefix is part of it: what has none belongs to Kubernetes, as cpu and memory do. */
bool rna_resource_glob_is_valid(const char *entry)
{
	return strchr(entry, '/') && strlen(entry) <= 317 /* 253, a slash and 63 */ &&
	       entry[strcspn(entry, " \t")] == '\0';
}

bool rna_node_label_is_valid(const char *entry)
{
	size_t len = strcspn(entry, "=");
	RNA_FREE char *key = strndup(entry, len);

	if (*entry == '\0')
		return true;
	return key && rna_label_key_check("selftest.node_label", key, NULL) == 0 &&
	       (entry[len] == '\0' || rna_label_value_is_legal(entry + len + 1));
}

bool rna_label_key_is_valid(const char *entry)
{
	return *entry == '\0' || rna_label_key_check("quiesce.node_label", entry, NULL) == 0;
}

bool rna_label_value_is_valid(const char *entry)
{
	return *entry && rna_label_value_is_legal(entry);
}

/* A module's name, which has no other characters in any driver of the kernel. */
bool rna_driver_is_valid(const char *entry)
{
	size_t len = strlen(entry);

	return len > 0 && len < 64 /* MODULE_NAME_LEN */ &&
	       strspn(entry, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") ==
		       len;
}

int rna_taint_check(const char *key, const char *text, struct rna_error *error)
{
	return *text ? rna_label_key_check(key, text, error) : 0;
}

/* A key, or what keys begin with. What is Kubernetes' own is not taken away either. */
int rna_former_name_check(const char *key, const char *entry, struct rna_error *error)
{
	RNA_STRBUF struct rna_strbuf name = RNA_STRBUF_INIT;
	size_t len = strlen(entry);

	rna_strbuf_printf(&name, "%s%s", entry, len > 0 && entry[len - 1] == '/' ? "x" : "");
	if (!rna_strbuf_ok(&name))
		return rna_error_set(error, -ENOMEM, "%s", key);
	return rna_label_key_check(key, name.data, error);
}
