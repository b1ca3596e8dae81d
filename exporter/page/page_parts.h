/* SPDX-License-Identifier: Apache-2.0 */
/* What the sections of the status page are made of, and those that have a file of their own. */
#pragma once

#include "view/facts.h"

/* Escaped; NULL is a dash. */
void rna_page_text(struct rna_strbuf *out, const char *text);

/* A word that is to be seen at a glance. */
void rna_page_badge(struct rna_strbuf *out, const char *text, enum rna_tone tone);

/* Lines below what the RDMA port says of its link: FEC and lanes, or why there is no link. */
void rna_page_wire(struct rna_strbuf *out, const struct rna_subject *port);

/* The modules in its cages; a dash without any. */
void rna_page_modules(struct rna_strbuf *out, const struct rna_subject *port);
bool rna_page_has_modules(const struct rna_subject *port);

/* The cards; nothing without any. */
void rna_page_cards(struct rna_strbuf *out, const struct rna_subjects *subjects);

/* What self-tests came to. Writes nothing where no port is to be tested. */
void rna_write_page_selftest(const struct rna_view *view, struct rna_strbuf *out);

/*
 * Which GPU and which NIC are near each other. Also adds to failed when there is no memory. Writes
 * nothing while the topology is not known.
 */
void rna_write_page_topology(const struct rna_view *view, struct rna_strbuf *out);

/* The drawing of that as a part of an HTML document, where no name space is to be told. */
void rna_write_topology_inline(const struct rna_view *view, struct rna_strbuf *out);
