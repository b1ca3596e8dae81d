// SPDX-License-Identifier: Apache-2.0
/* Devices by pod, in one line each: what "kubectl" and the names of devices do not say together. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "rna/base/parse.h"
#include "rna/exporter.h"
#include "rna/model/users.h"

#include "text_table.h"

enum { POD, CONTAINER, DEVICE, STATE, FUNCTION, VF, PCI, NETDEV, RESOURCE, COLUMNS };

struct row {
	const struct rna_user *user;
	const struct rna_subject *port; /* the first one of the device */
	const struct rna_pod_resource *resource;
};

struct rows {
	const struct rna_pod_resources *resources;
	size_t count;
	struct row *items; /* NULL: they are only counted */
};

static void add_rows(struct rows *rows, const struct rna_subject *port)
{
	const struct rna_users *users = rna_device_users(port->device);

	for (size_t i = 0; users && i < users->count; i++) {
		const struct rna_user *user = &users->items[i];

		if (!user->pod)
			continue;
		if (rows->items)
			rows->items[rows->count] = (struct row){
				.user = user,
				.port = port,
				.resource = rna_pod_resource_find(rows->resources, user->pod_uid,
								  port->rdma_device->pci_address),
			};
		rows->count++;
	}
}

static void find_rows(const struct rna_view *view, struct rows *rows)
{
	const struct rna_subject_list *devices = rna_view_devices(view);

	rows->count = 0;
	for (size_t i = 0; i < devices->count; i++)
		if (devices->items[i].ports)
			add_rows(rows, devices->items[i].ports);
}

/* Pods stand together, their devices in the order of the names. */
static int compare_rows(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	int order = rna_user_compare(x->user, y->user);

	return order != 0
		       ? order
		       : rna_compare_names(x->port->rdma_device->name, y->port->rdma_device->name);
}

/* Its number at the physical function, which counts it; NULL: it is none, or that is not known. */
static const struct rna_virtual_function *find_vf(const struct rna_subject *port)
{
	const struct rna_snapshot *snapshot = port->view->snapshot;
	const char *physical = port->rdma_device->physical_function;

	for (size_t i = 0; physical && i < snapshot->device_count; i++) {
		const struct rna_virtual_functions *list =
			rna_same_text(snapshot->devices[i].device->pci_address, physical)
				? rna_device_virtual_functions(&snapshot->devices[i])
				: NULL;

		for (size_t f = 0; list && f < list->count; f++)
			if (rna_same_text(list->functions[f].pci_address,
					  port->rdma_device->pci_address))
				return &list->functions[f];
	}
	return NULL;
}

static void write_pod(const struct rna_user *user, struct rna_strbuf *out)
{
	if (user->namespace)
		rna_strbuf_printf(out, "%s/", user->namespace);
	rna_strbuf_puts(out, user->pod);
}

static const char *container_of(const struct row *row)
{
	return row->user->container || !row->resource ? row->user->container
						      : row->resource->container;
}

static void write_text(const char *text, struct rna_strbuf *out)
{
	if (text)
		rna_strbuf_puts(out, text);
}

static void write_cell(const struct rna_text_table *table, size_t index, size_t column,
		       struct rna_strbuf *out)
{
	const struct row *row = &((const struct rows *)table->userdata)->items[index];
	const struct rna_subject *port = row->port;
	const struct rna_virtual_function *vf;

	switch (column) {
	case POD:
		write_pod(row->user, out);
		break;
	case CONTAINER:
		write_text(container_of(row), out);
		break;
	case DEVICE:
		write_text(port->rdma_device->name, out);
		break;
	case STATE:
		if (port->state && rna_value_is_known(port->state->state))
			rna_strbuf_puts(out, rna_port_state_name(port->state->state.number));
		break;
	case FUNCTION:
		rna_strbuf_puts(out, rna_function_name(port->rdma_device->function));
		break;
	case VF:
		vf = find_vf(port);
		if (vf)
			rna_strbuf_printf(out, "%u", vf->number);
		break;
	case PCI:
		write_text(port->rdma_device->pci_address, out);
		break;
	case NETDEV:
		write_text(port->netdev ? port->netdev->name : NULL, out);
		break;
	default:
		write_text(row->resource ? row->resource->resource : NULL, out);
	}
}

static enum rna_tone tone_of(const struct rna_text_table *table, size_t index, size_t column)
{
	const struct row *row = &((const struct rows *)table->userdata)->items[index];

	return column == STATE && row->port->state && !rna_port_is_up(row->port->state)
		       ? RNA_TONE_BAD
		       : RNA_TONE_PLAIN;
}

void rna_write_pods(const struct rna_view *view, const struct rna_pod_resources *resources,
		    const struct rna_table_options *options, struct rna_strbuf *out)
{
	RNA_FREE struct row *items = NULL;
	struct rows rows = {.resources = resources};
	struct rna_text_table table = {
		.column_count = COLUMNS,
		.columns = {{"POD"},
			    {"CONTAINER"},
			    {"DEVICE"},
			    {"STATE"},
			    {"FUNCTION"},
			    {"VF", true},
			    {"PCI"},
			    {"NETDEV"},
			    {"RESOURCE"}},
		.width = (int)rna_text_width(options),
		.colour = options->colour,
		.userdata = &rows,
		.cell = write_cell,
		.tone = tone_of,
	};

	find_rows(view, &rows);
	if (rows.count == 0) {
		rna_strbuf_puts(out, "No pod has an RDMA device open, as far as the agent sees.\n");
		return;
	}
	items = calloc(rows.count, sizeof(*items));
	rows.items = items;
	if (!items) {
		out->failed = true;
		return;
	}
	find_rows(view, &rows);
	qsort(rows.items, rows.count, sizeof(*rows.items), compare_rows);
	table.row_count = rows.count;
	rna_text_table_write(&table, out);
}
