/* SPDX-License-Identifier: Apache-2.0 */
/* Objects of episodes: which part of this node do the names in a message mean? */
#pragma once

#include "episodes.h"

/* Strings lie in the snapshot, in the view, or in the episode. */
struct rna_episode_object rna_episode_find_object(const struct rna_episode *episode,
						  const struct rna_view *view,
						  const struct rna_settings *settings);
