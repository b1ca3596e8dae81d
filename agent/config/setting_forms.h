/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The forms of texts in settings that have no module of their own. Rules, maintenance windows and
 * thresholds check theirs themselves.
 */
#pragma once

#include <stdbool.h>

#include "rna/base/error.h"

bool rna_listen_address_is_valid(const char *entry); /* http.listen; no names of hosts */
bool rna_path_is_valid(const char *text);            /* absolute */
bool rna_path_or_none_is_valid(const char *text);    /* the same, or "" */
bool rna_profile_setting_is_valid(const char *text); /* the same, or "auto" */
bool rna_any_text_is_valid(const char *text);        /* always: it is checked later */
bool rna_driver_is_valid(const char *entry);         /* the name of a module of the kernel */
bool rna_resource_glob_is_valid(const char *entry);  /* prefix/name, of Kubernetes */
bool rna_node_label_is_valid(const char *entry);     /* KEY, KEY=VALUE or "" */
bool rna_label_key_is_valid(const char *entry);      /* a key or "" */
bool rna_label_value_is_valid(const char *entry);

/* kubernetes.taint and kubernetes.former_names. 0, or negative errno with error: "KEY: ..." */
int rna_taint_check(const char *key, const char *text, struct rna_error *error);
int rna_former_name_check(const char *key, const char *entry, struct rna_error *error);
