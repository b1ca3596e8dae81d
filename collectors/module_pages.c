// SPDX-License-Identifier: Apache-2.0
/*
 * The three layouts of module memory as tables: the places of texts, measurements and limits for
 * each kind.
 *
 * Ranges are small, because each byte takes 25 us of I2C, and exclude flags that are latched until
 * read: bytes 3 to 14 of SFF-8636, 8 to 13 and 134 to 153 of page 11h of CMIS, 112 to 117 of SFP.
 */
#include "module_pages.h"

#include <errno.h>
#include <string.h>
#include <linux/ethtool_netlink.h>

enum {
	HALF = 128,
	ADDRESS_MODULE = 0x50,
	ADDRESS_DIAGNOSTICS = 0x51,

	SFF_8636_FLAT = 0x04,     /* byte 2 */
	SFF_8636_COPPER = 0xa0,   /* byte 147, this code and higher ones */
	SFF_8636_TRANSMIT = 0x04, /* byte 220: transmit power is measured */
	SFF_8472_PASSIVE = 0x04,  /* byte 8 */
	SFF_8472_MEASURES = 0x40, /* byte 92 */
	/* byte 92; otherwise values need calibration constants of the module */
	SFF_8472_CALIBRATED = 0x20,
	CMIS_FLAT = 0x80,           /* byte 2 */
	CMIS_PASSIVE_COPPER = 0x03, /* byte 85 */
	CMIS_ACTIVE_CABLE = 0x04,
	CMIS_BIAS = 0x01, /* byte 160 of page 01h, like the next two */
	CMIS_TRANSMIT = 0x02,
	CMIS_RECEIVE = 0x04,
};

/* clang-format off */
const struct rna_module_range rna_module_ranges[] = {
	{RNA_MODULE_KIND_UNKNOWN, "module-id", RNA_MODULE_PLACE_LOWER, 0, 3},

	{RNA_MODULE_KIND_SFF_8636, "module-vendor", RNA_MODULE_PLACE_PAGE_00, 128, 58},
	{RNA_MODULE_KIND_SFF_8636, "module-options", RNA_MODULE_PLACE_PAGE_00, 220, 1},
	{RNA_MODULE_KIND_SFF_8636, "module-serial", RNA_MODULE_PLACE_PAGE_00, 196, 16, .serial = true},
	{RNA_MODULE_KIND_SFF_8636, "module-monitors", RNA_MODULE_PLACE_LOWER, 22, 36, .monitors = true},
	{RNA_MODULE_KIND_SFF_8636, "module-limits", RNA_MODULE_PLACE_PAGE_03, 128, 72, .monitors = true},

	{RNA_MODULE_KIND_SFF_8472, "module-vendor", RNA_MODULE_PLACE_LOWER, 3, 57},
	{RNA_MODULE_KIND_SFF_8472, "module-options", RNA_MODULE_PLACE_LOWER, 92, 1},
	{RNA_MODULE_KIND_SFF_8472, "module-serial", RNA_MODULE_PLACE_LOWER, 68, 16, .serial = true},
	{RNA_MODULE_KIND_SFF_8472, "module-limits", RNA_MODULE_PLACE_DIAGNOSTICS, 0, 40, .monitors = true},
	{RNA_MODULE_KIND_SFF_8472, "module-monitors", RNA_MODULE_PLACE_DIAGNOSTICS, 96, 10, .monitors = true},

	{RNA_MODULE_KIND_CMIS, "module-media", RNA_MODULE_PLACE_LOWER, 85, 4},
	{RNA_MODULE_KIND_CMIS, "module-vendor", RNA_MODULE_PLACE_PAGE_00, 128, 38},
	{RNA_MODULE_KIND_CMIS, "module-serial", RNA_MODULE_PLACE_PAGE_00, 166, 16, .serial = true},
	{RNA_MODULE_KIND_CMIS, "module-monitors", RNA_MODULE_PLACE_LOWER, 14, 4, .monitors = true},
	{RNA_MODULE_KIND_CMIS, "module-options", RNA_MODULE_PLACE_PAGE_01, 160, 1, .monitors = true},
	{RNA_MODULE_KIND_CMIS, "module-limits", RNA_MODULE_PLACE_PAGE_02, 128, 72, .monitors = true},
	{RNA_MODULE_KIND_CMIS, "module-lanes", RNA_MODULE_PLACE_PAGE_11, 154, 48, .monitors = true},
};
const size_t rna_module_range_count = RNA_ARRAY_SIZE(rna_module_ranges);
/* clang-format on */

/* SFF-8024, table 4-1. */
static const struct {
	uint8_t id;
	enum rna_module_kind kind;
	const char *form;
} forms[] = {
	{0x03, RNA_MODULE_KIND_SFF_8472, "SFP"},   {0x0c, RNA_MODULE_KIND_SFF_8636, "QSFP"},
	{0x0d, RNA_MODULE_KIND_SFF_8636, "QSFP+"}, {0x11, RNA_MODULE_KIND_SFF_8636, "QSFP28"},
	{0x18, RNA_MODULE_KIND_CMIS, "QSFP-DD"},   {0x19, RNA_MODULE_KIND_CMIS, "OSFP"},
	{0x1b, RNA_MODULE_KIND_CMIS, "DSFP"},      {0x1e, RNA_MODULE_KIND_CMIS, "QSFP with CMIS"},
	{0x1f, RNA_MODULE_KIND_CMIS, "SFP-DD"},    {0x20, RNA_MODULE_KIND_CMIS, "SFP with CMIS"},
};

uint8_t rna_module_page(enum rna_module_place place)
{
	static const uint8_t pages[RNA_MODULE_PLACE_COUNT] = {
		[RNA_MODULE_PLACE_PAGE_01] = 0x01,
		[RNA_MODULE_PLACE_PAGE_02] = 0x02,
		[RNA_MODULE_PLACE_PAGE_03] = 0x03,
		[RNA_MODULE_PLACE_PAGE_11] = 0x11,
	};

	return pages[place];
}

uint8_t rna_module_address(enum rna_module_place place)
{
	return place == RNA_MODULE_PLACE_DIAGNOSTICS ? ADDRESS_DIAGNOSTICS : ADDRESS_MODULE;
}

int rna_module_take(struct rna_bytes message, const struct rna_ethtool_question *question,
		    const struct rna_module_range *range, struct rna_module_memory *memory)
{
	struct rna_bytes data;
	size_t at = range->offset % HALF;
	int status = rna_ethtool_find(message, question, ETHTOOL_A_MODULE_EEPROM_DATA, &data);

	if (status < 0)
		return status;
	if (data.len != range->length)
		return -EBADMSG;
	memcpy(&memory->bytes[range->place][at], data.data, data.len);
	memset(&memory->known[range->place][at], true, data.len);
	return 0;
}

/* -- Bytes ------------------------------------------------------------------------------------- */

/* offset: as in ethtool. NULL: some bytes were not read. */
static const uint8_t *find(const struct rna_module_memory *memory, enum rna_module_place place,
			   unsigned offset, unsigned count)
{
	unsigned at = offset % HALF;

	for (unsigned i = 0; i < count; i++)
		if (at + i >= HALF || !memory->known[place][at + i])
			return NULL;
	return &memory->bytes[place][at];
}

/* 0 if it was not read. */
static uint8_t byte_of(const struct rna_module_memory *memory, enum rna_module_place place,
		       unsigned offset)
{
	const uint8_t *bytes = find(memory, place, offset, 1);

	return bytes ? *bytes : 0;
}

enum rna_module_kind rna_module_kind(const struct rna_module_memory *memory)
{
	uint8_t id = byte_of(memory, RNA_MODULE_PLACE_LOWER, 0);

	for (size_t i = 0; i < RNA_ARRAY_SIZE(forms); i++)
		if (forms[i].id == id)
			return forms[i].kind;
	return RNA_MODULE_KIND_UNKNOWN;
}

static const char *form_of(const struct rna_module_memory *memory)
{
	uint8_t id = byte_of(memory, RNA_MODULE_PLACE_LOWER, 0);

	for (size_t i = 0; i < RNA_ARRAY_SIZE(forms); i++)
		if (forms[i].id == id)
			return forms[i].form;
	return "?";
}

static bool is_copper(const struct rna_module_memory *memory)
{
	uint8_t media = byte_of(memory, RNA_MODULE_PLACE_LOWER, 85);

	switch (rna_module_kind(memory)) {
	case RNA_MODULE_KIND_SFF_8636:
		return byte_of(memory, RNA_MODULE_PLACE_PAGE_00, 147) >= SFF_8636_COPPER;
	case RNA_MODULE_KIND_SFF_8472:
		return byte_of(memory, RNA_MODULE_PLACE_LOWER, 8) & SFF_8472_PASSIVE;
	case RNA_MODULE_KIND_CMIS:
		return media == CMIS_PASSIVE_COPPER || media == CMIS_ACTIVE_CABLE;
	default:
		return false;
	}
}

bool rna_module_has_monitors(const struct rna_module_memory *memory)
{
	uint8_t status = byte_of(memory, RNA_MODULE_PLACE_LOWER, 2);
	uint8_t options = byte_of(memory, RNA_MODULE_PLACE_LOWER, 92);

	switch (rna_module_kind(memory)) {
	case RNA_MODULE_KIND_SFF_8636:
		return !is_copper(memory) && !(status & SFF_8636_FLAT);
	case RNA_MODULE_KIND_SFF_8472:
		return options & SFF_8472_MEASURES && options & SFF_8472_CALIBRATED;
	case RNA_MODULE_KIND_CMIS: /* active cables have a temperature */
		return byte_of(memory, RNA_MODULE_PLACE_LOWER, 85) != CMIS_PASSIVE_COPPER &&
		       !(status & CMIS_FLAT);
	default:
		return false;
	}
}

/* -- Numbers ----------------------------------------------------------------------------------- */

/* All numbers are two bytes, big-endian; only temperatures are signed. */
static struct rna_value convert(enum rna_module_measure measure, const uint8_t bytes[2])
{
	unsigned raw = (unsigned)bytes[0] << 8 | bytes[1];

	switch (measure) {
	case RNA_MODULE_TEMPERATURE: /* in 1/256 degree; a working module is not below zero */
		return raw & 0x8000 ? (struct rna_value){0}
				    : rna_value_ok((uint64_t)raw * 1000 / 256);
	case RNA_MODULE_BIAS: /* in units of 2 uA */
		return rna_value_ok((uint64_t)raw * 2);
	default: /* in units of 100 uV or 0.1 uW */
		return rna_value_ok((uint64_t)raw * 100);
	}
}

static struct rna_value measured(const struct rna_module_memory *memory,
				 enum rna_module_measure measure, enum rna_module_place place,
				 unsigned offset)
{
	const uint8_t *bytes = find(memory, place, offset, 2);

	return bytes ? convert(measure, bytes) : (struct rna_value){0};
}

/*
 * The places of measurements and limits of a kind; limits are in the order of enum
 * rna_module_limit.
 */
struct layout {
	enum rna_module_place module, lanes, limits;
	unsigned temperature, voltage;
	struct {
		enum rna_module_measure measure;
		unsigned first; /* of the first lane */
	} of_lanes[3];
	unsigned limits_at[RNA_MODULE_MEASURE_COUNT];
};

static const struct layout layouts[] = {
	[RNA_MODULE_KIND_SFF_8636] =
		{
			.module = RNA_MODULE_PLACE_LOWER,
			.lanes = RNA_MODULE_PLACE_LOWER,
			.limits = RNA_MODULE_PLACE_PAGE_03,
			.temperature = 22,
			.voltage = 26,
			.of_lanes = {{RNA_MODULE_RECEIVE_POWER, 34},
				     {RNA_MODULE_BIAS, 42},
				     {RNA_MODULE_TRANSMIT_POWER, 50}},
			.limits_at = {128, 144, 176, 192, 184},
		},
	[RNA_MODULE_KIND_SFF_8472] =
		{
			.module = RNA_MODULE_PLACE_DIAGNOSTICS,
			.lanes = RNA_MODULE_PLACE_DIAGNOSTICS,
			.limits = RNA_MODULE_PLACE_DIAGNOSTICS,
			.temperature = 96,
			.voltage = 98,
			.of_lanes = {{RNA_MODULE_BIAS, 100},
				     {RNA_MODULE_TRANSMIT_POWER, 102},
				     {RNA_MODULE_RECEIVE_POWER, 104}},
			.limits_at = {0, 8, 32, 24, 16},
		},
	[RNA_MODULE_KIND_CMIS] =
		{
			.module = RNA_MODULE_PLACE_LOWER,
			.lanes = RNA_MODULE_PLACE_PAGE_11,
			.limits = RNA_MODULE_PLACE_PAGE_02,
			.temperature = 14,
			.voltage = 16,
			.of_lanes = {{RNA_MODULE_TRANSMIT_POWER, 154},
				     {RNA_MODULE_BIAS, 170},
				     {RNA_MODULE_RECEIVE_POWER, 186}},
			.limits_at = {128, 136, 192, 176, 184},
		},
};

/* The lanes of CMIS are those of the module's first advertised application; 0: all lanes. */
static unsigned count_lanes(const struct rna_module_memory *memory)
{
	unsigned lanes = byte_of(memory, RNA_MODULE_PLACE_LOWER, 88) & 0x0f;

	switch (rna_module_kind(memory)) {
	case RNA_MODULE_KIND_SFF_8636:
		return 4;
	case RNA_MODULE_KIND_SFF_8472:
		return 1;
	default:
		return lanes > 0 && lanes < RNA_MODULE_LANES_MAX ? lanes : RNA_MODULE_LANES_MAX;
	}
}

static bool is_measured(const struct rna_module_memory *memory, enum rna_module_measure measure)
{
	uint8_t options = byte_of(memory, RNA_MODULE_PLACE_PAGE_01, 160);

	switch (rna_module_kind(memory)) {
	case RNA_MODULE_KIND_SFF_8636:
		return measure != RNA_MODULE_TRANSMIT_POWER ||
		       byte_of(memory, RNA_MODULE_PLACE_PAGE_00, 220) & SFF_8636_TRANSMIT;
	case RNA_MODULE_KIND_CMIS:
		return options & (measure == RNA_MODULE_BIAS            ? CMIS_BIAS
				  : measure == RNA_MODULE_RECEIVE_POWER ? CMIS_RECEIVE
									: CMIS_TRANSMIT);
	default:
		return true;
	}
}

/*
 * CMIS reports bias currents in steps of 2, 4 or 8 uA, selected by the two bits above the support
 * bits.
 */
static unsigned bias_factor(const struct rna_module_memory *memory)
{
	unsigned shift = byte_of(memory, RNA_MODULE_PLACE_PAGE_01, 160) >> 3 & 3;

	return rna_module_kind(memory) == RNA_MODULE_KIND_CMIS && shift < 3 ? 1u << shift : 1;
}

static void read_lanes(const struct rna_module_memory *memory, const struct layout *layout,
		       struct rna_port_module *module)
{
	for (size_t i = 0; i < RNA_ARRAY_SIZE(layout->of_lanes); i++) {
		enum rna_module_measure measure = layout->of_lanes[i].measure;

		if (!is_measured(memory, measure))
			continue;
		for (unsigned lane = 0; lane < module->lane_count; lane++) {
			struct rna_value *value = &module->lanes[lane][measure];

			*value = measured(memory, measure, layout->lanes,
					  layout->of_lanes[i].first + 2 * lane);
			if (measure == RNA_MODULE_BIAS)
				value->number *= bias_factor(memory);
		}
	}
}

/*
 * Limits come in pairs, for alarm and warning. If the high limit is not above the low one, or is 0,
 * the manufacturer did not set the pair: all zeroes, all ones, or alarms only.
 */
static void drop_unset(struct rna_value *high, struct rna_value *low)
{
	bool set = rna_value_is_known(*high) && high->number > low->number;

	if (!set)
		*high = *low = (struct rna_value){0};
}

static void read_limits(const struct rna_module_memory *memory, const struct layout *layout,
			struct rna_port_module *module)
{
	for (enum rna_module_measure measure = 0; measure < RNA_MODULE_MEASURE_COUNT; measure++) {
		struct rna_value *limits = module->limits[measure];
		const uint8_t *bytes = find(memory, layout->limits, layout->limits_at[measure],
					    2 * RNA_MODULE_LIMIT_COUNT);

		for (size_t i = 0; bytes && i < RNA_MODULE_LIMIT_COUNT; i++) {
			limits[i] = convert(measure, bytes + 2 * i);
			if (measure == RNA_MODULE_BIAS)
				limits[i].number *= bias_factor(memory);
		}
		drop_unset(&limits[RNA_MODULE_HIGH_ALARM], &limits[RNA_MODULE_LOW_ALARM]);
		drop_unset(&limits[RNA_MODULE_HIGH_WARNING], &limits[RNA_MODULE_LOW_WARNING]);
	}
}

/* -- Texts ------------------------------------------------------------------------------------- */

/* ASCII, padded with blanks. NULL: only blanks, or not read. "": no memory. */
static const char *read_text(const struct rna_module_memory *memory, enum rna_module_place place,
			     unsigned offset, unsigned count, struct rna_arena *arena)
{
	const char *text = (const char *)find(memory, place, offset, count);
	size_t len = text ? strnlen(text, count) : 0;

	while (len > 0 && text[len - 1] == ' ')
		len--;
	while (len > 0 && *text == ' ') {
		text++;
		len--;
	}
	if (len == 0)
		return NULL;
	text = rna_arena_printf(arena, "%.*s", (int)len, text);
	return text ? text : "";
}

static const struct {
	enum rna_module_place place;
	struct {
		unsigned offset, count;
	} vendor, part_number, revision, serial;
} texts[] = {
	[RNA_MODULE_KIND_SFF_8636] =
		{RNA_MODULE_PLACE_PAGE_00, {148, 16}, {168, 16}, {184, 2}, {196, 16}},
	[RNA_MODULE_KIND_SFF_8472] =
		{RNA_MODULE_PLACE_LOWER, {20, 16}, {40, 16}, {56, 4}, {68, 16}},
	[RNA_MODULE_KIND_CMIS] =
		{RNA_MODULE_PLACE_PAGE_00, {129, 16}, {148, 16}, {164, 2}, {166, 16}},
};

static bool is_lost(const char *text)
{
	return text && *text == '\0';
}

#define READ_TEXT(member)                                                                          \
	(module.member = read_text(memory, texts[kind].place, texts[kind].member.offset,           \
				   texts[kind].member.count, arena))

int rna_module_read(const struct rna_module_memory *memory, struct rna_arena *arena,
		    struct rna_port_module *ret)
{
	enum rna_module_kind kind = rna_module_kind(memory);
	const struct layout *layout = &layouts[kind];
	struct rna_port_module module = {
		.form = form_of(memory),
		.netdev = ret->netdev,
		.port = ret->port,
	};

	if (kind != RNA_MODULE_KIND_UNKNOWN) {
		READ_TEXT(vendor);
		READ_TEXT(part_number);
		READ_TEXT(revision);
		READ_TEXT(serial);
		module.copper = is_copper(memory);
	}
	if (rna_module_has_monitors(memory)) {
		module.lane_count = module.copper ? 0 : count_lanes(memory);
		module.temperature = measured(memory, RNA_MODULE_TEMPERATURE, layout->module,
					      layout->temperature);
		module.voltage =
			measured(memory, RNA_MODULE_VOLTAGE, layout->module, layout->voltage);
		read_lanes(memory, layout, &module);
		read_limits(memory, layout, &module);
	}
	if (is_lost(module.vendor) || is_lost(module.part_number) || is_lost(module.revision) ||
	    is_lost(module.serial))
		return -ENOMEM;
	*ret = module;
	return 0;
}
