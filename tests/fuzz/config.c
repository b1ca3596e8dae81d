// SPDX-License-Identifier: Apache-2.0
/* The configuration file: YAML, and the settings in it. */
#include "fuzz.h"
#include "settings.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	RNA_CLEANUP(rna_settings_deinit) struct rna_settings settings = {0};
	struct rna_error error = {0}, later = {.code = -1, .text = "poll.state: too much"};
	const char *path = fuzz_file(data, size);
	int status = rna_config_load(path, &settings, &error);

	fuzz_want_error(status, &error);
	if (status < 0) {
		FUZZ_WANT(strncmp(error.text, path, strlen(path)) == 0);
		FUZZ_WANT(!settings.http_listen); /* untouched */
		return 0;
	}
	FUZZ_WANT(settings.poll_handover < settings.poll_deadline);
	FUZZ_WANT(rna_settings_are_same(&settings, &settings, "poll"));
	rna_config_point(path, &later);
	FUZZ_WANT(strncmp(later.text, path, strlen(path)) == 0);
	return 0;
}
