// SPDX-License-Identifier: Apache-2.0
/* Rules about settings that mean no port of this node: a typing error, or a device that is gone. */
#include <fnmatch.h>

#include "memory/expect.h"
#include "settings/settings.h"

#include "rules.h"

static bool fits_port(const struct rna_rule_input *in, const char *entry)
{
	RNA_EACH (port, in->ports->items, in->ports->count)
		if (rna_expect_fits(entry, port->device, port->port,
				    port->netdev ? port->netdev->name : NULL))
			return true;
	return false;
}

/* Then device-missing reports why. */
static bool fits_missing(const struct rna_view *view, const char *entry)
{
	for (size_t i = 0; i < view->missing_count; i++)
		if (rna_expect_fits_device(entry, view->missing[i].name,
					   view->missing[i].pci_address))
			return true;
	return false;
}

/* Every name of every port must be known, else the entry may mean one of the others. */
static bool is_all_known(const struct rna_rule_input *in)
{
	if (!rna_snapshot_netdevs(in->view->snapshot))
		return false;
	return RNA_ALL(i, in->devices->count, in->devices->items[i].identity);
}

/* Entries that match nothing: the first of them by name. */
struct unmatched {
	const char *text; /* NULL: no memory */
	size_t count;
};

static void add_entries(const struct rna_rule_input *in, const char *setting, char *const *list,
			struct rna_arena *arena, struct unmatched *ret)
{
	enum { NAMED_MAX = 4 };

	for (; list && *list; list++) {
		if (fits_port(in, *list) || fits_missing(in->view, *list))
			continue;
		if (ret->text && ret->count < NAMED_MAX)
			ret->text = rna_arena_printf(arena, "%s%s%s \"%s\"", ret->text,
						     *ret->text ? ", " : "", setting, *list);
		else if (ret->text && ret->count == NAMED_MAX)
			ret->text = rna_arena_printf(arena, "%s and others", ret->text);
		ret->count++;
	}
}

static void check_expect_unmatched(const struct rna_rule_input *in, struct rna_finds *out)
{
	struct unmatched unmatched = {.text = ""};

	if (!rna_snapshot_presence(in->view->snapshot))
		return;
	add_entries(in, "expect.up", in->settings->expect_up, out->arena, &unmatched);
	add_entries(in, "expect.down", in->settings->expect_down, out->arena, &unmatched);
	if (unmatched.count == 0)
		return;
	if (is_all_known(in))
		(void)rna_finds_add(out, "no port of this node matches %s",
				    unmatched.text ? unmatched.text : "an entry of expect");
	else
		rna_finds_add_unknown(out);
}

const struct rna_rule rna_rule_expect_unmatched = {
	RNA_RULE_ROW("expect-unmatched", NODE, WARNING, AGENT, HOST, NOT_OBSERVED),
	.settles = true,
	.hold = "1m",
	.help = "An entry of expect.up or expect.down matches no port of this node.",
	.check = check_expect_unmatched,
	.remedy = "Correct the entry; rdma-node-agent status lists the devices, ports and "
		  "interfaces of this node. If the device should be there, look for it "
		  "with lspci and in the kernel log.",
	.message_id = "dbb07032892b465c90f91d32e849a981",
};
