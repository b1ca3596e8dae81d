// SPDX-License-Identifier: Apache-2.0
/* Attempts on the node: its log, its other processes, files of the kubelet. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "rna/attempts.h"
#include "rna/base/parse.h"
#include "rna/model/users.h"

#include "backend/backends.h"
#include "processes/namespaces.h"

/* -- The log of the kernel --------------------------------------------------------------------- */

static int open_kmsg(const struct rna_attempt *attempt, struct rna_strbuf *ret)
{
	RNA_CLOSE int fd = rna_kmsg_open(attempt->root);

	if (fd >= 0)
		rna_strbuf_puts(ret, "/" RNA_KMSG_PATH " can be opened");
	return fd < 0 ? fd : 0;
}

static bool take_none(void *userdata, struct rna_kmsg_record *record)
{
	(void)userdata;
	(void)record;
	return false;
}

static int read_journal(const struct rna_attempt *attempt, struct rna_strbuf *ret)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(256);
	const struct rna_journal_request request = {
		.root = attempt->root,
		.arena = arena,
		.most = 1,
		.take = take_none,
	};
	struct rna_journal_answer answer = {0};
	int status = arena ? attempt->backends->journal->read(&request, &answer) : -ENOMEM;

	if (status >= 0)
		rna_strbuf_puts(ret, "the journal can be read");
	return status;
}

/* The sources in the order of the collector; one of them is enough. */
int rna_attempt_kernel_log(const struct rna_attempt *attempt, struct rna_strbuf *ret,
			   struct rna_error *error)
{
	bool kmsg = attempt->kernel_log != RNA_KERNEL_LOG_SETTING_JOURNAL;
	bool journal = attempt->kernel_log != RNA_KERNEL_LOG_SETTING_KMSG;
	int first = kmsg ? open_kmsg(attempt, ret) : -ENOENT;
	int second = first < 0 && journal ? read_journal(attempt, ret) : -ENOENT;

	if (first >= 0 || second >= 0)
		return RNA_ATTEMPT_WORKS;
	if (kmsg && journal)
		return rna_error_say(error, first, "/" RNA_KMSG_PATH ": %s, journal: %s",
				     strerror(-first), strerror(-second));
	return rna_error_set(error, kmsg ? first : second, kmsg ? "/" RNA_KMSG_PATH : "journal");
}

/* -- Other processes --------------------------------------------------------------------------- */

int rna_attempt_users(const struct rna_attempt *attempt, struct rna_strbuf *ret,
		      struct rna_error *error)
{
	char text[RNA_ATTRIBUTE_MAX];
	ssize_t len;

	if (rna_is_first_pid_namespace(attempt->root) == 0)
		return rna_error_say(error, -ESRCH,
				     "this PID namespace is not the node's: processes of the node "
				     "are not in it");
	len = rna_root_read(attempt->root, "proc/1/cgroup", text, sizeof(text));
	if (len < 0)
		return rna_error_set(error, (int)len, "/proc/1/cgroup");
	rna_strbuf_puts(ret, "control groups of other processes can be read");
	return RNA_ATTEMPT_WORKS;
}

/*
 * Looks at all processes, as presence does. Single ones may be closed although the right is there,
 * by a security module: what counts is whether most are.
 */
int rna_attempt_namespaces(const struct rna_attempt *attempt, struct rna_strbuf *ret,
			   struct rna_error *error)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(64 * 1024);
	struct rna_devices_elsewhere elsewhere = {0};
	const struct rna_follow_reach *reach = &elsewhere.reach;
	int status =
		arena ? rna_list_devices_elsewhere(attempt->root, NULL, 0, NULL, arena, &elsewhere)
		      : -ENOMEM;

	if (status < 0)
		return rna_error_set(error, status, "processes");
	if (reach->own_namespace)
		return rna_error_say(error, -ESRCH,
				     "this PID namespace is not the node's: processes of pods are "
				     "not in it");
	if (reach->hidden)
		return rna_error_say(
			error, -EACCES,
			"/proc hides processes of others (hidepid), and CAP_SYS_PTRACE "
			"is missing");
	if (reach->refused > reach->opened)
		return rna_error_say(error, -EACCES,
				     "%zu of %zu processes are closed to it, for lack of "
				     "CAP_SYS_PTRACE or by a security module",
				     reach->refused, reach->opened + reach->refused);
	rna_strbuf_printf(ret, "%zu of %zu processes are open to it", reach->opened,
			  reach->opened + reach->refused);
	return RNA_ATTEMPT_WORKS;
}

/* -- The kubelet ------------------------------------------------------------------------------- */

static int list(const struct rna_attempt *attempt, const char *path, struct rna_arena *arena)
{
	char **names;
	ssize_t count = rna_root_list(attempt->root, path, arena, &names);

	return count < 0 ? (int)count : 0;
}

int rna_attempt_pod_names(const struct rna_attempt *attempt, struct rna_strbuf *ret,
			  struct rna_error *error)
{
	static const char *const places[] = {"var/log/containers", "var/log/pods"};
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(4096);
	int status = -ENOENT, refused = 0;

	if (!arena)
		return rna_error_set(error, -ENOMEM, "names of pods");
	for (size_t i = 0; i < RNA_ARRAY_SIZE(places); i++) {
		status = list(attempt, places[i], arena);
		if (status == 0) {
			rna_strbuf_printf(ret, "/%s can be listed", places[i]);
			return RNA_ATTEMPT_WORKS;
		}
		refused = status != -ENOENT ? status : refused;
	}
	if (refused < 0)
		return rna_error_set(error, refused, "/%s and /%s", places[0], places[1]);
	rna_strbuf_puts(ret, "no kubelet has named its logs here");
	return RNA_ATTEMPT_NOTHING;
}

int rna_attempt_pod_resources(const struct rna_attempt *attempt, struct rna_strbuf *ret,
			      struct rna_error *error)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(4096);
	struct rna_pod_resources resources;
	int status = arena ? rna_read_pod_resources(attempt->root, arena, &resources) : -ENOMEM;

	if (status == -ENOENT) {
		rna_strbuf_puts(ret, "no checkpoint of a kubelet is here");
		return RNA_ATTEMPT_NOTHING;
	}
	if (status < 0)
		return rna_error_set(error, status, "the checkpoint of the kubelet");
	rna_strbuf_printf(ret, "the checkpoint of the kubelet lists %zu resources",
			  resources.count);
	return RNA_ATTEMPT_WORKS;
}
