/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The baseline of this node: the profiles that the setting expect.profile names, and which of them
 * is for this node. Rules compare the node with it (agent/rules/rules_profile.c).
 *
 * Without the setting the shipped profiles apply, for information only. Thread: the loop's; reading
 * the file is done where the configuration is read.
 */
#pragma once

#include "rna/model/snapshot.h"

#include "profile.h"

struct rna_view;

#define RNA_BASELINE_AUTO "auto" /* expect.profile: the shipped profiles raise findings */

struct rna_baseline {
	struct rna_profiles *profiles; /* NULL: the file cannot be used, see problem */
	bool shipped;                  /* they are those of the program */
	bool alarms;                   /* the operator asked for them */
	char *problem;                 /* why the file cannot be used; NULL: no problem */
};

/*
 * Reads what the setting names. Returns 0, or negative errno with error: then the baseline has no
 * profiles and a problem, which a finding reports. rest: further mistakes, or NULL.
 */
int rna_baseline_load(struct rna_baseline *baseline, const char *setting, struct rna_mistakes *rest,
		      struct rna_error *error);
void rna_baseline_deinit(struct rna_baseline *baseline); /* idempotent, fine on zeroed structs */

/* Has the Kubernetes Node that label? 1: yes; 0: no, or it is not read; -1: not known yet. */
typedef int rna_baseline_has_label(const char *label, void *userdata);

enum { RNA_BASELINE_MODELS_MAX = 32 }; /* functions of further models are not counted */

/* Functions of the PCI bus, counted by model. */
struct rna_baseline_census {
	size_t count;
	struct rna_baseline_model {
		uint32_t vendor_id, device_id;
		uint64_t count;
	} models[RNA_BASELINE_MODELS_MAX];
};

/* What profiles are chosen by. */
struct rna_baseline_facts {
	bool bus_known; /* do the two below mean something? */
	struct rna_baseline_census gpus;
	struct rna_baseline_census nics;       /* without those that manage NVSwitches */
	const struct rna_readiness *readiness; /* NULL: not known */
	rna_baseline_has_label *has_label;     /* NULL: the Node is never read */
	void *userdata;
};

void rna_baseline_facts_read(const struct rna_snapshot *snapshot, struct rna_baseline_facts *ret);

enum rna_profile_fit {
	RNA_PROFILE_FITS_NOT,
	RNA_PROFILE_FITS,
	RNA_PROFILE_FIT_UNKNOWN, /* something that decides it cannot be read */
};

/* ret_key: the key of match that decided it; unchanged if it fits. Pure. */
enum rna_profile_fit rna_profile_match(const struct rna_profile_match *match,
				       const struct rna_baseline_facts *facts,
				       const char **ret_key);

/* In words: 'vendor "NVIDIA", product "DGXH100", 8 GPUs 10de:2330, 10 NICs 15b3:1021'. */
void rna_baseline_write_facts(const struct rna_baseline_facts *facts, struct rna_strbuf *out);

/* The profile of this node, for one view. All lies in the view's arena or in the baseline. */
struct rna_baseline_choice {
	const struct rna_profile *profile; /* NULL: none */
	const char *path;                  /* of its file, or "shipped" */
	bool shipped;
	bool alarms;         /* the operator asked for findings */
	bool unknown;        /* which profile it is cannot be decided now */
	bool invalid;        /* the file cannot be used at all */
	const char *problem; /* why there is none, or NULL */
	/*
	 * For each device of the snapshot: bit i is set if entry i of the profile's devices means
	 * it. NULL: no profile.
	 */
	const uint64_t *entries;
	/* Entries that may mean further devices, whose model or interface is not known yet. */
	uint64_t vague;
};

/* 0, or -ENOMEM. Pure. */
int rna_baseline_choose(const struct rna_baseline *baseline, const struct rna_snapshot *snapshot,
			rna_baseline_has_label *has_label, void *userdata, struct rna_arena *arena,
			struct rna_baseline_choice *ret);

/*
 * The profile of a node as it is, a draft for people to review: it demands what all physical
 * functions of a model have in common. Texts lie in arena, or in the view. 0, or -ENOMEM. Pure.
 */
int rna_profile_make(const struct rna_view *view, struct rna_arena *arena, struct rna_profile *ret);
