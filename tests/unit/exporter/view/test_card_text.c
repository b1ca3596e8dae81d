// SPDX-License-Identifier: Apache-2.0
/* exporter/view/card_text: cards in words, and ports that share a line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "view/card_text.h"

#include "exporter_view.h"

struct scene {
	struct rna_view *view;
	struct rna_cards cards;
};

static struct rna_device *device_at(struct scene *scene, size_t i)
{
	return (struct rna_device *)(uintptr_t)scene->view->snapshot->devices[i].device;
}

static struct rna_identity *identity_at(struct scene *scene, size_t i)
{
	return own_part(scene->view->snapshot->devices[i].parts[RNA_COLLECTOR_IDENTITY]);
}

/* mlx5_0 (up) and mlx5_1 (down) are functions of one card; mlx5_3 and mlx5_4 are cards. */
static int set_up(void **state)
{
	struct scene *scene = calloc(1, sizeof(*scene));

	assert_non_null(scene);
	scene->view = new_view(6);
	device_at(scene, 1)->pci_address = "0000:00:00.1";
	*state = scene;
	return 0;
}

static int tear_down(void **state)
{
	struct scene *scene = *state;

	(void)rna_view_unref(scene->view);
	free(scene);
	return 0;
}

static const struct rna_card *look(struct scene *scene)
{
	assert_int_equal(rna_cards_make(scene->view->snapshot, scene->view->arena, &scene->cards),
			 0);
	scene->view->cards = &scene->cards;
	(void)joined(scene->view);
	return &scene->cards.items[0];
}

static void assert_says(struct scene *scene, rna_card_say *say, const char *text)
{
	RNA_STRBUF struct rna_strbuf out = RNA_STRBUF_INIT;
	const struct rna_card *card = look(scene);

	say(scene->view->subjects, card, &out);
	assert_string_equal(out.len > 0 ? out.data : "", text);
}

static void test_subjects(void **state)
{
	struct scene *scene = *state;
	const struct rna_card *card = look(scene);
	struct rna_card_cursor next = RNA_CARD_CURSOR_INIT;
	const struct rna_subject *ports = scene->view->subjects->scopes[RNA_SCOPE_PORT].items;

	assert_int_equal(scene->view->subjects->scopes[RNA_SCOPE_CARD].count, 3);
	assert_ptr_equal(scene->view->subjects->scopes[RNA_SCOPE_DEVICE].items[1].card, card);
	assert_null(scene->view->subjects->scopes[RNA_SCOPE_DEVICE].items[2].card);
	assert_ptr_equal(rna_subjects_next_of_card(scene->view->subjects, card, &next), &ports[0]);
	assert_ptr_equal(rna_subjects_next_of_card(scene->view->subjects, card, &next), &ports[1]);
	assert_null(rna_subjects_next_of_card(scene->view->subjects, card, &next));
}

static void test_devices(void **state)
{
	struct scene *scene = *state;

	assert_says(scene, rna_card_say_devices, "mlx5_0, mlx5_1");
	device_at(scene, 1)->function = RNA_FUNCTION_VF;
	device_at(scene, 1)->physical_function = "0000:00:00.0";
	assert_says(scene, rna_card_say_devices, "mlx5_0, 1 VF");
}

static void test_ports(void **state)
{
	struct scene *scene = *state;

	/* mlx5_1 was accepted as down */
	assert_says(scene, rna_card_say_ports, "1 of 2 up, 1 expected down");
	own_ports(scene->view)[1].expectation.reason = RNA_EXPECTATION_UNWIRED;
	assert_says(scene, rna_card_say_ports, "1 of 1 up, 1 unwired");
}

static void test_planes(void **state)
{
	static const struct rna_plane planes[] = {
		{1, {RNA_PORT_ACTIVE, RNA_VALUE_OK}, {RNA_PHYSICAL_LINK_UP, RNA_VALUE_OK}},
		{2, {RNA_PORT_DOWN, RNA_VALUE_OK}, {RNA_PHYSICAL_POLLING, RNA_VALUE_OK}},
	};
	struct scene *scene = *state;
	struct rna_link *link =
		own_part(scene->view->snapshot->devices[0].parts[RNA_COLLECTOR_LINK]);
	const struct rna_card *card;
	struct rna_card_ports ports;

	link->plane_count = RNA_ARRAY_SIZE(planes);
	link->planes = planes;
	assert_says(scene, rna_card_say_ports, "1 of 2 up, 1 expected down; planes 1 of 2 up");
	card = look(scene);
	ports = rna_card_count_ports(scene->view->subjects, card);
	assert_int_equal(ports.planes.number, 2);
	assert_int_equal(ports.planes_up.number, 1);
}

static void test_firmware(void **state)
{
	struct scene *scene = *state;

	assert_says(scene, rna_card_say_firmware, "28.39.1002");
	identity_at(scene, 1)->firmware_version = "28.41.1000";
	assert_says(scene, rna_card_say_firmware, "mlx5_0 28.39.1002, mlx5_1 28.41.1000");
	identity_at(scene, 0)->firmware_version = NULL;
	identity_at(scene, 1)->firmware_version = NULL;
	assert_says(scene, rna_card_say_firmware, "");
}

static void test_cables(void **state)
{
	struct scene *scene = *state;

	assert_says(scene, rna_card_say_cables,
		    "mlx5_0/1 to leaf \"7\" port 12 (before), mlx5_1/1 to leaf \"7\" port 12 "
		    "(before)");
}

static void test_unwired_ports(void **state)
{
	struct scene *scene = *state;
	struct rna_view_port *ports = own_ports(scene->view);
	RNA_STRBUF struct rna_strbuf out = RNA_STRBUF_INIT;

	(void)look(scene);
	rna_say_unwired(scene->view->subjects, &out);
	assert_int_equal(out.len, 0);
	ports[1].expectation.reason = RNA_EXPECTATION_UNWIRED;
	ports[4].expectation.reason = RNA_EXPECTATION_UNWIRED;
	rna_say_unwired(scene->view->subjects, &out);
	assert_string_equal(out.data, "2 unwired ports: mlx5_1/1 mlx5_4/1");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_subjects),      TEST(test_devices),  TEST(test_ports),
		TEST(test_planes),        TEST(test_firmware), TEST(test_cables),
		TEST(test_unwired_ports),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
