// SPDX-License-Identifier: Apache-2.0
/*
 * The command chown-state: assigns the state directory to the user of the agent, because the
 * kubelet creates it for root and the Debian package for its own user.
 *
 * Root owns the directory while it is read: so CAP_CHOWN is enough to enter it, and its former
 * owner cannot replace files meanwhile. Links are not followed, and no directory below is entered,
 * because the agent creates none.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "rna/base/cleanup.h"
#include "rna/base/parse.h"

#include "memory/state_directory.h"

#include "commands.h"

static void close_directory(DIR **directory)
{
	if (*directory)
		(void)closedir(*directory);
}

static int read_user(const char *text, uid_t *ret, struct rna_error *error)
{
	uint64_t number;

	if (rna_parse_u64(text, &number) < 0 || number > INT32_MAX)
		return rna_error_say(error, -EINVAL, "chown-state: \"%s\" is not a user ID", text);
	*ret = (uid_t)number;
	return 0;
}

static int give_files(DIR *directory, uid_t user)
{
	const struct dirent *entry;

	while (errno = 0, (entry = readdir(directory))) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (fchownat(dirfd(directory), entry->d_name, user, user, AT_SYMLINK_NOFOLLOW) <
			    0 &&
		    errno != ENOENT)
			return -errno;
	}
	return -errno;
}

static int give(const char *path, uid_t user)
{
	RNA_CLEANUP(close_directory) DIR *directory = NULL;
	int status;

	if (chown(path, 0, 0) < 0)
		return -errno;
	directory = opendir(path);
	if (!directory)
		return -errno;
	status = give_files(directory, user);
	if (status == 0 && fchown(dirfd(directory), user, user) < 0)
		status = -errno;
	return status;
}

int rna_command_chown_state(struct rna_call *call, struct rna_error *error)
{
	const char *path = rna_state_directory(&call->settings, true);
	uid_t user = 0;
	int status;

	if (read_user(call->arguments.operand, &user, error) < 0)
		return RNA_EXIT_USAGE;
	if (!path)
		return rna_error_say(error, -ENOENT, "state.directory is empty");
	status = give(path, user);
	return status < 0 ? rna_error_set(error, status, "%s", path) : RNA_EXIT_SUCCESS;
}
