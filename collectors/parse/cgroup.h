/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who a process works for, as its control group says. Pure.
 *
 * The kubelet makes a group for each pod and the container runtime one for each container below it
 * (kubernetes pkg/kubelet/cm/pod_container_manager_linux.go), slurmstepd one for each job
 * (slurm.schedmd.com/cgroup_v2.html), systemd one for each unit (systemd.slice(5)). A user makes
 * groups below user.slice, and a tenant below the container of a pod: their names do not count as
 * those of pods, containers and jobs.
 */
#pragma once

#include <stdbool.h>

enum {
	RNA_CONTAINER_ID = 64, /* hexadecimal digits, of containerd, CRI-O, Docker and Podman */
	RNA_CONTAINER_ID_SHOWN = 12, /* as crictl and docker do */
};

/* NULL: it works for none. A job may run in a pod; a unit is said of what has nothing else. */
struct rna_cgroup_owner {
	const char *pod;       /* UID; of a static pod the hash of its manifest */
	const char *container; /* RNA_CONTAINER_ID digits */
	const char *job;       /* of Slurm */
	const char *unit;      /* innermost service or scope of systemd */
	bool by_user;          /* the unit is one of a user's own, who chose its name */
};

/* text: of /proc/PID/cgroup. It is changed, and the owner points into it. */
void rna_cgroup_read(char *text, struct rna_cgroup_owner *ret);
