// SPDX-License-Identifier: Apache-2.0
/*
 * state: the logical and physical state of each port, from ports/N/state and phys_state.
 *
 * Each of the two files costs a port query of the driver (on mlx5 InfiniBand five firmware
 * commands, on RoCE two), so nothing else is read here; link reads rate, LIDs and MTU. While a port
 * stays in its state, phys_state is read now and then. If the files of an InfiniBand
 * port lack its state, the port is queried by a MAD.
 */
#include <errno.h>

#include "rna/base/parse.h"

#include "backend/ask_mad.h"
#include "parse/reader.h"

#include "collectors.h"

/*
 * The link of an ACTIVE port is up, or recovers from errors for some milliseconds, which has a
 * counter (LinkErrorRecoveryCounter, IBTA 16.1.3.5). Why a port that is down stays down is no news
 * of a second: that it went down, its state tells. Right after that the two files may be of two
 * moments, so it counts when it was read twice.
 */
#define PHYSICAL_PERIOD (10 * RNA_USEC_PER_SEC)

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

static bool is_same_state(const struct rna_port_state_value *before,
			  const struct rna_port_state_value *now)
{
	if (rna_port_is_up(before) || rna_port_is_up(now))
		return rna_port_is_up(before) && rna_port_is_up(now);
	return rna_value_is_known(before->state) && rna_value_is_known(now->state) &&
	       before->state.number == now->state.number;
}

/* The port in the run before, in the same state and with a physical one; NULL: it was not. */
static const struct rna_port_state_value *find_before(const struct rna_collect_input *in,
						      size_t index,
						      const struct rna_port_state_value *port)
{
	const struct rna_state *previous = (const void *)in->previous;
	const struct rna_port_state_value *before =
		previous && index < previous->port_count ? &previous->ports[index] : NULL;

	return before && before->number == port->number && is_same_state(before, port) &&
			       rna_value_is_known(before->physical_state)
		       ? before
		       : NULL;
}

/* Is what it had then as good as reading it? */
static bool is_lasting(const struct rna_port_state_value *before, rna_usec now)
{
	bool usual = rna_port_is_up(before) ? before->physical_state.number == RNA_PHYSICAL_LINK_UP
					    : before->physical_stays;

	return usual && rna_usec_since(before->physical_read, now) < PHYSICAL_PERIOD;
}

static int read_port(const struct rna_collect_input *in, size_t index, struct rna_part *part,
		     struct rna_port_state_value *port)
{
	rna_usec now = part->started.monotonic;
	const struct rna_port_state_value *before;
	int ret;

	ret = rna_reader_read_number(in->reader, 2 * index, rna_parse_leading_u64, part,
				     &port->state);
	if (ret < 0)
		return ret;
	before = find_before(in, index, port);
	if (before && is_lasting(before, now)) {
		port->physical_state = before->physical_state;
		port->physical_read = before->physical_read;
		port->physical_stays = before->physical_stays;
		return 0;
	}
	port->physical_read = now;
	ret = rna_reader_read_number(in->reader, 2 * index + 1, rna_parse_leading_u64, part,
				     &port->physical_state);
	port->physical_stays = before && rna_value_is_known(port->physical_state) &&
			       before->physical_state.number == port->physical_state.number;
	return ret;
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

static int read_all(const struct rna_collect_input *in, struct rna_state *state)
{
	const struct rna_device *device = in->device;
	struct rna_part *part = &state->part;
	struct rna_port_state_value *ports =
		rna_arena_array(part->arena, device->port_count, sizeof(*ports));
	int status = ports ? 0 : -ENOMEM;

	if (status == 0 && rna_reader_is_empty(in->reader))
		status = add_files(in->reader, device, part->arena);
	for (size_t i = 0; status >= 0 && i < device->port_count; i++) {
		ports[i].number = device->ports[i];
		status = read_port(in, i, part, &ports[i]);
		if (status >= 0)
			ask_port(in, part, &ports[i]);
	}
	state->ports = ports;
	state->port_count = device->port_count;
	return status;
}

RNA_DEFINE_COLLECT(state, STATE, struct rna_state,
		   in->device->port_count * sizeof(struct rna_port_state_value), 0,
		   "cannot read port states", read_all(in, part))
