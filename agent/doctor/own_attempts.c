// SPDX-License-Identifier: Apache-2.0
/* Attempts on what the agent takes for itself: memory, directories, credentials, a filter. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "rna/kubernetes.h"
#include "rna/prober.h"

#include "loop/seccomp_filter.h"
#include "memory/state_directory.h"
#include "node/node_options.h"
#include "probe/probe_secret.h"

#include "needs.h"

/* -- Memory ------------------------------------------------------------------------------------ */

/* As the child of a self-test does: rna_child_begin(). */
static void raise_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_MEMLOCK, &limit) < 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	(void)setrlimit(RLIMIT_MEMLOCK, &limit); /* up to the hard limit is always allowed */
}

/*
 * Both buffers of a test, and the rings of its queue pairs. mlock(2) and registered memory have the
 * same limit, and CAP_IPC_LOCK lifts both (ib_umem_get() in drivers/infiniband/core/umem.c and
 * can_do_mlock() in mm/mlock.c, Linux 6.1).
 */
int rna_try_locked_memory(const struct rna_need_input *in, struct rna_strbuf *ret,
			  struct rna_error *error)
{
	enum { RINGS = 1 << 20 };
	const size_t size = 2 * (size_t)in->settings->selftest_size + RINGS;
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int status = 0;

	if (memory == MAP_FAILED)
		return rna_error_set(error, -ENOMEM, "memory");
	raise_limit();
	if (mlock(memory, size) < 0)
		status = rna_error_say(error, -EPERM, "%zu KiB cannot be locked: %s", size >> 10,
				       strerror(errno));
	(void)munmap(memory, size);
	if (status == 0)
		rna_strbuf_printf(ret, "%zu KiB can be locked", size >> 10);
	return status;
}

/* -- Directories ------------------------------------------------------------------------------- */

/* Asks only: a file system that is mounted read-only refuses, too (access(2)). */
static int ask_directory(const char *path, struct rna_strbuf *ret, struct rna_error *error)
{
	if (faccessat(AT_FDCWD, path, R_OK | W_OK | X_OK, AT_EACCESS) < 0)
		return rna_error_set(error, -errno, "%s", path);
	rna_strbuf_printf(ret, "files can be made in %s", path);
	return RNA_ATTEMPT_WORKS;
}

/* A directory that does not exist is made by the agent, if it may. */
static int ask_directory_or_above(const char *path, struct rna_strbuf *ret, struct rna_error *error)
{
	const char *slash = strrchr(path, '/');
	RNA_FREE char *above = strndup(path, slash > path ? (size_t)(slash - path) : 1);

	if (!above)
		return rna_error_set(error, -ENOMEM, "%s", path);
	if (access(path, F_OK) == 0 || errno != ENOENT)
		return ask_directory(path, ret, error);
	return ask_directory(above, ret, error) < 0
		       ? rna_error_prefix(error, "%s does not exist and cannot be made", path)
		       : RNA_ATTEMPT_WORKS;
}

int rna_try_state_directory(const struct rna_need_input *in, struct rna_strbuf *ret,
			    struct rna_error *error)
{
	const char *path = rna_state_directory(in->settings, true);

	return path ? ask_directory_or_above(path, ret, error) : RNA_ATTEMPT_NOTHING;
}

int rna_try_control_socket(const struct rna_need_input *in, struct rna_strbuf *ret,
			   struct rna_error *error)
{
	const char *path = in->settings->control_socket, *slash = strrchr(path, '/');
	RNA_FREE char *directory = slash ? strndup(path, (size_t)(slash - path)) : NULL;

	if (!slash)
		return RNA_ATTEMPT_NOTHING;
	if (!directory)
		return rna_error_set(error, -ENOMEM, "%s", path);
	return ask_directory_or_above(*directory ? directory : "/", ret, error);
}

int rna_try_feature_directory(const struct rna_need_input *in, struct rna_strbuf *ret,
			      struct rna_error *error)
{
	return ask_directory(in->settings->kubernetes_nfd_directory, ret, error);
}

/* -- The secret of probes ---------------------------------------------------------------------- */

int rna_try_probe_secret(const struct rna_need_input *in, struct rna_strbuf *ret,
			 struct rna_error *error)
{
	const char *path = in->settings->probe_secret_file;
	struct rna_probe_secret secret;
	int status;

	if (path[0] == '\0') {
		rna_strbuf_puts(ret, "probe.secret_file is not set");
		return RNA_ATTEMPT_NOTHING;
	}
	status = rna_probe_secret_read(&secret, path, error);
	if (status < 0)
		return status;
	rna_probe_secret_clear(&secret);
	rna_strbuf_printf(ret, "%s has a secret", path);
	return RNA_ATTEMPT_WORKS;
}

/* -- The leaves of probes ---------------------------------------------------------------------- */

/* In the order in which they are believed. What a Node or a list has is seen by the agent only. */
int rna_try_probe_leaf(const struct rna_need_input *in, struct rna_strbuf *ret,
		       struct rna_error *error)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	const struct rna_settings *settings = in->settings;
	size_t count = 0;

	while (settings->probe_leaf && settings->probe_leaf[count])
		count++;
	if (count > 0)
		rna_strbuf_printf(ret, "probe.leaf names those of %zu devices", count);
	else if (rna_attempt_umad(&in->attempt, &text, error) == RNA_ATTEMPT_WORKS)
		rna_strbuf_puts(ret, "InfiniBand ports ask their switches by MAD");
	else if (rna_attempt_lldpd(&in->attempt, &text, error) == RNA_ATTEMPT_WORKS)
		rna_strbuf_puts(ret, "lldpd names them");
	else if (settings->probe_leaf_label[0] != '\0' &&
		 (settings->kubernetes_backend & RNA_NODE_BACKEND_BIT(API)))
		rna_strbuf_printf(ret, "the Node's label %s names them, if it is set",
				  settings->probe_leaf_label);
	else if (settings->probe_members_file[0] != '\0')
		rna_strbuf_puts(ret, "the label leaf in probe.members_file names them, if it is "
				     "set");
	else
		return rna_error_say(error, -ENOENT,
				     "neither probe.leaf, InfiniBand, lldpd, a label of the Node "
				     "nor a list of members names them");
	return RNA_ATTEMPT_WORKS;
}

/* -- The priority of the prober ---------------------------------------------------------------- */

int rna_try_probe_priority(const struct rna_need_input *in, struct rna_strbuf *ret,
			   struct rna_error *error)
{
	if (!in->settings->probe_priority) {
		rna_strbuf_puts(ret, "probe.priority is false");
		return RNA_ATTEMPT_NOTHING;
	}
	switch (rna_prober_take_priority()) {
	case RNA_PROBE_PRIORITY_REALTIME:
		rna_strbuf_puts(ret, "the prober may run in real time");
		return RNA_ATTEMPT_WORKS;
	case RNA_PROBE_PRIORITY_NICE:
		rna_strbuf_puts(ret, "the prober may have a nice value of -10, which counts within "
				     "the control group of the agent only");
		return RNA_ATTEMPT_WORKS;
	default:
		return rna_error_say(error, -EPERM,
				     "neither real time nor a nice value of -10 is allowed");
	}
}

/* -- Kubernetes -------------------------------------------------------------------------------- */

int rna_try_api_access(const struct rna_need_input *in, struct rna_strbuf *ret,
		       struct rna_error *error)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(2048);
	const struct rna_node_memory memory = {0};
	const struct rna_kubernetes_options *options =
		arena ? rna_node_options(in->settings, &memory, arena) : NULL;
	int status;

	if (!options)
		return rna_error_set(error, -ENOMEM, "credentials");
	status = rna_kubernetes_check_access(options, error);
	if (status < 0)
		return status;
	if (!rna_kubernetes_node_name(options->node))
		return rna_error_say(error, -EINVAL,
				     "the name of this Node is not known: neither "
				     "kubernetes.node_name nor NODE_NAME is set");
	rna_strbuf_puts(ret, "credentials can be read; the API server was not asked");
	return RNA_ATTEMPT_WORKS;
}

/* -- System calls ------------------------------------------------------------------------------ */

/* The filter stays in this process, which ends after the attempt. */
int rna_try_seccomp(const struct rna_need_input *in, struct rna_strbuf *ret,
		    struct rna_error *error)
{
	if (!rna_seccomp_is_wanted((enum rna_seccomp_mode)in->settings->security_seccomp) &&
	    strcmp(rna_seccomp_state(), "none") != 0) {
		rna_strbuf_puts(ret, "a filter of the container or of the unit is in force");
		return RNA_ATTEMPT_WORKS;
	}
	if (rna_seccomp_install(error) < 0)
		return error->code;
	rna_strbuf_puts(ret, "the filter can be installed");
	return RNA_ATTEMPT_WORKS;
}
