// SPDX-License-Identifier: Apache-2.0
/*
 * The syntax that Kubernetes accepts for keys and values of labels, and NFD for a line of its
 * files. Source: k8s.io/apimachinery/pkg/util/validation: IsQualifiedName, IsValidLabelValue.
 */
#include "rna/model/label.h"

#include <errno.h>
#include <string.h>

/* As in the C locale, independent of the process's locale. */
static bool is_alnum(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static bool is_lower_alnum(char c)
{
	return is_alnum(c) && !(c >= 'A' && c <= 'Z');
}

/* Allowed except at both ends. */
static bool is_inner(char c)
{
	return c == '-' || c == '_' || c == '.';
}

/* Checks len bytes of a name or of a non-empty value. */
static bool is_name(const char *text, size_t len)
{
	if (len == 0 || len > RNA_LABEL_NAME_MAX || !is_alnum(text[0]) || !is_alnum(text[len - 1]))
		return false;
	return !RNA_ANY(i, len, !is_alnum(text[i]) && !is_inner(text[i]));
}

bool rna_label_value_is_legal(const char *text)
{
	return *text == '\0' || is_name(text, strlen(text));
}

bool rna_label_value_make(const char *text, char ret[RNA_LABEL_NAME_MAX + 1])
{
	size_t len = 0;

	for (; *text && len < RNA_LABEL_NAME_MAX; text++) {
		if (is_alnum(*text) || (len > 0 && is_inner(*text)))
			ret[len++] = *text;
		else if (len > 0 && ret[len - 1] != '-') /* one "-" for several characters */
			ret[len++] = '-';
	}
	while (len > 0 && !is_alnum(ret[len - 1]))
		len--;
	ret[len] = '\0';
	return len > 0;
}

/* One part of a DNS subdomain (RFC 1123). */
static bool is_dns_label(const char *text, size_t len)
{
	if (len == 0 || len > RNA_LABEL_NAME_MAX || text[0] == '-' || text[len - 1] == '-')
		return false;
	return !RNA_ANY(i, len, !is_lower_alnum(text[i]) && text[i] != '-');
}

static bool is_subdomain(const char *text, size_t len)
{
	if (len > RNA_LABEL_PREFIX_MAX)
		return false;
	for (;;) {
		const char *dot = memchr(text, '.', len);
		size_t part = dot ? (size_t)(dot - text) : len;

		if (!is_dns_label(text, part))
			return false;
		if (!dot)
			return true;
		text += part + 1;
		len -= part + 1;
	}
}

/* Is domain the prefix, or does it end in "." and domain? */
static bool is_below(const char *prefix, size_t len, const char *domain)
{
	size_t size = strlen(domain);

	return len >= size && memcmp(prefix + len - size, domain, size) == 0 &&
	       (len == size || prefix[len - size - 1] == '.');
}

static int check_prefix(const char *setting, const char *prefix, size_t len,
			struct rna_error *error)
{
	if (!is_subdomain(prefix, len))
		return rna_error_say(error, -EINVAL,
				     "%s: \"%.*s\" is not a valid label prefix: it must be a DNS "
				     "subdomain such as rdma-node-agent or rdma.example.com",
				     setting,
				     (int)(len < RNA_LABEL_PREFIX_MAX ? len : RNA_LABEL_PREFIX_MAX),
				     prefix);
	if (is_below(prefix, len, "kubernetes.io") || is_below(prefix, len, "k8s.io"))
		return rna_error_say(
			error, -EINVAL,
			"%s: \"%.*s\" is reserved for Kubernetes; use a domain of your own",
			setting, (int)len, prefix);
	return 0;
}

int rna_label_key_check(const char *setting, const char *key, struct rna_error *error)
{
	const char *slash = strchr(key, '/');

	if (!slash || !is_name(slash + 1, strlen(slash + 1)))
		return rna_error_say(
			error, -EINVAL,
			"%s: \"%.300s\" is not a valid key: it must be a DNS subdomain, a slash "
			"and a name, such as network.nvidia.com/roce",
			setting, key);
	return check_prefix(setting, key, (size_t)(slash - key), error);
}

size_t rna_label_prefix_len(const char *prefix)
{
	size_t len = strlen(prefix);

	return len > 0 && prefix[len - 1] == '/' ? len - 1 : len;
}

int rna_label_prefix_check(const char *setting, const char *prefix, struct rna_error *error)
{
	return check_prefix(setting, prefix, rna_label_prefix_len(prefix), error);
}

int rna_label_value_check(const char *setting, const char *value, struct rna_error *error)
{
	if (*value && rna_label_value_is_legal(value))
		return 0;
	return rna_error_say(error, -EINVAL,
			     "%s: \"%.100s\" is not a valid label value: it must be up to 63 "
			     "letters, digits, '-', '_' and '.', with a letter or digit at both "
			     "ends",
			     setting, value);
}
