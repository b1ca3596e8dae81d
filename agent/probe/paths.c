// SPDX-License-Identifier: Apache-2.0
#include "paths.h"

#include <math.h>

enum {
	KEPT = 1024, /* probes; of more, older ones count half */
	PRIOR = 2,   /* probes of all classes, beside those of a class */
};

/* The logarithms of 1e7, as losses have to be, and of that by 32 classes. */
#define SURE          16.1
#define SURE_OF_CLASS 19.6
#define ALMOST_ALL    0.9

/*
 * Until all 128 source ports of mlx5 had their turn (collectors/prober/aims.h): the paths that show
 * it may be those of ports that are not in use just then. Soft-RoCE has eight, which all are.
 */
#define ALL_PORTS RNA_PROBE_RECENT
enum { AT_ONCE = 8 };

static double clean_of(const struct rna_path_counts *counts)
{
	return (double)counts->clean + counts->run;
}

/* The logarithm of how much likelier the counts are by the share that they have than by chance. */
static double weigh(const struct rna_path_counts *counts, double noise)
{
	double shown = counts->shown, clean = clean_of(counts), share = shown / (shown + clean);

	if (counts->shown == 0 || share <= noise)
		return 0;
	return shown * log(share / noise) +
	       (clean > 0 ? clean * log((1 - share) / (1 - noise)) : 0);
}

/* Clean ones before the first that showed it are of the time before the fault. */
static void count(struct rna_path_counts *counts, bool shows)
{
	if (!shows && counts->shown == 0)
		return;
	if (shows) {
		counts->shown++;
		counts->clean = (uint16_t)clean_of(counts);
		counts->run = 0;
	} else {
		counts->run++;
	}
	if (counts->shown + clean_of(counts) < KEPT)
		return;
	counts->shown /= 2;
	counts->clean /= 2;
	counts->run /= 2;
}

static void forget_chance(struct rna_path_counts *counts, double noise)
{
	if (counts->shown <= noise * (counts->shown + clean_of(counts)))
		*counts = (struct rna_path_counts){0};
}

/* The share that shows it, until the newest that did. class: NULL: not known. */
static double share_of(const struct rna_paths *paths, const struct rna_path_counts *class)
{
	double all = (paths->all.shown + 1.0) / (paths->all.shown + paths->all.clean + 2.0);

	return class ? (class->shown + PRIOR * all) / (class->shown + class->clean + PRIOR) : all;
}

bool rna_paths_are_some(const struct rna_paths *paths)
{
	const struct rna_path_counts *all = &paths->all;

	return paths->found && all->shown < ALMOST_ALL * (all->shown + all->clean);
}

static bool waits_for_ports(const struct rna_paths *paths, rna_usec now)
{
	return __builtin_popcount(paths->seen) > AT_ONCE && rna_paths_are_some(paths) &&
	       rna_usec_since(paths->newest, now) < ALL_PORTS;
}

static void refute(struct rna_paths *paths, const struct rna_path_counts *class, bool shows,
		   double noise, rna_usec now)
{
	double share = share_of(paths, class);

	paths->refuted += shows ? log(noise / share) : log((1 - noise) / (1 - share));
	paths->refuted = fmin(fmax(paths->refuted, 0), SURE);
	if (paths->refuted >= SURE && !waits_for_ports(paths, now))
		*paths = (struct rna_paths){0};
}

static struct rna_path_counts *class_of(struct rna_paths *paths, uint32_t classes)
{
	if (classes == 0 || (classes & (classes - 1)) != 0)
		return NULL;
	return &paths->classes[__builtin_ctz(classes)];
}

void rna_paths_add(struct rna_paths *paths, bool shows, uint32_t classes, double noise,
		   rna_usec now)
{
	struct rna_path_counts *class = class_of(paths, classes);
	bool was_found = paths->found;

	paths->seen |= classes;
	if (shows)
		paths->newest = now;
	count(&paths->all, shows);
	if (class)
		count(class, shows);
	if (was_found) {
		refute(paths, class, shows, noise, now);
		return;
	}
	paths->found = weigh(&paths->all, noise) >= SURE ||
		       (class && weigh(class, noise) >= SURE_OF_CLASS);
	if (paths->found)
		return;
	forget_chance(&paths->all, noise);
	if (class)
		forget_chance(class, noise);
}

void rna_paths_recall(struct rna_paths *paths)
{
	*paths = (struct rna_paths){.all = {.shown = 1, .clean = 1}, .found = true};
}
