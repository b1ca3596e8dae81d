// SPDX-License-Identifier: Apache-2.0
/* Files with profiles: what is read can be written, and what is written is read the same. */
#include <string.h>

#include "baseline/baseline.h"

#include "fuzz.h"

static void want_mistakes(const struct rna_mistakes *rest, int status)
{
	FUZZ_WANT(rest->count == 0 || status < 0);
	FUZZ_WANT(!rest->more || rest->count == RNA_MISTAKES_MAX);
	for (size_t i = 0; i < rest->count; i++)
		fuzz_want_error(status, &rest->errors[i]);
}

static void want_again(const struct rna_profile *profile)
{
	RNA_CLEANUP(rna_profiles_free_p) struct rna_profiles *again = NULL;
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT, second = RNA_STRBUF_INIT;
	struct rna_error error = {0};

	rna_profile_write(profile, &text);
	FUZZ_WANT(rna_strbuf_ok(&text) && text.data);
	if (text.len > RNA_PROFILE_BYTES_MAX)
		return;
	FUZZ_WANT(rna_profiles_parse("again", text.data, text.len, &again, NULL, &error) == 0);
	FUZZ_WANT(again->count == 1);
	rna_profile_write(&again->items[0], &second);
	FUZZ_WANT(strcmp(text.data, second.data) == 0);
}

/* Of a node about which nothing is known no profile can be said to fit. */
static void want_no_match(const struct rna_profile *profile)
{
	const struct rna_baseline_facts nothing = {0};
	const char *key = NULL;
	enum rna_profile_fit fit = rna_profile_match(&profile->match, &nothing, &key);

	FUZZ_WANT(fit != RNA_PROFILE_FITS);
	FUZZ_WANT(key);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	RNA_CLEANUP(rna_profiles_free_p) struct rna_profiles *profiles = NULL;
	struct rna_error error = {0};
	const char *path = fuzz_file(data, size);
	struct rna_mistakes rest;
	int status = rna_profiles_read(path, &profiles, &rest, &error);

	fuzz_want_error(status, &error);
	want_mistakes(&rest, status);
	if (status < 0) {
		FUZZ_WANT(strncmp(error.text, path, strlen(path)) == 0);
		FUZZ_WANT(!profiles); /* untouched */
		return 0;
	}
	FUZZ_WANT(profiles->count > 0 && profiles->count <= RNA_PROFILES_MAX);
	for (size_t i = 0; i < profiles->count; i++) {
		want_again(&profiles->items[i]);
		want_no_match(&profiles->items[i]);
	}
	return 0;
}
