// SPDX-License-Identifier: Apache-2.0
#include "cgroup.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "rna/base/parse.h"

#define HEX   "0123456789abcdef"
#define SLICE ".slice"
#define SCOPE ".scope"
#define JOB   "job_"

enum {
	POD_HASH = 32, /* digits */
	POD_UID = 36,  /* with dashes */
};

/* Cuts the suffix off. False: there is none. */
static bool cut(char *text, const char *suffix)
{
	size_t len = rna_text_stem(text, suffix);

	if (len > 0)
		text[len] = '\0';
	return len > 0;
}

static bool has_end(const char *text, const char *suffix)
{
	return rna_text_stem(text, suffix) > 0;
}

static bool is_pod_uid(const char *text)
{
	size_t len = strlen(text);

	return (len == POD_HASH || len == POD_UID) && strspn(text, HEX "-") == len;
}

/* "pod0a1b-...", or a slice: "kubepods-burstable-pod0a1b_....slice", where a dash is a level. */
static const char *find_pod(char *component)
{
	static const char mark[] = "pod";
	char *uid = component;

	if (has_end(component, SLICE)) {
		uid = strrchr(component, '-');
		uid = uid ? uid + 1 : component;
	}
	if (strncmp(uid, mark, strlen(mark)) != 0)
		return NULL;
	uid += strlen(mark);
	if (cut(uid, SLICE))
		for (char *at = uid; *at; at++)
			*at = *at == '_' ? '-' : *at;
	return is_pod_uid(uid) ? uid : NULL;
}

/* "cri-containerd-0123....scope", "0123..." */
static const char *find_container(char *component)
{
	char *dash = strrchr(component, '-');
	char *id = dash ? dash + 1 : component;

	if (strspn(id, HEX) != RNA_CONTAINER_ID)
		return NULL;
	(void)cut(id, SCOPE);
	return id[RNA_CONTAINER_ID] == '\0' ? id : NULL;
}

/* Of slurmstepd's own scope, also of one of several on a node, and of cgroup v1: "slurm_NODE". */
static bool is_of_slurm(const char *component)
{
	return strncmp(component, "slurm", strlen("slurm")) == 0 ||
	       has_end(component, "slurmstepd" SCOPE);
}

static bool is_job(const char *component)
{
	if (strncmp(component, JOB, strlen(JOB)) != 0 || component[strlen(JOB)] == '\0')
		return false;
	for (const char *at = component + strlen(JOB); *at; at++)
		if (!isalnum((unsigned char)*at))
			return false;
	return true;
}

/* Where a walk down a path is. */
struct place {
	bool units; /* systemd names groups of this hierarchy */
	bool users; /* below the slice of users, who name the groups there as they like */
	bool slurm; /* below a group of Slurm's */
};

/*
 * What a component says replaces what those above it said. But below the container of a pod its
 * owner may be allowed to make groups, and those above are the kubelet's.
 */
static void read_component(char *component, struct place *place, struct rna_cgroup_owner *ret)
{
	const bool named = place->users || (ret->pod && ret->container);
	const char *found;

	if (!place->users && (found = find_pod(component))) {
		ret->container = ret->pod ? ret->container : NULL;
		ret->pod = ret->pod ? ret->pod : found;
	} else if (!named && (found = find_container(component))) {
		ret->container = found;
	} else if (place->slurm && is_job(component)) {
		ret->job = component + strlen(JOB);
	} else if (place->units && (has_end(component, ".service") || has_end(component, SCOPE))) {
		ret->unit = component;
		ret->by_user = place->users;
	}
	place->slurm |= !place->users && is_of_slurm(component);
}

static void read_path(char *path, bool units, struct rna_cgroup_owner *ret)
{
	struct place place = {.units = units};
	char *rest = path;

	for (char *component = strtok_r(path, "/", &rest); component;
	     component = strtok_r(NULL, "/", &rest)) {
		/* containerd without SystemdCgroup:
		 * "kubepods-pod0a1b_....slice:cri-containerd:0123..." */
		char *slice = strstr(component, SLICE ":");
		char *id = slice ? strrchr(slice, ':') : NULL;

		if (slice)
			slice[strlen(SLICE)] = '\0';
		place.users |= strcmp(component, "user" SLICE) == 0;
		read_component(component, &place, ret);
		if (id)
			read_component(id + 1, &place, ret);
	}
}

/* "HIERARCHY:CONTROLLERS:PATH"; the line of cgroup v2 has no controllers, and systemd's a name. */
static void read_line(char *line, struct rna_cgroup_owner *ret)
{
	char *controllers = strchr(line, ':');
	char *path = controllers ? strchr(controllers + 1, ':') : NULL;

	if (!path)
		return;
	*path++ = '\0';
	controllers++;
	read_path(path, *controllers == '\0' || strcmp(controllers, "name=systemd") == 0, ret);
}

void rna_cgroup_read(char *text, struct rna_cgroup_owner *ret)
{
	char *rest = text;

	*ret = (struct rna_cgroup_owner){0};
	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		read_line(line, ret);
	if (ret->pod || ret->container || ret->job)
		ret->unit = NULL;
}
