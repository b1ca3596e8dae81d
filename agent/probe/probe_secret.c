// SPDX-License-Identifier: Apache-2.0
#include "probe_secret.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "rna/base/file.h"

enum {
	SECRET_MIN = 16,
	SECRET_MAX = 4096,
};

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

static int make_key(struct rna_probe_secret *secret, const char *path, struct rna_strbuf *text,
		    struct rna_error *error)
{
	int status;

	while (text->len > 0 &&
	       (text->data[text->len - 1] == '\n' || text->data[text->len - 1] == '\r'))
		text->len--;
	if (text->len < SECRET_MIN)
		return rna_error_say(error, -EINVAL,
				     "probe.secret_file: %s: a secret must have at least %d bytes",
				     path, SECRET_MIN);
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
