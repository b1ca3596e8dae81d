/* SPDX-License-Identifier: Apache-2.0 */
/* What the sections of the status page are made of. */
#pragma once

#include "view/facts.h"

/* Escaped; NULL is a dash. */
void rna_page_text(struct rna_strbuf *out, const char *text);

/* A word that is to be seen at a glance. */
void rna_page_badge(struct rna_strbuf *out, const char *text, enum rna_tone tone);
