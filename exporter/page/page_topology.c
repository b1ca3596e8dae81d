// SPDX-License-Identifier: Apache-2.0
/*
 * The section of the status page that shows which GPU and which NIC are near each other. The
 * drawing is part of the document: the policy of the page lets nothing in from elsewhere.
 */
#include "view/text.h"
#include "view/topology_tree.h"

#include "page_parts.h"

static const char explanation[] =
	"<p><small>Each link shows its lanes and the speed of a lane. A link that runs below what "
	"both of its ends support is red, and says what they support. An idle GPU lowers the speed "
	"of its link. Each GPU names its nearest NICs: PIX is behind the same PCIe switch, PXB "
	"through several switches, PHB through a host bridge, NODE in the same NUMA node, SYS in "
	"another.</small></p>\n";

void rna_write_page_topology(const struct rna_view *view, struct rna_strbuf *out)
{
	const struct rna_topology *topology = rna_snapshot_topology(view->snapshot);
	const char *why = rna_topology_why_little(topology);

	if (!topology)
		return;
	rna_strbuf_puts(out, "<h2>Topology</h2>\n");
	if (topology->problem) {
		rna_strbuf_puts(out, "<p>");
		rna_text_add(out, topology->problem, rna_escape_html);
		rna_strbuf_puts(out, "</p>\n");
	}
	if (why)
		rna_strbuf_printf(out, "<p>%s</p>\n", why);
	if (topology->gpu_count == 0 && topology->nic_count == 0)
		return;
	rna_strbuf_puts(out, "<div class=\"wide drawing\">\n");
	rna_write_topology_inline(view, out);
	rna_strbuf_puts(out, "</div>\n");
	rna_strbuf_puts(out, explanation);
}
