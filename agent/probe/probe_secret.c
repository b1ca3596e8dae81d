// SPDX-License-Identifier: Apache-2.0
#include "probe_secret.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "rna/base/file.h"

enum {
	SECRET_MAX = 4096,
	/* Of base64, for 32 bytes, without padding. As many hex digits still have 172 bits. */
	FORM_MIN = 43,
	PADDING_MAX = 2,
	/* Of 64 random hex digits so few are different once in 1e19. */
	DIFFERENT_MIN = 8,
};

/* Of base64, of its URL-safe form (RFC 4648, sections 4 and 5), and with them of hexadecimal. */
static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
			       "+/-_";

static int check_mode(const char *path, struct rna_error *error)
{
	struct stat file;

	if (stat(path, &file) == 0 && file.st_mode & S_IRWXO)
		return rna_error_say(error, -EPERM,
				     "probe.secret_file: %s: other users have rights to it (mode "
				     "%04o); take them away: chmod o= %s",
				     path, file.st_mode & 07777, path);
	return 0;
}

static unsigned count_different(const char *text, size_t len)
{
	unsigned count = 0;

	for (size_t i = 0; i < len; i++)
		count += !memchr(text, text[i], i);
	return count;
}

/*
 * /api/v1/probe shows a digest of the secret to everyone, and so does each packet to those who see
 * it. So the secret must not be one that can be guessed: nothing that a person would type.
 */
static bool is_of_form(const struct rna_strbuf *text)
{
	size_t len = strspn(text->data, alphabet), padding = strspn(text->data + len, "=");

	return len >= FORM_MIN && padding <= PADDING_MAX && len + padding == text->len &&
	       count_different(text->data, len) >= DIFFERENT_MIN;
}

static int make_key(struct rna_probe_secret *secret, const char *path, struct rna_strbuf *text,
		    struct rna_error *error)
{
	int status;

	while (text->len > 0 &&
	       (text->data[text->len - 1] == '\n' || text->data[text->len - 1] == '\r'))
		text->data[--text->len] = '\0';
	if (text->len == 0 || !is_of_form(text))
		return rna_error_say(
			error, -EINVAL,
			"probe.secret_file: %s: a secret must be at least 32 random bytes in "
			"hexadecimal or base64; make one: openssl rand -hex 32",
			path);
	status = rna_prober_key(text->data, text->len, secret->key);
	if (status == 0)
		status = rna_prober_key_check(secret->key, secret->check);
	return status < 0 ? rna_error_set(error, status, "cannot make a key of %s", path) : 0;
}

int rna_probe_secret_read(struct rna_probe_secret *secret, const char *path,
			  struct rna_error *error)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	int status;

	rna_probe_secret_clear(secret);
	if (path[0] == '\0')
		return rna_error_say(error, -EINVAL, "probe.secret_file is not set");
	status = check_mode(path, error);
	if (status == 0)
		status = rna_file_read(path, SECRET_MAX, &text, error);
	if (status < 0)
		return status;
	status = make_key(secret, path, &text, error);
	explicit_bzero(text.data, text.len);
	return status;
}

void rna_probe_secret_clear(struct rna_probe_secret *secret)
{
	explicit_bzero(secret, sizeof(*secret));
}
