// SPDX-License-Identifier: Apache-2.0
/*
 * collectors/module: memories of modules made of what the three standards say, served range by
 * range as ethtool netlink does, and cut at every place.
 */
#include <errno.h>
#include <net/if_arp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>

#include "backend/backends.h"

#include "collectors.h"
#include "module_pages.h"

/* A module as the bus has it: two memories, of which the first has pages. */
static struct hardware {
	uint8_t places[RNA_MODULE_PLACE_COUNT][128];
	int error;  /* of all questions */
	size_t cut; /* bytes that answers lack at their end */
	unsigned questions;
	bool latched_read; /* a clear-on-read register was read */
	bool serial_read;
} hardware;

static int set_up(void **state)
{
	(void)state;
	hardware = (struct hardware){0};
	return 0;
}

static uint8_t *at(enum rna_module_place place, unsigned offset)
{
	return &hardware.places[place][offset % 128];
}

static void put_number(enum rna_module_place place, unsigned offset, unsigned number)
{
	at(place, offset)[0] = (uint8_t)(number >> 8);
	at(place, offset)[1] = (uint8_t)number;
}

static void put_text(enum rna_module_place place, unsigned offset, const char *text, size_t size)
{
	memset(at(place, offset), ' ', size);
	memcpy(at(place, offset), text, strlen(text));
}

static void put_limits(enum rna_module_place place, unsigned offset, unsigned high_alarm,
		       unsigned low_alarm, unsigned high_warning, unsigned low_warning)
{
	put_number(place, offset, high_alarm);
	put_number(place, offset + 2, low_alarm);
	put_number(place, offset + 4, high_warning);
	put_number(place, offset + 6, low_warning);
}

/* A 100GBASE-SR4: SFF-8636, four lanes, 40.5 degrees, 3.3 V. */
static void make_qsfp28(void)
{
	at(RNA_MODULE_PLACE_LOWER, 0)[0] = 0x11;
	put_number(RNA_MODULE_PLACE_LOWER, 22, 0x2880);
	put_number(RNA_MODULE_PLACE_LOWER, 26, 33000);
	for (unsigned lane = 0; lane < 4; lane++) {
		put_number(RNA_MODULE_PLACE_LOWER, 34 + 2 * lane, lane == 2 ? 3000 : 8000);
		put_number(RNA_MODULE_PLACE_LOWER, 42 + 2 * lane, 3500);
		put_number(RNA_MODULE_PLACE_LOWER, 50 + 2 * lane, 9000);
	}
	put_text(RNA_MODULE_PLACE_PAGE_00, 148, "Mellanox", 16);
	put_text(RNA_MODULE_PLACE_PAGE_00, 168, "MMA1B00-C100D", 16);
	put_text(RNA_MODULE_PLACE_PAGE_00, 184, "A2", 2);
	put_text(RNA_MODULE_PLACE_PAGE_00, 196, "MT2000SECRET", 16);
	at(RNA_MODULE_PLACE_PAGE_00, 220)[0] = 0x04;
	put_limits(RNA_MODULE_PLACE_PAGE_03, 128, 80 << 8, 0, 70 << 8, 0);
	put_limits(RNA_MODULE_PLACE_PAGE_03, 144, 35000, 31000, 34650, 31350);
	put_limits(RNA_MODULE_PLACE_PAGE_03, 176, 34673, 467, 17378, 933);
}

/* A 400G module of four lanes, with bias in steps of 4 uA. */
static void make_osfp(void)
{
	at(RNA_MODULE_PLACE_LOWER, 0)[0] = 0x19;
	at(RNA_MODULE_PLACE_LOWER, 85)[0] = 0x02; /* single-mode */
	at(RNA_MODULE_PLACE_LOWER, 88)[0] = 0x84;
	put_number(RNA_MODULE_PLACE_LOWER, 14, 75 << 8);
	put_number(RNA_MODULE_PLACE_LOWER, 16, 32900);
	put_text(RNA_MODULE_PLACE_PAGE_00, 129, "NVIDIA", 16);
	put_text(RNA_MODULE_PLACE_PAGE_00, 148, "MMS4X00-NS400", 16);
	at(RNA_MODULE_PLACE_PAGE_01, 160)[0] = 0x07 | 1 << 3;
	put_limits(RNA_MODULE_PLACE_PAGE_02, 128, 80 << 8, 0, 70 << 8, 0);
	put_limits(RNA_MODULE_PLACE_PAGE_02, 192, 40000, 500, 30000, 1000);
	for (unsigned lane = 0; lane < 8; lane++) {
		put_number(RNA_MODULE_PLACE_PAGE_11, 154 + 2 * lane, 12000);
		put_number(RNA_MODULE_PLACE_PAGE_11, 170 + 2 * lane, 25000);
		put_number(RNA_MODULE_PLACE_PAGE_11, 186 + 2 * lane, lane < 4 ? 11000 : 0);
	}
}

static void make_sfp(bool optical)
{
	at(RNA_MODULE_PLACE_LOWER, 0)[0] = 0x03;
	at(RNA_MODULE_PLACE_LOWER, 8)[0] = optical ? 0 : 0x04;
	put_text(RNA_MODULE_PLACE_LOWER, 20, "FINISAR CORP.", 16);
	put_text(RNA_MODULE_PLACE_LOWER, 40, "FTLF8536P4BCL", 16);
	put_text(RNA_MODULE_PLACE_LOWER, 56, "A", 4);
	at(RNA_MODULE_PLACE_LOWER, 92)[0] = optical ? 0x68 : 0;
	put_number(RNA_MODULE_PLACE_DIAGNOSTICS, 96, 0x1e00);
	put_number(RNA_MODULE_PLACE_DIAGNOSTICS, 100, 3200);
	put_number(RNA_MODULE_PLACE_DIAGNOSTICS, 104, 5000);
	put_limits(RNA_MODULE_PLACE_DIAGNOSTICS, 0, 80 << 8, 0xfb00, 75 << 8, 0);
}

/* -- Its answers by ethtool -------------------------------------------------------------------- */

static uint32_t number_of(const struct rna_ethtool_question *question, uint16_t type)
{
	for (const struct rna_netlink_attribute *attribute = question->attributes; attribute->type;
	     attribute++) {
		uint32_t number = 0;

		if (attribute->type == type) {
			if (attribute->len == 1)
				return *(const uint8_t *)attribute->data;
			assert_int_equal(attribute->len, sizeof(number));
			memcpy(&number, attribute->data, sizeof(number));
			return number;
		}
	}
	fail_msg("the question lacks attribute %u", type);
	return 0;
}

static enum rna_module_place place_of(const struct rna_ethtool_question *question)
{
	uint32_t page = number_of(question, ETHTOOL_A_MODULE_EEPROM_PAGE);
	uint32_t offset = number_of(question, ETHTOOL_A_MODULE_EEPROM_OFFSET);

	if (number_of(question, ETHTOOL_A_MODULE_EEPROM_I2C_ADDRESS) == 0x51)
		return RNA_MODULE_PLACE_DIAGNOSTICS;
	assert_int_equal(number_of(question, ETHTOOL_A_MODULE_EEPROM_I2C_ADDRESS), 0x50);
	if (offset < 128) {
		assert_int_equal(page, 0); /* as the kernel wants it */
		return RNA_MODULE_PLACE_LOWER;
	}
	for (enum rna_module_place place = RNA_MODULE_PLACE_PAGE_01;
	     place <= RNA_MODULE_PLACE_PAGE_11; place++)
		if (page > 0 && rna_module_page(place) == page)
			return place;
	assert_int_equal(page, 0);
	return RNA_MODULE_PLACE_PAGE_00;
}

static void look_out(enum rna_module_place place, uint32_t offset, uint32_t length)
{
	uint8_t id = hardware.places[RNA_MODULE_PLACE_LOWER][0];
	uint32_t end = offset + length;

	if (place == RNA_MODULE_PLACE_LOWER && id == 0x11)
		hardware.latched_read |= offset < 15 && end > 3;
	if (place == RNA_MODULE_PLACE_LOWER && id == 0x19)
		hardware.latched_read |= offset < 14 && end > 8;
	if (place == RNA_MODULE_PLACE_PAGE_11)
		hardware.latched_read |= offset < 154;
	if (place == RNA_MODULE_PLACE_DIAGNOSTICS)
		hardware.latched_read |= offset < 118 && end > 112;
	hardware.serial_read |=
		place == RNA_MODULE_PLACE_PAGE_00 && id == 0x11 && offset < 212 && end > 196;
}

static int answer(struct rna_ethtool_talk *talk, const struct rna_ethtool_question *question,
		  const char *netdev, struct rna_arena *arena, struct rna_bytes *ret)
{
	uint32_t offset = number_of(question, ETHTOOL_A_MODULE_EEPROM_OFFSET);
	uint32_t length = number_of(question, ETHTOOL_A_MODULE_EEPROM_LENGTH);
	enum rna_module_place place = place_of(question);
	struct genlmsghdr generic = {.cmd = question->reply};
	struct nlattr head = {.nla_len = (uint16_t)(sizeof(head) + length),
			      .nla_type = ETHTOOL_A_MODULE_EEPROM_DATA};
	size_t len = sizeof(struct nlmsghdr) + sizeof(generic) + ((head.nla_len + 3u) & ~3u);
	struct nlmsghdr netlink = {.nlmsg_len = (uint32_t)len};
	uint8_t *bytes = rna_arena_alloc(arena, len);

	(void)talk;
	assert_string_equal(netdev, "eth0");
	assert_non_null(bytes);
	assert_true(length > 0 && offset % 128 + length <= 128);
	hardware.questions++;
	if (hardware.error)
		return hardware.error;
	look_out(place, offset, length);
	memset(bytes, 0, len);
	memcpy(bytes, &netlink, sizeof(netlink));
	memcpy(bytes + sizeof(netlink), &generic, sizeof(generic));
	memcpy(bytes + sizeof(netlink) + sizeof(generic), &head, sizeof(head));
	memcpy(bytes + sizeof(netlink) + sizeof(generic) + sizeof(head),
	       hardware.places[place] + offset % 128, length);
	*ret = (struct rna_bytes){bytes, len - hardware.cut};
	return 0;
}

static const struct rna_ethtool_backend scripted = {.ask = answer};
static const struct rna_backends backends = {.ethtool = &scripted};

static struct rna_part *collect(bool bond, bool serial)
{
	static const struct rna_netdev alone[] = {{.name = "eth0", .type = ARPHRD_ETHER}};
	static const struct rna_netdev bonded[] = {
		{.name = "bond0", .type = ARPHRD_ETHER, .bond = true},
		{.name = "eth0", .type = ARPHRD_ETHER, .master = "bond0"},
		{.name = "eth7", .type = ARPHRD_ETHER, .master = "br0"},
	};
	const struct rna_port_netdev port = {.device = "mlx5_0",
					     .port = 1,
					     .netdev = bond ? "bond0" : "eth0"};
	const struct rna_netdevs netdevs = {
		.count = bond ? RNA_ARRAY_SIZE(bonded) : RNA_ARRAY_SIZE(alone),
		.netdevs = bond ? bonded : alone,
		.port_count = 1,
		.ports = &port,
	};
	const struct rna_device device = {.name = "mlx5_0"};
	const struct rna_collect_input in = {
		.backends = &backends,
		.device = &device,
		.netdevs = &netdevs,
		.options.module_serial = serial,
	};
	struct rna_part *part = NULL;

	assert_int_equal(rna_collect_module(&in, &part, NULL), 0);
	return part;
}

static const struct rna_modules *modules_of(const struct rna_part *part)
{
	return (const void *)part;
}

static void assert_lane(const struct rna_port_module *module, unsigned lane, uint64_t receive,
			uint64_t transmit, uint64_t bias)
{
	assert_int_equal(module->lanes[lane][RNA_MODULE_RECEIVE_POWER].number, receive);
	assert_int_equal(module->lanes[lane][RNA_MODULE_TRANSMIT_POWER].number, transmit);
	assert_int_equal(module->lanes[lane][RNA_MODULE_BIAS].number, bias);
}

static void test_qsfp28(void **state)
{
	RNA_CLEANUP(rna_part_unref_p) struct rna_part *part = NULL;
	const struct rna_port_module *module;

	(void)state;
	make_qsfp28();
	part = collect(false, false);
	assert_int_equal(modules_of(part)->count, 1);
	module = modules_of(part)->modules;
	assert_string_equal(module->form, "QSFP28");
	assert_string_equal(module->vendor, "Mellanox");
	assert_string_equal(module->part_number, "MMA1B00-C100D");
	assert_string_equal(module->revision, "A2");
	assert_null(module->serial);
	assert_int_equal(module->temperature.number, 40500);
	assert_int_equal(module->voltage.number, 3300000);
	assert_int_equal(module->lane_count, 4);
	assert_lane(module, 0, 800000, 900000, 7000);
	assert_lane(module, 2, 300000, 900000, 7000);
	assert_int_equal(module->limits[RNA_MODULE_TEMPERATURE][RNA_MODULE_HIGH_ALARM].number,
			 80000);
	assert_int_equal(module->limits[RNA_MODULE_RECEIVE_POWER][RNA_MODULE_LOW_WARNING].number,
			 93300);
	assert_int_equal(module->limits[RNA_MODULE_BIAS][RNA_MODULE_HIGH_ALARM].state,
			 RNA_VALUE_ABSENT); /* not set */
	assert_int_equal(rna_module_weak_lane(module), 2);
	assert_false(hardware.latched_read || hardware.serial_read);
	assert_int_equal(rna_part_error_count(part), 0);
}

/* Makers leave out limits in many ways; none of them is one that all values are beyond. */
static void test_limits_that_are_none(void **state)
{
	const struct rna_value(*limits)[RNA_MODULE_LIMIT_COUNT];
	RNA_CLEANUP(rna_part_unref_p) struct rna_part *part = NULL;

	(void)state;
	make_qsfp28();
	put_limits(RNA_MODULE_PLACE_PAGE_03, 128, 80 << 8, 0xfb00, 0, 0);
	put_limits(RNA_MODULE_PLACE_PAGE_03, 176, 0xffff, 0xffff, 0xffff, 0xffff);
	put_limits(RNA_MODULE_PLACE_PAGE_03, 184, 500, 1000, 6000, 100);
	part = collect(false, false);
	limits = modules_of(part)->modules->limits;
	assert_int_equal(limits[RNA_MODULE_TEMPERATURE][RNA_MODULE_HIGH_ALARM].number, 80000);
	assert_int_equal(limits[RNA_MODULE_TEMPERATURE][RNA_MODULE_HIGH_WARNING].state,
			 RNA_VALUE_ABSENT);
	for (enum rna_module_limit limit = 0; limit < RNA_MODULE_LIMIT_COUNT; limit++)
		assert_int_equal(limits[RNA_MODULE_RECEIVE_POWER][limit].state, RNA_VALUE_ABSENT);
	assert_int_equal(limits[RNA_MODULE_BIAS][RNA_MODULE_LOW_ALARM].state, RNA_VALUE_ABSENT);
	assert_int_equal(limits[RNA_MODULE_BIAS][RNA_MODULE_HIGH_WARNING].number, 12000);
}

static void test_cmis(void **state)
{
	RNA_CLEANUP(rna_part_unref_p) struct rna_part *part = NULL;
	const struct rna_port_module *module;

	(void)state;
	make_osfp();
	part = collect(false, false);
	module = modules_of(part)->modules;
	assert_string_equal(module->form, "OSFP");
	assert_string_equal(module->vendor, "NVIDIA");
	assert_null(module->revision);
	assert_int_equal(module->lane_count, 4);
	assert_lane(module, 3, 1100000, 1200000, 100000);
	assert_int_equal(rna_module_exceeded(module, RNA_MODULE_TEMPERATURE, module->temperature),
			 RNA_MODULE_HIGH_WARNING);
	assert_int_equal(rna_module_exceeded(module, RNA_MODULE_RECEIVE_POWER,
					     module->lanes[0][RNA_MODULE_RECEIVE_POWER]),
			 RNA_MODULE_LIMIT_COUNT);
	assert_int_equal(rna_module_weak_lane(module), -1);
	assert_false(hardware.latched_read);
}

static void test_sfp(void **state)
{
	RNA_CLEANUP(rna_part_unref_p) struct rna_part *part = NULL;
	const struct rna_port_module *module;

	(void)state;
	make_sfp(true);
	part = collect(true, false);
	module = modules_of(part)->modules;
	assert_string_equal(module->netdev, "eth0"); /* of the bond that serves the port */
	assert_string_equal(module->vendor, "FINISAR CORP.");
	assert_int_equal(module->lane_count, 1);
	assert_int_equal(module->temperature.number, 30000);
	assert_lane(module, 0, 500000, 0, 6400);
	/* -5 degrees: no limit that anything could be compared with */
	assert_int_equal(module->limits[RNA_MODULE_TEMPERATURE][RNA_MODULE_LOW_ALARM].state,
			 RNA_VALUE_ABSENT);
	assert_false(hardware.latched_read);
}

/* A cable of copper says who made it, and measures nothing: absent, and no error. */
static void test_copper(void **state)
{
	RNA_CLEANUP(rna_part_unref_p) struct rna_part *sfp = NULL, *qsfp = NULL;

	(void)state;
	make_sfp(false);
	sfp = collect(false, false);
	assert_true(modules_of(sfp)->modules->copper);
	assert_int_equal(modules_of(sfp)->modules->temperature.state, RNA_VALUE_ABSENT);
	hardware = (struct hardware){0};
	make_qsfp28();
	at(RNA_MODULE_PLACE_PAGE_00, 147)[0] = 0xa0;
	qsfp = collect(false, false);
	assert_true(modules_of(qsfp)->modules->copper);
	assert_string_equal(modules_of(qsfp)->modules->vendor, "Mellanox");
	assert_int_equal(modules_of(qsfp)->modules->lane_count, 0);
	assert_int_equal(rna_part_error_count(sfp) + rna_part_error_count(qsfp), 0);
}

static void test_serial_numbers_on_demand(void **state)
{
	RNA_CLEANUP(rna_part_unref_p) struct rna_part *part = NULL;

	(void)state;
	make_qsfp28();
	part = collect(false, true);
	assert_string_equal(modules_of(part)->modules->serial, "MT2000SECRET");
}

/* Without the right, one request per device: not an error, but reported. */
static void test_without_the_right(void **state)
{
	RNA_CLEANUP(rna_part_unref_p) struct rna_part *part = NULL;

	(void)state;
	hardware.error = -EPERM;
	part = collect(false, false);
	assert_true(modules_of(part)->denied);
	assert_int_equal(modules_of(part)->count, 0);
	assert_int_equal(hardware.questions, 1);
	assert_int_equal(rna_part_error_count(part), 0);
}

static void test_failures(void **state)
{
	static const struct {
		int error;
		uint64_t errors;
	} rows[] = {{-EOPNOTSUPP, 0}, {-ENODEV, 0}, {-EIO, 0}, {-ETIMEDOUT, 1}};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(rows); i++) {
		RNA_CLEANUP(rna_part_unref_p) struct rna_part *part = NULL;

		hardware.error = rows[i].error;
		part = collect(false, false);
		assert_int_equal(modules_of(part)->count, 0);
		assert_int_equal(rna_part_error_count(part), rows[i].errors);
	}
}

/* Whatever is cut off an answer, it is refused. */
static void test_cut_answers(void **state)
{
	(void)state;
	make_qsfp28();
	for (hardware.cut = 1; hardware.cut <= 20; hardware.cut++) {
		RNA_CLEANUP(rna_part_unref_p)
		struct rna_part *part = collect(false, false);

		assert_int_equal(modules_of(part)->count, 0);
		assert_int_equal(part->errors[RNA_REASON_FORMAT], 1);
	}
}

static void test_an_unknown_kind(void **state)
{
	RNA_CLEANUP(rna_part_unref_p) struct rna_part *part = NULL;

	(void)state;
	at(RNA_MODULE_PLACE_LOWER, 0)[0] = 0x7f;
	part = collect(false, false);
	assert_string_equal(modules_of(part)->modules->form, "?");
	assert_null(modules_of(part)->modules->vendor);
	assert_int_equal(hardware.questions, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_qsfp28, set_up),
		cmocka_unit_test_setup(test_limits_that_are_none, set_up),
		cmocka_unit_test_setup(test_cmis, set_up),
		cmocka_unit_test_setup(test_sfp, set_up),
		cmocka_unit_test_setup(test_copper, set_up),
		cmocka_unit_test_setup(test_serial_numbers_on_demand, set_up),
		cmocka_unit_test_setup(test_without_the_right, set_up),
		cmocka_unit_test_setup(test_failures, set_up),
		cmocka_unit_test_setup(test_cut_answers, set_up),
		cmocka_unit_test_setup(test_an_unknown_kind, set_up),
	};

	return cmocka_run_group_tests_name("module", tests, NULL, NULL);
}
