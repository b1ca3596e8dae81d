/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Episodes in the file of health (health_file.h). They mean something to the boot that wrote them
 * only: another one has another log.
 */
#pragma once

#include "rna/base/json_document.h"

#include "episodes.h"

/* A list. Of an episode that is over, what a new process needs to know it again. */
json_t *rna_episodes_write(struct rna_json_writer *writer, const struct rna_episodes *episodes);

/*
 * Into an empty memory. One that is damaged, or of a pattern that is not known, costs only itself.
 * 0 or -ENOMEM.
 */
int rna_episodes_read(struct rna_episodes *episodes, const json_t *list);
