/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The limit of locked memory that containers get. It comes from the specification that a container
 * runtime makes for each container, or, if that has none, from the runtime itself: processes
 * inherit limits (containerd/cri#515). Its unit has a say only at its next start.
 *
 * Sources: containerd docs/cri/config.md (base_runtime_spec: read when containerd starts; imports),
 * crio.conf(5) (default_ulimits), dockerd(8) (default-ulimits in daemon.json), OCI runtime-spec
 * config.md (process.rlimits), proc(5). All files of /proc that are read here are readable by every
 * user, unless it is mounted with hidepid.
 */
#pragma once

#include "rna/base/arena.h"
#include "rna/base/root.h"
#include "rna/model/readiness.h"

/*
 * Fills in spec and spec_file of the runtime, which has a unit; texts in keep. 0, or -ENOMEM.
 */
int rna_read_runtime_spec(const struct rna_root *root, struct rna_arena *keep,
			  struct rna_runtime *runtime);

/*
 * Looks at all processes: fills in running of the runtimes, and counts containers. 0, or -ENOMEM.
 */
int rna_read_process_limits(const struct rna_root *root, struct rna_arena *arena,
			    struct rna_runtime *runtimes, size_t count,
			    struct rna_container_limits *ret);
