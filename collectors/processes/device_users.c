// SPDX-License-Identifier: Apache-2.0
#include "device_users.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rna/base/parse.h"
#include "rna/base/root.h"

#include "parse/cgroup.h"

/*
 * Files that the kubelet names after containers and pods: POD_NAMESPACE_CONTAINER-ID.log
 * (legacyLogSymlink()) and NAMESPACE_POD_UID (BuildPodLogsDirectory(), both in
 * pkg/kubelet/kuberuntime). Names of objects have no underscore. Only root can list the second.
 */
#define CONTAINER_LOGS "var/log/containers"
#define POD_LOGS       "var/log/pods"

enum {
	CGROUP_MAX = 16 * 1024, /* cgroup v1 has a line for each controller */
	STATUS_MAX = 4096,
};

struct run {
	const struct rna_root *root;
	const struct rna_users *before;
	struct rna_context_list contexts;
	struct rna_arena *scratch;
	struct rna_user *users; /* as many as contexts at most */
	size_t user_count;
	char *text; /* CGROUP_MAX */
	/* Listed once: */
	bool listed;
	char **container_logs, **pod_logs;
	ssize_t container_log_count, pod_log_count;
};

/* -- Names of pods ----------------------------------------------------------------------------- */

static void list_logs(struct run *run)
{
	if (run->listed)
		return;
	run->listed = true;
	run->container_log_count =
		rna_root_list(run->root, CONTAINER_LOGS, run->scratch, &run->container_logs);
	run->pod_log_count = rna_root_list(run->root, POD_LOGS, run->scratch, &run->pod_logs);
}

/* Cuts name at the next underscore and returns what is behind it, or NULL. */
static char *split(char *name)
{
	char *end = name ? strchr(name, '_') : NULL;

	if (!end)
		return NULL;
	*end = '\0';
	return end + 1;
}

/* The entry that ends so, without that end, in scratch; NULL: there is none. */
static char *find_log(struct run *run, char *const *names, ssize_t count, const char *end)
{
	for (ssize_t i = 0; end && i < count; i++) {
		size_t len = rna_text_stem(names[i], end);

		if (len > 0)
			return rna_arena_printf(run->scratch, "%.*s", (int)len, names[i]);
	}
	return NULL;
}

/* POD_NAMESPACE_CONTAINER */
static void name_container(struct run *run, struct rna_user *user)
{
	char *pod = find_log(run, run->container_logs, run->container_log_count,
			     rna_arena_printf(run->scratch, "-%s.log", user->container_id));
	char *namespace = split(pod), *container = split(namespace);

	if (!container)
		return;
	user->pod = pod;
	user->namespace = namespace;
	user->container = container;
}

/* NAMESPACE_POD */
static void name_pod(struct run *run, struct rna_user *user)
{
	char *namespace = find_log(run, run->pod_logs, run->pod_log_count,
				   rna_arena_printf(run->scratch, "_%s", user->pod_uid));
	char *pod = split(namespace);

	if (!pod)
		return;
	user->pod = pod;
	user->namespace = namespace;
}

/* Sets the names, in scratch. A file may come some time after the process. */
static void find_names(struct run *run, struct rna_user *user)
{
	user->pod = user->pod_uid;
	if (user->container_id)
		user->container = rna_arena_printf(run->scratch, "%.*s", RNA_CONTAINER_ID_SHOWN,
						   user->container_id);
	if (!user->pod_uid)
		return;
	list_logs(run);
	if (user->container_id)
		name_container(run, user);
	if (!user->namespace)
		name_pod(run, user);
}

/* -- Processes --------------------------------------------------------------------------------- */

static ssize_t read_of(const struct run *run, uint32_t pid, const char *name, char *buffer,
		       size_t size)
{
	char path[sizeof("proc/4294967295/cgroup")];

	(void)snprintf(path, sizeof(path), "proc/%u/%s", pid, name);
	return rna_root_read(run->root, path, buffer, size);
}

static struct rna_value read_uid(const struct run *run, uint32_t pid)
{
	static const char name[] = "\nUid:\t"; /* real, effective, saved, of the file system */
	char text[STATUS_MAX];
	const char *found;
	uint64_t uid;

	if (read_of(run, pid, "status", text, sizeof(text)) < 0)
		return (struct rna_value){0};
	found = strstr(text, name);
	return found && rna_parse_leading_u64(found + strlen(name), &uid) == 0
		       ? rna_value_ok(uid)
		       : (struct rna_value){0};
}

/* Finds the user among those of this run, or adds it. Its texts are copied. -ENOMEM or 0. */
static int intern(struct run *run, const struct rna_user *user, size_t *ret)
{
	struct rna_user *added = &run->users[run->user_count];
	bool failed = false;

	for (size_t i = 0; i < run->user_count; i++)
		if (rna_user_compare(&run->users[i], user) == 0) {
			*ret = i;
			return 0;
		}
	*added = (struct rna_user){
		.namespace = rna_arena_keep(run->contexts.arena, user->namespace, &failed),
		.pod = rna_arena_keep(run->contexts.arena, user->pod, &failed),
		.container = rna_arena_keep(run->contexts.arena, user->container, &failed),
		.job = rna_arena_keep(run->contexts.arena, user->job, &failed),
		.unit = rna_arena_keep(run->contexts.arena, user->unit, &failed),
		.uid = user->uid,
		.pod_uid = rna_arena_keep(run->contexts.arena, user->pod_uid, &failed),
		.container_id = rna_arena_keep(run->contexts.arena, user->container_id, &failed),
	};
	*ret = run->user_count++;
	return failed ? -ENOMEM : 0;
}

/* The user of the same context in the last run; NULL: none, or one whose names are not known. */
static const struct rna_user *recall(const struct run *run, const struct rna_context *context)
{
	const struct rna_users *before = run->before;
	const struct rna_user *user = NULL;

	for (size_t i = 0; before && !user && i < before->contexts.count; i++) {
		const struct rna_context *known = &before->contexts.items[i];

		if (known->number == context->number && known->pid == context->pid &&
		    known->user < before->count)
			user = &before->items[known->user];
	}
	return user && (user->namespace || !user->pod) ? user : NULL;
}

/* A process that has ended, or has a group without a name, leaves RNA_NO_USER. */
static int find_user(struct run *run, struct rna_context *context)
{
	const struct rna_user *known = recall(run, context);
	struct rna_cgroup_owner owner;
	struct rna_user user;

	if (known)
		return intern(run, known, &context->user);
	if (read_of(run, context->pid, "cgroup", run->text, CGROUP_MAX) < 0)
		return 0;
	rna_cgroup_read(run->text, &owner);
	if (!owner.pod && !owner.container && !owner.job && !owner.unit)
		return 0;
	user = (struct rna_user){
		.job = owner.job,
		.unit = owner.unit,
		.uid = owner.job ? read_uid(run, context->pid) : (struct rna_value){0},
		.pod_uid = owner.pod,
		.container_id = owner.container,
	};
	find_names(run, &user);
	return intern(run, &user, &context->user);
}

/* -- All of them ------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
	const struct rna_user *const *x = a, *const *y = b;

	return rna_user_compare(*x, *y);
}

/* Sorts the users, and points the contexts to where their users are now. */
static int order(struct run *run, struct rna_users *ret)
{
	const size_t count = run->user_count;
	const struct rna_user **sorted = rna_arena_array(run->scratch, count, sizeof(*sorted));
	size_t *places = rna_arena_array(run->scratch, count, sizeof(*places));
	struct rna_user *items = rna_arena_array(run->contexts.arena, count, sizeof(*items));

	if (!sorted || !places || !items)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		sorted[i] = &run->users[i];
	if (count > 0)
		qsort(sorted, count, sizeof(*sorted), compare);
	for (size_t i = 0; i < count; i++) {
		places[sorted[i] - run->users] = i;
		items[i] = *sorted[i];
	}
	for (size_t i = 0; i < run->contexts.count; i++) {
		struct rna_context *context = &run->contexts.items[i];

		if (context->user == RNA_NO_USER)
			continue;
		context->user = places[context->user];
		items[context->user].contexts++;
	}
	ret->items = items;
	ret->count = count < RNA_USERS_MAX ? count : RNA_USERS_MAX;
	for (size_t i = ret->count; i < count; i++)
		ret->unnamed[RNA_UNNAMED_OTHERS] += items[i].contexts;
	return 0;
}

/* An own context, one of a hidden process, or one to look at. */
static int take_context(struct run *run, struct rna_context *context, struct rna_users *ret)
{
	int status = 0;

	context->user = RNA_NO_USER;
	if (context->own)
		return 0;
	if (context->pid == 0) {
		ret->unnamed[RNA_UNNAMED_HIDDEN]++;
		return 0;
	}
	status = find_user(run, context);
	ret->unnamed[RNA_UNNAMED_GROUP] += context->user == RNA_NO_USER;
	return status;
}

static int find_all(struct run *run, struct rna_users *ret)
{
	int status = 0;

	run->users = rna_arena_array(run->scratch, run->contexts.count, sizeof(*run->users));
	run->text = rna_arena_alloc(run->scratch, CGROUP_MAX);
	if (!run->users || !run->text)
		return -ENOMEM;
	ret->unnamed[RNA_UNNAMED_OTHERS] = run->contexts.others;
	for (size_t i = 0; i < run->contexts.count && status == 0; i++)
		status = take_context(run, &run->contexts.items[i], ret);
	ret->contexts = run->contexts;
	return status == 0 ? order(run, ret) : status;
}

int rna_find_users(const struct rna_root *root, const struct rna_context_list *contexts,
		   const struct rna_users *before, struct rna_users *ret)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *scratch = rna_arena_new(CGROUP_MAX + 4096);
	struct run run = {.root = root,
			  .before = before,
			  .contexts = *contexts,
			  .scratch = scratch};

	*ret = (struct rna_users){0};
	return scratch ? find_all(&run, ret) : -ENOMEM;
}

int rna_find_owner(const struct rna_root *root, uint32_t process, struct rna_arena *arena,
		   struct rna_users *ret)
{
	struct rna_context context = {.pid = process};
	const struct rna_context_list contexts = {.arena = arena, .count = 1, .items = &context};
	int status = rna_find_users(root, &contexts, NULL, ret);

	ret->unnamed[RNA_UNNAMED_GROUP] = 0;
	ret->contexts = (struct rna_context_list){0};
	return status;
}

/* The namespace is that of the pod, whichever of its containers the process is of. */
int rna_find_holder(const struct rna_root *root, uint32_t process, struct rna_arena *arena,
		    struct rna_users *ret)
{
	struct rna_user *holder = rna_arena_alloc(arena, sizeof(*holder));
	int status = holder ? rna_find_owner(root, process, arena, ret) : -ENOMEM;

	ret->given = true;
	if (status < 0 || ret->count == 0)
		return status;
	*holder = ret->items[0];
	holder->contexts = 0;
	if (holder->pod) {
		holder->container = NULL;
		holder->container_id = NULL;
	}
	ret->items = holder;
	return 0;
}
