// SPDX-License-Identifier: Apache-2.0
/*
 * The GIDs of RoCE ports: by itself a library chooses one for each port, and a wrong choice causes
 * no error but a job that hangs. A variable is set only if it makes more ports reachable.
 */
#include <string.h>

#include "rna/model/fabric.h"
#include "rna/model/gateways.h"

#include "dialect.h"

/* Settings by which the library chooses its GIDs. */
struct gid_choice {
	struct rna_nccl_settings settings;
	/* Ports for which it then selects a routable GID of RoCE v2, of the port's network. */
	size_t served;
	const char *where; /* which GIDs those are, beyond that */
};

const char *rna_env_gid_defect(const struct rna_subject *port, const struct rna_gid_entry *entry)
{
	if (!entry)
		return "an empty entry";
	if (entry->elsewhere)
		return "whose interface is in another network namespace";
	if (rna_gid_is_link_local(&entry->gid))
		return "link-local: no router carries it";
	if (entry->type != RNA_GID_TYPE_ROCE_V2)
		return "no RoCE v2: no router carries it";
	if (rna_network_uses(port, &entry->gid))
		return NULL;
	return port->view->networks->range_count > 0
		       ? "no address of the port's network (fabric.networks)"
		       : "not in the prefix that ports like this one share";
}

/* ret_index: of the entry, or of the empty one. */
static const struct rna_gid_entry *entry_of(const struct rna_env_advising *advising,
					    const struct rna_subject *port,
					    const struct rna_nccl_settings *settings,
					    unsigned *ret_index)
{
	return advising->dialect->gids.select(port->gids, settings, ret_index);
}

/* Does the library select a GID that other nodes can reach? ret_index: which one. */
static bool is_served(const struct rna_env_advising *advising, const struct rna_subject *port,
		      const struct rna_nccl_settings *settings, unsigned *ret_index)
{
	return port->gids &&
	       !rna_env_gid_defect(port, entry_of(advising, port, settings, ret_index));
}

static size_t count_ranges(const struct rna_networks *networks)
{
	return networks ? networks->range_count + networks->shared_count : 0;
}

static struct gid_choice try_settings(const struct rna_env_advising *advising,
				      struct rna_nccl_settings settings)
{
	const struct rna_networks *networks = advising->view->networks;
	struct gid_choice choice = {
		.settings = settings,
		.where = count_ranges(networks) == 0 ? ""
			 : networks->range_count > 0 ? " in the port's network"
						     : " in the prefix that ports share",
	};
	unsigned index;

	for (size_t i = 0; i < advising->ports.count; i++)
		choice.served +=
			is_served(advising, advising->ports.items[i], &choice.settings, &index);
	return choice;
}

/* The lowest index that serves most ports. */
static struct gid_choice find_index(const struct rna_env_advising *advising)
{
	const struct rna_env_ports *ports = &advising->ports;
	struct rna_nccl_settings settings = RNA_NCCL_STANDARD;
	struct gid_choice best = {0};

	for (size_t i = 0; i < ports->count; i++)
		for (size_t j = 0; ports->items[i]->gids && j < ports->items[i]->gids->count; j++) {
			const struct rna_gid_entry *entry = &ports->items[i]->gids->entries[j];
			struct gid_choice choice;

			if (rna_env_gid_defect(ports->items[i], entry))
				continue;
			settings.gid_index = (int)entry->index;
			choice = try_settings(advising, settings);
			if (choice.served > best.served ||
			    (choice.served == best.served &&
			     settings.gid_index < best.settings.gid_index))
				best = choice;
		}
	return best;
}

/* The prefix of a network by which most ports are served. */
static struct gid_choice find_range(const struct rna_env_advising *advising)
{
	const struct rna_networks *networks = advising->view->networks;
	struct gid_choice best = {0};

	RNA_EACH (range, networks->ranges, count_ranges(networks)) {
		struct rna_nccl_settings settings = RNA_NCCL_STANDARD;
		struct gid_choice choice;

		if (range->bits == 0)
			continue;
		settings.family = rna_gid_family(&range->address);
		settings.range = range->address;
		settings.range_bits =
			(int)range->bits - (settings.family == RNA_GID_IPV4 ? RNA_IPV4_BIT : 0);
		choice = try_settings(advising, settings);
		if (choice.served > best.served)
			best = choice;
	}
	return best;
}

static const char *say_gids(struct rna_env_advising *advising, const struct gid_choice *choice,
			    size_t alone, const char *what)
{
	return rna_arena_printf(advising->arena,
				"%s a routable GID for RoCE v2%s on %zu of %zu ports; left alone "
				"%s finds one on %zu",
				what, choice->where, choice->served, advising->ports.count,
				advising->dialect->gids.title, alone);
}

/* An older version goes on with the GID that it would choose alone, and at most warns. */
static void warn_of_version(struct rna_env_advising *advising, size_t served)
{
	const struct rna_env_gid_names *names = &advising->dialect->gids;
	struct gid_choice index = find_index(advising);

	if (!names->range_since)
		return;
	if (index.served == served)
		RNA_ENV_WARN(advising, "before %s there is no %s: there set %s=%d",
			     names->range_since, names->range, names->index,
			     index.settings.gid_index);
	else
		RNA_ENV_WARN(advising,
			     "before %s there is no %s: there give each process ports of one GID "
			     "index only, and %s",
			     names->range_since, names->range, names->index);
}

static void set_gid_variables(struct rna_env_advising *advising, const struct gid_choice *choice,
			      size_t alone)
{
	const struct rna_env_gid_names *names = &advising->dialect->gids;
	const struct rna_nccl_settings *settings = &choice->settings;
	char address[RNA_ADDRESS_TEXT_MAX];

	if (settings->gid_index >= 0) {
		rna_env_set(advising, names->index,
			    rna_arena_printf(advising->arena, "%d", settings->gid_index),
			    say_gids(advising, choice, alone, "this index has"));
		return;
	}
	if (settings->family == RNA_GID_IPV6 && names->family)
		rna_env_set(advising, names->family, "AF_INET6",
			    say_gids(advising, choice, alone, "addresses are IPv6: so there is"));
	if (settings->range_bits == 0)
		return;
	rna_address_format(&settings->range, address);
	rna_env_set(advising, names->range,
		    rna_arena_printf(advising->arena, "%s/%d", address, settings->range_bits),
		    say_gids(advising, choice, alone, "this prefix has"));
	warn_of_version(advising, choice->served);
}

/* A given index counts in every version. */
static const char *who_uses(const struct rna_env_advising *advising,
			    const struct rna_nccl_settings *settings)
{
	const struct rna_env_dialect *dialect = advising->dialect;

	return settings->gid_index >= 0 ? dialect->words.title : dialect->gids.title;
}

static void warn_of_gid(struct rna_env_advising *advising, const struct rna_subject *port,
			const struct rna_nccl_settings *settings, const char *because)
{
	const char *defect;
	unsigned index;

	if (!port->gids) {
		RNA_ENV_WARN(advising, "%s: its GID table is not known",
			     rna_env_name(advising, port));
		return;
	}
	defect = rna_env_gid_defect(port, entry_of(advising, port, settings, &index));
	if (defect)
		RNA_ENV_WARN(advising, "%s: %s%s uses GID index %u, %s",
			     rna_env_name(advising, port), because, who_uses(advising, settings),
			     index, defect);
}

/* -- Rails ------------------------------------------------------------------------------------- */

/* Ports on which the library selects that index, and a GID that other nodes can reach. */
static size_t count_index(const struct rna_env_advising *advising,
			  const struct rna_nccl_settings *settings, unsigned wanted)
{
	size_t count = 0;
	unsigned index;

	for (size_t i = 0; i < advising->ports.count; i++)
		count += is_served(advising, advising->ports.items[i], settings, &index) &&
			 index == wanted;
	return count;
}

/* The index that most ports use; the first of several with equally many. */
static unsigned usual_index(const struct rna_env_advising *advising,
			    const struct rna_nccl_settings *settings)
{
	unsigned usual = 0, index;
	size_t most = 0;

	for (size_t i = 0; i < advising->ports.count; i++) {
		size_t count;

		if (!is_served(advising, advising->ports.items[i], settings, &index))
			continue;
		count = count_index(advising, settings, index);
		if (count > most) {
			most = count;
			usual = index;
		}
	}
	return usual;
}

/* "rail 3, " as the prefix of a port on a rail; in the arena. */
static const char *rail_of(struct rna_env_advising *advising, const struct rna_subject *port)
{
	const struct rna_topology *topology = rna_snapshot_topology(advising->view->snapshot);
	const struct rna_nic *nic =
		topology ? rna_topology_find_nic(topology, port->device->device) : NULL;
	const char *text = nic && nic->rail >= 0
				   ? rna_arena_printf(advising->arena, "rail %d, ", nic->rail)
				   : "";

	advising->failed |= !text;
	return text ? text : "";
}

/* The library itself selects an index for each port; the warning is for jobs that set an index. */
static void warn_of_rails(struct rna_env_advising *advising,
			  const struct rna_nccl_settings *settings)
{
	const struct rna_env_dialect *dialect = advising->dialect;
	unsigned usual = usual_index(advising, settings), index;

	for (size_t i = 0; settings->gid_index < 0 && i < advising->ports.count; i++) {
		const struct rna_subject *port = advising->ports.items[i];

		if (is_served(advising, port, settings, &index) && index != usual)
			RNA_ENV_WARN(advising,
				     "%s%s disagrees: %s uses GID index %u there, and %u on most "
				     "ports; leave %s unset",
				     rail_of(advising, port), rna_env_name(advising, port),
				     dialect->words.title, index, usual, dialect->gids.index);
	}
}

/* -- Several addresses ------------------------------------------------------------------------- */

/* Another address that the library could have chosen as well as that entry; NULL: none. */
static const struct rna_gid_entry *find_rival(const struct rna_subject *port,
					      const struct rna_gid_entry *chosen)
{
	RNA_EACH (entry, port->gids->entries, port->gids->count)
		if (!rna_env_gid_defect(port, entry) &&
		    !rna_gid_is_same(&entry->gid, &chosen->gid) &&
		    rna_gid_family(&entry->gid) == rna_gid_family(&chosen->gid))
			return entry;
	return NULL;
}

/* Which of them the fabric routes the node cannot know. */
static void warn_of_rivals(struct rna_env_advising *advising,
			   const struct rna_nccl_settings *settings)
{
	char one[RNA_ADDRESS_TEXT_MAX], other[RNA_ADDRESS_TEXT_MAX];
	unsigned index;

	for (size_t i = 0; i < advising->ports.count; i++) {
		const struct rna_subject *port = advising->ports.items[i];
		const struct rna_gid_entry *chosen, *rival;

		if (!is_served(advising, port, settings, &index))
			continue;
		chosen = entry_of(advising, port, settings, &index);
		rival = find_rival(port, chosen);
		if (!rival)
			continue;
		rna_address_format(&chosen->gid, one);
		rna_address_format(&rival->gid, other);
		RNA_ENV_WARN(advising,
			     "%s has several routable addresses, and %s uses %s, not %s (index "
			     "%u): if the fabric is that of the other one, set fabric.networks",
			     rna_env_name(advising, port), advising->dialect->words.title, one,
			     other, rival->index);
	}
}

/* -- The caller's environment ------------------------------------------------------------------ */

bool rna_env_given_gids(const struct rna_env_gid_names *names,
			const struct rna_env_request *request, struct rna_nccl_settings *ret)
{
	struct rna_nccl_environment given = {
		.gid_index = rna_env_ask(request, names->index),
		.addr_family = rna_env_ask(request, names->family),
		.addr_range = rna_env_ask(request, names->range),
		.roce_version = rna_env_ask(request, names->roce_version),
	};

	/* a word of UCX; NCCL would read it as 0, as rna_nccl_settings_parse() does */
	if (!names->family && given.gid_index && strcmp(given.gid_index, "auto") == 0)
		given.gid_index = NULL;
	*ret = rna_nccl_settings_parse(&given);
	return given.gid_index || given.addr_family || given.addr_range || given.roce_version;
}

/* Variables of the caller's environment stay in force unless one of ours replaces them. */
static void warn_of_given(struct rna_env_advising *advising, const struct gid_choice *choice)
{
	struct rna_nccl_settings settings;
	unsigned index;

	if (!rna_env_given_gids(&advising->dialect->gids, advising->request, &settings))
		return;
	if (choice->settings.gid_index >= 0)
		return; /* we set the index, which overrides the others */
	if (choice->settings.family == RNA_GID_IPV6)
		settings.family = RNA_GID_IPV6;
	for (size_t i = 0; i < advising->ports.count; i++) {
		const struct rna_subject *port = advising->ports.items[i];

		if (is_served(advising, port, &choice->settings, &index))
			warn_of_gid(advising, port, &settings,
				    "with the environment as it is here ");
	}
}

/* -- All of it --------------------------------------------------------------------------------- */

const struct rna_gid_entry *rna_env_nccl_select(const struct rna_port_gids *gids,
						const struct rna_nccl_settings *settings,
						unsigned *ret_index)
{
	*ret_index = rna_nccl_gid_index(gids, false, settings);
	return rna_port_gids_find(gids, *ret_index);
}

/*
 * An address family or a prefix is better than an index: it stays right if addresses get other
 * indexes.
 */
static struct gid_choice choose(const struct rna_env_advising *advising,
				const struct gid_choice *alone)
{
	struct rna_nccl_settings ipv6 = RNA_NCCL_STANDARD;
	struct gid_choice best = *alone, other;

	ipv6.family = RNA_GID_IPV6;
	if (advising->dialect->gids.family) {
		other = try_settings(advising, ipv6);
		if (other.served > best.served)
			best = other;
	}
	if (advising->dialect->gids.range && best.served < advising->ports.count) {
		other = find_range(advising);
		if (other.served > best.served)
			best = other;
	}
	other = best.served < advising->ports.count ? find_index(advising) : best;
	return other.served > best.served ? other : best;
}

void rna_env_choose_gids(struct rna_env_advising *advising)
{
	const struct rna_env_ports *ports = &advising->ports;
	struct gid_choice alone, best;

	if (ports->items[0]->link_layer == RNA_LINK_LAYER_INFINIBAND)
		return;
	alone = try_settings(advising, RNA_NCCL_STANDARD);
	best = choose(advising, &alone);
	if (best.served > alone.served)
		set_gid_variables(advising, &best, alone.served);
	for (size_t i = 0; i < ports->count; i++)
		warn_of_gid(advising, ports->items[i], &best.settings, "");
	warn_of_rails(advising, &best.settings);
	warn_of_rivals(advising, &best.settings);
	warn_of_given(advising, &best);
}
