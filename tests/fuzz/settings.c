// SPDX-License-Identifier: Apache-2.0
/* A value, tried on every setting; and those that take an entry apart when it is used. */
#include <string.h>

#include "rna/base/duration.h"
#include "rna/model/device_filter.h"

#include "config/settings_table.h"
#include "memory/expect.h"
#include "rules/thresholds.h"
#include "selftest/plan.h"
#include "settings/qos_profile.h"
#include "settings/silence.h"

#include "fuzz.h"

static void put(const char *text, struct rna_settings *settings)
{
	for (size_t i = 0; i < rna_settings_schema.count; i++) {
		const struct rna_schema_row *setting = &rna_settings_schema.rows[i];
		struct rna_error error = {0};
		int status = rna_setting_put(setting, text, settings, &error);

		fuzz_want_error(status, &error);
		FUZZ_WANT(status == 0 ||
			  strncmp(error.text, setting->key, strlen(setting->key)) == 0);
	}
}

/* What was written is what was read, but for what is less than a millisecond. */
static void turn_duration(const char *text)
{
	RNA_STRBUF struct rna_strbuf out = RNA_STRBUF_INIT;
	rna_usec duration, again;

	if (rna_duration_parse(text, &duration) < 0)
		return;
	rna_duration_write(duration, &out);
	FUZZ_WANT(rna_duration_parse(out.data, &again) == 0 && again == duration);
}

static void use_silence(char *text)
{
	char *const windows[] = {text, NULL};
	const rna_usec week = 7 * 86400ull * RNA_USEC_PER_SEC;

	if (!rna_silence_is_valid(text))
		return;
	for (rna_usec time = 0; time < week; time += week / 50)
		(void)rna_silence_holds(windows, "mlx5_0", time);
	(void)rna_silence_holds(windows, NULL, 1763716800 * RNA_USEC_PER_SEC);
}

static void use_threshold(char *text)
{
	static const rna_usec poll[RNA_COLLECTOR_COUNT] = {0};
	char *const entries[] = {text, NULL};
	struct rna_thresholds *thresholds;

	if (!rna_threshold_is_valid(text))
		return;
	thresholds = rna_thresholds_new(entries, poll);
	FUZZ_WANT(thresholds && rna_thresholds_same(thresholds, thresholds));
	for (size_t i = 0; i < thresholds->count; i++) {
		const struct rna_threshold *threshold = &thresholds->items[i];
		struct rna_window window = {0};

		for (rna_usec now = 1; now < 100; now++)
			rna_window_add(&window, threshold, rna_value_ok(now << (now % 64)),
				       now * threshold->window / 8);
	}
	free(thresholds);
}

static void use_globs(char *text)
{
	char *const globs[] = {text, NULL};
	const char *const names[] = {"mlx5_0", "0000:18:00.0", "enp24s0np0"};
	const struct rna_device device = {.name = "mlx5_0", .pci_address = "0000:18:00.0"};
	const struct rna_snapshot_device at = {.device = &device};
	struct rna_device_filter *filter;

	if (rna_expect_glob_is_valid(text))
		(void)rna_expect_fits(text, &at, 1, names[2]);
	if (!rna_device_glob_is_valid(text))
		return;
	filter = rna_device_filter_new(globs, NULL);
	FUZZ_WANT(filter);
	(void)rna_device_filter_takes(filter, names, RNA_ARRAY_SIZE(names));
	(void)rna_device_filter_unref(filter);
}

static void use_plan(const char *text)
{
	struct rna_qos_expectation expectation;

	FUZZ_WANT(rna_qos_expectation_is_valid(text) ==
		  rna_qos_expectation_parse(text, &expectation));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	RNA_CLEANUP(rna_settings_deinit) struct rna_settings settings = {0};
	RNA_FREE char *text = fuzz_text(data, size);

	FUZZ_WANT(rna_settings_init(&settings) == 0);
	put(text, &settings);
	(void)rna_selftest_limits_for(&settings, 50000000000);
	turn_duration(text);
	use_silence(text);
	use_threshold(text);
	use_globs(text);
	use_plan(text);
	return 0;
}
