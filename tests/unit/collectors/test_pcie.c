// SPDX-License-Identifier: Apache-2.0
/* core/pcie: rates and links; collectors/pcie and pci_config: texts, and paths on small trees. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "rna/model/pcie.h"

#include "parse/pci_config.h"
#include "parse/pcie_texts.h"

#include "collectors.h"
#include "tree.h"

/* -- Rates ------------------------------------------------------------------------------------- */

/* Of a link, in megabytes per second, computed by hand from coding and packet of each generation.
 */
static const struct {
	unsigned speed, width;
	uint64_t megabytes;
} rates[] = {
	{2500, 1, 228},                       /* 2.5e9 / 8 * 8/10 * 256/280 */
	{2500, 16, 3657},    {5000, 8, 3657}, /* twice the speed, half the width */
	{8000, 16, 14403},                    /* 16e9 * 128/130 * 256/280 */
	{8000, 8, 7201},     {16000, 16, 28807},   {32000, 16, 57614},
	{32000, 12, 43210},  {64000, 16, 111058}, /* 128e9 * 236/256 * 256/272 */
	{64000, 32, 222117}, {128000, 16, 222117},
};

static void test_rates_follow_from_coding_and_packets(void **state)
{
	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(rates); i++)
		assert_int_equal(rna_pcie_rate(rna_value_ok(rates[i].speed),
					       rna_value_ok(rates[i].width)) /
					 1000000,
				 rates[i].megabytes);
	assert_int_equal(rna_pcie_rate((struct rna_value){0}, rna_value_ok(16)), 0);
	assert_int_equal(rna_pcie_rate(rna_value_ok(8000), rna_value_unreadable()), 0);
}

/* -- Links ------------------------------------------------------------------------------------- */

#define VALUE(n)                                                                                   \
	{                                                                                          \
		(n), (n) ? RNA_VALUE_OK : RNA_VALUE_ABSENT                                         \
	}
#define HOP(role_, speed_, width_, max_speed_, max_width_)                                         \
	{                                                                                          \
		.address = "0000:00:00.0", .role = RNA_PCI_##role_,                                \
		.link = {VALUE(speed_), VALUE(width_), VALUE(max_speed_), VALUE(max_width_)},      \
	}

static const struct {
	const char *name;
	struct rna_pcie_hop hops[4];
	size_t count;
	int bottleneck;
	unsigned rate_speed, rate_width; /* of the bottleneck */
} paths[] = {
	{"nothing", {{0}}, 0, -1, 0, 0},
	{"a device of the root complex", {HOP(NIC, 16000, 16, 16000, 16)}, 1, -1, 0, 0},
	{"one link",
	 {HOP(NIC, 16000, 16, 16000, 16), HOP(ROOT_PORT, 16000, 16, 16000, 16)},
	 2,
	 0,
	 16000,
	 16},
	{"a switch whose uplink is slower",
	 {HOP(NIC, 16000, 16, 16000, 16), HOP(DOWNSTREAM, 16000, 16, 16000, 16),
	  HOP(UPSTREAM, 8000, 16, 16000, 16), HOP(ROOT_PORT, 8000, 16, 16000, 16)},
	 4,
	 2,
	 8000,
	 16},
	{"of two that are equal the nearer",
	 {HOP(NIC, 8000, 16, 8000, 16), HOP(DOWNSTREAM, 8000, 16, 16000, 16),
	  HOP(UPSTREAM, 16000, 8, 16000, 16), HOP(ROOT_PORT, 16000, 8, 16000, 16)},
	 4,
	 0,
	 8000,
	 16},
	{"what one end does not tell is what the other says",
	 {HOP(NIC, 0, 0, 0, 0), HOP(ROOT_PORT, 16000, 8, 16000, 16)},
	 2,
	 0,
	 16000,
	 8},
	{"bridges of unknown kind have no links",
	 {HOP(NIC, 16000, 16, 16000, 16), HOP(BRIDGE, 2500, 1, 16000, 16)},
	 2,
	 -1,
	 0,
	 0},
	{"inside of a switch there is none",
	 {HOP(NIC, 16000, 16, 16000, 16), HOP(DOWNSTREAM, 16000, 16, 16000, 16),
	  HOP(UPSTREAM, 0, 0, 16000, 16), HOP(ROOT_PORT, 0, 0, 16000, 16)},
	 4,
	 0,
	 16000,
	 16},
};

static void test_the_bottleneck_is_the_slowest_link(void **state)
{
	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(paths); i++) {
		const struct rna_pcie pcie = {.hop_count = paths[i].count, .hops = paths[i].hops};
		struct rna_value rate = rna_pcie_path_rate(&pcie);

		if (rna_pcie_bottleneck(&pcie) != paths[i].bottleneck)
			fail_msg("%s: bottleneck %d", paths[i].name, rna_pcie_bottleneck(&pcie));
		assert_int_equal(rate.state,
				 paths[i].bottleneck < 0 ? RNA_VALUE_ABSENT : RNA_VALUE_OK);
		if (paths[i].bottleneck >= 0)
			assert_int_equal(rate.number,
					 rna_pcie_rate(rna_value_ok(paths[i].rate_speed),
						       rna_value_ok(paths[i].rate_width)));
	}
}

static void test_a_link_can_do_what_both_ends_can(void **state)
{
	const struct rna_pcie_hop hops[] = {HOP(NIC, 8000, 8, 16000, 16),
					    HOP(ROOT_PORT, 8000, 8, 32000, 8)};
	const struct rna_pcie_hop silent[] = {HOP(NIC, 8000, 8, 16000, 16),
					      HOP(ROOT_PORT, 8000, 8, 0, 8)};
	const struct rna_pcie pcie = {.hop_count = 2, .hops = hops};
	const struct rna_pcie unknown = {.hop_count = 2, .hops = silent};
	struct rna_pcie_link link;

	(void)state;
	assert_true(rna_pcie_link_above(&pcie, 0, &link));
	assert_int_equal(link.speed.number, 8000);
	assert_int_equal(link.max_speed.number, 16000);
	assert_int_equal(link.max_width.number, 8);
	assert_false(rna_pcie_link_above(&pcie, 1, &link));
	assert_true(rna_pcie_link_above(&unknown, 0, &link));
	assert_false(rna_value_is_known(link.max_speed));
	assert_true(rna_value_is_known(link.max_width));
}

static void test_errors_are_summed_only_where_all_are_known(void **state)
{
	struct rna_pcie_hop hops[] = {HOP(NIC, 1, 1, 1, 1), HOP(ROOT_PORT, 1, 1, 1, 1)};
	const struct rna_pcie pcie = {.hop_count = 2, .hops = hops};

	(void)state;
	assert_int_equal(rna_pcie_errors(&pcie, RNA_AER_FATAL).state, RNA_VALUE_ABSENT);
	hops[0].aer[RNA_AER_FATAL] = rna_value_ok(3);
	assert_int_equal(rna_pcie_errors(&pcie, RNA_AER_FATAL).number, 3);
	hops[1].aer[RNA_AER_FATAL] = rna_value_ok(4);
	assert_int_equal(rna_pcie_errors(&pcie, RNA_AER_FATAL).number, 7);
	hops[1].aer[RNA_AER_FATAL] = rna_value_unreadable();
	assert_int_equal(rna_pcie_errors(&pcie, RNA_AER_FATAL).state, RNA_VALUE_UNREADABLE);
}

/* -- Texts ------------------------------------------------------------------------------------- */

static const struct {
	const char *text;
	int status;
	uint64_t number;
} speeds[] =
	{
		{"2.5 GT/s PCIe", 0, 2500},
		{"16.0 GT/s PCIe", 0, 16000},
		{"8 GT/s", 0, 8000},
		{"2.5 GT/s", 0, 2500},
		{"64.0 GT/s PCIe", 0, 64000},
		{"Unknown", -ENOENT, 0},
		{"Unknown speed", -ENOENT, 0},
		{"0 GT/s", -ENOENT, 0},
		{"9999 GT/s", -ENOENT, 0},
		{"", -EBADMSG, 0},
		{"16", -EBADMSG, 0},
		{"16 GB/s", -EBADMSG, 0},
		{"-16 GT/s", -EBADMSG, 0},
		{"16. GT/s", -EBADMSG, 0},
		{"16.0 GT/s PCI", -EBADMSG, 0},
		{"16.0000 GT/s", -EBADMSG, 0},
		{"99999999999999999999 GT/s", -EBADMSG, 0},
},
  widths[] = {
	  {"1", 0, 1},        {"16", 0, 16},        {"x8", 0, 8},
	  {"32", 0, 32},      {"0", -ENOENT, 0},    {"x0", -ENOENT, 0},
	  {"63", -ENOENT, 0}, {"255", -ENOENT, 0},  {"Unknown", -ENOENT, 0},
	  {"", -EBADMSG, 0},  {"16 ", -EBADMSG, 0}, {"-1", -EBADMSG, 0},
};

static void test_speeds_and_widths_are_parsed(void **state)
{
	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(speeds); i++) {
		uint64_t number = 0;

		if (rna_pcie_parse_speed(speeds[i].text, &number) != speeds[i].status ||
		    number != speeds[i].number)
			fail_msg("speed \"%s\": %ju", speeds[i].text, (uintmax_t)number);
	}
	for (size_t i = 0; i < RNA_ARRAY_SIZE(widths); i++) {
		uint64_t number = 0;

		if (rna_pcie_parse_width(widths[i].text, &number) != widths[i].status ||
		    number != widths[i].number)
			fail_msg("width \"%s\": %ju", widths[i].text, (uintmax_t)number);
	}
}

static const char correctable[] = "RxErr 3\nBadTLP 1\nBadDLLP 0\nRollover 0\nTimeout 2\n"
				  "NonFatalErr 0\nCorrIntErr 0\nHeaderOF 0\nTOTAL_ERR_COR 6\n";

static void test_sums_of_errors_are_found(void **state)
{
	static const char *const bad[] = {
		"",
		"RxErr 3",
		"TOTAL_ERR_COR",
		"TOTAL_ERR_COR ",
		"TOTAL_ERR_COR x",
		"TOTAL_ERR_COR -1",
		"TOTAL_ERR_CORR 1",
		"XTOTAL_ERR_COR 1",
		"TOTAL_ERR_COR 1111111111111111111111111111111111111111",
	};
	uint64_t number = 0;

	(void)state;
	assert_int_equal(rna_pcie_parse_errors(correctable, "TOTAL_ERR_COR", &number), 0);
	assert_int_equal(number, 6);
	assert_int_equal(rna_pcie_parse_errors("TOTAL_ERR_COR 8\nmore 1", "TOTAL_ERR_COR", &number),
			 0);
	assert_int_equal(number, 8);
	for (size_t i = 0; i < RNA_ARRAY_SIZE(bad); i++)
		assert_true(rna_pcie_parse_errors(bad[i], "TOTAL_ERR_COR", &number) < 0);
}

/* -- Config space ------------------------------------------------------------------------------ */

enum { EXPRESS = 0x60, ACS = 0x148 };

/* A downstream port with ACS, as it lies in a file: power management first, then PCI Express. */
static void fill_config(uint8_t config[4096])
{
	memset(config, 0, 4096);
	config[0] = 0xb3;
	config[1] = 0x15;
	config[0x06] = 0x10;
	config[0x34] = 0x40;
	config[0x40] = 0x01;
	config[0x41] = EXPRESS;
	config[EXPRESS] = 0x10;
	config[EXPRESS + 2] = 0x62;      /* version 2, downstream port */
	config[EXPRESS + 9] = 0x20;      /* read requests of 512 bytes */
	config[0x100] = 0x01;            /* AER, */
	config[0x102] = 0x02;            /* of version 2, */
	config[0x103] = ACS >> 4 & 0xff; /* and ACS behind it */
	config[0x102] |= (ACS & 0xf) << 4;
	config[ACS] = 0x0d;
	config[ACS + 2] = 0x01;
	config[ACS + 6] = 0x1d; /* all but completion redirect and egress control */
}

struct fixture {
	struct tree tree;
	struct rna_part *part;
};

static int set_up(void **state)
{
	static struct fixture fixture;

	tree_init(&fixture.tree);
	fixture.part = NULL;
	*state = &fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	fixture->part = rna_part_unref(fixture->part);
	tree_deinit(&fixture->tree);
	return 0;
}

static struct rna_pci_config read_config(struct fixture *fixture, const void *bytes, size_t size)
{
	struct rna_pci_config config;

	tree_write_bytes(&fixture->tree, "f/config", bytes, size);
	assert_int_equal(rna_pci_config_read(fixture->tree.root, "f", &config), 0);
	return config;
}

static void test_config_space_tells_what_it_may(void **state)
{
	struct fixture *fixture = *state;
	uint8_t bytes[4096];
	struct rna_pci_config config;

	fill_config(bytes);
	config = read_config(fixture, bytes, sizeof(bytes));
	assert_int_equal(config.type, RNA_PCI_PORT_DOWNSTREAM);
	assert_int_equal(config.max_read_request.number, 512);
	assert_int_equal(config.acs_redirect.number, 1);
	assert_int_equal(config.relaxed_ordering.state, RNA_VALUE_OK);
	assert_int_equal(config.relaxed_ordering.number, 0);
	bytes[EXPRESS + 8] = 0x10;
	bytes[ACS + 6] = 0x11;
	config = read_config(fixture, bytes, sizeof(bytes));
	assert_int_equal(config.acs_redirect.state, RNA_VALUE_OK);
	assert_int_equal(config.acs_redirect.number, 0);
	assert_int_equal(config.relaxed_ordering.number, 1);
	bytes[ACS + 6] = 0x5d; /* with Direct Translated P2P */
	assert_int_equal(read_config(fixture, bytes, sizeof(bytes)).acs_redirect.number, 0);
	bytes[ACS + 6] = 0x1d;
	assert_int_equal(read_config(fixture, bytes, sizeof(bytes)).acs_redirect.number, 1);
	config = read_config(fixture, bytes, 256); /* no extended space */
	assert_int_equal(config.type, RNA_PCI_PORT_DOWNSTREAM);
	assert_int_equal(config.acs_redirect.state, RNA_VALUE_ABSENT);
	bytes[EXPRESS + 9] = 0x70; /* reserved */
	config = read_config(fixture, bytes, sizeof(bytes));
	assert_int_equal(config.max_read_request.state, RNA_VALUE_ABSENT);
}

/* An excerpt of one that can be read says the same as the whole, and has no serial number. */
static void test_an_excerpt_of_config_space_reads_like_it(void **state)
{
	static const uint8_t types[] = {0x02, 0x42, 0x52, 0x62}, acs[] = {0x00, 0x04, 0x1d};
	struct fixture *fixture = *state;
	uint8_t bytes[4096], excerpt[RNA_PCI_CONFIG_EXCERPT];
	ssize_t len;

	fill_config(bytes);
	for (size_t i = 0; i < sizeof(types) * sizeof(acs) * 6; i++) {
		struct rna_pci_config whole, part;

		bytes[EXPRESS + 2] = types[i % 4];
		bytes[ACS + 6] = acs[i / 4 % 3];
		bytes[EXPRESS + 8] = i % 5 ? 0 : 0x10;
		bytes[EXPRESS + 9] = (uint8_t)(i / 12 << 4);
		whole = read_config(fixture, bytes, sizeof(bytes));
		len = rna_pci_config_excerpt(fixture->tree.root, "f", excerpt);
		assert_true(len > 0);
		part = read_config(fixture, excerpt, (size_t)len);
		assert_int_equal(part.type, whole.type);
		assert_int_equal(part.max_read_request.number, whole.max_read_request.number);
		assert_int_equal(part.acs_redirect.number, whole.acs_redirect.number);
		assert_int_equal(part.relaxed_ordering.number, whole.relaxed_ordering.number);
	}
	tree_write_bytes(&fixture->tree, "f/config", bytes, 64);
	assert_int_equal(rna_pci_config_excerpt(fixture->tree.root, "f", excerpt), 64);
	tree_write_bytes(&fixture->tree, "f/config", bytes, 3);
	assert_int_equal(rna_pci_config_excerpt(fixture->tree.root, "f", excerpt), 0);
	tree_remove(&fixture->tree, "f/config");
	assert_int_equal(rna_pci_config_excerpt(fixture->tree.root, "f", excerpt), 0);

	memset(bytes, 0xff, sizeof(bytes)); /* it does not answer, and so does the recording */
	tree_write_bytes(&fixture->tree, "f/config", bytes, sizeof(bytes));
	assert_int_equal(rna_pci_config_excerpt(fixture->tree.root, "f", excerpt), 64);
	assert_int_equal(excerpt[0] & excerpt[63], 0xff);
}

static void test_config_space_that_is_closed_or_odd_tells_nothing(void **state)
{
	struct fixture *fixture = *state;
	struct rna_pci_config config;
	uint8_t bytes[4096];

	fill_config(bytes);
	for (size_t size = 0; size <= EXPRESS; size += 2) { /* 64: without the right to see more */
		config = read_config(fixture, bytes, size);
		assert_int_equal(config.type, RNA_PCI_PORT_UNKNOWN);
		assert_int_equal(config.relaxed_ordering.state, RNA_VALUE_ABSENT);
	}
	bytes[0x41] = 0x40; /* loops */
	assert_int_equal(read_config(fixture, bytes, sizeof(bytes)).type, RNA_PCI_PORT_UNKNOWN);
	fill_config(bytes);
	bytes[0x102] = 0x02;
	bytes[0x103] = 0x10; /* AER behind AER */
	config = read_config(fixture, bytes, sizeof(bytes));
	assert_int_equal(config.type, RNA_PCI_PORT_DOWNSTREAM);
	assert_int_equal(config.acs_redirect.state, RNA_VALUE_ABSENT);
	memset(bytes, 0xff, sizeof(bytes));
	tree_write_bytes(&fixture->tree, "f/config", bytes, sizeof(bytes));
	assert_int_equal(rna_pci_config_read(fixture->tree.root, "f", &config), -EIO);
	assert_true(config.silent);
	tree_remove(&fixture->tree, "f/config");
	assert_int_equal(rna_pci_config_read(fixture->tree.root, "f", &config), 0);
	assert_false(config.silent);
	tree_mkdir(&fixture->tree, "f/config");
	assert_int_equal(rna_pci_config_read(fixture->tree.root, "f", &config), 0);
}

/* -- Paths ------------------------------------------------------------------------------------- */

#define ROOT     "sys/devices/pci0000:3a/0000:3a:01.0"
#define SWITCH   ROOT "/0000:3b:00.0"
#define PORT     SWITCH "/0000:3c:04.0"
#define FUNCTION PORT "/0000:3d:00.0"
#define VIRTUAL  PORT "/0000:3d:00.2"

static void write_at(struct fixture *fixture, const char *directory, const char *file,
		     const char *text)
{
	char path[256];

	(void)snprintf(path, sizeof(path), "%s/%s", directory, file);
	tree_write(&fixture->tree, path, text);
}

static void make_hop(struct fixture *fixture, const char *directory, const char *class,
		     const char *speed, const char *width)
{
	write_at(fixture, directory, "class", class);
	write_at(fixture, directory, "current_link_speed", speed);
	write_at(fixture, directory, "current_link_width", width);
	write_at(fixture, directory, "max_link_speed", "16.0 GT/s PCIe\n");
	write_at(fixture, directory, "max_link_width", "16\n");
	write_at(fixture, directory, "aer_dev_correctable", correctable);
	write_at(fixture, directory, "aer_dev_nonfatal", "TOTAL_ERR_NONFATAL 0\n");
}

static void make_path(struct fixture *fixture)
{
	make_hop(fixture, ROOT, "0x060400\n", "8.0 GT/s PCIe\n", "16\n");
	make_hop(fixture, SWITCH, "0x060400\n", "8.0 GT/s PCIe\n", "16\n");
	make_hop(fixture, PORT, "0x060400\n", "16.0 GT/s PCIe\n", "16\n");
	make_hop(fixture, FUNCTION, "0x020700\n", "16.0 GT/s PCIe\n", "16\n");
	write_at(fixture, FUNCTION, "sriov_totalvfs", "8\n");
	write_at(fixture, FUNCTION, "sriov_numvfs", "2\n");
	make_hop(fixture, VIRTUAL, "0x020700\n", "Unknown\n", "0\n");
	tree_link(
		&fixture->tree, "sys/bus/pci/devices/0000:3d:00.0",
		"../../../devices/pci0000:3a/0000:3a:01.0/0000:3b:00.0/0000:3c:04.0/0000:3d:00.0");
}

static const struct rna_device physical = {
	.name = "mlx5_0",
	.sysfs_path = FUNCTION "/infiniband/mlx5_0",
	.pci_address = "0000:3d:00.0",
};
static const struct rna_device virtual = {
	.name = "mlx5_1",
	.sysfs_path = VIRTUAL "/infiniband/mlx5_1",
	.pci_address = "0000:3d:00.2",
	.physical_function = "0000:3d:00.0",
	.function = RNA_FUNCTION_VF,
};

static const struct rna_pcie *collect(struct fixture *fixture, const struct rna_device *device)
{
	const struct rna_collect_input in = {.root = fixture->tree.root, .device = device};

	fixture->part = rna_part_unref(fixture->part);
	assert_int_equal(rna_collect_pcie(&in, &fixture->part, NULL), 0);
	return (const void *)fixture->part;
}

static void test_the_iommu_of_a_function(void **state)
{
	static const struct {
		const char *type;
		enum rna_iommu_mode mode;
	} cases[] = {
		{"identity\n", RNA_IOMMU_IDENTITY}, {"DMA\n", RNA_IOMMU_STRICT},
		{"DMA-FQ\n", RNA_IOMMU_LAZY},       {"unmanaged\n", RNA_IOMMU_OTHER},
		{"off\n", RNA_IOMMU_OTHER}, /* the kernel has no such word */
	};
	struct fixture *fixture = *state;
	struct rna_value found;

	make_path(fixture);
	assert_int_equal(collect(fixture, &physical)->iommu.state, RNA_VALUE_ABSENT);
	tree_mkdir(&fixture->tree, "sys/class/iommu");
	found = collect(fixture, &physical)->iommu;
	assert_int_equal(found.state, RNA_VALUE_OK);
	assert_int_equal(found.number, RNA_IOMMU_OFF);
	tree_mkdir(&fixture->tree, "sys/kernel/iommu_groups/7");
	tree_link(&fixture->tree, FUNCTION "/iommu_group",
		  "../../../../../../kernel/iommu_groups/7");
	assert_int_equal(collect(fixture, &physical)->iommu.state, RNA_VALUE_ABSENT); /* 5.10 */
	for (size_t i = 0; i < RNA_ARRAY_SIZE(cases); i++) {
		tree_write(&fixture->tree, "sys/kernel/iommu_groups/7/type", cases[i].type);
		found = collect(fixture, &physical)->iommu;
		assert_int_equal(found.state, RNA_VALUE_OK);
		assert_int_equal(found.number, cases[i].mode);
		assert_int_equal(rna_iommu_translates(found),
				 cases[i].mode == RNA_IOMMU_STRICT ||
					 cases[i].mode == RNA_IOMMU_LAZY);
	}
}

static void test_a_path_goes_up_to_the_root_port(void **state)
{
	static const struct {
		const char *address;
		enum rna_pci_role role;
	} expected[] = {
		{"0000:3d:00.0", RNA_PCI_NIC},
		{"0000:3c:04.0", RNA_PCI_DOWNSTREAM},
		{"0000:3b:00.0", RNA_PCI_UPSTREAM},
		{"0000:3a:01.0", RNA_PCI_ROOT_PORT},
	};
	struct fixture *fixture = *state;
	const struct rna_pcie *pcie;

	make_path(fixture);
	pcie = collect(fixture, &physical);
	assert_int_equal(pcie->hop_count, RNA_ARRAY_SIZE(expected));
	for (size_t i = 0; i < pcie->hop_count; i++) {
		assert_string_equal(pcie->hops[i].address, expected[i].address);
		assert_int_equal(pcie->hops[i].role, expected[i].role);
		assert_int_equal(pcie->hops[i].aer[RNA_AER_CORRECTABLE].number, 6);
		assert_int_equal(pcie->hops[i].aer[RNA_AER_FATAL].state, RNA_VALUE_ABSENT);
	}
	assert_int_equal(rna_pcie_bottleneck(pcie), 2);
	assert_int_equal(pcie->virtual_functions.number, 2);
	assert_int_equal(pcie->max_virtual_functions.number, 8);
	assert_int_equal(rna_part_error_count(&pcie->part), 0);
}

static void test_config_space_knows_ports_better_than_their_place(void **state)
{
	struct fixture *fixture = *state;
	uint8_t bytes[4096];

	make_path(fixture);
	fill_config(bytes);
	bytes[EXPRESS + 2] = 0x72; /* PCI Express to PCI */
	tree_write_bytes(&fixture->tree, ROOT "/config", bytes, sizeof(bytes));
	assert_int_equal(collect(fixture, &physical)->hops[3].role, RNA_PCI_BRIDGE);
	assert_int_equal(rna_pcie_bottleneck((const void *)fixture->part), -1);
}

static void test_a_virtual_function_has_the_link_of_its_physical_one(void **state)
{
	struct fixture *fixture = *state;
	const struct rna_pcie *pcie;

	make_path(fixture);
	pcie = collect(fixture, &virtual);
	assert_int_equal(pcie->hop_count, 4);
	assert_string_equal(pcie->hops[0].address, "0000:3d:00.0");
	tree_remove(&fixture->tree, "sys/bus/pci/devices/0000:3d:00.0"); /* a VM without the PF */
	pcie = collect(fixture, &virtual);
	assert_string_equal(pcie->hops[0].address, "0000:3d:00.2");
	assert_int_equal(pcie->hops[0].link.speed.state, RNA_VALUE_ABSENT);
	assert_int_equal(pcie->hops[0].link.width.state, RNA_VALUE_ABSENT);
}

static void test_a_device_without_pci_has_no_path(void **state)
{
	static const struct rna_device rxe = {.name = "rxe0",
					      .sysfs_path = "sys/devices/virtual/infiniband/rxe0"};

	assert_int_equal(collect(*state, &rxe)->hop_count, 0);
}

/* Intel VMD: a host bridge below a function, which is on another path. */
static void test_a_path_ends_at_its_host_bridge(void **state)
{
	static const struct rna_device device = {
		.name = "mlx5_0",
		.sysfs_path = "sys/devices/pci0000:5d/0000:5d:05.5/pci10000:00/10000:00:02.0/"
			      "10000:01:00.0/infiniband/mlx5_0",
		.pci_address = "10000:01:00.0",
	};
	const struct rna_pcie *pcie = collect(*state, &device);

	assert_int_equal(pcie->hop_count, 2);
	assert_string_equal(pcie->hops[1].address, "10000:00:02.0");
	assert_int_equal(pcie->hops[1].role, RNA_PCI_BRIDGE); /* it has no files */
}

static void test_one_file_costs_one_value(void **state)
{
	struct fixture *fixture = *state;
	const struct rna_pcie *pcie;

	make_path(fixture);
	write_at(fixture, FUNCTION, "current_link_speed", "fast\n");
	tree_remove(&fixture->tree, FUNCTION "/aer_dev_correctable");
	tree_mkdir(&fixture->tree, FUNCTION "/aer_dev_correctable"); /* cannot be read */
	write_at(fixture, FUNCTION, "aer_dev_nonfatal", "nothing of the kind\n");
	pcie = collect(fixture, &physical);
	assert_int_equal(pcie->hops[0].link.speed.state, RNA_VALUE_UNREADABLE);
	assert_int_equal(pcie->hops[0].link.width.number, 16);
	assert_int_equal(pcie->hops[0].aer[RNA_AER_CORRECTABLE].state, RNA_VALUE_UNREADABLE);
	assert_int_equal(pcie->hops[0].aer[RNA_AER_NONFATAL].state, RNA_VALUE_UNREADABLE);
	assert_int_equal(pcie->part.errors[RNA_REASON_FORMAT], 2);
	assert_int_equal(rna_part_error_count(&pcie->part), 3);
	assert_int_equal(pcie->hops[1].link.speed.number, 16000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rates_follow_from_coding_and_packets),
		cmocka_unit_test(test_the_bottleneck_is_the_slowest_link),
		cmocka_unit_test(test_a_link_can_do_what_both_ends_can),
		cmocka_unit_test(test_errors_are_summed_only_where_all_are_known),
		cmocka_unit_test(test_speeds_and_widths_are_parsed),
		cmocka_unit_test(test_sums_of_errors_are_found),
		cmocka_unit_test_setup_teardown(test_config_space_tells_what_it_may, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_an_excerpt_of_config_space_reads_like_it,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			test_config_space_that_is_closed_or_odd_tells_nothing, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_the_iommu_of_a_function, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_a_path_goes_up_to_the_root_port, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(
			test_config_space_knows_ports_better_than_their_place, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			test_a_virtual_function_has_the_link_of_its_physical_one, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(test_a_device_without_pci_has_no_path, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_a_path_ends_at_its_host_bridge, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_one_file_costs_one_value, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
