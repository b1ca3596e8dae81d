// SPDX-License-Identifier: Apache-2.0
/* collectors/rate and link: speeds from text and codes; collectors/link on small trees. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "backend/backends.h"
#include "parse/rate.h"

#include "collectors.h"
#include "link.h"
#include "tree.h"

#define GBIT UINT64_C(125000000) /* bytes per second */

static void check_rate(const char *text, uint64_t bytes, unsigned lanes, const char *speed)
{
	struct rna_link_rate rate;

	assert_int_equal(rna_rate_parse(text, &rate), 0);
	assert_int_equal(rate.bytes, bytes);
	assert_int_equal(rate.lanes, lanes);
	if (speed)
		assert_string_equal(rate.speed->name, speed);
	else
		assert_null(rate.speed);
}

static void rates_are_parsed(void **state)
{
	(void)state;
	check_rate("2.5 Gb/sec (1X SDR)", GBIT * 5 / 2, 1, "SDR");
	check_rate("10 Gb/sec (1X FDR10)", 10 * GBIT, 1, "FDR10");
	check_rate("40 Gb/sec (4X QDR)", 40 * GBIT, 4, "QDR");
	check_rate("56 Gb/sec (4X FDR)", 56 * GBIT, 4, "FDR");
	check_rate("100 Gb/sec (2X HDR)", 100 * GBIT, 2, "HDR");
	check_rate("200 Gb/sec (4X HDR)", 200 * GBIT, 4, "HDR");
	check_rate("400 Gb/sec (4X NDR)", 400 * GBIT, 4, "NDR");
	check_rate("800 Gb/sec (4X XDR)", 800 * GBIT, 4, "XDR");
	check_rate("10 Gb/sec (4X)", 10 * GBIT, 4, NULL);
	check_rate("1600 Gb/sec (4X GDR)", 1600 * GBIT, 4, NULL); /* newer than this program */
}

static void odd_rates_are_refused(void **state)
{
	static const char *const texts[] = {
		"",
		"Gb/sec",
		"40",
		"40 Gb/sec",
		"40 Gb/sec (4X QDR",
		"40 Gb/sec (4X QDR) ",
		"40 Gb/sec (4X )",
		"40 Gb/sec (-1X SDR)",
		"40 Gb/sec (0X SDR)",
		"0 Gb/sec (4X SDR)",
		"-40 Gb/sec (4X QDR)",
		"2. Gb/sec (1X SDR)",
		"2.55 Gb/sec (1X SDR)",
		"99999999999999999999 Gb/sec (4X QDR)",
		"40 Gb/sec (99999999999X QDR)",
		"40 Gb/sec (4X ABCDEFGHIJKLMNOPQRSTUVWXYZ)",
		"N/A (no PMA)",
	};
	struct rna_link_rate rate = {.bytes = 1};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(texts); i++) {
		assert_int_equal(rna_rate_parse(texts[i], &rate), -EBADMSG);
		assert_int_equal(rate.bytes, 1); /* untouched */
	}
}

static void codes_are_known(void **state)
{
	(void)state;
	for (unsigned code = 1; code <= 256; code *= 2)
		assert_int_equal(rna_speed_from_code(code)->code, code);
	assert_null(rna_speed_from_code(0));
	assert_null(rna_speed_from_code(3));
	assert_null(rna_speed_from_code(512));
	assert_int_equal(rna_lanes_from_code(1), 1);
	assert_int_equal(rna_lanes_from_code(2), 4);
	assert_int_equal(rna_lanes_from_code(4), 8);
	assert_int_equal(rna_lanes_from_code(8), 12);
	assert_int_equal(rna_lanes_from_code(16), 2);
	assert_int_equal(rna_lanes_from_code(3), 0);
}

/* What becomes of sysfs text (NULL: none) and a verbs code (0: none) with four lanes. */
static struct rna_port_link merge(const char *text, uint64_t code)
{
	const struct rna_value absent = {0};
	struct rna_port_link port = {0};
	struct rna_link_rate rate;

	if (text)
		assert_int_equal(rna_rate_parse(text, &rate), 0);
	rna_link_merge_speed(text ? &rate : NULL, code ? rna_value_ok(code) : absent,
			     code ? rna_value_ok(4) : absent, &port);
	return port;
}

static void sources_that_agree_give_the_printed_rate(void **state)
{
	struct rna_port_link port = merge("400 Gb/sec (4X NDR)", 128);

	(void)state;
	assert_int_equal(port.rate.number, 400 * GBIT);
	assert_int_equal(port.width.number, 4);
	assert_int_equal(port.speed_code.number, 128);
	assert_string_equal(port.speed_name, "NDR");
}

/* An old kernel prints SDR for XDR. */
static void faster_code_corrects_the_printed_rate(void **state)
{
	struct rna_port_link port = merge("10 Gb/sec (4X SDR)", 256);

	(void)state;
	assert_int_equal(port.rate.number, 800 * GBIT);
	assert_string_equal(port.speed_name, "XDR");
}

/* A port at half its rate: the kernel knows HDR, so NDR is an older answer. */
static void known_speed_is_that_of_the_link(void **state)
{
	struct rna_port_link port = merge("200 Gb/sec (4X HDR)", 128);

	(void)state;
	assert_int_equal(port.rate.number, 200 * GBIT);
	assert_string_equal(port.speed_name, "HDR");
}

/* An old libibverbs says NDR for XDR. */
static void faster_text_corrects_the_code(void **state)
{
	struct rna_port_link port = merge("800 Gb/sec (4X XDR)", 128);

	(void)state;
	assert_int_equal(port.rate.number, 800 * GBIT);
	assert_int_equal(port.speed_code.number, 256);
	assert_string_equal(port.speed_name, "XDR");
}

static void unknown_code_makes_no_rate(void **state)
{
	struct rna_port_link port = merge("10 Gb/sec (4X SDR)", 512);

	(void)state;
	assert_int_equal(port.rate.state, RNA_VALUE_UNREADABLE);
	assert_int_equal(port.speed_code.number, 512);
	assert_null(port.speed_name);
}

static void rate_with_an_unknown_name_is_kept(void **state)
{
	struct rna_port_link port = merge("1600 Gb/sec (4X GDR)", 512);

	(void)state;
	assert_int_equal(port.rate.number, 1600 * GBIT);
	assert_int_equal(port.speed_code.number, 512);
}

static void one_source_is_enough(void **state)
{
	struct rna_port_link port = merge("2.5 Gb/sec (1X SDR)", 0);

	(void)state;
	assert_int_equal(port.width.number, 1);
	assert_int_equal(port.speed_code.number, 1);
	port = merge(NULL, 64);
	assert_int_equal(port.rate.number, 200 * GBIT);
	assert_int_equal(port.width.number, 4);
	port = merge(NULL, 0);
	assert_int_equal(port.rate.state, RNA_VALUE_ABSENT);
	assert_int_equal(port.width.state, RNA_VALUE_ABSENT);
	assert_null(port.speed_name);
}

/* -- the collector on a tree ----------------------------------------------------------------------
 */

static int rate_error; /* of the read of rate; 0: it is fine */

ssize_t __real_rna_reader_read(struct rna_reader *reader, size_t index, char *ret, size_t size);
ssize_t __wrap_rna_reader_read(struct rna_reader *reader, size_t index, char *ret, size_t size);

ssize_t __wrap_rna_reader_read(struct rna_reader *reader, size_t index, char *ret, size_t size)
{
	ssize_t len = __real_rna_reader_read(reader, index, ret, size);

	return rate_error && len > 0 && strstr(ret, "Gb/sec") ? rate_error : len;
}

static const unsigned one_port[] = {1};

static struct rna_device device = {
	.name = "mlx5_0",
	.sysfs_path = "dev",
	.port_count = 1,
	.ports = one_port,
};

struct fixture {
	struct tree tree;
	struct rna_reader *reader;
	struct rna_backends *backends;
	struct rna_part *part;
};

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	assert_non_null(fixture);
	tree_init(&fixture->tree);
	tree_write(&fixture->tree, "dev/ports/1/link_layer", "InfiniBand\n");
	tree_write(&fixture->tree, "dev/ports/1/rate", "200 Gb/sec (4X HDR)\n");
	tree_write(&fixture->tree, "dev/ports/1/lid", "0x2a\n");
	tree_write(&fixture->tree, "dev/ports/1/sm_lid", "0x1\n");
	tree_write(&fixture->tree, "dev/ports/1/sm_sl", "0\n");
	tree_write(&fixture->tree, "dev/ports/1/lid_mask_count", "0\n");
	tree_write(&fixture->tree, "dev/ports/1/cap_mask", "0xa751e848\n");
	fixture->reader = rna_reader_new(fixture->tree.root, 100);
	fixture->backends = rna_backends_new(fixture->tree.root);
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	rate_error = 0;
	device.driver = NULL;
	(void)rna_part_unref(fixture->part);
	(void)rna_reader_free(fixture->reader);
	(void)rna_backends_free(fixture->backends);
	tree_deinit(&fixture->tree);
	free(fixture);
	return 0;
}

static const struct rna_link *collect(struct fixture *fixture)
{
	const struct rna_collect_input in = {
		.root = fixture->tree.root,
		.backends = fixture->backends,
		.device = &device,
		.reader = fixture->reader,
		.period = RNA_USEC_PER_SEC,
	};
	struct rna_error error = {0};

	fixture->part = rna_part_unref(fixture->part);
	assert_int_equal(rna_collect_link(&in, &fixture->part, &error), 0);
	return (const struct rna_link *)fixture->part;
}

static void sysfs_alone_is_enough(void **state)
{
	const struct rna_link *link = collect(*state);

	assert_false(link->verbs);
	assert_int_equal(link->port_count, 1);
	assert_int_equal(link->ports[0].rate.number, 200 * GBIT);
	assert_int_equal(link->ports[0].lid.number, 42);
	assert_int_equal(link->ports[0].sm_lid.number, 1);
	assert_int_equal(link->ports[0].capability_mask.number, 0xa751e848);
	assert_int_equal(link->ports[0].active_mtu.state, RNA_VALUE_ABSENT);
	assert_int_equal(rna_part_error_count(&link->part), 0);
}

static bool serves_all(const struct rna_root *root, const struct rna_device *asked, unsigned port)
{
	(void)root, (void)asked, (void)port;
	return true;
}

static int answer_xdr(const struct rna_root *root, const struct rna_device *asked, unsigned port,
		      struct rna_mad_port *ret)
{
	(void)root, (void)asked, (void)port;
	*ret = (struct rna_mad_port){
		.lanes = rna_value_ok(4),
		.speed_code = rna_value_ok(256),
		.speed_supported = rna_value_ok(256),
	};
	return 0;
}

/* Linux 6.1 prints SDR for a speed that it does not know, and a rate to match. */
static void xdr_is_known_by_mad(void **state)
{
	static const struct rna_mad_backend mad = {.serves = serves_all, .query_port = answer_xdr};
	struct fixture *fixture = *state;
	const struct rna_link *link;

	tree_write(&fixture->tree, "dev/ports/1/rate", "10 Gb/sec (4X SDR)\n");
	fixture->backends->mad = &mad;
	link = collect(fixture);
	assert_int_equal(link->ports[0].speed_code.number, 256);
	assert_string_equal(link->ports[0].speed_name, "XDR");
	assert_int_equal(link->ports[0].rate.number, 800 * GBIT);
	assert_int_equal(link->ports[0].width.number, 4);
	assert_int_equal(link->ports[0].speed_supported.number, 256);
}

/* -- Planes ------------------------------------------------------------------------------------ */

static const unsigned plane_numbers[] = {1, 2, 3};
static const struct rna_device smi = {
	.name = "smi0",
	.sysfs_path = "smi",
	.port_count = RNA_ARRAY_SIZE(plane_numbers),
	.ports = plane_numbers,
	.has_planes = true,
};

static int answer_planes(const struct rna_root *root, const struct rna_device *asked, unsigned port,
			 struct rna_mad_port *ret)
{
	(void)root;
	assert_ptr_equal(asked, &smi); /* PortInfo of the HCA would be that of a plane */
	*ret = (struct rna_mad_port){
		.state = rna_value_ok(port == 2 ? RNA_PORT_DOWN : RNA_PORT_ACTIVE),
		.physical_state =
			rna_value_ok(port == 2 ? RNA_PHYSICAL_POLLING : RNA_PHYSICAL_LINK_UP),
		.lanes_supported = rna_value_ok(1),
	};
	return port == 3 ? -ENOENT : 0;
}

static const struct rna_link *collect_planes(struct fixture *fixture)
{
	struct rna_device parent = device;
	const struct rna_collect_input in = {
		.root = fixture->tree.root,
		.backends = fixture->backends,
		.device = &parent,
		.reader = fixture->reader,
		.period = RNA_USEC_PER_SEC,
	};
	struct rna_error error = {0};

	parent.smi = &smi;
	fixture->part = rna_part_unref(fixture->part);
	assert_int_equal(rna_collect_link(&in, &fixture->part, &error), 0);
	return (const struct rna_link *)fixture->part;
}

/* The third cannot be asked: its files have the state of the port, so nothing is known of it. */
static void planes_are_asked_by_mad(void **state)
{
	static const struct rna_mad_backend mad = {.serves = serves_all,
						   .query_port = answer_planes};
	struct fixture *fixture = *state;
	const struct rna_link *link;

	tree_write(&fixture->tree, "smi/ports/1/state", "4: ACTIVE\n");
	tree_write(&fixture->tree, "smi/ports/2/state", "4: ACTIVE\n");
	tree_write(&fixture->tree, "smi/ports/3/state", "4: ACTIVE\n");
	tree_write(&fixture->tree, "smi/ports/3/phys_state", "5: LinkUp\n");
	fixture->backends->mad = &mad;
	link = collect_planes(fixture);
	assert_int_equal(link->plane_count, 3);
	assert_int_equal(link->planes[1].number, 2);
	assert_int_equal(link->planes[1].state.number, RNA_PORT_DOWN);
	assert_int_equal(link->planes[1].physical_state.number, RNA_PHYSICAL_POLLING);
	assert_int_equal(link->planes[2].state.state, RNA_VALUE_ABSENT);
	assert_int_equal(rna_link_planes_up(link).state, RNA_VALUE_ABSENT);
	assert_int_equal(link->ports[0].width_supported.state, RNA_VALUE_ABSENT);
}

static void planes_without_state_are_not_counted(void **state)
{
	struct fixture *fixture = *state;
	const struct rna_link *link;

	tree_write(&fixture->tree, "smi/ports/1/state", "4: ACTIVE\n");
	tree_write(&fixture->tree, "smi/ports/2/state", "4: ACTIVE\n");
	link = collect_planes(fixture);
	assert_int_equal(link->plane_count, 3);
	assert_int_equal(rna_link_planes_up(link).state, RNA_VALUE_ABSENT);
	assert_int_equal(rna_link_planes_up(NULL).state, RNA_VALUE_ABSENT);
	assert_int_equal(link->ports[0].lid.number, 42);
}

static void recorded_verbs_answer(void **state)
{
	struct fixture *fixture = *state;
	const struct rna_link *link;

	tree_write(&fixture->tree, "recorded/verbs/mlx5_0/ports/1/active_mtu", "2048\n");
	tree_write(&fixture->tree, "recorded/verbs/mlx5_0/ports/1/max_mtu", "4096\n");
	tree_write(&fixture->tree, "recorded/verbs/mlx5_0/ports/1/active_speed", "64\n");
	tree_write(&fixture->tree, "recorded/verbs/mlx5_0/ports/1/active_width", "2\n");
	link = collect(fixture);
	assert_true(link->verbs);
	assert_int_equal(link->ports[0].active_mtu.number, 2048);
	assert_int_equal(link->ports[0].max_mtu.number, 4096);
	assert_int_equal(link->ports[0].speed_code.number, 64);
	assert_int_equal(link->ports[0].lid.number, 42);
}

static void ethernet_has_no_lids(void **state)
{
	struct fixture *fixture = *state;
	const struct rna_link *link;

	tree_write(&fixture->tree, "dev/ports/1/link_layer", "Ethernet\n");
	link = collect(fixture);
	assert_int_equal(link->ports[0].lid.state, RNA_VALUE_ABSENT);
	assert_int_equal(link->ports[0].sm_lid.state, RNA_VALUE_ABSENT);
	assert_int_equal(link->ports[0].capability_mask.state, RNA_VALUE_OK);
}

/* Older mana_ib answers neither the question for the link layer nor that for the rate. */
static void a_driver_that_says_nothing_is_believed_in_nothing(void **state)
{
	const struct rna_link *link;

	device.driver = "mana";
	rate_error = -EINVAL;
	link = collect(*state);
	assert_int_equal(link->ports[0].rate.state, RNA_VALUE_ABSENT);
	assert_int_equal(link->ports[0].lid.state, RNA_VALUE_ABSENT);
	assert_int_equal(rna_part_error_count(&link->part), 0);
	rate_error = -EIO;
	link = collect(*state);
	assert_int_equal(link->ports[0].rate.state, RNA_VALUE_UNREADABLE);
}

static void unknown_rate_is_unreadable(void **state)
{
	struct fixture *fixture = *state;
	const struct rna_link *link;

	tree_write(&fixture->tree, "dev/ports/1/rate", "fast\n");
	link = collect(fixture);
	assert_int_equal(link->ports[0].rate.state, RNA_VALUE_UNREADABLE);
	assert_int_equal(link->part.errors[RNA_REASON_FORMAT], 1);
	assert_int_equal(link->ports[0].lid.number, 42); /* one file costs one value */
}

static void missing_files_are_absent(void **state)
{
	struct fixture *fixture = *state;
	const struct rna_link *link;

	tree_remove(&fixture->tree, "dev/ports/1/rate");
	tree_remove(&fixture->tree, "dev/ports/1/sm_lid");
	link = collect(fixture);
	assert_int_equal(link->ports[0].rate.state, RNA_VALUE_ABSENT);
	assert_int_equal(link->ports[0].sm_lid.state, RNA_VALUE_ABSENT);
	assert_int_equal(rna_part_error_count(&link->part), 0);
}

static void missing_device_fails(void **state)
{
	struct fixture *fixture = *state;
	const struct rna_collect_input in = {
		.root = fixture->tree.root,
		.backends = fixture->backends,
		.device = &device,
		.reader = fixture->reader,
		.period = RNA_USEC_PER_SEC,
	};
	struct rna_error error = {0};

	tree_remove(&fixture->tree, "dev");
	assert_int_equal(rna_collect_link(&in, &fixture->part, &error), -ENOENT);
	assert_non_null(strstr(error.text, "mlx5_0"));
	assert_null(fixture->part);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rates_are_parsed),
		cmocka_unit_test(odd_rates_are_refused),
		cmocka_unit_test(codes_are_known),
		cmocka_unit_test(sources_that_agree_give_the_printed_rate),
		cmocka_unit_test(faster_code_corrects_the_printed_rate),
		cmocka_unit_test(known_speed_is_that_of_the_link),
		cmocka_unit_test(faster_text_corrects_the_code),
		cmocka_unit_test(unknown_code_makes_no_rate),
		cmocka_unit_test(rate_with_an_unknown_name_is_kept),
		cmocka_unit_test(one_source_is_enough),
		cmocka_unit_test_setup_teardown(sysfs_alone_is_enough, setup, teardown),
		cmocka_unit_test_setup_teardown(xdr_is_known_by_mad, setup, teardown),
		cmocka_unit_test_setup_teardown(planes_are_asked_by_mad, setup, teardown),
		cmocka_unit_test_setup_teardown(planes_without_state_are_not_counted, setup,
						teardown),
		cmocka_unit_test_setup_teardown(recorded_verbs_answer, setup, teardown),
		cmocka_unit_test_setup_teardown(ethernet_has_no_lids, setup, teardown),
		cmocka_unit_test_setup_teardown(a_driver_that_says_nothing_is_believed_in_nothing,
						setup, teardown),
		cmocka_unit_test_setup_teardown(unknown_rate_is_unreadable, setup, teardown),
		cmocka_unit_test_setup_teardown(missing_files_are_absent, setup, teardown),
		cmocka_unit_test_setup_teardown(missing_device_fails, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
