/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tasks of a round: the look, labels, conditions, the taint, and (event_tasks.c) Events.
 * Each does what its job was opened for, and waits for the network; what came of it is in answer,
 * and its result is returned.
 */
#pragma once

#include "round.h"

enum { RNA_KUBE_NOT_FOUND = 404 };

typedef enum rna_kubernetes_result rna_kube_task_function(struct rna_kube_round *round,
							  struct rna_kube_answer *answer,
							  struct rna_time now);

rna_kube_task_function rna_kube_look;
rna_kube_task_function rna_kube_send_labels;
rna_kube_task_function rna_kube_send_conditions;
rna_kube_task_function rna_kube_send_taint;
rna_kube_task_function rna_kube_send_devices;
rna_kube_task_function rna_kube_send_events;

/*
 * Deletes the rules of agents for devices: those of nodes, whose names have a null byte behind
 * each, or NULL: of all. dry_run: only counts them. *ret: how many there are.
 */
enum rna_kubernetes_result rna_kube_delete_device_rules(struct rna_kube_api *api,
							const struct rna_strbuf *nodes,
							bool dry_run, size_t *ret,
							struct rna_kube_answer *answer);

/* Does an Event wait to be sent? */
bool rna_kube_has_events(const struct rna_kube_round *round);
/* Forgets one, sent or not. */
void rna_kube_drop_event(struct rna_kube_round *round, size_t index);
void rna_kube_drop_events(struct rna_kube_round *round);
