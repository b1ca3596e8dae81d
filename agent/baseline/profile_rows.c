// SPDX-License-Identifier: Apache-2.0
/*
 * The keys of a profile and the kinds of their values. To add a key: a field in profile.h, a row
 * here, and a row of what it is compared with in agent/rules/rules_profile.c.
 */
#include "profile_rows.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "rna/base/parse.h"
#include "rna/model/device_filter.h"
#include "rna/model/label.h"
#include "rna/model/readiness.h"

#define BYTES_PER_MEGABIT UINT64_C(125000)

static bool is_known(const void *value)
{
	return rna_value_is_known(*(const struct rna_value *)value);
}

static bool is_text(const void *value)
{
	return *(const char *const *)value;
}

static int keep_text(const char *text, void *value, struct rna_arena *arena)
{
	const char *copy = rna_arena_strdup(arena, text);

	*(const char **)value = copy;
	return copy ? 0 : -ENOMEM;
}

/* A text in double quotes, as YAML has it: what must be escaped is. */
static void write_text(const void *value, struct rna_strbuf *out)
{
	rna_strbuf_add_char(out, '"');
	for (const char *c = *(const char *const *)value; *c; c++) {
		if (*c == '"' || *c == '\\')
			rna_strbuf_add_char(out, '\\');
		rna_strbuf_add_char(out, *c);
	}
	rna_strbuf_add_char(out, '"');
}

static void write_plain(const void *value, struct rna_strbuf *out)
{
	rna_strbuf_puts(out, *(const char *const *)value);
}

/* -- Numbers ----------------------------------------------------------------------------------- */

static int take_number(const struct rna_profile_row *row, const char *text, void *value,
		       struct rna_arena *arena)
{
	uint64_t number;

	(void)arena;
	if (rna_parse_u64(text, &number) < 0 || number < row->min || number > row->max)
		return -EINVAL;
	*(struct rna_value *)value = rna_value_ok(number);
	return 0;
}

static void write_number(const void *value, struct rna_strbuf *out)
{
	rna_strbuf_add_u64(out, ((const struct rna_value *)value)->number);
}

static const struct rna_profile_type number = {
	.take = take_number,
	.write = write_number,
	.is_set = is_known,
	.size = sizeof(struct rna_value),
};

/* 1, 2, 4 and so on, as well as 12: the lanes of a link, or bytes. */
static int take_power(const struct rna_profile_row *row, const char *text, void *value,
		      struct rna_arena *arena)
{
	int status = take_number(row, text, value, arena);
	uint64_t taken = ((struct rna_value *)value)->number;

	if (status < 0)
		return status;
	return (taken & (taken - 1)) == 0 || taken == 12 ? 0 : -EINVAL;
}

static const struct rna_profile_type power = {
	.take = take_power,
	.write = write_number,
	.is_set = is_known,
	.size = sizeof(struct rna_value),
};

/* "400G", "2.5G" */
static int take_rate(const struct rna_profile_row *row, const char *text, void *value,
		     struct rna_arena *arena)
{
	size_t whole = strspn(text, "0123456789");
	size_t part = text[whole] == '.' ? strspn(text + whole + 1, "0123456789") : 0;
	size_t end = whole + (part ? part + 1 : 0);
	uint64_t megabits = 0;

	(void)row;
	(void)arena;
	if (whole == 0 || whole > 5 || part > 3 || strcmp(text + end, "G") != 0)
		return -EINVAL;
	for (size_t i = 0; i < whole; i++)
		megabits = megabits * 10 + (uint64_t)(text[i] - '0');
	for (size_t i = 0; i < 3; i++)
		megabits = megabits * 10 + (i < part ? (uint64_t)(text[whole + 1 + i] - '0') : 0);
	*(struct rna_value *)value = rna_value_ok(megabits * BYTES_PER_MEGABIT);
	return megabits > 0 ? 0 : -EINVAL;
}

static void write_rate(const void *value, struct rna_strbuf *out)
{
	uint64_t megabits = ((const struct rna_value *)value)->number / BYTES_PER_MEGABIT;
	char text[32];
	size_t len;

	(void)snprintf(text, sizeof(text), "%ju.%03ju", (uintmax_t)(megabits / 1000),
		       (uintmax_t)(megabits % 1000));
	for (len = strlen(text); text[len - 1] == '0'; len--)
		;
	rna_strbuf_add(out, text, text[len - 1] == '.' ? len - 1 : len);
	rna_strbuf_add_char(out, 'G');
}

static const struct rna_profile_type rate = {
	.allowed = "gigabits per second with the unit G, for example 400G",
	.take = take_rate,
	.write = write_rate,
	.is_set = is_known,
	.size = sizeof(struct rna_value),
};

/* -- Words ------------------------------------------------------------------------------------- */

static int take_word(const char *const *words, const char *text, void *value)
{
	for (size_t i = 0; i < 2; i++)
		if (strcmp(text, words[i]) == 0) {
			*(struct rna_value *)value = rna_value_ok(i);
			return 0;
		}
	return -EINVAL;
}

static const char *const switch_words[] = {"off", "on"};

static int take_switch(const struct rna_profile_row *row, const char *text, void *value,
		       struct rna_arena *arena)
{
	(void)row;
	(void)arena;
	return take_word(switch_words, text, value);
}

static void write_switch(const void *value, struct rna_strbuf *out)
{
	rna_strbuf_puts(out, switch_words[((const struct rna_value *)value)->number != 0]);
}

static const struct rna_profile_type on_or_off = {
	.allowed = "off, on",
	.take = take_switch,
	.write = write_switch,
	.is_set = is_known,
	.size = sizeof(struct rna_value),
};

static const char *const boolean_words[] = {"false", "true"};

static int take_boolean(const struct rna_profile_row *row, const char *text, void *value,
			struct rna_arena *arena)
{
	(void)row;
	(void)arena;
	return take_word(boolean_words, text, value);
}

static void write_boolean(const void *value, struct rna_strbuf *out)
{
	rna_strbuf_puts(out, boolean_words[((const struct rna_value *)value)->number != 0]);
}

static const struct rna_profile_type boolean = {
	.allowed = "true, false",
	.take = take_boolean,
	.write = write_boolean,
	.is_set = is_known,
	.size = sizeof(struct rna_value),
};

static int take_layer(const struct rna_profile_row *row, const char *text, void *value,
		      struct rna_arena *arena)
{
	(void)row;
	(void)arena;
	for (enum rna_link_layer layer = RNA_LINK_LAYER_INFINIBAND;
	     layer <= RNA_LINK_LAYER_ETHERNET; layer++)
		if (strcmp(text, rna_link_layer_name(layer)) == 0) {
			*(struct rna_value *)value = rna_value_ok(layer);
			return 0;
		}
	return -EINVAL;
}

static void write_layer(const void *value, struct rna_strbuf *out)
{
	uint64_t layer = ((const struct rna_value *)value)->number;

	rna_strbuf_puts(out, rna_link_layer_name((enum rna_link_layer)layer));
}

static const struct rna_profile_type layer_name = {
	.allowed = "InfiniBand, Ethernet",
	.take = take_layer,
	.write = write_layer,
	.is_set = is_known,
	.size = sizeof(struct rna_value),
};

/* -- Texts ------------------------------------------------------------------------------------- */

/* ASCII, so that it can be written between quotes as it is. */
static bool is_printable(const char *text)
{
	for (; *text; text++)
		if (*text < ' ' || *text > '~')
			return false;
	return true;
}

static int take_name(const struct rna_profile_row *row, const char *text, void *value,
		     struct rna_arena *arena)
{
	size_t len = strlen(text);

	(void)row;
	if (len == 0 || len >= 64 || strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-") != len)
		return -EINVAL;
	return keep_text(text, value, arena);
}

static const struct rna_profile_type name = {
	.allowed = "at most 63 characters of a-z, 0-9 and -",
	.take = take_name,
	.write = write_plain,
	.is_set = is_text,
	.size = sizeof(char *),
};

static int take_document(const struct rna_profile_row *row, const char *text, void *value,
			 struct rna_arena *arena)
{
	(void)row;
	if (*text == '\0' || strlen(text) > 1024 || !is_printable(text))
		return -EINVAL;
	return keep_text(text, value, arena);
}

static const struct rna_profile_type document = {
	.allowed = "a text of at most 1024 ASCII characters",
	.take = take_document,
	.write = write_text,
	.is_set = is_text,
	.size = sizeof(char *),
};

/* Other characters than a star. A glob of stars fits every node: it selects nothing. */
static int take_glob(const struct rna_profile_row *row, const char *text, void *value,
		     struct rna_arena *arena)
{
	(void)row;
	if (strlen(text) > RNA_PROFILE_TEXT_MAX || !is_printable(text) ||
	    text[strspn(text, "*")] == '\0')
		return -EINVAL;
	return keep_text(text, value, arena);
}

static const struct rna_profile_type glob = {
	.allowed = "a glob of at most 128 ASCII characters that does not fit everything",
	.take = take_glob,
	.write = write_text,
	.is_set = is_text,
	.size = sizeof(char *),
};

static int take_device_glob(const struct rna_profile_row *row, const char *text, void *value,
			    struct rna_arena *arena)
{
	(void)row;
	if (strlen(text) > RNA_PROFILE_TEXT_MAX || !rna_device_glob_is_valid(text))
		return -EINVAL;
	return keep_text(text, value, arena);
}

static const struct rna_profile_type device_glob = {
	.allowed = "a glob such as \"mlx5_*\", \"0000:3b:00.?\" or \"ib[0-3]\" without spaces and "
		   "slashes, of at most 128 characters",
	.take = take_device_glob,
	.write = write_text,
	.is_set = is_text,
	.size = sizeof(char *),
};

/* Also keys of Kubernetes' own: the label is only read. */
static int take_label(const struct rna_profile_row *row, const char *text, void *value,
		      struct rna_arena *arena)
{
	static const char characters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					 "0123456789-_./";
	size_t len = strcspn(text, "=");

	(void)row;
	if (len == 0 || len > RNA_LABEL_KEY_MAX || strspn(text, characters) != len ||
	    (text[len] && !rna_label_value_is_legal(text + len + 1)))
		return -EINVAL;
	return keep_text(text, value, arena);
}

static const struct rna_profile_type label = {
	.allowed = "a label of the Kubernetes Node: KEY or KEY=VALUE",
	.take = take_label,
	.write = write_text,
	.is_set = is_text,
	.size = sizeof(char *),
};

static bool is_version(const char *text, const char *characters)
{
	size_t len = strlen(text);

	return len > 0 && len <= 64 && strspn(text, characters) == len;
}

static int take_version(const struct rna_profile_row *row, const char *text, void *value,
			struct rna_arena *arena)
{
	bool valid =
		strncmp(text, ">= ", 3) == 0
			? is_version(text + 3, "0123456789.-") && isdigit((unsigned char)text[3])
			: is_printable(text) && strcspn(text, " <>=") == strlen(text) && *text &&
				  strlen(text) <= 64;

	(void)row;
	return valid ? keep_text(text, value, arena) : -EINVAL;
}

static const struct rna_profile_type version = {
	.allowed = "a version such as \"28.39.1002\", or \">= 28.39.1002\"",
	.take = take_version,
	.write = write_text,
	.is_set = is_text,
	.size = sizeof(char *),
};

/* -- Models ------------------------------------------------------------------------------------ */

static int take_model(const struct rna_profile_row *row, const char *text, void *value,
		      struct rna_arena *arena)
{
	struct rna_profile_model *model = value;

	(void)row;
	if (strlen(text) > RNA_PROFILE_TEXT_MAX || !rna_profile_model_parse(text, model))
		return -EINVAL;
	return keep_text(text, &model->text, arena);
}

static const struct rna_profile_type model_name = {
	.allowed = "a model such as MT4129, the PCI vendor and device such as \"15b3:1021\", or a "
		   "glob of hca_type without spaces that does not fit everything",
	.take = take_model,
	.write = write_text,
	.is_set = is_text,
	.size = sizeof(struct rna_profile_model),
};

/* Without a glob: what has no RDMA device has no hca_type. */
static int take_pci_model(const struct rna_profile_row *row, const char *text, void *value,
			  struct rna_arena *arena)
{
	struct rna_profile_model *model = value;
	int status = take_model(row, text, value, arena);

	return status == 0 && model->vendor_id == 0 ? -EINVAL : status;
}

static const struct rna_profile_type pci_model = {
	.allowed = "a model such as MT4129, or the PCI vendor and device such as \"15b3:1021\"",
	.take = take_pci_model,
	.write = write_text,
	.is_set = is_text,
	.size = sizeof(struct rna_profile_model),
};

/* -- Entries of lists -------------------------------------------------------------------------- */

static int take_pkey(const struct rna_profile_row *row, const char *text, void *value,
		     struct rna_arena *arena)
{
	uint64_t key;

	(void)row;
	(void)arena;
	if (strncmp(text, "0x", 2) != 0 || rna_parse_hex_u64(text, &key) < 0 || key == 0 ||
	    key > UINT16_MAX)
		return -EINVAL;
	*(uint16_t *)value = (uint16_t)key;
	return 0;
}

static void write_pkey(const void *value, struct rna_strbuf *out)
{
	rna_strbuf_printf(out, "0x%04x", *(const uint16_t *)value);
}

static const struct rna_profile_type pkey = {
	.allowed = "P_Keys with the membership bit, such as 0x8001",
	.take = take_pkey,
	.write = write_pkey,
	.size = sizeof(uint16_t),
};

static bool is_module(const char *text, size_t len)
{
	for (const char *const *module = rna_module_names; *module; module++)
		if (strlen(*module) == len && strncmp(*module, text, len) == 0)
			return true;
	return false;
}

/* Names that the collector readiness looks for, "|" between alternatives. */
static int take_modules(const struct rna_profile_row *row, const char *text, void *value,
			struct rna_arena *arena)
{
	const char *at = text;

	(void)row;
	for (;; at++) {
		size_t len = strcspn(at, "|");

		if (!is_module(at, len))
			return -EINVAL;
		at += len;
		if (*at == '\0')
			return keep_text(text, value, arena);
	}
}

static const struct rna_profile_type module_names = {
	.take = take_modules,
	.write = write_text,
	.size = sizeof(char *),
};

/* As sysfs writes it. */
static int take_address(const struct rna_profile_row *row, const char *text, void *value,
			struct rna_arena *arena)
{
	(void)row;
	if (!rna_pci_is_address(text, strlen(text)) || strpbrk(text, "ABCDEF"))
		return -EINVAL;
	return keep_text(text, value, arena);
}

static const struct rna_profile_type address = {
	.allowed = "PCI addresses such as \"0000:3b:00.0\", in lower case",
	.take = take_address,
	.write = write_text,
	.size = sizeof(char *),
};

/* -- The keys ---------------------------------------------------------------------------------- */

/* clang-format off */
#define FILE_KEY(name, of, field, ...) \
	{name, &(of), offsetof(struct rna_profile, field), __VA_ARGS__}
#define MATCH(name, of, field, ...) \
	{name, &(of), offsetof(struct rna_profile_match, field), __VA_ARGS__}
#define NODE(name, of, field, ...) \
	{name, &(of), offsetof(struct rna_profile_node, field), __VA_ARGS__}
#define DEVICE(name, of, field, ...) \
	{name, &(of), offsetof(struct rna_profile_device, field), __VA_ARGS__}
#define TABLE(rows) {RNA_ARRAY_SIZE(rows), rows}

enum { FUNCTIONS_MAX = 4096 };

static const struct rna_profile_row file_rows[] = {
	FILE_KEY("name", name, name, .help = "Name of the profile, unique in the file."),
	FILE_KEY("source", document, source, .help = "The document that the profile rests on."),
};

static const struct rna_profile_row match_rows[] = {
	MATCH("vendor", glob, vendor, .help = "Glob of /sys/class/dmi/id/sys_vendor."),
	MATCH("product", glob, product, .help = "Glob of /sys/class/dmi/id/product_name."),
	MATCH("board", glob, board, .help = "Glob of /sys/class/dmi/id/board_name."),
	MATCH("asset_tag", glob, asset_tag,
	      .help = "Glob of /sys/class/dmi/id/chassis_asset_tag: some clouds have one for all "
		      "machines."),
	MATCH("gpus", number, gpus, .max = 1024, .help = "Number of GPUs."),
	MATCH("gpu_model", pci_model, gpu_models, .most = 64,
	      .help = "PCI vendor and device of every GPU; of a list, one of them."),
	MATCH("nics", pci_model, nics, .most = 64, .counts = true, .min = 0, .max = FUNCTIONS_MAX,
	      .help = "For each model the number of its physical functions on the PCI bus, with or "
		      "without an RDMA device: {MT4129: 8}, or {MT4129: \">= 5\"} for at least 5."),
	MATCH("label", label, label,
	      .help = "Label of the Kubernetes Node. Does not hold if the agent does not read the "
		      "Node."),
};

static const struct rna_profile_row node_rows[] = {
	NODE("gpus", number, gpus, .max = 1024, .help = "Number of GPUs."),
	NODE("gpus_per_nic", number, gpus_per_nic, .min = 1, .max = 64,
	     .help = "Number of GPUs of each NIC that serves GPUs."),
	NODE("modules", module_names, modules, .most = 32,
	     .help = "Kernel modules that are loaded; a|b: one of them."),
	NODE("rails", address, rails, .most = 128,
	     .help = "PCI addresses of the NICs that serve GPUs, in the order of their rails: rails "
		     "have these numbers even if a NIC is missing at the first look."),
	NODE("acs", on_or_off, acs,
	     .help = "Whether PCIe ports above the NICs redirect peer-to-peer traffic (ACS): off, on "
		     "no port; on, on some port."),
	NODE("iommu", on_or_off, iommu,
	     .help = "Whether the IOMMU translates addresses of NICs or GPUs: off, of none, as with "
		     "iommu=pt or without an IOMMU; on, of some."),
	NODE("cpu_governor", glob, cpu_governor,
	     .help = "Glob of the frequency governor of all CPUs: performance."),
};

static const struct rna_profile_row device_rows[] = {
	DEVICE("model", model_name, model, .help = "Model of the functions."),
	DEVICE("name", device_glob, name,
	       .help = "Glob of their device name, network interface or PCI address."),
	DEVICE("count", number, count, .max = FUNCTIONS_MAX, .help = "Number of RDMA devices."),
	DEVICE("ports_up", number, ports_up, .max = FUNCTIONS_MAX,
	       .help = "Number of ports that are up; more are accepted."),
	DEVICE("link_layer", layer_name, link_layer, .help = "Link layer of each port."),
	DEVICE("rate", rate, rate, .help = "Rate of each port that is up."),
	DEVICE("lanes", power, lanes, .min = 1, .max = 16,
	       .allowed = "1, 2, 4, 8, 12 or 16",
	       .help = "Width of the link of each port that is up."),
	DEVICE("pcie_generation", number, pcie_generation, .min = 1, .max = 7,
	       .help = "Generation at which the PCIe link of the function runs."),
	DEVICE("pcie_lanes", power, pcie_lanes, .min = 1, .max = 32,
	       .allowed = "1, 2, 4, 8, 12, 16 or 32", .help = "Width of that link."),
	DEVICE("mtu", power, mtu, .min = 256, .max = 4096,
	       .allowed = "256, 512, 1024, 2048 or 4096",
	       .help = "Active RDMA MTU of each port that is up, in bytes."),
	DEVICE("netdev_mtu", number, netdev_mtu, .min = 68, .max = 65535,
	       .help = "MTU of the network interface of each port, in bytes."),
	DEVICE("firmware", version, firmware, .help = "Firmware version, exactly or at least."),
	DEVICE("driver_version", version, driver_version,
	       .allowed = "a version such as \"24.10-0.7.0\", or \">= 24.10\"",
	       .help = "Version of the driver's module (/sys/module/mlx5_core/version), exactly or "
		       "at least. Drivers of the kernel have none, which is a difference."),
	DEVICE("pkeys", pkey, pkeys, .most = 128,
	       .help = "P_Keys in the table of each InfiniBand port that is up. 0x8001: full "
		       "member; 0x0001: any member."),
	DEVICE("lid", boolean, lid,
	       .help = "true: each InfiniBand port that is up has a LID from the subnet manager."),
	DEVICE("virtual_functions", number, virtual_functions, .max = 65535,
	       .help = "Number of virtual functions of each device."),
	DEVICE("max_read_request", power, max_read_request, .min = 128, .max = 4096,
	       .allowed = "128, 256, 512, 1024, 2048 or 4096",
	       .help = "MaxReadReq of each function, in bytes."),
	DEVICE("module_vendors", glob, module_vendors, .most = 32, .proposal = true,
	       .help = "Vendors of the modules (transceivers and cables) in each port: one of these "
		       "globs fits. Unknown if the agent may not read modules."),
	DEVICE("module_part_numbers", glob, module_part_numbers, .most = 32, .proposal = true,
	       .help = "Part numbers of these modules, likewise."),
};
/* clang-format on */

const struct rna_profile_table rna_profile_file_rows = TABLE(file_rows);
const struct rna_profile_table rna_profile_match_rows = TABLE(match_rows);
const struct rna_profile_table rna_profile_node_rows = TABLE(node_rows);
const struct rna_profile_table rna_profile_device_rows = TABLE(device_rows);

/* -- In words ---------------------------------------------------------------------------------- */

static void write_modules_allowed(struct rna_strbuf *out)
{
	for (const char *const *module = rna_module_names; *module; module++)
		rna_strbuf_printf(out, "%s%s", module == rna_module_names ? "" : ", ", *module);
}

void rna_profile_row_write_allowed(const struct rna_profile_row *row, struct rna_strbuf *out)
{
	if (row->type == &module_names)
		write_modules_allowed(out);
	else if (row->allowed || row->type->allowed)
		rna_strbuf_puts(out, row->allowed ? row->allowed : row->type->allowed);
	else
		rna_strbuf_printf(out, "%ju to %ju", (uintmax_t)row->min, (uintmax_t)row->max);
	if (row->counts)
		rna_strbuf_printf(out, ": %ju to %ju", (uintmax_t)row->min, (uintmax_t)row->max);
	if (row->most > 0)
		rna_strbuf_printf(out, "; at most %zu entries", row->most);
}

void rna_profiles_describe(struct rna_strbuf *out)
{
	static const struct {
		const char *section;
		const struct rna_profile_table *table;
	} sections[] = {
		{"profiles", &rna_profile_file_rows},
		{"match", &rna_profile_match_rows},
		{"node", &rna_profile_node_rows},
		{"devices", &rna_profile_device_rows},
	};

	rna_strbuf_puts(out, "Section\tKey\tMeaning\tAllowed\n");
	for (size_t s = 0; s < RNA_ARRAY_SIZE(sections); s++)
		for (size_t i = 0; i < sections[s].table->count; i++) {
			const struct rna_profile_row *row = &sections[s].table->rows[i];

			rna_strbuf_printf(out, "`%s`\t`%s`\t%s\t", sections[s].section, row->key,
					  row->help);
			rna_profile_row_write_allowed(row, out);
			rna_strbuf_puts(out, "\n");
		}
}
