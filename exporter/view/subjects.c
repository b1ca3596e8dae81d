// SPDX-License-Identifier: Apache-2.0
#include "subjects.h"

struct rna_subject rna_subject_of_gid(const struct rna_subject *port, size_t i)
{
	struct rna_subject ret = *port;

	ret.gid = &port->gids->entries[i];
	return ret;
}

struct rna_subject rna_subject_of_job(const struct rna_view *view, size_t i)
{
	return (struct rna_subject){
		.view = view,
		.job = &view->jobs[i],
		.finished = view->jobs[i].ran ? &view->jobs[i] : NULL,
	};
}

size_t rna_subjects_of_gids(const struct rna_view *view, struct rna_subject *items)
{
	const struct rna_subject_list *ports = rna_view_ports(view);
	size_t count = 0;

	for (size_t p = 0; p < ports->count; p++) {
		const struct rna_port_gids *gids = ports->items[p].gids;

		for (size_t i = 0; items && gids && i < gids->count; i++)
			items[count + i] = rna_subject_of_gid(&ports->items[p], i);
		count += gids ? gids->count : 0;
	}
	return count;
}

const struct rna_subject *rna_subjects_next_of_card(const struct rna_subjects *subjects,
						    const struct rna_card *card,
						    struct rna_card_cursor *next)
{
	const struct rna_subject_list *devices = &subjects->scopes[RNA_SCOPE_DEVICE];

	for (; next->function < card->function_count; next->function++, next->port = 0) {
		int device = card->functions[next->function].device;

		if (device != RNA_NO_DEVICE &&
		    next->port < devices->items[device].rdma_device->port_count)
			return &devices->items[device].ports[next->port++];
	}
	return NULL;
}
