// SPDX-License-Identifier: Apache-2.0
/* Which nodes is a profile for? Each key of match has a row below. */
#include <fnmatch.h>
#include <string.h>

#include "rna/model/readiness.h"
#include "rna/model/topology.h"

#include "baseline.h"

static enum rna_profile_fit fit(bool fits)
{
	return fits ? RNA_PROFILE_FITS : RNA_PROFILE_FITS_NOT;
}

/* -- Firmware's texts -------------------------------------------------------------------------- */

static enum rna_profile_fit fit_text(const char *glob, const struct rna_baseline_facts *facts,
				     const char *text)
{
	if (!glob)
		return RNA_PROFILE_FITS;
	if (!text)
		return !facts->readiness || facts->readiness->dmi.unreadable
			       ? RNA_PROFILE_FIT_UNKNOWN
			       : RNA_PROFILE_FITS_NOT;
	return fit(fnmatch(glob, text, 0) == 0);
}

static enum rna_profile_fit fit_vendor(const struct rna_profile_match *match,
				       const struct rna_baseline_facts *facts)
{
	return fit_text(match->vendor, facts,
			facts->readiness ? facts->readiness->dmi.vendor : NULL);
}

static enum rna_profile_fit fit_product(const struct rna_profile_match *match,
					const struct rna_baseline_facts *facts)
{
	return fit_text(match->product, facts,
			facts->readiness ? facts->readiness->dmi.product : NULL);
}

static enum rna_profile_fit fit_board(const struct rna_profile_match *match,
				      const struct rna_baseline_facts *facts)
{
	return fit_text(match->board, facts, facts->readiness ? facts->readiness->dmi.board : NULL);
}

static enum rna_profile_fit fit_asset_tag(const struct rna_profile_match *match,
					  const struct rna_baseline_facts *facts)
{
	return fit_text(match->asset_tag, facts,
			facts->readiness ? facts->readiness->dmi.asset_tag : NULL);
}

/* -- The PCI bus ------------------------------------------------------------------------------- */

static uint64_t total_of(const struct rna_baseline_census *census)
{
	uint64_t total = 0;

	for (size_t i = 0; i < census->count; i++)
		total += census->models[i].count;
	return total;
}

static enum rna_profile_fit fit_gpus(const struct rna_profile_match *match,
				     const struct rna_baseline_facts *facts)
{
	if (!rna_value_is_known(match->gpus))
		return RNA_PROFILE_FITS;
	if (!facts->bus_known)
		return RNA_PROFILE_FIT_UNKNOWN;
	return fit(total_of(&facts->gpus) == match->gpus.number);
}

static bool is_one_of(const struct rna_profile_list *models, const struct rna_baseline_model *gpu)
{
	const struct rna_profile_model *items = models->items;

	for (size_t i = 0; i < models->count; i++)
		if (rna_profile_model_fits(&items[i], gpu->vendor_id, gpu->device_id, NULL))
			return true;
	return false;
}

static enum rna_profile_fit fit_gpu_models(const struct rna_profile_match *match,
					   const struct rna_baseline_facts *facts)
{
	if (match->gpu_models.count == 0)
		return RNA_PROFILE_FITS;
	if (!facts->bus_known)
		return RNA_PROFILE_FIT_UNKNOWN;
	for (size_t i = 0; i < facts->gpus.count; i++)
		if (!is_one_of(&match->gpu_models, &facts->gpus.models[i]))
			return RNA_PROFILE_FITS_NOT;
	return fit(facts->gpus.count > 0);
}

static uint64_t count_of(const struct rna_baseline_census *census,
			 const struct rna_profile_model *model)
{
	for (size_t i = 0; i < census->count; i++)
		if (rna_profile_model_fits(model, census->models[i].vendor_id,
					   census->models[i].device_id, NULL))
			return census->models[i].count;
	return 0;
}

static enum rna_profile_fit fit_nics(const struct rna_profile_match *match,
				     const struct rna_baseline_facts *facts)
{
	const struct rna_profile_nics *nics = match->nics.items;

	if (match->nics.count == 0)
		return RNA_PROFILE_FITS;
	if (!facts->bus_known)
		return RNA_PROFILE_FIT_UNKNOWN;
	for (size_t i = 0; i < match->nics.count; i++) {
		uint64_t count = count_of(&facts->nics, &nics[i].model);

		if (nics[i].at_least ? count < nics[i].count : count != nics[i].count)
			return RNA_PROFILE_FITS_NOT;
	}
	return RNA_PROFILE_FITS;
}

/* -- Kubernetes -------------------------------------------------------------------------------- */

static enum rna_profile_fit fit_label(const struct rna_profile_match *match,
				      const struct rna_baseline_facts *facts)
{
	int has = 0;

	if (!match->label)
		return RNA_PROFILE_FITS;
	if (facts->has_label)
		has = facts->has_label(match->label, facts->userdata);
	return has < 0 ? RNA_PROFILE_FIT_UNKNOWN : fit(has > 0);
}

/* -- All of them ------------------------------------------------------------------------------- */

/* Cheap ones first: most profiles of a file are for other nodes. */
static const struct {
	const char *key;
	enum rna_profile_fit (*fit)(const struct rna_profile_match *match,
				    const struct rna_baseline_facts *facts);
} keys[] = {
	{"gpus", fit_gpus},   {"vendor", fit_vendor},       {"product", fit_product},
	{"board", fit_board}, {"asset_tag", fit_asset_tag}, {"gpu_model", fit_gpu_models},
	{"nics", fit_nics},   {"label", fit_label},
};

/* What does not fit decides it, whatever is unknown. */
enum rna_profile_fit rna_profile_match(const struct rna_profile_match *match,
				       const struct rna_baseline_facts *facts, const char **ret_key)
{
	enum rna_profile_fit all = RNA_PROFILE_FITS;

	for (size_t i = 0; i < RNA_ARRAY_SIZE(keys); i++) {
		enum rna_profile_fit one = keys[i].fit(match, facts);

		if (one == RNA_PROFILE_FITS || all == RNA_PROFILE_FITS_NOT)
			continue;
		all = one;
		*ret_key = keys[i].key;
	}
	return all;
}

/* -- The facts --------------------------------------------------------------------------------- */

static void count_object(struct rna_baseline_census *census, const struct rna_pci_object *object)
{
	for (size_t i = 0; i < census->count; i++)
		if (census->models[i].vendor_id == object->vendor_id &&
		    census->models[i].device_id == object->device_id) {
			census->models[i].count++;
			return;
		}
	if (census->count < RNA_BASELINE_MODELS_MAX)
		census->models[census->count++] = (struct rna_baseline_model){
			.vendor_id = object->vendor_id,
			.device_id = object->device_id,
			.count = 1,
		};
}

void rna_baseline_facts_read(const struct rna_snapshot *snapshot, struct rna_baseline_facts *ret)
{
	const struct rna_topology *topology = rna_snapshot_topology(snapshot);

	*ret = (struct rna_baseline_facts){
		.bus_known = topology,
		.readiness = rna_snapshot_readiness(snapshot),
	};
	for (size_t i = 0; topology && i < topology->gpu_count; i++)
		count_object(&ret->gpus, &topology->objects[topology->gpus[i].object]);
	for (size_t i = 0; topology && i < topology->nic_count; i++)
		if (!topology->nics[i].switch_management)
			count_object(&ret->nics, &topology->objects[topology->nics[i].object]);
}

static void write_text(const char *what, const char *text, struct rna_strbuf *out)
{
	if (text)
		rna_strbuf_printf(out, "%s%s \"%.*s\"", out->len > 0 ? ", " : "", what,
				  RNA_PROFILE_TEXT_MAX, text);
}

static void write_census(const char *what, const struct rna_baseline_census *census,
			 struct rna_strbuf *out)
{
	enum { SHOWN = 4 };

	for (size_t i = 0; i < census->count && i < SHOWN; i++)
		rna_strbuf_printf(out, "%s%ju %s%s %04x:%04x", out->len > 0 ? ", " : "",
				  (uintmax_t)census->models[i].count, what,
				  census->models[i].count == 1 ? "" : "s",
				  census->models[i].vendor_id, census->models[i].device_id);
}

void rna_baseline_write_facts(const struct rna_baseline_facts *facts, struct rna_strbuf *out)
{
	if (facts->readiness) {
		write_text("vendor", facts->readiness->dmi.vendor, out);
		write_text("product", facts->readiness->dmi.product, out);
		write_text("board", facts->readiness->dmi.board, out);
	}
	write_census("GPU", &facts->gpus, out);
	write_census("NIC", &facts->nics, out);
	if (out->len == 0)
		rna_strbuf_puts(out, "no DMI, no GPU, no NIC");
}
