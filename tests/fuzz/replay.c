// SPDX-License-Identifier: Apache-2.0
/*
 * In the place of libFuzzer: replay TARGET_CORPUS... gives a target each file of these directories
 * once, and then grown in several ways, each within a limit of processor time. Every compiler can
 * do that, and it takes no time, so that it is part of the unit tests.
 */
#include <dirent.h>
#include <limits.h>
#include <string.h>
#include <sys/time.h>

#include "rna/base/file.h"

#include "fuzz.h"

enum {
	GROWN = 256 * 1024, /* bytes */
	WAYS = 12,
	SECONDS_MAX = 10, /* with sanitizers; what is linear takes a hundredth */
};

/* SIGPROF ends the process after so much processor time; 0: no more. */
static void limit_time(time_t seconds)
{
	const struct itimerval limit = {.it_value.tv_sec = seconds};

	FUZZ_WANT(setitimer(ITIMER_PROF, &limit, NULL) == 0);
}

static void replay_grown(const uint8_t *seed, size_t size, unsigned way)
{
	RNA_FREE uint8_t *room = malloc(GROWN), *data = NULL;

	FUZZ_WANT(room && size <= GROWN);
	memcpy(room, seed, size);
	size = fuzz_grow(room, size, GROWN, way * 2654435761U); /* Knuth: spreads its bits */
	data = malloc(size);                                    /* not one byte more */
	FUZZ_WANT(data);
	memcpy(data, room, size);
	limit_time(SECONDS_MAX);
	(void)LLVMFuzzerTestOneInput(data, size);
	limit_time(0);
}

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
	for (unsigned way = 0; text.len > 0 && way < WAYS; way++) {
		(void)fprintf(stderr, "%s, grown in way %u\n", path, way);
		replay_grown(data, text.len, way);
	}
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
