/* SPDX-License-Identifier: Apache-2.0 */
/* Ends of episodes: what is seen after the last message, and what an administrator accepted. */
#pragma once

#include "episodes.h"

/*
 * What is seen of that which ends the episode, whose object is known. Updates what the episode
 * keeps of it.
 */
enum rna_episode_evidence rna_episode_look(struct rna_episode *episode,
					   const struct rna_view *view);

/* Was the present state accepted after the last message? */
bool rna_episode_is_accepted(const struct rna_episode *episode, const struct rna_view *view);
