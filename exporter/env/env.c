// SPDX-License-Identifier: Apache-2.0
/*
 * The environment that a communication library needs on this node, derived from a view. A variable
 * is set only if the library would perform worse without it. Each has a reason; what no variable
 * can solve is a warning.
 *
 * What the libraries have in common is here; in what they differ, in dialects.c.
 */
#include "rna/model/env.h"

#include <errno.h>
#include <string.h>

#include "view/facts.h"

#include "dialect.h"

enum {
	VARIABLES_MAX = 16,
	WARNINGS_OF_A_PORT = 13, /* one of each kind */
	OTHER_WARNINGS_MAX = 24,
};

/* -- Helpers ----------------------------------------------------------------------------------- */

static const char *title_of(const struct rna_env_advising *advising)
{
	return advising->dialect->words.title;
}

static const char *copy(struct rna_env_advising *advising, const struct rna_strbuf *text)
{
	return rna_strbuf_ok(text) && text->data ? rna_arena_strdup(advising->arena, text->data)
						 : NULL;
}

/* -- The list of ports ------------------------------------------------------------------------- */

static const char *why_these_ports(struct rna_env_advising *advising, const char *end)
{
	const struct rna_env_ports *ports = &advising->ports;
	bool infiniband = ports->items[0]->link_layer == RNA_LINK_LAYER_INFINIBAND;

	return rna_arena_printf(advising->arena, "%zu ACTIVE port%s of %s; %s%s", ports->count,
				ports->count == 1 ? "" : "s", infiniband ? "InfiniBand" : "RoCE",
				ports->why,
				end ? "; lo for what stays on the node, for which these ports may "
				      "have no transport (sglang#40641)"
				    : "");
}

static void write_rail_and_plane(const struct rna_env_advising *advising, size_t i,
				 struct rna_strbuf *out)
{
	const struct rna_topology *topology = rna_snapshot_topology(advising->view->snapshot);
	const struct rna_nic *nic =
		topology ? rna_topology_find_nic(topology, advising->ports.items[i]->device->device)
			 : NULL;

	rna_strbuf_add_char(out, ':');
	if (nic && nic->rail >= 0)
		rna_strbuf_printf(out, "%d", nic->rail);
	rna_strbuf_printf(out, ":%zu", rna_env_plane(&advising->ports, i));
}

static void list_ports(struct rna_env_advising *advising)
{
	const struct rna_env_dialect *dialect = advising->dialect;
	const struct rna_env_ports *ports = &advising->ports;
	bool planes = dialect->lists_planes && rna_env_networks_are_apart(ports);
	const char *end = rna_env_other_driver(ports) ? dialect->list_end : NULL;
	RNA_STRBUF struct rna_strbuf list = RNA_STRBUF_INIT;

	rna_strbuf_puts(&list, dialect->list_start ? dialect->list_start : "");
	for (size_t i = 0; i < ports->count; i++) {
		const char *name = ports->items[i]->device->device->name;

		if (dialect->lists_devices && i > 0 &&
		    strcmp(name, ports->items[i - 1]->device->device->name) == 0)
			continue;
		rna_strbuf_printf(&list, "%s%s", i == 0 ? "" : ",", name);
		if (!dialect->lists_devices)
			rna_strbuf_printf(&list, ":%u", ports->items[i]->port);
		if (planes)
			write_rail_and_plane(advising, i, &list);
	}
	rna_strbuf_puts(&list, end ? end : "");
	rna_env_set(advising, dialect->words.list, copy(advising, &list),
		    why_these_ports(advising, end));
}

/* -- Sockets ----------------------------------------------------------------------------------- */

static void warn_of_uplinks(struct rna_env_advising *advising)
{
	for (size_t i = 0; i < advising->ports.count; i++)
		if (rna_env_port_has_uplink(advising->ports.items[i]))
			RNA_ENV_WARN(advising,
				     "%s: the default route goes over it, so it carries other "
				     "traffic, too",
				     rna_env_name(advising, advising->ports.items[i]));
}

static void choose_sockets(struct rna_env_advising *advising)
{
	const struct rna_netdevs *netdevs = rna_snapshot_netdevs(advising->view->snapshot);
	const struct rna_env_dialect *dialect = advising->dialect;
	const char *uplink = netdevs ? netdevs->uplink : NULL;

	if (dialect->sockets && uplink && advising->request->own_network)
		RNA_ENV_WARN(advising,
			     "%s is not set, because a container has interfaces of its own; with "
			     "hostNetwork: true it is =%s (--host-network)",
			     dialect->sockets, uplink);
	else if (dialect->sockets && uplink)
		rna_env_set(advising, dialect->sockets,
			    rna_arena_printf(advising->arena, "=%s", uplink),
			    "the default route goes there: the way to other nodes for all that is "
			    "no RDMA");
	else if (dialect->sockets)
		RNA_ENV_WARN(advising, "no default route is known: %s opens its sockets on %s",
			     title_of(advising), dialect->sockets_alone);
	warn_of_uplinks(advising);
}

/* -- Quality of service ------------------------------------------------------------------------ */

/* Derived from priorities and PFC, if the driver does not write a class into all packets. */
static void derive_quality(struct rna_env_advising *advising)
{
	struct rna_env_quality quality;

	if (rna_env_derive_quality(&advising->ports, &advising->dialect->qos, advising->arena,
				   &quality) < 0) {
		advising->failed = true;
		return;
	}
	if (quality.name)
		rna_env_set(advising, quality.name, quality.value, quality.reason);
	if (quality.warning)
		rna_env_warn(advising, quality.warning);
}

static void set_configured_class(struct rna_env_advising *advising, uint64_t traffic_class)
{
	const struct rna_env_qos_names *names = &advising->dialect->qos;

	if (names->standard == 0 || traffic_class != names->standard)
		rna_env_set(advising, names->traffic_class,
			    rna_arena_printf(advising->arena, "%ju", (uintmax_t)traffic_class),
			    "the traffic class that the driver is configured for, "
			    "tc/1/traffic_class of the devices");
}

/*
 * The configuration of the node: a traffic class that the driver writes into all RoCE packets of a
 * port, or DCB.
 */
static void choose_quality(struct rna_env_advising *advising)
{
	const struct rna_env_ports *ports = &advising->ports;
	struct rna_value first = {0};

	for (size_t i = 0; i < ports->count; i++) {
		struct rna_value traffic_class = ports->items[i]->port_identity->traffic_class;

		if (i == 0)
			first = traffic_class;
		if (traffic_class.state != first.state || traffic_class.number != first.number) {
			RNA_ENV_WARN(advising,
				     "%s: another traffic class than %s is configured: %s holds "
				     "for all ports, so it is not set",
				     rna_env_name(advising, ports->items[i]),
				     rna_env_name(advising, ports->items[0]),
				     advising->dialect->qos.traffic_class);
			return;
		}
	}
	if (first.state == RNA_VALUE_OK)
		set_configured_class(advising, first.number);
	else
		derive_quality(advising);
}

/* -- Warnings ---------------------------------------------------------------------------------- */

static void warn_of_absent_ports(struct rna_env_advising *advising,
				 const struct rna_subjects *subjects)
{
	const struct rna_subject_list *list = &subjects->scopes[RNA_SCOPE_PORT];
	const struct rna_view *view = advising->view;

	RNA_EACH (port, list->items, list->count) {
		const char *state = rna_subject_state_name(port);

		if (state && !rna_port_up(port).number &&
		    rna_subject_expected(port) == RNA_EXPECTED_UP)
			RNA_ENV_WARN(advising,
				     "%s is left out, though it is meant to be up: it is %s",
				     rna_env_name(advising, port), state);
	}
	for (size_t i = 0; i < view->missing_count; i++)
		RNA_ENV_WARN(advising, "%s is missing", view->missing[i].name);
}

/*
 * The libraries check only the port, so they use one whose packets have no route. The advice keeps
 * such a port and warns: without it the job would have one rail fewer than it expects. InfiniBand
 * needs no interface.
 */
static void warn_of_interfaces(struct rna_env_advising *advising)
{
	const struct rna_netdevs *netdevs = rna_snapshot_netdevs(advising->view->snapshot);

	for (size_t i = 0; i < advising->ports.count; i++) {
		const struct rna_subject *port = advising->ports.items[i];
		const struct rna_netdev *bond = rna_netdevs_bond_of(netdevs, port->netdev);
		const struct rna_netdev *netdev = bond ? bond : port->netdev;

		if (port->link_layer == RNA_LINK_LAYER_ETHERNET && netdev &&
		    rna_netdev_has_no_link(netdev))
			RNA_ENV_WARN(
				advising,
				"%s: its network interface %s %s; %s uses the port all the same, "
				"and fails",
				rna_env_name(advising, port), netdev->name,
				netdev->admin_up ? "has no link" : "is set down",
				title_of(advising));
	}
}

static struct rna_value mtu_of(const struct rna_subject *port)
{
	return port->link ? port->link->active_mtu : (struct rna_value){0};
}

/* The highest value of the ports; 0: none is known. */
static uint64_t highest(const struct rna_env_ports *ports,
			struct rna_value (*get)(const struct rna_subject *port))
{
	uint64_t ret = 0;

	for (size_t i = 0; i < ports->count; i++) {
		struct rna_value value = get(ports->items[i]);

		if (rna_value_is_known(value) && value.number > ret)
			ret = value.number;
	}
	return ret;
}

static void warn_of_differences(struct rna_env_advising *advising)
{
	const struct rna_env_ports *ports = &advising->ports;
	uint64_t rate = highest(ports, rna_port_rate), mtu = highest(ports, mtu_of);

	for (size_t i = 0; i < ports->count; i++) {
		const struct rna_subject *port = ports->items[i];
		struct rna_value own_rate = rna_port_rate(port), own_mtu = mtu_of(port);

		if (rna_value_is_known(own_rate) && own_rate.number < rate)
			RNA_ENV_WARN(advising, "%s has %.6g Gb/s, others %.6g Gb/s",
				     rna_env_name(advising, port),
				     (double)own_rate.number * 8 / 1e9, (double)rate * 8 / 1e9);
		if (rna_value_is_known(own_mtu) && own_mtu.number < mtu)
			RNA_ENV_WARN(advising, "%s has an MTU of %ju bytes, others of %ju",
				     rna_env_name(advising, port), (uintmax_t)own_mtu.number,
				     (uintmax_t)mtu);
	}
}

/* -- GPUs that share NICs ---------------------------------------------------------------------- */

/* Is a port of the NIC among those listed? */
static bool is_listed(const struct rna_env_advising *advising, const struct rna_topology *topology,
		      int nic)
{
	for (size_t i = 0; nic >= 0 && i < advising->ports.count; i++)
		if (rna_topology_find_nic(topology, advising->ports.items[i]->rdma_device) ==
		    &topology->nics[nic])
			return true;
	return false;
}

/* The NICs of GPUs that are listed, each once; and GPUs that lack one of their own. */
struct sharing {
	size_t nics;
	int without;       /* the first GPU whose NIC is not listed; -1: none */
	int first, second; /* two GPUs with one NIC; -1: none are */
};

static struct sharing find_sharing(const struct rna_env_advising *advising,
				   const struct rna_topology *topology)
{
	struct sharing ret = {.without = -1, .first = -1, .second = -1};

	for (size_t i = 0; i < topology->gpu_count; i++) {
		int nic = topology->affinities[i].nic, before = -1;

		if (!is_listed(advising, topology, nic)) {
			ret.without = ret.without < 0 ? (int)i : ret.without;
			continue;
		}
		for (size_t j = 0; j < i && before < 0; j++)
			if (topology->affinities[j].nic == nic)
				before = (int)j;
		ret.nics += before < 0;
		if (before >= 0 && ret.first < 0) {
			ret.first = before;
			ret.second = (int)i;
		}
	}
	return ret;
}

/* A process for all GPUs gets by with it; processes of one GPU each should have their own list. */
static void warn_of_sharing(struct rna_env_advising *advising)
{
	const struct rna_topology *topology = rna_snapshot_topology(advising->view->snapshot);
	struct sharing sharing;
	const char *how;

	if (!topology || rna_env_is_of_gpu(advising) || rna_env_is_flat_guest(advising))
		return;
	sharing = find_sharing(advising, topology);
	if (sharing.nics == 0 || (sharing.first < 0 && sharing.without < 0))
		return;
	how = sharing.first < 0 ? rna_arena_printf(advising->arena, "that of GPU %d cannot be used",
						   sharing.without)
				: rna_arena_printf(advising->arena, "GPU %d and GPU %d share one",
						   sharing.first, sharing.second);
	RNA_ENV_WARN(
		advising,
		"%zu NIC%s for %zu GPUs: %s; env --gpu=N lists the ports for processes of GPU N",
		sharing.nics, sharing.nics == 1 ? "" : "s", topology->gpu_count, how ? how : "");
}

/* -- All of it --------------------------------------------------------------------------------- */

static void advise(struct rna_env_advising *advising, const struct rna_subjects *subjects)
{
	warn_of_absent_ports(advising, subjects);
	if (advising->ports.count == 0)
		return;
	list_ports(advising);
	warn_of_interfaces(advising);
	rna_env_choose_networks(advising);
	rna_env_choose_gids(advising);
	choose_sockets(advising);
	choose_quality(advising);
	warn_of_differences(advising);
	warn_of_sharing(advising);
	advising->dialect->choose(advising);
}

/* Memory for all possible warnings. */
static int make_room(struct rna_env_advising *advising, const struct rna_subjects *subjects)
{
	size_t ports = subjects->scopes[RNA_SCOPE_PORT].count;
	size_t most =
		ports * WARNINGS_OF_A_PORT + advising->view->missing_count + OTHER_WARNINGS_MAX;

	advising->variables =
		rna_arena_array(advising->arena, VARIABLES_MAX, sizeof(*advising->variables));
	advising->warnings = rna_arena_array(advising->arena, most, sizeof(*advising->warnings));
	return advising->variables && advising->warnings ? 0 : -ENOMEM;
}

/*
 * In a virtual machine with a flat tree all NICs of a NUMA node look equally near: which one is a
 * GPU's own would be made up, so that all of them stay.
 */
static int choose_ports_of_gpu(struct rna_env_advising *advising)
{
	const struct rna_topology *topology = rna_snapshot_topology(advising->view->snapshot);
	const char *warning;

	if (!rna_env_is_of_gpu(advising))
		return 0;
	if (rna_env_is_flat_guest(advising))
		return rna_env_ports_of_numa_node(topology, (unsigned)advising->request->gpu,
						  advising->arena, &advising->ports);
	if (rna_env_ports_of_gpu(topology, (unsigned)advising->request->gpu, advising->arena,
				 &advising->ports, &warning) < 0)
		return -ENOMEM;
	if (warning)
		rna_env_warn(advising, warning);
	return 0;
}

/* A library with too few places for all ports takes the first ones: GPUs would be without any. */
static void cut_evenly(struct rna_env_advising *advising)
{
	size_t most = advising->dialect->ports_max;
	size_t count = rna_env_ports_cut(&advising->ports, most);

	if (count > 0)
		RNA_ENV_WARN(advising,
			     "%s uses %zu ports at most, so %zu are left out, of the cards with "
			     "most ports",
			     title_of(advising), most, count);
}

static int choose_ports(struct rna_env_advising *advising, const struct rna_subjects *subjects)
{
	if (rna_env_ports_choose(subjects, &advising->dialect->words, advising->arena,
				 &advising->ports) < 0)
		return -ENOMEM;
	if (choose_ports_of_gpu(advising) < 0)
		return -ENOMEM;
	cut_evenly(advising);
	return 0;
}

int rna_env_advise(const struct rna_view *view, const struct rna_env_request *request,
		   struct rna_arena *arena, struct rna_env_advice *ret)
{
	const struct rna_subjects *subjects = view->subjects;
	struct rna_env_advising advising = {
		.view = view,
		.request = request,
		.dialect = &rna_env_dialects[request->library],
		.arena = arena,
	};

	if (make_room(&advising, subjects) < 0 || choose_ports(&advising, subjects) < 0)
		return -ENOMEM;
	advise(&advising, subjects);
	*ret = (struct rna_env_advice){
		.title = advising.dialect->words.title,
		.port_count = advising.ports.count,
		.variable_count = advising.variable_count,
		.variables = advising.variables,
		.left_out_count = advising.ports.left_out_count,
		.left_out = advising.ports.left_out,
		.warning_count = advising.warning_count,
		.warnings = advising.warnings,
	};
	return advising.failed ? -ENOMEM : 0;
}
