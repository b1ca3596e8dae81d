// SPDX-License-Identifier: Apache-2.0
/* The file of health: what was read can be written, and says the same again. */
#include <string.h>

#include "health/health_file.h"

#include "fuzz.h"

/* Writing leaves out what says nothing, and so the second turn is the one that changes nothing. */
static void turn(struct rna_health *health, const struct rna_settings *settings, int turns)
{
	RNA_CLEANUP(rna_health_deinit) struct rna_health again = {0};
	RNA_STRBUF struct rna_strbuf first = RNA_STRBUF_INIT, second = RNA_STRBUF_INIT;
	struct rna_error error = {0};

	health->judged = health->written;
	rna_health_write(health, &first);
	FUZZ_WANT(rna_strbuf_ok(&first));
	FUZZ_WANT(rna_health_init(&again, settings) == 0);
	memcpy(again.boot, health->boot, sizeof(again.boot));
	FUZZ_WANT(rna_health_read(&again, first.data, first.len, &error) == 0);
	if (turns > 1) {
		turn(&again, settings, turns - 1);
		return;
	}
	again.judged = again.written;
	rna_health_write(&again, &second);
	FUZZ_WANT(rna_strbuf_ok(&second) && strcmp(first.data, second.data) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	RNA_CLEANUP(rna_health_deinit) struct rna_health health = {0};
	RNA_CLEANUP(rna_settings_deinit) struct rna_settings settings = {0};
	struct rna_time now = {1000 * RNA_USEC_PER_SEC, 1763716800 * RNA_USEC_PER_SEC};
	struct rna_error error = {0};
	int status;

	FUZZ_WANT(rna_settings_init(&settings) == 0 && rna_health_init(&health, &settings) == 0);
	memcpy(health.boot, "boot", sizeof("boot"));
	status = rna_health_read(&health, (const char *)data, size, &error);
	fuzz_want_error(status, &error);
	FUZZ_WANT(status == 0 || (health.count == 0 && health.pasts.count == 0));
	turn(&health, &settings, 2);
	rna_pasts_carry_over(&health.pasts, health.thresholds, &health.written, now);
	turn(&health, &settings, 2);
	return 0;
}
