/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The environment variables that a communication library needs on a node: which ports it should
 * use, and what it would do wrong by itself. One choice of ports serves all libraries; a library
 * differs in the names of its variables, in how it writes a list of ports, and in its defaults.
 */
#pragma once

#include <stddef.h>

#include "rna/base/arena.h"
#include "rna/base/strbuf.h"

struct rna_view;

enum rna_env_library {
	RNA_ENV_NCCL,
	RNA_ENV_RCCL,
	RNA_ENV_UCX,
	RNA_ENV_NVSHMEM,
	RNA_ENV_NIXL,
	RNA_ENV_OPENMPI,
	RNA_ENV_MOONCAKE,
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

/* -- A running job ----------------------------------------------------------------------------- */

enum rna_env_verdict {
	RNA_ENV_RIGHT,
	RNA_ENV_WRONG,
	RNA_ENV_MISSING,
	RNA_ENV_EXTRA, /* what the node would not give, and does no harm that is known */
	RNA_ENV_UNKNOWN,
};

struct rna_env_line {
	enum rna_env_verdict verdict;
	const char *name; /* of a variable, a file or a device */
	const char *text;
};

struct rna_env_check {
	size_t count;
	const struct rna_env_line *lines;
	size_t bad; /* lines that are wrong or missing */
};

struct rna_inside;
struct rna_pod_resources;

struct rna_env_check_input {
	const struct rna_view *view;           /* as the process sees it */
	const struct rna_env_request *request; /* its get has the environment of the process */
	const struct rna_env_advice *advice;   /* of that request */
	const struct rna_inside *inside;
	const struct rna_pod_resources *resources;
};

/* Pure; lines and texts in arena. 0 or -ENOMEM. */
int rna_env_check(const struct rna_env_check_input *in, struct rna_arena *arena,
		  struct rna_env_check *ret);

/* The table of variables for the command describe. */
void rna_env_describe(struct rna_strbuf *out);
