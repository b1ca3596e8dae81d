/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The environment variables that a communication library needs on a node: which ports it should
 * use, and what it would do wrong by itself. One choice of ports serves all libraries; a library
 * differs in the names of its variables, in how it writes a list of ports, and in its defaults.
 */
#pragma once

#include <stddef.h>

#include "rna/base/arena.h"

struct rna_view;

enum rna_env_library {
	RNA_ENV_NCCL,
	RNA_ENV_RCCL,
	RNA_ENV_UCX,
	RNA_ENV_NVSHMEM,
	RNA_ENV_NIXL,
	RNA_ENV_OPENMPI,
	RNA_ENV_LIBRARY_COUNT,
};

extern const char *const rna_env_names[]; /* "nccl", ...; NULL-ended */

enum { RNA_ENV_NODE = -1 };

struct rna_env_request {
	enum rna_env_library library;
	int gpu; /* index of the topology's gpus; RNA_ENV_NODE: for all of them */
	/* For a container whose network is its own: names of the host's interfaces mean nothing. */
	bool own_network;
	/*
	 * Looks up the environment of the caller, or of the process that it asks for, whose
	 * variables may be harmful. NULL, or a result that is NULL: not set.
	 */
	const char *(*get)(const char *name, void *userdata);
	void *userdata;
};

struct rna_env_variable {
	const char *name;
	const char *value;
	const char *reason;
};

/* Ports excluded for one reason. */
struct rna_env_left_out {
	const char *reason;
	size_t count;
	const char **ports; /* "mlx5_1/1" */
};

/*
 * The variables that a job on this node needs, and warnings for the administrator. There is no
 * variable for what the library detects by itself, and none is guessed.
 */
struct rna_env_advice {
	const char *title; /* of the library: "Open MPI" */
	size_t port_count; /* ports that the library can use; 0: no variables either */
	size_t variable_count;
	const struct rna_env_variable *variables;
	size_t left_out_count;
	const struct rna_env_left_out *left_out;
	size_t warning_count;
	const char *const *warnings;
};

/* Pure. All is in arena, except device names, which belong to view. 0 or -ENOMEM. */
int rna_env_advise(const struct rna_view *view, const struct rna_env_request *request,
		   struct rna_arena *arena, struct rna_env_advice *ret);
