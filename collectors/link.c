// SPDX-License-Identifier: Apache-2.0
/*
 * link: rate, width, speed, MTU, LIDs and capabilities of each port.
 *
 * Each file of ports/N costs a port query of the driver (on mlx5 InfiniBand five firmware
 * commands); verbs returns almost all of it with one query. So verbs comes first, and sysfs
 * provides the rest, which is everything if the device cannot be opened. rate is always read: other
 * tools show it, and it has speeds that an older libibverbs lacks.
 *
 * Neither has the supported and enabled modes of an InfiniBand link. PortInfo has them, so each
 * port is queried by one MAD, whose answer also fills values without a file. The planes of a port
 * are queried by MAD only (struct rna_plane).
 */
#include "link.h"

#include <errno.h>

#include "rna/base/parse.h"

#include "backend/ask_mad.h"
#include "backend/backends.h"
#include "parse/reader.h"

#include "collectors.h"
#include "identity.h"

/* The files of a port, in the order in which they are added to the reader. */
enum port_file {
	FILE_LINK_LAYER,
	FILE_RATE,
	FILE_LID,
	FILE_SM_LID,
	FILE_SM_SL,
	FILE_LMC,
	FILE_CAPABILITY_MASK,
	FILE_COUNT,
};

static const char *const port_files[FILE_COUNT] = {
	[FILE_LINK_LAYER] = "link_layer",
	[FILE_RATE] = "rate",
	[FILE_LID] = "lid",
	[FILE_SM_LID] = "sm_lid",
	[FILE_SM_SL] = "sm_sl",
	[FILE_LMC] = "lid_mask_count",
	[FILE_CAPABILITY_MASK] = "cap_mask",
};

static int add_files(struct rna_reader *reader, const struct rna_device *device,
		     struct rna_arena *arena)
{
	int ret = 0;

	for (size_t i = 0; ret >= 0 && i < device->port_count; i++) {
		const char *path = rna_arena_printf(arena, "%s/ports/%u", device->sysfs_path,
						    device->ports[i]);
		int directory = path ? rna_reader_add_directory(reader, path, 0) : -ENOMEM;

		ret = directory;
		for (size_t j = 0; ret >= 0 && j < FILE_COUNT; j++)
			ret = rna_reader_add_file(reader, (unsigned)directory, port_files[j], NULL);
	}
	if (ret < 0)
		rna_reader_reset(reader);
	return ret < 0 ? ret : 0;
}

enum { CODE_SDR = 1 };

static struct rna_value compute_rate(struct rna_value lanes, const struct rna_speed *speed)
{
	if (!speed || lanes.state != RNA_VALUE_OK)
		return rna_value_unreadable();
	return rna_value_ok(lanes.number * speed->lane_bytes);
}

/*
 * Both sources err to lower speeds: sysfs prints SDR for a code that the kernel does not know (XDR
 * on Linux 6.1), and verbs before rdma-core 49 returns NDR for XDR. So the faster one is right, but
 * a speed that the kernel names otherwise is that of the link.
 *
 * The rate is the nominal one of sysfs: signalling rate times lanes, without reduction for the
 * 8b/10b coding of SDR, DDR and QDR, as in ibstat and node_exporter. Only if the kernel does not
 * know the speed, the rate is computed in the same way.
 */
void rna_link_merge_speed(const struct rna_link_rate *printed, struct rna_value speed_code,
			  struct rna_value lanes, struct rna_port_link *ret)
{
	const struct rna_speed *speed = printed ? printed->speed : NULL;
	uint64_t printed_code = speed ? speed->code : 0;

	if (printed) {
		ret->rate = rna_value_ok(printed->bytes);
		ret->width = rna_value_ok(printed->lanes);
	} else {
		ret->width = lanes;
	}
	if (speed)
		ret->speed_code = rna_value_ok(speed->code);
	if (speed_code.state == RNA_VALUE_OK && speed_code.number > printed_code &&
	    printed_code <= CODE_SDR) {
		speed = rna_speed_from_code(speed_code.number);
		ret->speed_code = speed_code;
		if (!printed || printed_code)
			ret->rate = compute_rate(ret->width, speed);
	}
	ret->speed_name = speed ? speed->name : NULL;
}

/* One port: its files, and the answer of verbs. */
struct run {
	const struct rna_device *device;
	struct rna_reader *reader;
	struct rna_part *part;
	size_t first_file; /* first file of this port */
	const struct rna_verbs_port *verbs;
};

/*
 * 0, or negative errno; counted, unless the file is absent. The kernel says EINVAL of a rate whose
 * speed or width the driver does not tell (rate_show() in core/sysfs.c, 6.12).
 */
static int read_text(struct run *run, enum port_file file, char *text, size_t size)
{
	ssize_t len = rna_reader_read(run->reader, run->first_file + file, text, size);

	if (len == -EINVAL && file == FILE_RATE)
		return -ENOENT;
	if (len < 0 && len != -ENODEV && len != -ENOENT)
		rna_part_count_error(run->part, (int)len);
	return len < 0 ? (int)len : 0;
}

/* *ret has the value from verbs; if that is absent, reads sysfs. */
static int read_number(struct run *run, enum port_file file,
		       int (*parse)(const char *text, uint64_t *ret), struct rna_value *ret)
{
	if (ret->state == RNA_VALUE_OK)
		return 0;
	return rna_reader_read_number(run->reader, run->first_file + file, parse, run->part, ret);
}

static int read_speed(struct run *run, struct rna_port_link *port)
{
	char text[64];
	struct rna_link_rate rate;
	int status = read_text(run, FILE_RATE, text, sizeof(text));

	if (status == -ENODEV)
		return status;
	if (status == 0) {
		status = rna_rate_parse(text, &rate);
		if (status < 0)
			rna_part_count_error(run->part, status);
	}
	if (status < 0 && status != -ENOENT)
		port->rate = rna_value_unreadable();
	rna_link_merge_speed(status == 0 ? &rate : NULL, run->verbs->speed_code, run->verbs->lanes,
			     port);
	return 0;
}

/*
 * Only InfiniBand has LIDs: RoCE drivers report 0, and irdma a constant 1. They come from sysfs,
 * because verbs truncates those of Omni-Path, which have 32 bits.
 */
static int read_subnet(struct run *run, struct rna_port_link *port)
{
	int status;

	port->sm_sl = run->verbs->sm_sl;
	port->lmc = run->verbs->lmc;
	status = read_number(run, FILE_LID, rna_parse_hex_u64, &port->lid);
	if (status == 0)
		status = read_number(run, FILE_SM_LID, rna_parse_hex_u64, &port->sm_lid);
	if (status == 0)
		status = read_number(run, FILE_SM_SL, rna_parse_u64, &port->sm_sl);
	if (status == 0)
		status = read_number(run, FILE_LMC, rna_parse_u64, &port->lmc);
	return status;
}

static int read_port(struct run *run, struct rna_port_link *port)
{
	char text[64];
	int status;

	port->active_mtu = run->verbs->active_mtu;
	port->max_mtu = run->verbs->max_mtu;
	port->capability_mask = run->verbs->capability_mask;
	status = read_speed(run, port);
	if (status == 0)
		status = read_number(run, FILE_CAPABILITY_MASK, rna_parse_hex_u64,
				     &port->capability_mask);
	if (status < 0)
		return status;
	status = read_text(run, FILE_LINK_LAYER, text, sizeof(text));
	if (status == 0 && rna_link_layer_parse(run->device, text) == RNA_LINK_LAYER_INFINIBAND)
		return read_subnet(run, port);
	return status == -ENODEV ? status : 0;
}

static void fill_in(struct rna_value *value, struct rna_value answered)
{
	if (!rna_value_is_known(*value))
		*value = answered;
}

/* For a speed that they do not know, the other sources report a slower speed and its rate. */
static void fill_in_speed(const struct rna_mad_port *info, struct rna_port_link *port)
{
	const struct rna_speed *speed = rna_speed_from_code(info->speed_code.number);
	bool known = rna_value_is_known(port->speed_code);

	if (!speed || (known && port->speed_code.number >= speed->code))
		return;
	port->speed_code = info->speed_code;
	port->speed_name = speed->name;
	fill_in(&port->width, info->lanes);
	if (known || !rna_value_is_known(port->rate))
		port->rate = compute_rate(port->width, speed);
}

/*
 * If the port cannot be queried or does not answer, only values without another source are lost.
 * PortInfo of a multi-plane card is that of a plane, whose modes are not those of the port.
 */
static void ask_port(const struct rna_collect_input *in, struct rna_part *part,
		     struct rna_port_link *port)
{
	struct rna_mad_port info;

	if (in->device->smi || rna_ask_port_info(in, port->number, part, &info) < 0)
		return;
	port->width_supported = info.lanes_supported;
	port->width_enabled = info.lanes_enabled;
	port->speed_supported = info.speed_supported;
	port->speed_enabled = info.speed_enabled;
	fill_in(&port->lid, info.lid);
	fill_in(&port->sm_lid, info.sm_lid);
	fill_in(&port->sm_sl, info.sm_sl);
	fill_in(&port->lmc, info.lmc);
	fill_in(&port->capability_mask, info.capability_mask);
	fill_in_speed(&info, port);
}

/* -- Planes ------------------------------------------------------------------------------------ */

static void read_plane(const struct rna_collect_input *in, struct rna_part *part,
		       struct rna_plane *plane)
{
	struct rna_collect_input smi = *in;
	struct rna_mad_port info;

	smi.device = in->device->smi;
	if (rna_ask_port_info(&smi, plane->number, part, &info) < 0)
		return;
	plane->state = info.state;
	plane->physical_state = info.physical_state;
}

static int read_planes(const struct rna_collect_input *in, struct rna_link *link)
{
	const struct rna_device *smi = in->device->smi;
	struct rna_plane *planes =
		smi ? rna_arena_array(link->part.arena, smi->port_count, sizeof(*planes)) : NULL;

	if (!smi)
		return 0;
	if (!planes)
		return -ENOMEM;
	for (size_t i = 0; i < smi->port_count; i++) {
		planes[i].number = smi->ports[i];
		read_plane(in, &link->part, &planes[i]);
	}
	link->planes = planes;
	link->plane_count = smi->port_count;
	return 0;
}

/* False if verbs is not available, which is normal in a container. */
static bool ask_verbs(const struct rna_collect_input *in, struct rna_part *part,
		      struct rna_verbs_port *ports)
{
	int status = in->backends->verbs->query_ports(in->root, in->device, ports);

	if (status < 0 && status != -ENOENT)
		rna_part_count_error(part, status);
	for (size_t i = 0; status == 0 && i < in->device->port_count; i++)
		if (ports[i].error)
			rna_part_count_error(part, ports[i].error);
	return status == 0;
}

static int read_all(const struct rna_collect_input *in, struct rna_link *link)
{
	const struct rna_device *device = in->device;
	struct rna_part *part = &link->part;
	struct rna_verbs_port *verbs =
		rna_arena_array(part->arena, device->port_count, sizeof(*verbs));
	struct rna_port_link *ports =
		rna_arena_array(part->arena, device->port_count, sizeof(*ports));
	int status = 0;

	if (!verbs || !ports)
		return -ENOMEM;
	if (rna_reader_is_empty(in->reader))
		status = add_files(in->reader, device, part->arena);
	if (status == 0)
		link->verbs = ask_verbs(in, part, verbs);
	for (size_t i = 0; status == 0 && i < device->port_count; i++) {
		struct run run = {
			.device = device,
			.reader = in->reader,
			.part = part,
			.first_file = i * FILE_COUNT,
			.verbs = &verbs[i],
		};

		ports[i].number = device->ports[i];
		status = read_port(&run, &ports[i]);
		if (status == 0)
			ask_port(in, part, &ports[i]);
	}
	link->ports = ports;
	link->port_count = device->port_count;
	return status < 0 ? status : read_planes(in, link);
}

RNA_DEFINE_COLLECT(link, LINK, struct rna_link, 448, 0, "cannot read link", read_all(in, part))
