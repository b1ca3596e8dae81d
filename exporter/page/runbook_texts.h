/* SPDX-License-Identifier: Apache-2.0 */
/* The runbooks as runbooks.py makes them of helm/rdma-node-agent/runbooks.md. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* These bytes stand in the HTML for names of this node, and of what a finding is about. */
enum rna_runbook_mark {
	RNA_RUNBOOK_NODE = 1,
	RNA_RUNBOOK_NAMESPACE,
	RNA_RUNBOOK_POD,
	RNA_RUNBOOK_DEVICE,
	RNA_RUNBOOK_PORT,
	RNA_RUNBOOK_NETDEV,
	RNA_RUNBOOK_PCI_ADDRESS,
	RNA_RUNBOOK_MARKS, /* one more than the last */
};

struct rna_runbook_text {
	const char *name;    /* of the alert; one word */
	const char *section; /* the chapter that it is in */
	const char *rules;   /* whose findings it is about, "port-init, port-armed"; "": none */
	bool fleet;          /* about several nodes, so that any agent may have to serve it */
	const char *html;
	const char *text; /* the same as Markdown, for terminals, with the words */
};

extern const struct rna_runbook_text rna_runbook_texts[];
extern const size_t rna_runbook_count;
extern const char rna_runbook_commands[]; /* HTML that stands in front of each */
