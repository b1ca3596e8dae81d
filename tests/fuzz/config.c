// SPDX-License-Identifier: Apache-2.0
/* The configuration file: YAML, and the settings in it. */
#include <string.h>

#include "settings/settings.h"

#include "fuzz.h"

static void want_mistakes(const char *path, const struct rna_mistakes *rest, int status)
{
	FUZZ_WANT(rest->count == 0 || status < 0);
	FUZZ_WANT(!rest->more || rest->count == RNA_MISTAKES_MAX);
	for (size_t i = 0; i < rest->count; i++) {
		fuzz_want_error(status, &rest->errors[i]);
		FUZZ_WANT(strncmp(rest->errors[i].text, path, strlen(path)) == 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	RNA_CLEANUP(rna_settings_deinit) struct rna_settings settings = {0};
	struct rna_error error = {0}, later = {.code = -1, .text = "poll.state: too much"};
	const char *path = fuzz_file(data, size);
	struct rna_mistakes rest;
	int status = rna_config_check(path, &settings, &rest, &error);

	fuzz_want_error(status, &error);
	want_mistakes(path, &rest, status);
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
