// SPDX-License-Identifier: Apache-2.0
/*
 * Which nodes is a profile for? Each key of match has a row below. And: does one function or
 * version fit what a profile says of it?
 */
#include <ctype.h>
#include <fnmatch.h>
#include <string.h>

#include "rna/base/parse.h"
#include "rna/model/device_filter.h"
#include "rna/model/readiness.h"
#include "rna/model/topology.h"

#include "baseline.h"

/* -- Models ------------------------------------------------------------------------------------ */

enum { VENDOR_MELLANOX = 0x15b3 };

static bool take_id(const char *text, size_t len, uint32_t *ret)
{
	char digits[5] = "";
	uint64_t number;

	if (len != 4)
		return false;
	memcpy(digits, text, len);
	if (!isxdigit((unsigned char)digits[0]) || !isxdigit((unsigned char)digits[1]) ||
	    rna_parse_hex_u64(digits, &number) < 0)
		return false;
	*ret = (uint32_t)number;
	return true;
}

/* "MT4129": the number is the PCI device. */
static bool take_mellanox(const char *text, struct rna_profile_model *ret)
{
	uint64_t number;

	if (strncmp(text, "MT", 2) != 0 || rna_parse_u64(text + 2, &number) < 0 || number == 0 ||
	    number > UINT16_MAX)
		return false;
	ret->vendor_id = VENDOR_MELLANOX;
	ret->device_id = (uint32_t)number;
	return true;
}

bool rna_profile_model_parse(const char *text, struct rna_profile_model *ret)
{
	const char *colon = strchr(text, ':');

	*ret = (struct rna_profile_model){.text = text};
	if (take_mellanox(text, ret))
		return true;
	if (colon)
		return take_id(text, (size_t)(colon - text), &ret->vendor_id) &&
		       take_id(colon + 1, strlen(colon + 1), &ret->device_id) &&
		       ret->vendor_id != 0;
	return rna_device_glob_is_valid(text) && text[strspn(text, "*")] != '\0';
}

bool rna_profile_model_fits(const struct rna_profile_model *model, uint32_t vendor_id,
			    uint32_t device_id, const char *hca_type)
{
	if (model->vendor_id != 0)
		return model->vendor_id == vendor_id && model->device_id == device_id;
	return hca_type && fnmatch(model->text, hca_type, 0) == 0;
}

/* -- Versions ---------------------------------------------------------------------------------- */

/* The next number of a version ("24.10-0.7.0"); 0 behind its end. Any other character ends it. */
static uint64_t next_number(const char **text)
{
	uint64_t number = 0;
	const char *at = *text;

	for (; isdigit((unsigned char)*at); at++)
		if (number < UINT32_MAX)
			number = number * 10 + (uint64_t)(*at - '0');
	*text = (*at == '.' || *at == '-') && at > *text ? at + 1 : at;
	return number;
}

/* By number, not by letter: 28.9 is before 28.39. */
static int compare_versions(const char *a, const char *b)
{
	while (isdigit((unsigned char)*a) || isdigit((unsigned char)*b)) {
		uint64_t x = next_number(&a), y = next_number(&b);

		if (x != y)
			return x < y ? -1 : 1;
	}
	return 0;
}

bool rna_profile_version_fits(const char *wanted, const char *version)
{
	if (strncmp(wanted, ">= ", 3) == 0)
		return compare_versions(version, wanted + 3) >= 0;
	return strcmp(wanted, version) == 0;
}

/* -- Firmware's texts -------------------------------------------------------------------------- */

static enum rna_profile_fit fit(bool fits)
{
	return fits ? RNA_PROFILE_FITS : RNA_PROFILE_FITS_NOT;
}

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

	return RNA_ANY(i, models->count,
		       rna_profile_model_fits(&items[i], gpu->vendor_id, gpu->device_id, NULL));
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
