/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The data written to the API, as far as a round knows, compared with the wish: what is outdated,
 * what others changed, and when everything has to be written again.
 */
#pragma once

#include "round.h"

struct rna_kube_words rna_kube_words_of(const struct rna_kube_round *round);

/* Is there anything to say? An agent that does not know yet what to say leaves what is there. */
bool rna_kube_has_labels(const struct rna_kube_round *round);
bool rna_kube_has_conditions(const struct rna_kube_round *round);
/* Are there to be none, and were there none ever? */
bool rna_kube_is_without_conditions(const struct rna_kube_round *round);

/* Does the API lack of it what is wished? */
bool rna_kube_labels_behind(const struct rna_kube_round *round);
bool rna_kube_conditions_behind(const struct rna_kube_round *round);
/* Are there labels or conditions to write, and none of them was ever written or refused? */
bool rna_kube_is_first(const struct rna_kube_round *round);
/* Does the Node lack the taint, or tell of another health than it has? */
bool rna_kube_is_urgent(const struct rna_kube_round *round);
bool rna_kube_taint_behind(const struct rna_kube_round *round);
bool rna_kube_devices_behind(const struct rna_kube_round *round);
bool rna_kube_has_taint_as_wished(const struct rna_kube_round *round,
				  const struct rna_kube_node *node);

/* A body that the API took, to be compared with the next. */
void rna_kube_remember_body(struct rna_strbuf *place, const struct rna_strbuf *body);
/* Nothing of what we wrote is there any more, or we do not know. */
void rna_kube_forget_written(struct rna_kube_round *round);
/* Has another client changed what we wrote? */
bool rna_kube_has_drifted(const struct rna_kube_round *round, const struct rna_kube_node *node);
/* If so, it is written again, and told. reply: that node is from. */
void rna_kube_take_back(struct rna_kube_round *round, const struct rna_kube_node *node,
			const struct rna_strbuf *reply);

/* The Node has RNA_KUBERNETES_IGNORE, or not: the wish is another one then. Of a look. */
void rna_kube_note_ignored(struct rna_kube_round *round, bool ignored);
/* Does node say otherwise than the last look? Then there will be another one at once. */
bool rna_kube_is_ignored_otherwise(struct rna_kube_round *round, const struct rna_kube_node *node);

/* Of a Node that was answered: its uid, and its labels with the arena that they are in. */
void rna_kube_note_uid(struct rna_kube_round *round, const char *uid);
void rna_kube_note_labels(struct rna_kube_round *round, const struct rna_kube_node *node,
			  struct rna_arena **arena);
