// SPDX-License-Identifier: Apache-2.0
/*
 * The rule about /etc/nccl.conf: it must not demand of each job what the node does not have. It is
 * for processes of the node; containers have a file of their own.
 */
#include <string.h>

#include "rna/model/nccl.h"

#include "rules.h"

struct problems {
	const struct rna_rule_input *in;
	const struct rna_nccl_file *file;
	struct rna_strbuf text;
	enum rna_severity severity;
};

static void deinit_problems(struct problems *problems)
{
	rna_strbuf_deinit(&problems->text);
}

static struct rna_strbuf *begin(struct problems *problems, enum rna_severity severity)
{
	if (problems->text.len > 0)
		rna_strbuf_puts(&problems->text, "; ");
	if (severity > problems->severity)
		problems->severity = severity;
	return &problems->text;
}

static const char *value_of(const struct problems *problems, enum rna_nccl_file_variable variable)
{
	return problems->file->values[variable];
}

/* A port that NCCL could use, if its list selects it. */
static bool is_port(const struct rna_subject *subject)
{
	return !subject->device->device->process &&
	       subject->device->device->function != RNA_FUNCTION_VIRTUAL &&
	       subject->device->device->function != RNA_FUNCTION_SWITCH_MANAGEMENT;
}

static bool is_selected(const struct problems *problems, const struct rna_subject *port)
{
	const char *list = value_of(problems, RNA_NCCL_FILE_IB_HCA);

	return is_port(port) &&
	       (!list || rna_nccl_list_selects(list, port->device->device->name, port->port));
}

static size_t count_up(const struct problems *problems)
{
	return RNA_COUNT(i, problems->in->ports->count,
			 is_selected(problems, &problems->in->ports->items[i]) &&
				 rna_subject_is_active(&problems->in->ports->items[i]));
}

static void check_disabled(struct problems *problems)
{
	size_t up = count_up(problems);

	if (up > 0)
		rna_strbuf_printf(begin(problems, RNA_SEVERITY_INFO),
				  "NCCL_IB_DISABLE=%.32s: NCCL uses TCP, although %zu RDMA port%s "
				  "up",
				  value_of(problems, RNA_NCCL_FILE_IB_DISABLE), up,
				  up == 1 ? " is" : "s are");
}

/* -- NCCL_IB_HCA ------------------------------------------------------------------------------- */

/* The ports that an entry of the list means. */
struct meant {
	size_t ports, down;
	const struct rna_subject *first_down;
};

static struct meant find_meant(const struct problems *problems, const struct rna_nccl_list *entry)
{
	struct meant ret = {0};

	RNA_EACH (port, problems->in->ports->items, problems->in->ports->count) {
		if (!is_port(port) ||
		    !rna_nccl_list_fits(entry, port->device->device->name, port->port))
			continue;
		ret.ports++;
		if (rna_subject_is_active(port) || !rna_subject_state_is_known(port))
			continue;
		ret.first_down = ret.down++ == 0 ? port : ret.first_down;
	}
	return ret;
}

/* Devices that the agent does not watch, or that a container uses now, may be those. */
static bool may_be_elsewhere(const struct rna_rule_input *in)
{
	const struct rna_presence *presence = rna_snapshot_presence(in->view->snapshot);

	return !presence || presence->excluded_count > 0 || in->view->missing_count > 0;
}

static void check_entry(struct problems *problems, const struct rna_nccl_list *entry)
{
	struct meant meant = find_meant(problems, entry);

	if (meant.ports == 0 && !may_be_elsewhere(problems->in))
		rna_strbuf_printf(begin(problems, RNA_SEVERITY_WARNING),
				  "NCCL_IB_HCA: no RDMA port is %.*s",
				  (int)strcspn(entry->name, ","), entry->name);
	else if (meant.ports > 0 && meant.down == meant.ports)
		rna_strbuf_printf(begin(problems, RNA_SEVERITY_INFO),
				  "NCCL_IB_HCA: %.*s selects %s/%u%s, which %s down",
				  (int)entry->len, entry->name,
				  meant.first_down->device->device->name, meant.first_down->port,
				  meant.down > 1 ? " and others" : "",
				  meant.down > 1 ? "are" : "is");
}

static void check_devices(struct problems *problems)
{
	const char *text = value_of(problems, RNA_NCCL_FILE_IB_HCA);
	struct rna_nccl_list list;

	if (!text)
		return;
	list = rna_nccl_list_begin(text);
	while (!list.others && rna_nccl_list_next(&list))
		check_entry(problems, &list);
}

/* -- NCCL_IB_GID_INDEX ------------------------------------------------------------------------- */

static const struct rna_gid_entry *entry_at(const struct rna_port_gids *gids, int index)
{
	return RNA_FIND(i, gids->entries, gids->count, gids->entries[i].index == (unsigned)index);
}

/* iWARP has no RoCE. */
static bool is_roce(const struct rna_subject *port)
{
	return rna_subject_is_active(port) && port->link_layer == RNA_LINK_LAYER_ETHERNET &&
	       port->gids && port->identity && port->identity->node_type != RNA_NODE_TYPE_RNIC;
}

/* What is wrong with the index at that port; NULL: nothing, or not known. */
static const char *why_bad(const struct rna_subject *port, int index)
{
	const struct rna_gid_entry *entry = entry_at(port->gids, index);

	if (!entry)
		return "has no GID";
	return entry->type == RNA_GID_TYPE_ROCE_V1 ? "has one of RoCE v1" : NULL;
}

static void check_gids(struct problems *problems)
{
	const struct rna_nccl_environment environment = {
		.gid_index = value_of(problems, RNA_NCCL_FILE_IB_GID_INDEX),
	};
	const int index = rna_nccl_settings_parse(&environment).gid_index;
	const struct rna_subject *first = NULL;
	size_t bad = 0;

	for (size_t i = 0; index >= 0 && i < problems->in->ports->count; i++) {
		const struct rna_subject *port = &problems->in->ports->items[i];

		if (!is_selected(problems, port) || !is_roce(port) || !why_bad(port, index))
			continue;
		first = first ? first : port;
		bad++;
	}
	if (!first)
		return;
	rna_strbuf_printf(begin(problems, RNA_SEVERITY_WARNING),
			  "NCCL_IB_GID_INDEX=%d: %s/%u %s there", index,
			  first->device->device->name, first->port, why_bad(first, index));
	if (bad > 1)
		rna_strbuf_printf(&problems->text, ", and %zu other port%s no RoCE v2 there either",
				  bad - 1, bad == 2 ? " has" : "s have");
}

/* -- NCCL_SOCKET_IFNAME ------------------------------------------------------------------------ */

/* Only where the agent sees the interfaces of the host: those of its RDMA ports. */
static void check_interfaces(struct problems *problems)
{
	const struct rna_netdevs *netdevs = rna_snapshot_netdevs(problems->in->view->snapshot);
	struct rna_value selected = problems->file->interfaces;

	if (netdevs && netdevs->count > 0 && rna_value_is_known(selected) && selected.number == 0)
		rna_strbuf_printf(begin(problems, RNA_SEVERITY_WARNING),
				  "NCCL_SOCKET_IFNAME=%.64s selects no interface, so NCCL does not "
				  "start",
				  value_of(problems, RNA_NCCL_FILE_SOCKET_IFNAME));
}

static void check_nccl_conf(const struct rna_rule_input *in, struct rna_finds *out)
{
	const struct rna_readiness *readiness = rna_snapshot_readiness(in->view->snapshot);
	RNA_CLEANUP(deinit_problems) struct problems problems = {.in = in};

	if (!readiness || !readiness->nccl_file.exists)
		return;
	problems.file = &readiness->nccl_file;
	if (rna_nccl_is_set(value_of(&problems, RNA_NCCL_FILE_IB_DISABLE))) {
		check_disabled(&problems);
	} else {
		check_devices(&problems);
		check_gids(&problems);
	}
	check_interfaces(&problems);
	out->failed |= problems.text.failed;
	if (problems.text.len > 0 && !problems.text.failed)
		rna_finds_add(out, "/etc/nccl.conf: %s", problems.text.data)->severity =
			problems.severity;
}

const struct rna_rule rna_rule_nccl_conf = {
	RNA_RULE_ROW("nccl-conf", NODE, WARNING, HOST, HOST, NOT_READY),
	.settles = true,
	.hold = "1m",
	.help = "/etc/nccl.conf demands of all jobs what the node does not have: an RDMA "
		"device that does not exist, a GID index without RoCE v2 on some port, an "
		"interface that does not exist. Info: it turns RDMA off, or selects a port "
		"that is down.",
	.check = check_nccl_conf,
	.remedy = "Correct these lines of /etc/nccl.conf or remove them; rdma-node-agent env "
		  "--for=nccl shows what the node needs. Until then a job can set the "
		  "variables itself, which takes precedence. Containers have a file of "
		  "their own.",
	.message_id = "d24946dfff324932b27ee1c0916bf651",
};
