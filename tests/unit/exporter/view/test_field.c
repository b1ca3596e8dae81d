// SPDX-License-Identifier: Apache-2.0
/* exporter/view/field: each kind of member is read as what it is, near and behind a pointer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "rna/base/cleanup.h"

#include "view/field.h"

enum colour {
	RED,
	GREEN,
};

struct inner {
	struct rna_value lid;
};

struct thing {
	struct rna_value value;
	uint64_t number;
	unsigned lanes;
	int node;
	bool on;
	const char *name;
	enum colour colour;
	const struct inner *inner;
};

static const char *colour_name(uint64_t colour)
{
	return colour == GREEN ? "green" : "red";
}

static struct rna_value twice(const void *object)
{
	const struct thing *thing = object;

	return rna_value_ok(2 * thing->number);
}

static const char *shout(const void *object)
{
	const struct thing *thing = object;

	return thing->on ? "ON" : NULL;
}

static const char *print_lanes(const void *object, char scratch[RNA_FIELD_TEXT_MAX])
{
	const struct thing *thing = object;

	(void)snprintf(scratch, RNA_FIELD_TEXT_MAX, "%uX", thing->lanes);
	return scratch;
}

static const struct thing thing = {
	.value = {.number = 7, .state = RNA_VALUE_SATURATED},
	.number = UINT64_MAX,
	.lanes = 4,
	.node = 1,
	.on = true,
	.name = "mlx5_0",
	.colour = GREEN,
	.inner = &(const struct inner){.lid = {.number = 12, .state = RNA_VALUE_OK}},
};
static const struct thing nothing = {.node = -1};

static void assert_number(struct rna_field field, const struct thing *of, uint64_t number)
{
	struct rna_value value = rna_field_value(&field, of);

	assert_false(rna_field_is_text(&field));
	assert_true(rna_value_is_known(value));
	assert_int_equal(value.number, number);
}

static void assert_absent(struct rna_field field, const struct thing *of)
{
	assert_int_equal(rna_field_value(&field, of).state, RNA_VALUE_ABSENT);
}

static void assert_same_text(const char *text, const char *expected)
{
	if (expected)
		assert_string_equal(text, expected);
	else
		assert_null(text);
}

static void assert_text(struct rna_field field, const struct thing *of, const char *text)
{
	char scratch[RNA_FIELD_TEXT_MAX];

	assert_true(rna_field_is_text(&field));
	assert_same_text(rna_field_text(&field, of, scratch), text);
	assert_same_text(rna_field_show(&field, of, scratch), text);
}

#define THING(member, ...) ((struct rna_field){RNA_FIELD_IN(struct thing, member), ##__VA_ARGS__})
#define BEHIND(to, member) ((struct rna_field){RNA_FIELD_BEHIND(struct thing, to, member)})

static void assert_shown(struct rna_field field, const struct thing *of, const char *text)
{
	char scratch[RNA_FIELD_TEXT_MAX];

	assert_same_text(rna_field_show(&field, of, scratch), text);
}

static void test_numbers_for_people(void **state)
{
	(void)state;
	assert_shown(THING(number), &thing, "18446744073709551615");
	assert_shown(THING(node), &nothing, NULL);
	assert_shown(THING(on), &thing, "1");
	assert_shown(THING(on, .yes_no = true), &thing, "yes");
	assert_shown(THING(on, .yes_no = true), &nothing, NULL);
}

static void test_numbers(void **state)
{
	(void)state;
	assert_number(THING(value), &thing, 7);
	assert_int_equal(rna_field_value(&THING(value), &thing).state, RNA_VALUE_SATURATED);
	assert_number(THING(number), &thing, UINT64_MAX);
	assert_number(THING(lanes), &thing, 4);
	assert_number(THING(node), &thing, 1);
	assert_number(THING(on), &thing, 1);
	assert_number((struct rna_field){.number = twice}, &nothing, 0);
}

static void test_what_is_not_known_is_absent(void **state)
{
	(void)state;
	assert_absent(THING(value), &nothing);
	assert_absent(THING(node), &nothing); /* negative */
	assert_number(THING(number), &nothing, 0);
	assert_absent(THING(number, .zero_is_none = true), &nothing);
	assert_absent(THING(name), &thing); /* a text is not a number */
}

static void test_behind_a_pointer(void **state)
{
	(void)state;
	assert_number(BEHIND(inner, lid), &thing, 12);
	assert_absent(BEHIND(inner, lid), &nothing);
}

static void test_texts_and_words(void **state)
{
	const struct rna_field colour = {RNA_FIELD_ENUM(struct thing, colour, colour_name)};

	(void)state;
	assert_text(THING(name), &thing, "mlx5_0");
	assert_text(THING(name), &nothing, NULL);
	assert_text(colour, &thing, "green");
	assert_text(THING(value, .word = colour_name), &nothing, NULL);
	assert_text((struct rna_field){.text = shout}, &thing, "ON");
	assert_text((struct rna_field){.text = shout}, &nothing, NULL);
	assert_text((struct rna_field){.print = print_lanes}, &thing, "4X");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_numbers_for_people),
		cmocka_unit_test(test_what_is_not_known_is_absent),
		cmocka_unit_test(test_behind_a_pointer),
		cmocka_unit_test(test_texts_and_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
