/* SPDX-License-Identifier: Apache-2.0 */
/* What the sections of the status page are made of, and the sections: one file each. */
#pragma once

#include "view/facts.h"

struct rna_column;

/* One run of the writer of the page. */
struct rna_page {
	const struct rna_view *view;
	const struct rna_subjects *subjects;
	struct rna_strbuf *out;
	const struct rna_column *facts; /* columns that page_ports.c has found; NULL elsewhere */
};

extern const char rna_page_style[];

/* As it is. */
void rna_page_add(const struct rna_page *page, const char *html);

/* Escaped; NULL is a dash. */
void rna_page_text(struct rna_strbuf *out, const char *text);
/* The first as it is, the second escaped. */
void rna_page_say(const struct rna_page *page, const char *html, const char *text);

/* The end of a page, up to the version, which links to the project if the build names its home
 * page. */
void rna_page_open_footer(struct rna_strbuf *out);

/* A word that is to be seen at a glance. */
void rna_page_badge(struct rna_strbuf *out, const char *text, enum rna_tone tone);

/* With details that a browser shows while the pointer is on the word. */
void rna_page_badge_titled(struct rna_strbuf *out, const char *text, enum rna_tone tone,
			   const char *title);

/* A second, quieter line with before, as it is, and text; without text there is none. */
void rna_page_add_below(const struct rna_page *page, const char *before, const char *text);

/* A table, up to the cells of its head; and its end. */
void rna_page_open_table(const struct rna_page *page);
void rna_page_close_table(const struct rna_page *page);

/*
 * A section that is folded until a person opens it, up to a note beside its title. The caller ends
 * the note with "</small></summary>" and the section with "</details>".
 */
void rna_page_open_fold(const struct rna_page *page, const char *title);

/* A cell that says on a phone, where there is no head, which one it is. tag: without its end. */
void rna_page_open_cell(const struct rna_page *page, const char *tag, const char *header);

/* A row of a table of findings: severity, text and remedy, rule, and how long it has lasted. */
void rna_page_finding(const struct rna_page *page, const struct rna_finding *finding);

enum rna_tone rna_page_severity_tone(enum rna_severity severity);

/* "1 critical, 3 info, 1 silenced": all that there is; nothing where there is none. */
void rna_page_severities(const struct rna_page *page);

/* The port that a finding is about: of a device as a whole its first. NULL: there is none. */
const struct rna_subject *rna_page_port_of(const struct rna_view *view,
					   const struct rna_finding *finding);

/* How much data the port received and sent lately, and the errors that it counted. */
void rna_page_data(const struct rna_page *page, const struct rna_subject *port);
void rna_page_errors(const struct rna_page *page, const struct rna_subject *port);

/* The length of the sentence at the front of a finding, without the lines of the kernel log. */
size_t rna_page_sentence(const char *text);

/* The sections. They write nothing where there is nothing to say. */
void rna_page_verdict(const struct rna_page *page);
void rna_page_summary(const struct rna_page *page);
void rna_page_findings(const struct rna_page *page);
void rna_page_ports(const struct rna_page *page);
void rna_page_devices(const struct rna_page *page);
void rna_page_missing(const struct rna_page *page);
void rna_page_changes(const struct rna_page *page);
void rna_page_jobs(const struct rna_page *page);

/* Lines below what the RDMA port says of its link: FEC and lanes, or why there is no link. */
void rna_page_wire(struct rna_strbuf *out, const struct rna_subject *port);

/* The modules in its cages; a dash without any. */
void rna_page_modules(struct rna_strbuf *out, const struct rna_subject *port);
bool rna_page_has_modules(const struct rna_subject *port);

/* The cards; nothing without any. */
void rna_page_cards(const struct rna_page *page);

/* What self-tests came to. Writes nothing where no port is to be tested. */
void rna_page_selftest(const struct rna_page *page);

/* What probes between nodes came to. Writes nothing where they are disabled. */
void rna_page_probes(const struct rna_page *page);

/*
 * Which GPU and which NIC are near each other. Also adds to failed when there is no memory. Writes
 * nothing while the topology is not known.
 */
void rna_write_page_topology(const struct rna_view *view, struct rna_strbuf *out);

/* The drawing of that as a part of an HTML document, where no name space is to be told. */
void rna_write_topology_inline(const struct rna_view *view, struct rna_strbuf *out);
