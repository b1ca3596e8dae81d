// SPDX-License-Identifier: Apache-2.0
/*
 * In the place of libFuzzer: replay TARGET_CORPUS... gives a target each file of these directories
 * once. Every compiler can do that, and it takes no time, so that it is part of the unit tests.
 */
#include <dirent.h>
#include <limits.h>
#include <string.h>

#include "rna/base/file.h"

#include "fuzz.h"

static void replay_file(const char *path)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	struct rna_error error = {0};
	RNA_FREE uint8_t *data = NULL;

	if (rna_file_read(path, 1 << 20, &text, &error) < 0) {
		(void)fprintf(stderr, "%s\n", error.text);
		exit(EXIT_FAILURE);
	}
	data = malloc(text.len > 0 ? text.len : 1);
	FUZZ_WANT(data);
	if (text.len > 0)
		memcpy(data, text.data, text.len);
	(void)fprintf(stderr, "%s\n", path); /* the last one is at fault when it ends here */
	(void)LLVMFuzzerTestOneInput(data, text.len);
}

static unsigned replay(const char *directory)
{
	RNA_CLOSEDIR DIR *entries = opendir(directory);
	unsigned count = 0;

	if (!entries) {
		perror(directory);
		exit(EXIT_FAILURE);
	}
	for (const struct dirent *entry; (entry = readdir(entries));) {
		char path[PATH_MAX];

		if (entry->d_name[0] == '.')
			continue;
		(void)snprintf(path, sizeof(path), "%s/%s", directory, entry->d_name);
		replay_file(path);
		count++;
	}
	return count;
}

int main(int argc, char *argv[])
{
	unsigned count = 0;

	for (int i = 1; i < argc; i++)
		count += replay(argv[i]);
	(void)printf("%u inputs\n", count);
	return count > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
