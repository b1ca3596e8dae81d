// SPDX-License-Identifier: Apache-2.0
/* agent/rules/rules_nccl.c: what /etc/nccl.conf demands, and what the node has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "health_fixture.h"

static int set_up(void **state)
{
	struct fixture *f = fixture_new(ROCE, 3);

	f->health.once = true;
	f->node.readiness.nccl_file.exists = true;
	*state = f;
	return 0;
}

static void set(struct fixture *f, enum rna_nccl_file_variable variable, const char *value)
{
	f->node.readiness.nccl_file.values[variable] = value;
}

/* The finding, or none if text is NULL. */
static void want(struct fixture *f, enum rna_severity severity, const char *text)
{
	struct rna_view *view = look_after(f, SECOND);
	const struct rna_finding *found = NULL;

	for (size_t i = 0; i < view->finding_count; i++)
		if (strcmp(view->findings[i].rule, "nccl-conf") == 0)
			found = &view->findings[i];
	if (!text && found)
		fail_msg("%s", found->text);
	if (text) {
		assert_non_null(found);
		assert_string_equal(found->text, text);
		assert_int_equal(found->severity, severity);
		assert_null(found->device);
	}
	(void)rna_view_unref(view);
}

static void test_what_agrees(void **state)
{
	struct fixture *f = *state;

	want(f, 0, NULL);
	set(f, RNA_NCCL_FILE_IB_HCA, "=mlx5_0,mlx5_1:1,mlx5_2");
	set(f, RNA_NCCL_FILE_IB_GID_INDEX, "3");
	set(f, RNA_NCCL_FILE_IB_DISABLE, "0");
	set(f, RNA_NCCL_FILE_SOCKET_IFNAME, "eth");
	f->node.readiness.nccl_file.interfaces = rna_value_ok(3);
	want(f, 0, NULL);
	set(f, RNA_NCCL_FILE_IB_HCA, "^mlx4,mlx5_7"); /* others may have those */
	set(f, RNA_NCCL_FILE_IB_GID_INDEX, "-1");
	want(f, 0, NULL);
	f->node.readiness.nccl_file = (struct rna_nccl_file){0}; /* there is no such file */
	want(f, 0, NULL);
}

static void test_devices(void **state)
{
	struct fixture *f = *state;

	set(f, RNA_NCCL_FILE_IB_HCA, "=mlx5_0,mlx5_7:1,mlx5");
	want(f, RNA_SEVERITY_WARNING,
	     "/etc/nccl.conf: NCCL_IB_HCA: no RDMA port is mlx5_7:1; NCCL_IB_HCA: no RDMA port is "
	     "mlx5");
	set(f, RNA_NCCL_FILE_IB_HCA, "mlx5_0:2");
	want(f, RNA_SEVERITY_WARNING, "/etc/nccl.conf: NCCL_IB_HCA: no RDMA port is mlx5_0:2");
	f->node.missing_count = 1; /* a container may use it */
	f->node.missing = (struct rna_missing_device){.key = "mlx5_7", .name = "mlx5_7"};
	want(f, 0, NULL);
	f->node.missing_count = 0;
	set(f, RNA_NCCL_FILE_IB_HCA, "mlx5_1,mlx5_2");
	f->node.ports[1].state = rna_value_ok(RNA_PORT_DOWN);
	want(f, RNA_SEVERITY_INFO,
	     "/etc/nccl.conf: NCCL_IB_HCA: mlx5_1 selects mlx5_1/1, which is down");
	f->node.ports[1].state = rna_value_unreadable();
	want(f, 0, NULL);
	f->node.ports[1].state = rna_value_ok(RNA_PORT_DOWN);
	set(f, RNA_NCCL_FILE_IB_HCA, "mlx5"); /* it uses the others */
	want(f, 0, NULL);
}

static void test_gid_index(void **state)
{
	struct fixture *f = *state;

	set(f, RNA_NCCL_FILE_IB_GID_INDEX, "2");
	want(f, RNA_SEVERITY_WARNING,
	     "/etc/nccl.conf: NCCL_IB_GID_INDEX=2: mlx5_0/1 has one of RoCE v1 there, and 2 other "
	     "ports have no RoCE v2 there either");
	set(f, RNA_NCCL_FILE_IB_HCA, "mlx5_2");
	set(f, RNA_NCCL_FILE_IB_GID_INDEX, "7");
	want(f, RNA_SEVERITY_WARNING,
	     "/etc/nccl.conf: NCCL_IB_GID_INDEX=7: mlx5_2/1 has no GID there");
	f->node.ports[2].layer = IB; /* where the index has another meaning */
	want(f, 0, NULL);
	f->node.ports[2].layer = ROCE;
	f->node.ports[2].iwarp = true;
	want(f, 0, NULL);
	f->node.ports[2].iwarp = false;
	f->node.ports[2].has_gids = false;
	want(f, 0, NULL);
}

static void test_disabled(void **state)
{
	struct fixture *f = *state;

	set(f, RNA_NCCL_FILE_IB_DISABLE, "1");
	set(f, RNA_NCCL_FILE_IB_HCA, "mlx4"); /* has no effect */
	want(f, 0, NULL);
	set(f, RNA_NCCL_FILE_IB_HCA, NULL);
	want(f, RNA_SEVERITY_INFO,
	     "/etc/nccl.conf: NCCL_IB_DISABLE=1: NCCL uses TCP, although 3 RDMA ports are up");
}

static void test_interfaces(void **state)
{
	struct fixture *f = *state;

	set(f, RNA_NCCL_FILE_SOCKET_IFNAME, "=bond0");
	f->node.readiness.nccl_file.interfaces = rna_value_ok(0);
	want(f, RNA_SEVERITY_WARNING,
	     "/etc/nccl.conf: NCCL_SOCKET_IFNAME==bond0 selects no interface, so NCCL does not "
	     "start");
	for (size_t i = 0; i < 3; i++) /* the agent is in a network namespace of its own */
		f->node.ports[i].netdev.name = NULL;
	want(f, 0, NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_what_agrees), TEST(test_devices),    TEST(test_gid_index),
		TEST(test_disabled),    TEST(test_interfaces),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
