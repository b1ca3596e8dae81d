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
#include "rna/model/driver.h"
#include "rna/model/label.h"
#include "rna/model/readiness.h"

#define BYTES_PER_MEGABIT UINT64_C(125000)

static bool is_known(const void *value)
{
	return rna_value_is_known(*(const struct rna_value *)value);
}

/* -- Numbers ----------------------------------------------------------------------------------- */

/* clang-format off */
#define NUMBER(reader, writer, ...) \
	{.take = reader, .write = writer, .is_set = is_known, .size = sizeof(struct rna_value), \
	 __VA_ARGS__}
/* clang-format on */

static bool is_in_range(const struct rna_schema_row *row, uint64_t number)
{
	uint64_t min = 0, max = 0;

	if (row->min)
		(void)rna_parse_u64(row->min, &min); /* a unit test reads all rows */
	(void)rna_parse_u64(row->max, &max);
	return number >= min && number <= max;
}

static int take_number(struct rna_schema_load *load, const struct rna_schema_row *row,
		       const char *text, void *value)
{
	uint64_t number;

	(void)load;
	if (rna_parse_u64(text, &number) < 0 || !is_in_range(row, number))
		return -EINVAL;
	*(struct rna_value *)value = rna_value_ok(number);
	return 0;
}

static void write_number(const struct rna_schema_row *row, const void *value,
			 struct rna_strbuf *out)
{
	(void)row;
	rna_strbuf_add_u64(out, ((const struct rna_value *)value)->number);
}

static const struct rna_schema_type number = NUMBER(take_number, write_number);

/* 1, 2, 4 and so on, as well as 12: the lanes of a link, or bytes. */
static int take_power(struct rna_schema_load *load, const struct rna_schema_row *row,
		      const char *text, void *value)
{
	int status = take_number(load, row, text, value);
	uint64_t taken = ((struct rna_value *)value)->number;

	if (status < 0)
		return status;
	return (taken & (taken - 1)) == 0 || taken == 12 ? 0 : -EINVAL;
}

static const struct rna_schema_type power = NUMBER(take_power, write_number);

/* "400G", "2.5G" */
static int take_rate(struct rna_schema_load *load, const struct rna_schema_row *row,
		     const char *text, void *value)
{
	size_t whole = strspn(text, "0123456789");
	size_t part = text[whole] == '.' ? strspn(text + whole + 1, "0123456789") : 0;
	size_t end = whole + (part ? part + 1 : 0);
	uint64_t megabits = 0;

	(void)load;
	(void)row;
	if (whole == 0 || whole > 5 || part > 3 || strcmp(text + end, "G") != 0)
		return -EINVAL;
	for (size_t i = 0; i < whole; i++)
		megabits = megabits * 10 + (uint64_t)(text[i] - '0');
	for (size_t i = 0; i < 3; i++)
		megabits = megabits * 10 + (i < part ? (uint64_t)(text[whole + 1 + i] - '0') : 0);
	*(struct rna_value *)value = rna_value_ok(megabits * BYTES_PER_MEGABIT);
	return megabits > 0 ? 0 : -EINVAL;
}

static void write_rate(const struct rna_schema_row *row, const void *value, struct rna_strbuf *out)
{
	uint64_t megabits = ((const struct rna_value *)value)->number / BYTES_PER_MEGABIT;
	char text[32];
	size_t len;

	(void)row;
	(void)snprintf(text, sizeof(text), "%ju.%03ju", (uintmax_t)(megabits / 1000),
		       (uintmax_t)(megabits % 1000));
	for (len = strlen(text); text[len - 1] == '0'; len--)
		;
	rna_strbuf_add(out, text, text[len - 1] == '.' ? len - 1 : len);
	rna_strbuf_add_char(out, 'G');
}

static const struct rna_schema_type rate =
	NUMBER(take_rate, write_rate,
	       .allowed = "gigabits per second with the unit G, for example 400G");

/* -- Words ------------------------------------------------------------------------------------- */

static int take_word(struct rna_schema_load *load, const struct rna_schema_row *row,
		     const char *text, void *value)
{
	(void)load;
	for (const struct rna_schema_choice *word = row->type->choices; word->name; word++)
		if (strcmp(text, word->name) == 0) {
			*(struct rna_value *)value = rna_value_ok((uint64_t)word->value);
			return 0;
		}
	return -EINVAL;
}

static void write_word(const struct rna_schema_row *row, const void *value, struct rna_strbuf *out)
{
	uint64_t wanted = ((const struct rna_value *)value)->number;

	for (const struct rna_schema_choice *word = row->type->choices; word->name; word++)
		if ((uint64_t)word->value == wanted)
			rna_strbuf_puts(out, word->name);
}

static const struct rna_schema_choice switch_words[] = {{"off", 0}, {"on", 1}, {NULL, 0}};
static const struct rna_schema_choice boolean_words[] = {{"true", 1}, {"false", 0}, {NULL, 0}};
static const struct rna_schema_choice layer_words[] = {
	{"InfiniBand", RNA_LINK_LAYER_INFINIBAND},
	{"Ethernet", RNA_LINK_LAYER_ETHERNET},
	{NULL, 0},
};

static const struct rna_schema_type on_or_off =
	NUMBER(take_word, write_word, .choices = switch_words);
static const struct rna_schema_type boolean =
	NUMBER(take_word, write_word, .choices = boolean_words);
static const struct rna_schema_type layer_name =
	NUMBER(take_word, write_word, .choices = layer_words);

/* -- Texts ------------------------------------------------------------------------------------- */

static int keep_text(struct rna_schema_load *load, const char *text, const char **ret)
{
	*ret = rna_arena_strdup(load->arena, text);
	return *ret ? 0 : -ENOMEM;
}

static int take_text(struct rna_schema_load *load, const struct rna_schema_row *row,
		     const char *text, void *value)
{
	return row->type->is_valid(text) ? keep_text(load, text, value) : -EINVAL;
}

static bool is_text(const void *value)
{
	return *(const char *const *)value;
}

static void write_plain(const struct rna_schema_row *row, const void *value, struct rna_strbuf *out)
{
	(void)row;
	rna_strbuf_puts(out, *(const char *const *)value);
}

/* A text in double quotes, as YAML has it: what must be escaped is. */
static void write_text(const struct rna_schema_row *row, const void *value, struct rna_strbuf *out)
{
	(void)row;
	rna_strbuf_add_char(out, '"');
	for (const char *c = *(const char *const *)value; *c; c++) {
		if (*c == '"' || *c == '\\')
			rna_strbuf_add_char(out, '\\');
		rna_strbuf_add_char(out, *c);
	}
	rna_strbuf_add_char(out, '"');
}

/* clang-format off */
#define TEXT(valid, writer, ...) \
	{.take = take_text, .is_valid = valid, .write = writer, .is_set = is_text, \
	 .size = sizeof(char *), __VA_ARGS__}
/* clang-format on */

static bool is_name(const char *text)
{
	size_t len = strlen(text);

	return len > 0 && len < 64 && strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-") == len;
}

static const struct rna_schema_type name =
	TEXT(is_name, write_plain, .allowed = "at most 63 characters of a-z, 0-9 and -");

/* ASCII, so that it can be written between quotes as it is. */
static bool is_printable(const char *text)
{
	for (; *text; text++)
		if (*text < ' ' || *text > '~')
			return false;
	return true;
}

static bool is_document(const char *text)
{
	return *text != '\0' && strlen(text) <= 1024 && is_printable(text);
}

static const struct rna_schema_type document =
	TEXT(is_document, write_text, .allowed = "a text of at most 1024 ASCII characters");

/* Other characters than a star. A glob of stars fits every node: it selects nothing. */
static bool is_glob(const char *text)
{
	return strlen(text) <= RNA_PROFILE_TEXT_MAX && is_printable(text) &&
	       text[strspn(text, "*")] != '\0';
}

static const struct rna_schema_type glob =
	TEXT(is_glob, write_text,
	     .allowed = "a glob of at most 128 ASCII characters that does not fit everything");

static bool is_device_glob(const char *text)
{
	return strlen(text) <= RNA_PROFILE_TEXT_MAX && rna_device_glob_is_valid(text);
}

static const struct rna_schema_type device_glob =
	TEXT(is_device_glob, write_text,
	     .allowed = "a glob such as \"mlx5_*\", \"0000:3b:00.?\" or \"ib[0-3]\" without spaces "
			"and slashes, of at most 128 characters");

/* Also keys of Kubernetes' own: the label is only read. */
static bool is_label(const char *text)
{
	static const char characters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					 "0123456789-_./";
	size_t len = strcspn(text, "=");

	return len > 0 && len <= RNA_LABEL_KEY_MAX && strspn(text, characters) == len &&
	       (!text[len] || rna_label_value_is_legal(text + len + 1));
}

static const struct rna_schema_type label =
	TEXT(is_label, write_text, .allowed = "a label of the Kubernetes Node: KEY or KEY=VALUE");

static bool is_of(const char *text, const char *characters)
{
	size_t len = strlen(text);

	return len > 0 && len <= 64 && strspn(text, characters) == len;
}

static bool is_version(const char *text)
{
	if (strncmp(text, ">= ", 3) == 0)
		return is_of(text + 3, "0123456789.-") && isdigit((unsigned char)text[3]);
	return is_printable(text) && strcspn(text, " <>=") == strlen(text) && *text &&
	       strlen(text) <= 64;
}

static const struct rna_schema_type version =
	TEXT(is_version, write_text,
	     .allowed = "a version such as \"28.39.1002\", or \">= 28.39.1002\"");

static bool is_word(const char *word, const char *text, size_t len)
{
	return strlen(word) == len && strncmp(word, text, len) == 0;
}

static bool is_module(const char *text, size_t len)
{
	const struct rna_driver *driver;

	for (const char *const *module = rna_module_names; *module; module++)
		if (is_word(*module, text, len))
			return true;
	for (size_t at = 0; (driver = rna_driver_next(&at));)
		if (is_word(driver->name, text, len) || is_word(driver->rdma, text, len))
			return true;
	return false;
}

/* Names that the collector readiness looks for, "|" between alternatives. */
static bool is_modules(const char *text)
{
	for (size_t len;; text += len + 1) {
		len = strcspn(text, "|");
		if (!is_module(text, len))
			return false;
		if (text[len] == '\0')
			return true;
	}
}

static const struct rna_schema_type module_names =
	TEXT(is_modules, write_text, .words = rna_module_names);

/* As sysfs writes it. */
static bool is_address(const char *text)
{
	return rna_pci_is_address(text, strlen(text)) && !strpbrk(text, "ABCDEF");
}

static const struct rna_schema_type address =
	TEXT(is_address, write_text,
	     .allowed = "PCI addresses such as \"0000:3b:00.0\", in lower case");

/* -- Models ------------------------------------------------------------------------------------ */

static int take_model(struct rna_schema_load *load, const struct rna_schema_row *row,
		      const char *text, void *value)
{
	struct rna_profile_model *model = value;

	(void)row;
	if (strlen(text) > RNA_PROFILE_TEXT_MAX || !rna_profile_model_parse(text, model))
		return -EINVAL;
	return keep_text(load, text, &model->text);
}

static const struct rna_schema_type model_name = {
	.allowed = "a model such as MT4129, the PCI vendor and device such as \"15b3:1021\", or a "
		   "glob of hca_type without spaces that does not fit everything",
	.take = take_model,
	.write = write_text,
	.is_set = is_text,
	.size = sizeof(struct rna_profile_model),
};

/* Without a glob: what has no RDMA device has no hca_type. */
static int take_pci_model(struct rna_schema_load *load, const struct rna_schema_row *row,
			  const char *text, void *value)
{
	struct rna_profile_model *model = value;
	int status = take_model(load, row, text, value);

	return status == 0 && model->vendor_id == 0 ? -EINVAL : status;
}

#define PCI_MODEL "a model such as MT4129, or the PCI vendor and device such as \"15b3:1021\""

static const struct rna_schema_type pci_model = {
	.allowed = PCI_MODEL,
	.take = take_pci_model,
	.write = write_text,
	.is_set = is_text,
	.size = sizeof(struct rna_profile_model),
};

/* A model, and a number of functions: "8", or ">= 8". */
static int take_nics(struct rna_schema_load *load, const struct rna_schema_row *row,
		     const struct rna_yaml_pair *pair, void *entry)
{
	struct rna_profile_nics *nics = entry;
	const char *text = pair->value->text;
	int status = rna_schema_take_node(load, row, pair->key, pair->key->line, &nics->model);

	if (status < 0)
		return status;
	nics->at_least = text && strncmp(text, ">= ", 3) == 0;
	if (!text || rna_parse_u64(text + (nics->at_least ? 3 : 0), &nics->count) < 0 ||
	    !is_in_range(row, nics->count))
		return -EINVAL;
	return 0;
}

static void write_nics(const struct rna_schema_row *row, const void *value, struct rna_strbuf *out)
{
	const struct rna_profile_nics *nics = value;

	(void)row;
	rna_strbuf_printf(out, "\"%s\": ", nics->model.text);
	rna_strbuf_printf(out, nics->at_least ? "\">= %ju\"" : "%ju", (uintmax_t)nics->count);
}

static const struct rna_schema_type numbers_of_nics = {
	.allowed = PCI_MODEL,
	.take = take_pci_model,
	.take_pair = take_nics,
	.write = write_nics,
	.size = sizeof(struct rna_profile_nics),
};

/* -- P_Keys ------------------------------------------------------------------------------------ */

static int take_pkey(struct rna_schema_load *load, const struct rna_schema_row *row,
		     const char *text, void *value)
{
	uint64_t key;

	(void)load;
	(void)row;
	if (strncmp(text, "0x", 2) != 0 || rna_parse_hex_u64(text, &key) < 0 || key == 0 ||
	    key > UINT16_MAX)
		return -EINVAL;
	*(uint16_t *)value = (uint16_t)key;
	return 0;
}

static void write_pkey(const struct rna_schema_row *row, const void *value, struct rna_strbuf *out)
{
	(void)row;
	rna_strbuf_printf(out, "0x%04x", *(const uint16_t *)value);
}

static const struct rna_schema_type pkey = {
	.allowed = "P_Keys with the membership bit, such as 0x8001",
	.take = take_pkey,
	.write = write_pkey,
	.size = sizeof(uint16_t),
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
#define FUNCTIONS_MAX "4096"

static const struct rna_schema_row match_rows[] = {
	MATCH("vendor", glob, vendor, .help = "Glob of /sys/class/dmi/id/sys_vendor."),
	MATCH("product", glob, product, .help = "Glob of /sys/class/dmi/id/product_name."),
	MATCH("board", glob, board, .help = "Glob of /sys/class/dmi/id/board_name."),
	MATCH("asset_tag", glob, asset_tag,
	      .help = "Glob of /sys/class/dmi/id/chassis_asset_tag: some clouds have one for all "
		      "machines."),
	MATCH("gpus", number, gpus, .max = "1024", .help = "Number of GPUs."),
	MATCH("gpu_model", pci_model, gpu_models, .least = 1, .most = 64,
	      .help = "PCI vendor and device of every GPU; of a list, one of them."),
	MATCH("nics", numbers_of_nics, nics, .least = 1, .most = 64, .max = FUNCTIONS_MAX,
	      .help = "For each model the number of its physical functions on the PCI bus, with or "
		      "without an RDMA device: {MT4129: 8}, or {MT4129: \">= 5\"} for at least 5."),
	MATCH("label", label, label,
	      .help = "Label of the Kubernetes Node. Does not hold if the agent does not read the "
		      "Node."),
};

static const struct rna_schema_row node_rows[] = {
	NODE("gpus", number, gpus, .max = "1024", .help = "Number of GPUs."),
	NODE("gpus_per_nic", number, gpus_per_nic, .min = "1", .max = "64",
	     .help = "Number of GPUs of each NIC that serves GPUs."),
	NODE("modules", module_names, modules, .least = 1, .most = 32,
	     .help = "Kernel modules that are loaded; a|b: one of them."),
	NODE("rails", address, rails, .least = 1, .most = 128,
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

static const struct rna_schema_row device_rows[] = {
	DEVICE("model", model_name, model, .help = "Model of the functions."),
	DEVICE("name", device_glob, name,
	       .help = "Glob of their device name, network interface or PCI address."),
	DEVICE("called", glob, called,
	       .help = "Glob of the name that each of these RDMA devices has. With a PCI address as "
		       "name it ties a name to an address."),
	DEVICE("count", number, count, .max = FUNCTIONS_MAX, .help = "Number of RDMA devices."),
	DEVICE("ports_up", number, ports_up, .max = FUNCTIONS_MAX,
	       .help = "Number of ports that are up; more are accepted."),
	DEVICE("link_layer", layer_name, link_layer, .help = "Link layer of each port."),
	DEVICE("rate", rate, rate, .help = "Rate of each port that is up."),
	DEVICE("lanes", power, lanes, .min = "1", .max = "16",
	       .form = "1, 2, 4, 8, 12 or 16",
	       .help = "Width of the link of each port that is up."),
	DEVICE("pcie_generation", number, pcie_generation, .min = "1", .max = "7",
	       .help = "Generation at which the PCIe link of the function runs."),
	DEVICE("pcie_lanes", power, pcie_lanes, .min = "1", .max = "32",
	       .form = "1, 2, 4, 8, 12, 16 or 32", .help = "Width of that link."),
	DEVICE("mtu", power, mtu, .min = "256", .max = "4096",
	       .form = "256, 512, 1024, 2048 or 4096",
	       .help = "Active RDMA MTU of each port that is up, in bytes."),
	DEVICE("netdev_mtu", number, netdev_mtu, .min = "68", .max = "65535",
	       .help = "MTU of the network interface of each port, in bytes."),
	DEVICE("firmware", version, firmware, .help = "Firmware version, exactly or at least."),
	DEVICE("driver_version", version, driver_version,
	       .form = "a version such as \"24.10-0.7.0\", or \">= 24.10\"",
	       .help = "Version of the driver's module (/sys/module/mlx5_core/version), exactly or "
		       "at least. Drivers of the kernel have none, which is a difference."),
	DEVICE("pkeys", pkey, pkeys, .least = 1, .most = 128,
	       .help = "P_Keys in the table of each InfiniBand port that is up. 0x8001: full "
		       "member; 0x0001: any member."),
	DEVICE("lid", boolean, lid,
	       .help = "true: each InfiniBand port that is up has a LID from the subnet manager."),
	DEVICE("virtual_functions", number, virtual_functions, .max = "65535",
	       .help = "Number of virtual functions of each device."),
	DEVICE("max_read_request", power, max_read_request, .min = "128", .max = "4096",
	       .form = "128, 256, 512, 1024, 2048 or 4096",
	       .help = "MaxReadReq of each function, in bytes."),
	DEVICE("module_vendors", glob, module_vendors, .least = 1, .most = 32, .proposal = true,
	       .help = "Vendors of the modules (transceivers and cables) in each port: one of these "
		       "globs fits. Unknown if the agent may not read modules."),
	DEVICE("module_part_numbers", glob, module_part_numbers, .least = 1, .most = 32, .proposal = true,
	       .help = "Part numbers of these modules, likewise."),
};
/* clang-format on */

static int check_device(struct rna_schema_load *load, const struct rna_yaml *entry, void *object,
			bool clean)
{
	const struct rna_profile_device *device = object;

	if (!clean || device->model.text || device->name)
		return 0;
	return rna_schema_fail(load, entry->line,
			       "devices: the entry has neither model nor name, so it means no "
			       "device");
}

/* A file has 256 profiles at most, which bounds the comparisons. */
static int check_profile(struct rna_schema_load *load, const struct rna_yaml *entry, void *object,
			 bool clean)
{
	const struct rna_profiles *profiles = load->object;
	struct rna_profile *profile = object;

	profile->line = entry->line;
	if (!profile->name)
		return clean ? rna_schema_fail(load, entry->line, "the profile has no name") : 0;
	for (const struct rna_profile *earlier = profiles->items; earlier < profile; earlier++)
		if (earlier->name && strcmp(earlier->name, profile->name) == 0)
			return rna_schema_fail(load, entry->line,
					       "name: %s is used twice, first by the profile on "
					       "line %zu",
					       profile->name, earlier->line);
	return 0;
}

const struct rna_schema rna_profile_match_rows = {RNA_ARRAY_SIZE(match_rows), match_rows};
const struct rna_schema rna_profile_node_rows = {RNA_ARRAY_SIZE(node_rows), node_rows};
const struct rna_schema rna_profile_device_rows = {
	.count = RNA_ARRAY_SIZE(device_rows),
	.rows = device_rows,
	.size = sizeof(struct rna_profile_device),
	.check = check_device,
};

/* clang-format off */
static const struct rna_schema_row file_rows[] = {
	FILE_KEY("name", name, name, .help = "Name of the profile, unique in the file."),
	FILE_KEY("source", document, source, .help = "The document that the profile rests on."),
	{"match", NULL, offsetof(struct rna_profile, match), .keys = &rna_profile_match_rows,
	 .missing = "missing or empty; it says which nodes the profile is for, for example match: "
		    "{product: \"DGXH100\"}"},
	{"node", NULL, offsetof(struct rna_profile, node), .keys = &rna_profile_node_rows},
	{"devices", NULL, offsetof(struct rna_profile, device_count),
	 .keys = &rna_profile_device_rows, .most = RNA_PROFILE_DEVICES_MAX},
};
/* clang-format on */

const struct rna_schema rna_profile_file_rows = {
	.count = RNA_ARRAY_SIZE(file_rows),
	.rows = file_rows,
	.size = sizeof(struct rna_profile),
	.check = check_profile,
};

/* -- In words ---------------------------------------------------------------------------------- */

void rna_profiles_describe(struct rna_strbuf *out)
{
	static const struct {
		const char *section;
		const struct rna_schema *table;
	} sections[] = {
		{"profiles", &rna_profile_file_rows},
		{"match", &rna_profile_match_rows},
		{"node", &rna_profile_node_rows},
		{"devices", &rna_profile_device_rows},
	};

	rna_strbuf_puts(out, "Section\tKey\tMeaning\tAllowed\n");
	for (size_t s = 0; s < RNA_ARRAY_SIZE(sections); s++)
		RNA_EACH (row, sections[s].table->rows, sections[s].table->count) {
			if (row->keys)
				continue;
			rna_strbuf_printf(out, "`%s`\t`%s`\t%s\t", sections[s].section, row->key,
					  row->help);
			rna_schema_write_allowed(row, out);
			rna_strbuf_puts(out, "\n");
		}
}
