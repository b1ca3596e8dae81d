// SPDX-License-Identifier: Apache-2.0
/*
 * A machine by an adversary, read with --root and recorded: links to elsewhere, loops, FIFOs, odd
 * names, and directories that others change meanwhile. The input is in the language of place.h,
 * with these lines besides:
 *
 *	swap PATH -> PATH	exchanges the two while they are read
 *	plant PATH -> TARGET	a link in the output of record, after it was opened
 *	keep			record --keep-identity
 *	fork			record as the command does, with a child process
 *
 * The kernel tells of each file outside that is opened, read or changed, also if nothing of that
 * gets into a result. Swaps are made twice: collectors read through a root that makes the next one
 * before each file it opens, which is the same each time and finds what opens a path twice; record
 * reads and writes while a second thread makes them without end, which finds what only the kernel
 * can do at once. Without "fork" record runs in this process, whose coverage libFuzzer sees.
 * tests/faults/hostile does the same with whole machines and the commands.
 */
#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rna/record.h"

#include "record/recording.h"
#include "record/tee.h"

#include "fuzz.h"
#include "place.h"

enum { FILES_MAX = 256, RACES_MAX = 16 };

/* A swap, or a link that is planted. */
struct race {
	const char *path, *other;
	bool plants;
};

static struct {
	char root[FUZZ_PLACE_MAX], output[FUZZ_PLACE_MAX];
	struct race races[RACES_MAX];
	unsigned race_count;
	unsigned next; /* of races */
	bool keeps, forks;
	pthread_t thread;
	bool runs; /* the thread */
	/* posted when the thread allocates no more: sanitizers may keep locks in a forked child */
	sem_t begun;
	atomic_bool ends;
} scene;

static void start(void)
{
	fuzz_place_path("root", scene.root);
	fuzz_place_path("output", scene.output);
	FUZZ_WANT(sem_init(&scene.begun, 0, 0) == 0);
	fuzz_place_watch();
}

/* -- Races ------------------------------------------------------------------------------------- */

static void make_race(const struct race *race)
{
	char path[PATH_MAX];

	if (!race->plants) {
		fuzz_place_swap(scene.root, race->path, race->other);
		return;
	}
	(void)snprintf(path, sizeof(path), "%s", race->path);
	fuzz_place_link(scene.output, path, race->other);
}

static void *race_on(void *userdata)
{
	(void)userdata;
	FUZZ_WANT(sem_post(&scene.begun) == 0);
	while (!atomic_load(&scene.ends))
		for (unsigned i = 0; i < scene.race_count; i++)
			make_race(&scene.races[i]);
	return NULL;
}

static void start_races(void)
{
	atomic_store(&scene.ends, false);
	scene.runs = scene.race_count > 0;
	if (scene.runs)
		FUZZ_WANT(pthread_create(&scene.thread, NULL, race_on, NULL) == 0 &&
			  sem_wait(&scene.begun) == 0);
}

static void end_races(void)
{
	atomic_store(&scene.ends, true);
	if (scene.runs)
		FUZZ_WANT(pthread_join(scene.thread, NULL) == 0);
	scene.runs = false;
}

static void add_race(char *words, bool plants)
{
	char *arrow = words ? strstr(words, " -> ") : NULL;

	if (!arrow || scene.race_count == RACES_MAX)
		return;
	*arrow = '\0';
	scene.races[scene.race_count++] = (struct race){words, arrow + 4, plants};
}

static void obey(char *line)
{
	if (strncmp(line, "swap ", 5) == 0)
		add_race(line + 5, false);
	else if (strncmp(line, "plant ", 6) == 0)
		add_race(line + 6, true);
	else if (strcmp(line, "keep") == 0)
		scene.keeps = true;
	else if (strcmp(line, "fork") == 0)
		scene.forks = true;
	else
		fuzz_place_obey(scene.root, line);
}

/* -- Readers ----------------------------------------------------------------------------------- */

/* Of a root that makes the next race before it opens something. */
static int open_after_race(void *base, const char *path, int flags)
{
	const struct race *race = &scene.races[scene.next];

	if (scene.race_count > 0) {
		scene.next = (scene.next + 1) % scene.race_count;
		if (!race->plants)
			make_race(race);
	}
	return rna_root_openat(base, path, flags);
}

static void collect(const struct rna_root *root, const struct rna_backends *backends)
{
	struct rna_collect_input in = {
		.root = root,
		.backends = backends,
		.period = RNA_USEC_PER_SEC,
		.options = {RNA_COUNTERS_AUTO, RNA_HW_COUNTERS_SYSFS, true, true},
	};

	fuzz_collect_all(&in);
}

static void collect_in_races(struct rna_root *base)
{
	RNA_CLEANUP(rna_root_close_p) struct rna_root *root = NULL;
	RNA_CLEANUP(rna_backends_free_p) struct rna_backends *backends = NULL;
	struct rna_error error;

	FUZZ_WANT(rna_root_open_through(base, open_after_race, base, &root, &error) == 0);
	backends = rna_backends_new(root);
	FUZZ_WANT(backends);
	collect(root, backends);
}

/* As rna_record() does, without its child. */
static int record_here(const struct rna_root *root, const struct rna_record_options *options,
		       struct rna_error *error)
{
	RNA_CLEANUP(rna_backends_free_p) struct rna_backends *backends = rna_backends_new(root);
	RNA_CLOSE int fd = rna_recording_open(options->directory, error);
	struct rna_record_result result = {0};
	struct rna_notes notes;
	struct rna_tee tee;
	int status;

	FUZZ_WANT(backends && fd >= 0 && rna_notes_init(&notes) == 0);
	notes.writes = true;
	start_races();
	FUZZ_WANT(rna_tee_init(&tee, root, backends, &notes, error) == 0);
	collect(tee.root, &tee.backends);
	rna_tee_deinit(&tee);
	for (unsigned i = 0; i < scene.race_count; i++)
		if (scene.races[i].plants)
			make_race(&scene.races[i]);
	status = rna_recording_write(&notes, options, fd, &result, error);
	rna_notes_deinit(&notes);
	return status;
}

static void record(const struct rna_root *root)
{
	const struct rna_record_options options = {
		.directory = scene.output,
		.keep_identity = scene.keeps,
		.deadline = 20 * RNA_USEC_PER_SEC,
	};
	struct rna_record_result result;
	struct rna_error error = {0};
	int status;

	if (scene.forks)
		start_races();
	status = scene.forks ? rna_record(root, &options, &result, &error)
			     : record_here(root, &options, &error);
	end_races();
	fuzz_want_error(status, &error);
	FUZZ_WANT(status != -EPIPE);     /* the child crashed... */
	FUZZ_WANT(status != -ETIMEDOUT); /* ...or hung */
}

/* A recording can be read by anyone: it has files, directories and links. */
static int want_plain(const char *path, const struct stat *info, int type, struct FTW *where)
{
	(void)path, (void)type, (void)where;
	FUZZ_WANT(S_ISREG(info->st_mode) || S_ISDIR(info->st_mode) || S_ISLNK(info->st_mode));
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	RNA_CLEANUP(rna_root_close_p) struct rna_root *root = NULL;
	RNA_FREE char *text = fuzz_text(data, size);
	char *rest = text, *line;
	struct rna_error error;

	if (!*scene.root)
		start();
	fuzz_place_new("root");
	fuzz_place_new("output");
	scene.race_count = scene.next = 0;
	scene.keeps = scene.forks = false;
	for (int files = 0; files < FILES_MAX && (line = fuzz_line(&rest)); files++)
		obey(line);
	(void)fuzz_place_is_touched(); /* by all this */

	FUZZ_WANT(rna_root_open(scene.root, &root, &error) == 0);
	collect_in_races(root);
	record(root);
	FUZZ_WANT(!fuzz_place_is_touched());
	(void)nftw(scene.output, want_plain, 16, FTW_PHYS | FTW_MOUNT);
	return 0;
}
