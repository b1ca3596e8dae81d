// SPDX-License-Identifier: Apache-2.0
/* collectors/mad: what the bytes of answers say. collectors/ask_mad: who is asked, and when. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "rna/model/counter.h"
#include "rna/model/fabric.h"

#include "backend/ask_mad.h"
#include "backend/mad.h"

#include "collectors.h"
#include "tree.h"

/* -- bytes ----------------------------------------------------------------------------------------
 */

/* IBTA 14.2.5.6: an ACTIVE port, 4X HDR, of 12X NDR. */
static void make_port_info(uint8_t info[64])
{
	memset(info, 0, 64);
	info[17] = 42;          /* LID */
	info[19] = 1;           /* SM LID */
	info[22] = 1 << 6;      /* has extended speeds: bit 14 of the capabilities */
	info[29] = 2;           /* width enabled: 4X */
	info[30] = 2 | 8;       /* supported: 4X, 12X */
	info[31] = 2;           /* active */
	info[32] = 7 << 4 | 4;  /* SDR, DDR, QDR supported; state ACTIVE */
	info[33] = 5 << 4 | 2;  /* LinkUp */
	info[34] = 3;           /* LMC */
	info[35] = 4 << 4 | 7;  /* QDR active; all enabled */
	info[36] = 5 << 4 | 2;  /* SM SL */
	info[62] = 4 << 4 | 15; /* HDR active; FDR to NDR supported */
	info[63] = 7;           /* FDR to HDR enabled */
}

static void port_info_is_read(void **state)
{
	uint8_t info[64];
	struct rna_mad_port port;

	(void)state;
	make_port_info(info);
	rna_mad_read_port_info(info, &port);
	assert_int_equal(port.state.number, 4);
	assert_int_equal(port.physical_state.number, 5);
	assert_int_equal(port.lid.number, 42);
	assert_int_equal(port.sm_lid.number, 1);
	assert_int_equal(port.sm_sl.number, 2);
	assert_int_equal(port.lmc.number, 3);
	assert_int_equal(port.capability_mask.number, 1 << 14);
	assert_int_equal(port.lanes.number, 4);
	assert_int_equal(port.lanes_enabled.number, 4);
	assert_int_equal(port.lanes_supported.number, 12);
	assert_int_equal(port.speed_code.number, 64);
	assert_int_equal(port.speed_enabled.number, 64);
	assert_int_equal(port.speed_supported.number, 128);
}

static void extended_speeds_need_the_capability(void **state)
{
	uint8_t info[64];
	struct rna_mad_port port;

	(void)state;
	make_port_info(info);
	info[22] = 0;
	rna_mad_read_port_info(info, &port);
	assert_int_equal(port.speed_code.number, 4);
	assert_int_equal(port.speed_supported.number, 4);
}

static void extended_speeds_may_be_disabled(void **state)
{
	uint8_t info[64];
	struct rna_mad_port port;

	(void)state;
	make_port_info(info);
	info[63] = 30;
	rna_mad_read_port_info(info, &port);
	assert_int_equal(port.speed_enabled.number, 4);
	assert_int_equal(port.speed_supported.number, 128);
}

/* The same port as one of 4X XDR: CapabilityMask2 says that byte 56 is no longer reserved. */
static void xdr_needs_both_capabilities(void **state)
{
	static const struct {
		unsigned char mask, mask_2;
		uint64_t active, supported, enabled;
	} rows[] = {{1 << 7, 1 << 3, 256, 256, 256},
		    {0, 1 << 3, 64, 128, 64},
		    {1 << 7, 0, 64, 128, 64}};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(rows); i++) {
		uint8_t info[64];
		struct rna_mad_port port;

		make_port_info(info);
		info[22] |= rows[i].mask;
		info[60] = rows[i].mask_2;
		info[56] = 1 << 5 | 1 << 3 | 7;
		rna_mad_read_port_info(info, &port);
		assert_int_equal(port.speed_code.number, rows[i].active);
		assert_int_equal(port.speed_supported.number, rows[i].supported);
		assert_int_equal(port.speed_enabled.number, rows[i].enabled);
	}
}

static void xdr_may_be_disabled(void **state)
{
	uint8_t info[64];
	struct rna_mad_port port;

	(void)state;
	make_port_info(info);
	info[22] |= 1 << 7;
	info[60] = 1 << 3;
	info[56] = 1 << 3 | 6;
	rna_mad_read_port_info(info, &port);
	assert_int_equal(port.speed_code.number, 64);
	assert_int_equal(port.speed_supported.number, 256);
	assert_int_equal(port.speed_enabled.number, 64);
}

/* 2X is the highest bit and not the widest link; a port may name no width and no speed at all. */
static void widest_is_not_highest(void **state)
{
	uint8_t info[64];
	struct rna_mad_port port;

	(void)state;
	make_port_info(info);
	info[30] = 1 | 2 | 16;
	rna_mad_read_port_info(info, &port);
	assert_int_equal(port.lanes_supported.number, 4);
	memset(info, 0, sizeof(info));
	rna_mad_read_port_info(info, &port);
	assert_int_equal(port.lanes.state, RNA_VALUE_ABSENT);
	assert_int_equal(port.speed_supported.state, RNA_VALUE_ABSENT);
}

static struct rna_value value_of(const struct rna_mad_counters *counters, const char *file)
{
	const struct rna_value *value = rna_ask_find(counters, file);

	assert_non_null(value);
	return *value;
}

/* Answers of a PMA: IBTA 16.1.3.5 and 16.1.4.11. */
static void read_both(uint16_t capability, struct rna_mad_counters *ret)
{
	uint8_t plain[192] = {0}, extended[192] = {0};

	plain[5] = 42;               /* SymbolErrorCounter */
	plain[7] = 255;              /* LinkDownedCounter */
	plain[19] = 3 << 4 | 15;     /* local link integrity, buffer overruns */
	memset(plain + 24, 0xff, 4); /* PortXmitData */
	plain[31] = 9;               /* PortRcvData */
	plain[43] = 99;              /* PortXmitWait */
	extended[8 + 3] = 1;         /* PortXmitData: 2^32 */
	extended[16 + 7] = 9;        /* PortRcvData */
	extended[40 + 7] = 77;       /* PortUnicastXmitPkts */
	*ret = (struct rna_mad_counters){.capability = rna_value_ok(capability)};
	rna_mad_init_counters(ret);
	rna_mad_read_counters(plain, ret);
	if (capability & (RNA_PMA_EXTENDED | RNA_PMA_EXTENDED_NO_UNICAST))
		rna_mad_read_extended(extended, ret);
}

static void counters_are_merged(void **state)
{
	struct rna_mad_counters counters;

	(void)state;
	read_both(RNA_PMA_EXTENDED | RNA_PMA_TRANSMIT_WAIT, &counters);
	assert_int_equal(value_of(&counters, "symbol_error").number, 42);
	assert_int_equal(value_of(&counters, "link_downed").number, 255);
	assert_int_equal(value_of(&counters, "local_link_integrity_errors").number, 3);
	assert_int_equal(value_of(&counters, "excessive_buffer_overrun_errors").number, 15);
	assert_int_equal(value_of(&counters, "port_xmit_wait").number, 99);
	assert_int_equal(value_of(&counters, "port_xmit_data").number, UINT64_C(1) << 32);
	assert_int_equal(value_of(&counters, "port_xmit_data").state, RNA_VALUE_OK);
	assert_int_equal(value_of(&counters, "unicast_xmit_packets").number, 77);
	assert_null(rna_ask_find(&counters, "lifespan"));
	assert_null(rna_ask_find(NULL, "symbol_error"));
}

static void without_unicast_there_is_none(void **state)
{
	struct rna_mad_counters counters;

	(void)state;
	read_both(RNA_PMA_EXTENDED_NO_UNICAST, &counters);
	assert_int_equal(value_of(&counters, "port_xmit_data").number, UINT64_C(1) << 32);
	assert_int_equal(value_of(&counters, "unicast_xmit_packets").state, RNA_VALUE_ABSENT);
	assert_int_equal(value_of(&counters, "port_xmit_wait").state, RNA_VALUE_ABSENT);
}

static void plain_traffic_sticks_at_32_bits(void **state)
{
	struct rna_mad_counters counters;

	(void)state;
	read_both(0, &counters);
	assert_int_equal(value_of(&counters, "port_xmit_data").state, RNA_VALUE_SATURATED);
	assert_int_equal(value_of(&counters, "port_xmit_data").number, UINT32_MAX);
	assert_int_equal(value_of(&counters, "port_rcv_data").state, RNA_VALUE_OK);
	assert_int_equal(value_of(&counters, "unicast_xmit_packets").state, RNA_VALUE_ABSENT);
}

/* Every counter has a row, so that its width and its family are known; exporters want the order. */
static void names_are_in_the_order_of_the_table(void **state)
{
	const struct rna_counter *last = NULL, *counter;
	struct rna_mad_counters counters;

	(void)state;
	rna_mad_init_counters(&counters);
	for (size_t i = 0; i < RNA_MAD_COUNTERS; i++) {
		counter = rna_counter_find(RNA_PLACE_PORT_COUNTERS, counters.items[i].file);
		assert_non_null(counter);
		assert_true(!last || counter > last);
		last = counter;
	}
}

/* -- the fabric -- bytes --------------------------------------------------------------------------
 */

static struct rna_value detail_of(const struct rna_mad_fabric *fabric, const char *name)
{
	for (size_t i = 0; i < RNA_MAD_DETAILS; i++)
		if (strcmp(fabric->details[i].file, name) == 0)
			return fabric->details[i].value;
	fail_msg("no %s", name);
	return (struct rna_value){0};
}

/* IBTA 14.2.5.3: a switch, as its port 12 answers. */
static void node_info_says_in_which_port_the_cable_is(void **state)
{
	static const uint8_t guid[8] = {0xfc, 0x6a, 0x1c, 3, 0, 0x42, 0x77, 0};
	uint8_t info[64] = {1, 1, 2, 65};
	struct rna_mad_peer peer = {0};

	(void)state;
	memcpy(info + 12, guid, sizeof(guid));
	info[36] = 12;
	rna_mad_read_node_info(info, &peer);
	assert_int_equal(peer.type.number, 2);
	assert_int_equal(peer.guid.number, UINT64_C(0xfc6a1c0300427700));
	assert_int_equal(peer.port_number.number, 12);
}

/* 64 bytes without an end of their own; some pad them with blanks. */
static void node_descriptions_end(void **state)
{
	uint8_t description[64];
	struct rna_mad_peer peer = {0};

	(void)state;
	memset(description, 'x', sizeof(description));
	rna_mad_read_node_description(description, &peer);
	assert_int_equal(strlen(peer.name), 64);
	memset(description, ' ', sizeof(description));
	memcpy(description, "leaf 1", 6);
	rna_mad_read_node_description(description, &peer);
	assert_string_equal(peer.name, "leaf 1");
}

/* IBTA 14.4.1 */
static void sm_info_is_read(void **state)
{
	uint8_t info[64] = {0x10, 0x70, 0xfd, 3, 0, 0, 0, 1, [20] = 14 << 4 | 3};
	struct rna_mad_manager manager;

	(void)state;
	rna_mad_read_sm_info(info, &manager);
	assert_int_equal(manager.guid.number, UINT64_C(0x1070fd0300000001));
	assert_int_equal(manager.priority.number, 14);
	assert_int_equal(manager.state.number, RNA_MANAGER_MASTER);
}

static void empty_entries_are_no_pkeys(void **state)
{
	uint8_t block[64] = {0xff, 0xff, 0, 0, 0x80, 0, 0x12, 0x34};
	struct rna_mad_pkeys pkeys = {0};

	(void)state;
	assert_true(rna_mad_read_pkeys(block, 32, &pkeys));
	assert_int_equal(pkeys.count, 2);
	assert_int_equal(pkeys.items[0].index, 32);
	assert_int_equal(pkeys.items[0].key, 0xffff);
	assert_int_equal(pkeys.items[1].index, 35);
	assert_int_equal(pkeys.items[1].key, 0x1234);
	memset(block, 0, sizeof(block));
	assert_false(rna_mad_read_pkeys(block, 64, &pkeys));
}

/* IBTA 16.1.4.13, PortExtendedSpeedsCounters. */
static void make_fec(uint8_t data[192])
{
	memset(data, 0, 192);
	data[17] = 3;       /* SyncHeaderErrorCounter */
	data[44 + 3] = 10;  /* lane 0: correctable blocks, or symbols */
	data[48 + 3] = 20;  /* lane 1 */
	data[88 + 3] = 1;   /* lane 11 */
	data[92 + 3] = 5;   /* lane 0: uncorrectable blocks */
	data[140 + 3] = 70; /* with RS-FEC: correctable blocks of the port */
	data[144 + 3] = 80; /* uncorrectable ones */
	data[148 + 3] = 90; /* corrected symbols */
}

static void fec_of_lanes_is_added_up(void **state)
{
	struct rna_mad_fabric fabric = {0};
	uint8_t data[192];

	(void)state;
	make_fec(data);
	rna_mad_init_fabric(&fabric);
	fabric.port.lanes = rna_value_ok(2);
	rna_mad_read_details(data, RNA_MAD_FEC, false, &fabric);
	assert_int_equal(detail_of(&fabric, "fec_correctable_blocks").number, 31);
	assert_int_equal(detail_of(&fabric, "fec_uncorrectable_blocks").number, 5);
	assert_int_equal(detail_of(&fabric, "fec_correctable_blocks_lane1").number, 20);
	assert_int_equal(detail_of(&fabric, "sync_header_errors").number, 3);
	assert_int_equal(detail_of(&fabric, "fec_correctable_blocks_lane2").state,
			 RNA_VALUE_ABSENT);
	assert_int_equal(detail_of(&fabric, "fec_corrected_symbols").state, RNA_VALUE_ABSENT);
	assert_int_equal(detail_of(&fabric, "port_vl_xmit_wait_0").state, RNA_VALUE_ABSENT);
	memset(data + 44, 0xff, 4);
	rna_mad_read_details(data, RNA_MAD_FEC, false, &fabric);
	assert_int_equal(detail_of(&fabric, "fec_correctable_blocks").state, RNA_VALUE_SATURATED);
}

static void rs_fec_is_of_all_lanes(void **state)
{
	struct rna_mad_fabric fabric = {0};
	uint8_t data[192];

	(void)state;
	make_fec(data);
	rna_mad_init_fabric(&fabric);
	fabric.port.lanes = rna_value_ok(4);
	rna_mad_read_details(data, RNA_MAD_FEC, true, &fabric);
	assert_int_equal(detail_of(&fabric, "fec_correctable_blocks").number, 70);
	assert_int_equal(detail_of(&fabric, "fec_uncorrectable_blocks").number, 80);
	assert_int_equal(detail_of(&fabric, "fec_corrected_symbols").number, 90);
	assert_int_equal(detail_of(&fabric, "fec_corrected_symbols_lane1").number, 20);
	assert_int_equal(detail_of(&fabric, "fec_correctable_blocks_lane0").state,
			 RNA_VALUE_ABSENT);
	assert_int_equal(detail_of(&fabric, "fec_uncorrectable_blocks_lane0").state,
			 RNA_VALUE_ABSENT);
}

/* IBTA 16.1.4.1, 16.1.4.2 and 16.1.4.6 */
static void details_are_read(void **state)
{
	struct rna_mad_fabric fabric = {0};
	uint8_t data[192] = {[5] = 1, [7] = 2, [9] = 3, [11] = 4, [13] = 5, [15] = 6};

	(void)state;
	rna_mad_init_fabric(&fabric);
	fabric.port.virtual_lanes = rna_value_ok(2);
	rna_mad_read_details(data, RNA_MAD_RECEIVE_ERRORS, false, &fabric);
	assert_int_equal(detail_of(&fabric, "port_rcv_local_physical_errors").number, 1);
	assert_int_equal(detail_of(&fabric, "port_rcv_looping_errors").number, 6);
	rna_mad_read_details(data, RNA_MAD_DISCARDS, false, &fabric);
	assert_int_equal(detail_of(&fabric, "port_inactive_discards").number, 1);
	assert_int_equal(detail_of(&fabric, "port_sw_hoq_lifetime_limit_discards").number, 4);
	rna_mad_read_details(data, RNA_MAD_VL_WAITS, false, &fabric);
	assert_int_equal(detail_of(&fabric, "port_vl_xmit_wait_1").number, 2);
	assert_int_equal(detail_of(&fabric, "port_vl_xmit_wait_2").state, RNA_VALUE_ABSENT);
}

static void details_are_in_the_order_of_the_table(void **state)
{
	const struct rna_counter *last = NULL, *counter;
	struct rna_mad_fabric fabric = {0};

	(void)state;
	rna_mad_init_fabric(&fabric);
	for (size_t i = 0; i < RNA_MAD_DETAILS; i++) {
		counter = rna_counter_find(RNA_PLACE_PORT_FABRIC, fabric.details[i].file);
		assert_non_null(counter);
		assert_true(!last || counter == last + 1);
		last = counter;
	}
}

/* -- who may be asked -----------------------------------------------------------------------------
 */

static const unsigned one_port[] = {1};

static const struct rna_device device = {
	.name = "mlx5_0",
	.sysfs_path = "dev",
	.port_count = 1,
	.ports = one_port,
};

static void libibumad_cuts_long_names(void **state)
{
	(void)state;
	assert_true(rna_mad_can_name("mlx5_0"));
	assert_true(rna_mad_can_name("rocep12345678901234")); /* 19 */
	assert_false(rna_mad_can_name("rocep123456789012345"));
	assert_false(rna_mad_can_name("rocex525400c0fe123455"));
}

/* Without a stack libibumad has a device mthca0; it is not asked for any. */
static void only_infiniband_with_umad_is_served(void **state)
{
	struct rna_device ghost = device;
	struct tree tree;

	(void)state;
	tree_init(&tree);
	ghost.name = "mthca0";
	assert_false(rna_mad.serves(tree.root, &ghost, 1));
	tree_write(&tree, "dev/ports/1/link_layer", "InfiniBand\n");
	assert_false(rna_mad.serves(tree.root, &device, 1));
	tree_write(&tree, "sys/class/infiniband_mad/abi_version", "5\n");
	assert_true(rna_mad.serves(tree.root, &device, 1));
	assert_false(rna_mad.serves(tree.root, &device, 2));
	tree_write(&tree, "dev/ports/1/link_layer", "Ethernet\n");
	assert_false(rna_mad.serves(tree.root, &device, 1));
	tree_deinit(&tree);
}

/* -- collectors with a backend of ours ------------------------------------------------------------
 */

/* What the backend says, and how often it was asked. */
static struct {
	int status;
	uint64_t symbol_errors;
	struct rna_value capability_asked_with;
	unsigned asked;
} script;

static bool script_serves(const struct rna_root *root, const struct rna_device *asked,
			  unsigned port)
{
	(void)root;
	(void)asked;
	return port == 1;
}

static int script_query_counters(const struct rna_root *root, const struct rna_device *asked,
				 unsigned port, struct rna_mad_counters *ret)
{
	(void)root;
	(void)asked;
	(void)port;
	script.asked++;
	if (script.status < 0)
		return script.status;
	script.capability_asked_with = ret->capability;
	ret->capability = rna_value_ok(RNA_PMA_EXTENDED);
	rna_mad_init_counters(ret);
	for (size_t i = 0; i < RNA_MAD_COUNTERS; i++)
		if (strcmp(ret->items[i].file, "symbol_error") == 0)
			ret->items[i].value = rna_value_ok(script.symbol_errors);
	return 0;
}

static const struct rna_mad_backend script_mad = {
	.serves = script_serves,
	.query_counters = script_query_counters,
};

struct fixture {
	struct tree tree;
	struct rna_reader *reader;
	struct rna_backends backends;
	struct rna_part *part;
	rna_usec period;
};

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	assert_non_null(fixture);
	tree_init(&fixture->tree);
	tree_mkdir(&fixture->tree, "dev/ports/1");
	fixture->reader = rna_reader_new(fixture->tree.root, 100);
	fixture->backends.mad = &script_mad;
	fixture->period = 1; /* microsecond: pauses are over at once */
	memset(&script, 0, sizeof(script));
	script.symbol_errors = 42;
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	(void)rna_part_unref(fixture->part);
	(void)rna_reader_free(fixture->reader);
	tree_deinit(&fixture->tree);
	free(fixture);
	return 0;
}

static const struct rna_counters_part *collect(struct fixture *fixture,
					       enum rna_counters_source source)
{
	const struct rna_collect_input in = {
		.root = fixture->tree.root,
		.backends = &fixture->backends,
		.device = &device,
		.reader = fixture->reader,
		.previous = fixture->part,
		.options = {.counters_source = source},
		.period = fixture->period,
	};
	struct rna_part *part = NULL;
	struct rna_error error = {0};

	assert_int_equal(rna_collect_counters(&in, &part, &error), 0);
	(void)rna_part_unref(fixture->part);
	fixture->part = part;
	return (const void *)part;
}

/* Absent also where there is no such group. */
static struct rna_value symbol_errors(const struct rna_counters_part *part)
{
	for (size_t i = 0; part->group_count == 1 && i < part->groups[0].count; i++)
		if (strcmp(part->groups[0].values[i].file, "symbol_error") == 0)
			return part->groups[0].values[i].value;
	return (struct rna_value){0};
}

/* All that kernels since 4.5 have, as far as auto looks. */
static void write_files(struct fixture *fixture)
{
	tree_write(&fixture->tree, "dev/ports/1/counters/symbol_error", "7\n");
	tree_write(&fixture->tree, "dev/ports/1/counters/unicast_rcv_packets", "1\n");
}

static void mads_fill_a_missing_directory(void **state)
{
	struct fixture *fixture = *state;
	const struct rna_counters_part *part = collect(fixture, RNA_COUNTERS_AUTO);

	assert_int_equal(symbol_errors(part).number, 42);
	assert_int_equal(part->groups[0].place, RNA_PLACE_PORT_COUNTERS);
	assert_int_equal(part->groups[0].port, 1);
	assert_int_equal(part->groups[0].count, RNA_MAD_COUNTERS);
	assert_string_equal(part->groups[0].values[0].counter->file, "port_xmit_data");
	for (size_t i = 1; i < RNA_MAD_COUNTERS; i++) /* the order that searches rely on */
		assert_true(part->groups[0].values[i - 1].counter <
			    part->groups[0].values[i].counter);
}

static void what_the_pma_can_do_is_asked_once(void **state)
{
	struct fixture *fixture = *state;

	collect(fixture, RNA_COUNTERS_AUTO);
	assert_int_equal(script.capability_asked_with.state, RNA_VALUE_ABSENT);
	collect(fixture, RNA_COUNTERS_AUTO);
	assert_int_equal(script.capability_asked_with.number, RNA_PMA_EXTENDED);
	script.status = -ENETDOWN;
	collect(fixture, RNA_COUNTERS_AUTO);
	script.status = 0;
	collect(fixture, RNA_COUNTERS_AUTO);
	assert_int_equal(symbol_errors((const void *)fixture->part).number, 42);
}

static void files_come_first_unless_told(void **state)
{
	struct fixture *fixture = *state;

	write_files(fixture);
	assert_int_equal(symbol_errors(collect(fixture, RNA_COUNTERS_AUTO)).number, 7);
	assert_int_equal(symbol_errors(collect(fixture, RNA_COUNTERS_SYSFS)).number, 7);
	assert_int_equal(script.asked, 0);
	assert_int_equal(symbol_errors(collect(fixture, RNA_COUNTERS_MAD)).number, 42);
	assert_int_equal(script.asked, 1);
}

static void files_without_64_bits_do_not(void **state)
{
	struct fixture *fixture = *state;

	tree_write(&fixture->tree, "dev/ports/1/counters/symbol_error", "7\n");
	assert_int_equal(symbol_errors(collect(fixture, RNA_COUNTERS_AUTO)).number, 42);
}

static void nothing_is_asked_where_files_are_all(void **state)
{
	const struct rna_counters_part *part = collect(*state, RNA_COUNTERS_SYSFS);

	assert_int_equal(part->group_count, 0);
	assert_int_equal(script.asked, 0);
}

static void files_stand_in_for_an_answer(void **state)
{
	struct fixture *fixture = *state;
	const struct rna_counters_part *part;

	write_files(fixture);
	script.status = -ETIMEDOUT;
	part = collect(fixture, RNA_COUNTERS_MAD);
	assert_int_equal(symbol_errors(part).number, 7);
	assert_int_equal(part->part.errors[RNA_REASON_TIMEOUT], 1);
}

static void who_does_not_answer_is_left_alone(void **state)
{
	struct fixture *fixture = *state;
	const struct rna_counters_part *part;

	fixture->period = 3600 * RNA_USEC_PER_SEC;
	script.status = -ETIMEDOUT;
	for (unsigned i = 0; i < 3; i++) {
		part = collect(fixture, RNA_COUNTERS_AUTO);
		assert_int_equal(part->group_count, 0);
		assert_int_equal(part->part.errors[RNA_REASON_TIMEOUT], 1);
	}
	assert_int_equal(script.asked, 1);
}

static void a_port_that_is_down_is_no_failure(void **state)
{
	struct fixture *fixture = *state;
	const struct rna_counters_part *part;

	fixture->period = 3600 * RNA_USEC_PER_SEC;
	script.status = -ENETDOWN;
	part = collect(fixture, RNA_COUNTERS_AUTO);
	assert_int_equal(part->group_count, 0);
	assert_int_equal(rna_part_error_count(&part->part), 0);
	script.status = 0;
	assert_int_equal(symbol_errors(collect(fixture, RNA_COUNTERS_AUTO)).number, 42);
}

/* As with files: 2^16 - 1 that stands is a lower bound. */
static void answers_saturate_like_files(void **state)
{
	struct fixture *fixture = *state;

	script.symbol_errors = UINT16_MAX - 1;
	assert_int_equal(symbol_errors(collect(fixture, RNA_COUNTERS_AUTO)).state, RNA_VALUE_OK);
	script.symbol_errors = UINT16_MAX;
	collect(fixture, RNA_COUNTERS_AUTO);
	assert_int_equal(symbol_errors(collect(fixture, RNA_COUNTERS_AUTO)).state,
			 RNA_VALUE_SATURATED);
}

#define COLLECT_TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(port_info_is_read),
		cmocka_unit_test(xdr_needs_both_capabilities),
		cmocka_unit_test(xdr_may_be_disabled),
		cmocka_unit_test(extended_speeds_need_the_capability),
		cmocka_unit_test(node_info_says_in_which_port_the_cable_is),
		cmocka_unit_test(node_descriptions_end),
		cmocka_unit_test(sm_info_is_read),
		cmocka_unit_test(empty_entries_are_no_pkeys),
		cmocka_unit_test(fec_of_lanes_is_added_up),
		cmocka_unit_test(rs_fec_is_of_all_lanes),
		cmocka_unit_test(details_are_read),
		cmocka_unit_test(details_are_in_the_order_of_the_table),
		cmocka_unit_test(extended_speeds_may_be_disabled),
		cmocka_unit_test(widest_is_not_highest),
		cmocka_unit_test(counters_are_merged),
		cmocka_unit_test(without_unicast_there_is_none),
		cmocka_unit_test(plain_traffic_sticks_at_32_bits),
		cmocka_unit_test(names_are_in_the_order_of_the_table),
		cmocka_unit_test(libibumad_cuts_long_names),
		cmocka_unit_test(only_infiniband_with_umad_is_served),
		COLLECT_TEST(mads_fill_a_missing_directory),
		COLLECT_TEST(what_the_pma_can_do_is_asked_once),
		COLLECT_TEST(files_come_first_unless_told),
		COLLECT_TEST(files_without_64_bits_do_not),
		COLLECT_TEST(nothing_is_asked_where_files_are_all),
		COLLECT_TEST(files_stand_in_for_an_answer),
		COLLECT_TEST(who_does_not_answer_is_left_alone),
		COLLECT_TEST(a_port_that_is_down_is_no_failure),
		COLLECT_TEST(answers_saturate_like_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
