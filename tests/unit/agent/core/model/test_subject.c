// SPDX-License-Identifier: Apache-2.0
/* agent/core/model/subject.c: each device and port of a view, joined with what is known of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "health_view.h"

enum { PORTS = 4 };

struct scene {
	struct node node;
	struct rna_view *view;
};

static const struct rna_subject *device_at(const struct scene *scene, size_t i)
{
	return &rna_view_devices(scene->view)->items[i];
}

static const struct rna_subject *port_at(const struct scene *scene, size_t i)
{
	return &rna_view_ports(scene->view)->items[i];
}

static int set_up(void **state)
{
	static struct scene scene;

	scene = (struct scene){0};
	node_init(&scene.node, RNA_LINK_LAYER_ETHERNET, PORTS);
	*state = &scene;
	return 0;
}

static void look(struct scene *scene)
{
	scene->view = node_view(&scene->node);
}

static int tear_down(void **state)
{
	struct scene *scene = *state;

	scene->view = rna_view_unref(scene->view);
	return 0;
}

static void test_devices_and_their_ports(void **state)
{
	struct scene *scene = *state;

	look(scene);
	assert_int_equal(rna_view_devices(scene->view)->count, PORTS);
	assert_int_equal(rna_view_ports(scene->view)->count, PORTS);
	for (size_t i = 0; i < PORTS; i++) {
		const struct rna_subject *device = device_at(scene, i), *port = port_at(scene, i);

		assert_ptr_equal(device->device, &scene->view->snapshot->devices[i]);
		assert_int_equal(device->port, 0);
		assert_ptr_equal(device->ports, port);
		assert_ptr_equal(port->ports, port);
		assert_ptr_equal(port->device, device->device);
		assert_int_equal(port->port, 1);
		assert_ptr_equal(port->account, &scene->view->ports[i]);
		assert_string_equal(port->netdev->name, scene->node.ports[i].netdev.name);
		assert_string_equal(port->selftest->device, device->rdma_device->name);
		assert_null(device->netdev);
		assert_null(device->account);
	}
}

/* Those of one device stand together in the view. */
static void test_jobs(void **state)
{
	struct scene *scene = *state;

	scene->node.ports[1].stalled = RNA_USEC_PER_SEC;
	look(scene);
	for (size_t i = 0; i < PORTS; i++) {
		assert_int_equal(device_at(scene, i)->job_count, 2);
		assert_ptr_equal(device_at(scene, i)->jobs, &scene->view->jobs[2 * i]);
		assert_ptr_equal(port_at(scene, i)->jobs, &scene->view->jobs[2 * i]);
		assert_int_equal(port_at(scene, i)->unseen, i == 1);
	}
}

static void test_siblings(void **state)
{
	struct scene *scene = *state;

	scene->node.ports[2].layer = RNA_LINK_LAYER_INFINIBAND;
	scene->node.ports[3].function = RNA_FUNCTION_VF;
	look(scene);
	assert_int_equal(port_at(scene, 0)->model, 1);
	assert_int_equal(port_at(scene, 1)->model, 1);
	assert_int_equal(port_at(scene, 2)->model, 2); /* of another link layer */
	assert_int_equal(port_at(scene, 0)->place, 1);
	assert_int_equal(port_at(scene, 2)->place, 1); /* and yet in the same place */
	assert_int_equal(port_at(scene, 3)->model, 0);
	assert_int_equal(port_at(scene, 3)->place, 0);
	assert_int_equal(device_at(scene, 0)->model, 0);
}

static void test_which_are_judged(void **state)
{
	struct scene *scene = *state;

	scene->node.ports[1].function = RNA_FUNCTION_VF;
	scene->node.ports[2].netdev.representor = true;
	look(scene);
	assert_true(port_at(scene, 0)->judged);
	assert_false(port_at(scene, 1)->judged);
	assert_false(port_at(scene, 2)->judged);
	assert_true(device_at(scene, 2)->judged);
	joined_for(scene->view, true);
	assert_true(port_at(scene, 1)->judged);
}

static void test_the_index_of_nccl(void **state)
{
	struct scene *scene = *state;

	scene->node.ports[1].state = rna_value_ok(RNA_PORT_ACTIVE_DEFER); /* NCCL waits */
	scene->node.ports[2].iwarp = true;
	scene->node.ports[3].gids.count = 2; /* link-local alone */
	look(scene);
	assert_int_equal(port_at(scene, 0)->nccl_index.number, 3);
	assert_int_equal(port_at(scene, 0)->nccl_routable.number, 3);
	assert_false(rna_value_is_known(port_at(scene, 1)->nccl_index));
	assert_int_equal(port_at(scene, 1)->nccl_routable.number, 3);
	assert_false(rna_value_is_known(port_at(scene, 2)->nccl_index));
	assert_false(rna_value_is_known(port_at(scene, 2)->nccl_routable));
	assert_true(rna_value_is_known(port_at(scene, 3)->nccl_index));
	assert_false(rna_value_is_known(port_at(scene, 3)->nccl_routable));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_devices_and_their_ports),
		TEST(test_jobs),
		TEST(test_siblings),
		TEST(test_which_are_judged),
		TEST(test_the_index_of_nccl),
	};

	return cmocka_run_group_tests_name("subject", tests, NULL, NULL);
}
