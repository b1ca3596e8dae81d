// SPDX-License-Identifier: Apache-2.0
/*
 * state: the logical and physical state of each port, from ports/N/state and phys_state.
 *
 * Each of the two files costs a port query of the driver (on mlx5 InfiniBand five firmware
 * commands, on RoCE two), so nothing else is read here; link reads rate, LIDs and MTU. If the files
 * of an InfiniBand port lack its state, the port is queried by a MAD.
 */
#include <errno.h>

#include "rna/base/parse.h"

#include "backend/ask_mad.h"
#include "parse/reader.h"

#include "collectors.h"

/* The files of the port with index i are 2 * i and 2 * i + 1. */
static int add_files(struct rna_reader *reader, const struct rna_device *device,
		     struct rna_arena *arena)
{
	for (size_t i = 0; i < device->port_count; i++) {
		const char *path = rna_arena_printf(arena, "%s/ports/%u", device->sysfs_path,
						    device->ports[i]);
		int directory = path ? rna_reader_add_directory(reader, path, 0) : -ENOMEM;
		int ret = directory;

		if (ret >= 0)
			ret = rna_reader_add_file(reader, (unsigned)directory, "state", NULL);
		if (ret >= 0)
			ret = rna_reader_add_file(reader, (unsigned)directory, "phys_state", NULL);
		if (ret < 0) {
			rna_reader_reset(reader);
			return ret;
		}
	}
	return 0;
}

static int read_port(struct rna_reader *reader, size_t index, struct rna_part *part,
		     struct rna_port_state_value *port)
{
	int ret;

	ret = rna_reader_read_number(reader, 2 * index, rna_parse_leading_u64, part, &port->state);
	if (ret < 0)
		return ret;
	return rna_reader_read_number(reader, 2 * index + 1, rna_parse_leading_u64, part,
				      &port->physical_state);
}

static void ask_port(const struct rna_collect_input *in, struct rna_part *part,
		     struct rna_port_state_value *port)
{
	struct rna_mad_port info;

	if (rna_value_is_known(port->state) || rna_ask_port_info(in, port->number, part, &info) < 0)
		return;
	port->state = info.state;
	port->physical_state = info.physical_state;
}

int rna_collect_state(const struct rna_collect_input *in, struct rna_part **ret,
		      struct rna_error *error)
{
	const struct rna_device *device = in->device;
	size_t size = device->port_count * sizeof(struct rna_port_state_value);
	struct rna_state *state = rna_part_new(RNA_COLLECTOR_STATE, sizeof(*state), size);
	RNA_CLEANUP(rna_part_unref_p) struct rna_part *part = (struct rna_part *)state;
	struct rna_port_state_value *ports;
	int status = 0;

	ports = state ? rna_arena_alloc(part->arena, size) : NULL;
	if (!ports)
		return rna_error_set(error, -ENOMEM, "%s: cannot read port states", device->name);
	part->started = rna_clock_now();
	rna_reader_start(in->reader, part->started.monotonic, in->period);
	if (rna_reader_is_empty(in->reader))
		status = add_files(in->reader, device, part->arena);
	for (size_t i = 0; status >= 0 && i < device->port_count; i++) {
		ports[i].number = device->ports[i];
		status = read_port(in->reader, i, part, &ports[i]);
		if (status >= 0)
			ask_port(in, part, &ports[i]);
	}
	if (status < 0)
		return rna_error_set(error, status, "%s: cannot read port states", device->name);
	state->ports = ports;
	state->port_count = device->port_count;
	part->taken = rna_clock_now();
	*ret = RNA_TAKE(part);
	return 0;
}
