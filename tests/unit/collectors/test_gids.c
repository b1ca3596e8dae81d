// SPDX-License-Identifier: Apache-2.0
/* collectors/gids: tables from sysfs and from verbs, and what odd ones cost. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "backend/backends.h"

#include "collectors.h"
#include "tree.h"

#define PORT   "sys/devices/mlx5_0/ports/1"
#define LOCAL  "fe80:0000:0000:0000:ba3f:d2ff:fe03:1f2a"
#define MAPPED "0000:0000:0000:0000:0000:ffff:0a00:0101"
#define ZERO   "0000:0000:0000:0000:0000:0000:0000:0000"

static struct rna_verbs_gid verbs_items[4];
static struct rna_verbs_gids verbs_gids;
static int verbs_status;

static int query_gids(const struct rna_root *root, const struct rna_device *device,
		      struct rna_arena *arena, struct rna_verbs_gids *ret)
{
	(void)root, (void)device, (void)arena;
	*ret = verbs_gids;
	return verbs_status;
}

struct fixture {
	struct tree tree;
	struct rna_verbs_backend verbs;
	struct rna_backends backends;
	struct rna_device device;
	const struct rna_part *previous;
};

static int setup(void **state)
{
	static const unsigned ports[] = {1};
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	assert_non_null(fixture);
	tree_init(&fixture->tree);
	fixture->verbs.query_gids = query_gids;
	fixture->backends.verbs = &fixture->verbs;
	fixture->device = (struct rna_device){
		.name = "mlx5_0",
		.sysfs_path = "sys/devices/mlx5_0",
		.port_count = 1,
		.ports = ports,
	};
	verbs_gids = (struct rna_verbs_gids){.items = verbs_items};
	verbs_status = -ENOENT;
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	tree_deinit(&fixture->tree);
	free(fixture);
	return 0;
}

static void write_entry(const struct fixture *fixture, const char *index, const char *gid,
			const char *type, const char *netdev)
{
	char path[128];

	(void)snprintf(path, sizeof(path), PORT "/gids/%s", index);
	tree_write(&fixture->tree, path, gid);
	(void)snprintf(path, sizeof(path), PORT "/gid_attrs/types/%s", index);
	if (type)
		tree_write(&fixture->tree, path, type);
	(void)snprintf(path, sizeof(path), PORT "/gid_attrs/ndevs/%s", index);
	if (netdev)
		tree_write(&fixture->tree, path, netdev);
}

static int collect(const struct fixture *fixture, struct rna_part **ret)
{
	const struct rna_collect_input in = {
		.root = fixture->tree.root,
		.backends = &fixture->backends,
		.device = &fixture->device,
		.previous = fixture->previous,
	};
	struct rna_error error;

	return rna_collect_gids(&in, ret, &error);
}

static const struct rna_port_gids *only_port(const struct rna_part *part)
{
	const struct rna_gids *gids = (const void *)part;

	assert_int_equal(gids->port_count, 1);
	assert_int_equal(gids->ports[0].number, 1);
	return &gids->ports[0];
}

static void check_entry(const struct rna_gid_entry *entry, unsigned index, const char *gid,
			enum rna_gid_type type, const char *netdev)
{
	char text[RNA_GID_TEXT_MAX];

	rna_gid_format(&entry->gid, text);
	assert_int_equal(entry->index, index);
	assert_string_equal(text, gid);
	assert_int_equal(entry->type, type);
	if (netdev)
		assert_string_equal(entry->netdev, netdev);
	else
		assert_null(entry->netdev);
}

static void entries_in_use_are_found(void **state)
{
	struct fixture *fixture = *state;
	RNA_CLEANUP(rna_part_unref_p) struct rna_part *part = NULL;
	const struct rna_port_gids *port;

	tree_write(&fixture->tree, PORT "/link_layer", "Ethernet\n");
	write_entry(fixture, "0", LOCAL "\n", "IB/RoCE v1\n", "eth0\n");
	write_entry(fixture, "1", ZERO "\n", NULL, NULL);
	write_entry(fixture, "2", LOCAL "\n", "RoCE v2\n", "eth0.100\n");
	write_entry(fixture, "10", MAPPED "\n", "RoCE v3\n", NULL); /* newer than we are */
	assert_int_equal(collect(fixture, &part), 0);
	port = only_port(part);
	assert_int_equal(port->count, 3);
	check_entry(&port->entries[0], 0, LOCAL, RNA_GID_TYPE_ROCE_V1, "eth0");
	check_entry(&port->entries[1], 2, LOCAL, RNA_GID_TYPE_ROCE_V2, "eth0.100");
	check_entry(&port->entries[2], 10, MAPPED, RNA_GID_TYPE_UNKNOWN, NULL);
	assert_int_equal(rna_part_error_count(part), 0);
}

static void the_first_type_depends_on_the_link_layer(void **state)
{
	struct fixture *fixture = *state;
	RNA_CLEANUP(rna_part_unref_p) struct rna_part *part = NULL;

	tree_write(&fixture->tree, PORT "/link_layer", "InfiniBand\n");
	write_entry(fixture, "0", LOCAL, "IB/RoCE v1", NULL);
	assert_int_equal(collect(fixture, &part), 0);
	check_entry(&only_port(part)->entries[0], 0, LOCAL, RNA_GID_TYPE_IB, NULL);
}

static void one_odd_entry_costs_only_itself(void **state)
{
	struct fixture *fixture = *state;
	RNA_CLEANUP(rna_part_unref_p) struct rna_part *part = NULL;

	write_entry(fixture, "0", LOCAL, "IB/RoCE v1", NULL);
	write_entry(fixture, "1", "rubbish", NULL, NULL);
	write_entry(fixture, "2", "", NULL, NULL);
	write_entry(fixture, "x", LOCAL, NULL, NULL); /* no index, no entry */
	tree_mkdir(&fixture->tree, PORT "/gids/3");   /* EISDIR */
	write_entry(fixture, "4", MAPPED, "RoCE v2", NULL);
	assert_int_equal(collect(fixture, &part), 0);
	assert_int_equal(only_port(part)->count, 2);
	assert_int_equal(part->errors[RNA_REASON_FORMAT], 2);
	assert_int_equal(part->errors[RNA_REASON_OTHER], 1);
}

/* Absent is not empty. */
static void a_port_may_have_no_table(void **state)
{
	struct fixture *fixture = *state;
	RNA_CLEANUP(rna_part_unref_p) struct rna_part *part = NULL;
	RNA_CLEANUP(rna_part_unref_p) struct rna_part *empty = NULL;

	tree_write(&fixture->tree, PORT "/state", "4: ACTIVE");
	assert_int_equal(collect(fixture, &part), 0);
	assert_int_equal(((const struct rna_gids *)(const void *)part)->port_count, 0);
	assert_int_equal(rna_part_error_count(part), 0);
	tree_mkdir(&fixture->tree, PORT "/gids");
	assert_int_equal(collect(fixture, &empty), 0);
	assert_int_equal(only_port(empty)->count, 0);
}

static struct rna_verbs_gid verbs_gid(unsigned port, unsigned index, const char *text)
{
	struct rna_verbs_gid ret = {
		.port = port,
		.index = index,
		.type = RNA_GID_TYPE_ROCE_V2,
		.has_netdev = true,
	};

	assert_int_equal(rna_gid_parse(text, &ret.gid), 0);
	return ret;
}

static void verbs_are_asked_first(void **state)
{
	struct fixture *fixture = *state;
	RNA_CLEANUP(rna_part_unref_p) struct rna_part *part = NULL;

	verbs_status = 0;
	verbs_items[verbs_gids.count++] = verbs_gid(1, 3, MAPPED);
	verbs_items[verbs_gids.count++] = verbs_gid(1, 7, LOCAL); /* the interface is just gone */
	verbs_items[verbs_gids.count++] = verbs_gid(2, 0, LOCAL); /* a port that we do not know */
	write_entry(fixture, "0", LOCAL, "IB/RoCE v1", "eth0");   /* not asked for */
	write_entry(fixture, "3", LOCAL, "IB/RoCE v1", "eth1");
	assert_int_equal(collect(fixture, &part), 0);
	assert_true(((const struct rna_gids *)(const void *)part)->verbs);
	assert_int_equal(only_port(part)->count, 2);
	check_entry(&only_port(part)->entries[0], 3, MAPPED, RNA_GID_TYPE_ROCE_V2, "eth1");
	check_entry(&only_port(part)->entries[1], 7, LOCAL, RNA_GID_TYPE_ROCE_V2, NULL);
}

static void sysfs_stands_in_for_verbs(void **state)
{
	struct fixture *fixture = *state;
	RNA_CLEANUP(rna_part_unref_p) struct rna_part *part = NULL;

	verbs_status = -EIO;
	write_entry(fixture, "0", LOCAL, "RoCE v2", "eth0");
	assert_int_equal(collect(fixture, &part), 0);
	assert_int_equal(only_port(part)->count, 1);
	assert_int_equal(part->errors[RNA_REASON_IO], 1);
}

static void changes_are_counted_from_run_to_run(void **state)
{
	struct fixture *fixture = *state;
	RNA_CLEANUP(rna_part_unref_p) struct rna_part *first = NULL;
	RNA_CLEANUP(rna_part_unref_p) struct rna_part *second = NULL;
	RNA_CLEANUP(rna_part_unref_p) struct rna_part *third = NULL;

	tree_write(&fixture->tree, "sys/class/net/eth0/ifindex", "2\n");
	write_entry(fixture, "2", LOCAL, "RoCE v2", "eth0");
	assert_int_equal(collect(fixture, &first), 0);
	assert_int_equal(only_port(first)->changes, 0);

	write_entry(fixture, "2", ZERO, NULL, NULL);
	fixture->previous = first;
	assert_int_equal(collect(fixture, &second), 0);
	assert_int_equal(only_port(second)->changes, 0);
	first = rna_part_unref(first); /* the next run must not need it any more */

	write_entry(fixture, "4", LOCAL, "RoCE v2", "eth0");
	fixture->previous = second;
	assert_int_equal(collect(fixture, &third), 0);
	assert_int_equal(only_port(third)->changes, 1);
}

/* A device that pods share has the addresses of all of them, with the names that these know. */
static void interfaces_of_pods_are_elsewhere(void **state)
{
	static const bool elsewhere[] = {false, false, true, true};
	struct fixture *fixture = *state;
	RNA_CLEANUP(rna_part_unref_p) struct rna_part *part = NULL;

	fixture->device.pci_address = "0000:3b:00.0";
	tree_mkdir(&fixture->tree, "sys/devices/pci0000:3a/0000:3b:00.0/net/eth0");
	tree_mkdir(&fixture->tree, "sys/devices/pci0000:00/0000:01:00.0/net/eth1");
	tree_link(&fixture->tree, "sys/class/net/eth0",
		  "../../devices/pci0000:3a/0000:3b:00.0/net/eth0");
	tree_link(&fixture->tree, "sys/class/net/eth1",
		  "../../devices/pci0000:00/0000:01:00.0/net/eth1");
	tree_mkdir(&fixture->tree, "sys/class/net/bond0");
	write_entry(fixture, "0", LOCAL, "RoCE v2", "eth0");
	write_entry(fixture, "1", MAPPED, "RoCE v2", "bond0");
	write_entry(fixture, "2", MAPPED, "RoCE v2", "net1");
	write_entry(fixture, "3", MAPPED, "RoCE v2", "eth1"); /* so is the host's management */
	assert_int_equal(collect(fixture, &part), 0);
	assert_int_equal(only_port(part)->count, 4);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(only_port(part)->entries[i].elsewhere, elsewhere[i]);
	assert_int_equal(rna_port_gids_count_here(only_port(part)), 2);
}

/* NCCL is given an index of this table: all of it was looked at, or it is not the table. */
static void want_of_descriptors_takes_no_entry_away(void **state)
{
	struct fixture *fixture = *state;
	int refused = 0;

	tree_write(&fixture->tree, PORT "/link_layer", "Ethernet\n");
	write_entry(fixture, "2", LOCAL, "RoCE v2", "eth0");
	write_entry(fixture, "3", MAPPED, "IB/RoCE v1", "eth0");
	for (int more = 0; more < 8; more++) {
		RNA_CLEANUP(rna_part_unref_p) struct rna_part *part = NULL;
		int status;

		tree_allow_descriptors(more);
		status = collect(fixture, &part);
		tree_allow_descriptors(-1);
		refused += status < 0;
		if (status < 0) {
			assert_int_equal(status, -EMFILE);
			continue;
		}
		assert_int_equal(only_port(part)->count, 2);
		check_entry(&only_port(part)->entries[0], 2, LOCAL, RNA_GID_TYPE_ROCE_V2, "eth0");
		check_entry(&only_port(part)->entries[1], 3, MAPPED, RNA_GID_TYPE_ROCE_V1, "eth0");
	}
	assert_in_range(refused, 1, 7);
}

int main(void)
{
#define GIDS_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		GIDS_TEST(entries_in_use_are_found),
		GIDS_TEST(the_first_type_depends_on_the_link_layer),
		GIDS_TEST(one_odd_entry_costs_only_itself),
		GIDS_TEST(a_port_may_have_no_table),
		GIDS_TEST(verbs_are_asked_first),
		GIDS_TEST(sysfs_stands_in_for_verbs),
		GIDS_TEST(changes_are_counted_from_run_to_run),
		GIDS_TEST(interfaces_of_pods_are_elsewhere),
		GIDS_TEST(want_of_descriptors_takes_no_entry_away),
	};

	return cmocka_run_group_tests_name("gids", tests, NULL, NULL);
}
