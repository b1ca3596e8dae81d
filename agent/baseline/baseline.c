// SPDX-License-Identifier: Apache-2.0
#include "baseline.h"

#include <errno.h>
#include <fnmatch.h>
#include <string.h>

#include "rna/model/netdev.h"

/* -- Reading ----------------------------------------------------------------------------------- */

void rna_baseline_deinit(struct rna_baseline *baseline)
{
	baseline->profiles = rna_profiles_free(baseline->profiles);
	free(baseline->problem);
	*baseline = (struct rna_baseline){0};
}

int rna_baseline_load(struct rna_baseline *baseline, const char *setting, struct rna_mistakes *rest,
		      struct rna_error *error)
{
	bool shipped = *setting == '\0' || strcmp(setting, RNA_BASELINE_AUTO) == 0;
	struct rna_error ignored, *why = error ? error : &ignored;
	int status;

	rna_baseline_deinit(baseline);
	baseline->shipped = shipped;
	baseline->alarms = *setting != '\0';
	if (rest)
		*rest = (struct rna_mistakes){0};
	status = shipped ? rna_profiles_shipped(&baseline->profiles, why)
			 : rna_profiles_read(setting, &baseline->profiles, rest, why);
	if (status < 0)
		baseline->problem = strdup(why->text); /* NULL: it says less */
	return status;
}

/* -- The devices of an entry ------------------------------------------------------------------- */

static bool has_name(const char *glob, const struct rna_device *device,
		     struct rna_netdev_search *netdevs)
{
	if (fnmatch(glob, device->name, 0) == 0 ||
	    (device->pci_address && fnmatch(glob, device->pci_address, 0) == 0))
		return true;
	for (size_t i = 0; i < device->port_count; i++) {
		const struct rna_port_netdev *port =
			rna_netdev_search_port(netdevs, device->name, device->ports[i]);

		if (port && fnmatch(glob, port->netdev, 0) == 0)
			return true;
	}
	return false;
}

/* RNA_PROFILE_FIT_UNKNOWN: the type of the device, or its interface, is not known yet. */
static enum rna_profile_fit means(const struct rna_profile_device *entry,
				  const struct rna_snapshot_device *device,
				  struct rna_netdev_search *netdevs)
{
	const struct rna_identity *identity = rna_device_identity(device);
	bool typed = entry->model.text && entry->model.vendor_id == 0;

	if (entry->model.text && (!typed || identity) &&
	    !rna_profile_model_fits(&entry->model, device->device->vendor_id,
				    device->device->device_id,
				    identity ? identity->hca_type : NULL))
		return RNA_PROFILE_FITS_NOT;
	if (entry->name && !has_name(entry->name, device->device, netdevs))
		return netdevs->netdevs ? RNA_PROFILE_FITS_NOT : RNA_PROFILE_FIT_UNKNOWN;
	return typed && !identity ? RNA_PROFILE_FIT_UNKNOWN : RNA_PROFILE_FITS;
}

/* Virtual and scalable functions, software devices and managers of NVSwitches are not meant. */
static uint64_t entries_of(struct rna_baseline_choice *choice,
			   const struct rna_snapshot_device *device,
			   struct rna_netdev_search *netdevs)
{
	const struct rna_profile *profile = choice->profile;
	uint64_t entries = 0;

	if (!rna_device_is_nic(device->device))
		return 0;
	for (size_t i = 0; i < profile->device_count; i++) {
		enum rna_profile_fit fit = means(&profile->devices[i], device, netdevs);

		if (fit == RNA_PROFILE_FITS)
			entries |= UINT64_C(1) << i;
		else if (fit == RNA_PROFILE_FIT_UNKNOWN)
			choice->vague |= UINT64_C(1) << i;
	}
	return entries;
}

static int find_entries(const struct rna_snapshot *snapshot, struct rna_arena *arena,
			struct rna_baseline_choice *choice)
{
	struct rna_netdev_search netdevs = {.netdevs = rna_snapshot_netdevs(snapshot)};
	uint64_t *entries =
		rna_arena_array(arena, snapshot->device_count + 1, sizeof(*entries)); /* not none */

	if (!entries)
		return -ENOMEM;
	for (size_t i = 0; i < snapshot->device_count; i++)
		entries[i] = entries_of(choice, &snapshot->devices[i], &netdevs);
	choice->entries = entries;
	return 0;
}

/* -- The profile of this node ------------------------------------------------------------------ */

/* What the search found. */
struct search {
	const struct rna_profile *found, *second;
	bool unknown;
	struct rna_strbuf why; /* "a (gpus), b (product)" */
	size_t misses;
};

enum { MISSES_SHOWN = 4 };

static void try_profile(struct search *search, const struct rna_profile *profile,
			const struct rna_baseline_facts *facts)
{
	const char *key = "";

	switch (rna_profile_match(&profile->match, facts, &key)) {
	case RNA_PROFILE_FITS:
		if (!search->found)
			search->found = profile;
		else if (!search->second)
			search->second = profile;
		return;
	case RNA_PROFILE_FIT_UNKNOWN:
		search->unknown = true;
		return;
	default:
		if (search->misses++ < MISSES_SHOWN)
			rna_strbuf_printf(&search->why, "%s%s (%s)",
					  search->why.len > 0 ? ", " : "", profile->name, key);
	}
}

static void deinit_search(struct search *search)
{
	rna_strbuf_deinit(&search->why);
}

static const char *explain(const struct search *search, const struct rna_baseline_facts *facts,
			   const char *path, struct rna_arena *arena)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;

	rna_baseline_write_facts(facts, &text);
	if (!rna_strbuf_ok(&text) || !rna_strbuf_ok(&search->why))
		return NULL;
	if (search->second)
		return rna_arena_printf(arena,
					"%s: the profiles %s (line %zu) and %s (line %zu) both fit "
					"this node: %s",
					path, search->found->name, search->found->line,
					search->second->name, search->second->line, text.data);
	return rna_arena_printf(arena, "%s: no profile fits this node: %s; what does not fit: %s%s",
				path, text.data, search->why.data ? search->why.data : "none",
				search->misses > MISSES_SHOWN ? " and others" : "");
}

static int decide(const struct search *search, const struct rna_baseline_facts *facts,
		  struct rna_arena *arena, struct rna_baseline_choice *ret)
{
	if (search->found && !search->second) {
		ret->profile = search->found;
		return 0;
	}
	ret->unknown = !search->found && search->unknown;
	if (ret->unknown || !ret->alarms)
		return 0;
	ret->problem = explain(search, facts, ret->path, arena);
	return ret->problem ? 0 : -ENOMEM;
}

int rna_baseline_choose(const struct rna_baseline *baseline, const struct rna_snapshot *snapshot,
			rna_baseline_has_label *has_label, void *userdata, struct rna_arena *arena,
			struct rna_baseline_choice *ret)
{
	RNA_CLEANUP(deinit_search) struct search search = {0};
	const struct rna_profiles *profiles = baseline->profiles;
	struct rna_baseline_facts facts;
	int status;

	*ret = (struct rna_baseline_choice){
		.path = profiles ? profiles->path : NULL,
		.shipped = baseline->shipped,
		.alarms = baseline->alarms,
		.invalid = !profiles,
	};
	if (!profiles) {
		ret->problem = baseline->problem ? baseline->problem : "out of memory";
		return 0;
	}
	if (profiles->count == 0)
		return 0;
	rna_baseline_facts_read(snapshot, &facts);
	facts.has_label = has_label;
	facts.userdata = userdata;
	for (size_t i = 0; i < profiles->count; i++)
		try_profile(&search, &profiles->items[i], &facts);
	status = decide(&search, &facts, arena, ret);
	return status < 0 || !ret->profile ? status : find_entries(snapshot, arena, ret);
}
