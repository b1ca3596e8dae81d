/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Health: the history of problems. Rules report what holds at one moment; health stores since when,
 * applies the hold-down, and remembers what was reported already.
 * Thread: the loop's.
 */
#pragma once

#include "rna/base/error.h"

#include "episodes/episodes.h"
#include "rules/past.h"
#include "settings/settings.h"

/*
 * A finding was raised, has another severity, or is resolved after it was raised. news: false if
 * its severity fell, or rose to what was reported before.
 */
typedef void rna_health_tell(const struct rna_rule *rule, const struct rna_finding *finding,
			     enum rna_change_what what, bool news, void *userdata);

struct rna_tracked_finding;

struct rna_health {
	const struct rna_settings *settings;
	const struct rna_baseline_choice *baseline; /* of the view to come; NULL: none */
	struct rna_thresholds *thresholds;
	struct rna_pasts pasts;
	struct rna_episodes episodes; /* of the kernel log */
	rna_usec holds[RNA_RULE_COUNT];
	bool disabled[RNA_RULE_COUNT];
	size_t count;
	struct rna_tracked_finding
		*tracked;      /* all problems, reported or not; by rule, device and port */
	bool once;             /* there is only one view: report all problems at once */
	rna_usec began;        /* monotonic: the first view */
	bool saw_all;          /* a view showed what every job reads */
	bool looked;           /* or there was none for too long to wait for it, */
	rna_usec first_look;   /* monotonic: for the first time then */
	unsigned settling;     /* conditions (RNA_CONDITION_BIT) of rules that let links come up */
	rna_health_tell *tell; /* NULL: none */
	void *userdata;        /* tell's */
	/* What is kept over restarts (health_file.h): */
	char boot[RNA_BOOT_SIZE]; /* of the machine; "": what was kept is of another boot */
	bool changed;             /* reset when the file is written */
	bool same_boot;           /* what was read is of this boot */
	struct rna_time judged;   /* the newest view */
	struct rna_time written;  /* the newest view at the time of the file */
};

/* settings must outlive health. 0 or -ENOMEM. */
int rna_health_init(struct rna_health *health, const struct rna_settings *settings);
void rna_health_deinit(struct rna_health *health); /* idempotent, fine on zeroed structs */

/* The settings behind the pointer have changed. 0, or -ENOMEM: the old ones stay in force. */
int rna_health_reload(struct rna_health *health);

/*
 * Fills in the findings of view, of which everything else is there. What finds no memory is left
 * out, and comes with the next view.
 */
void rna_health_judge(struct rna_health *health, struct rna_view *view);

/* When the next hold-down ends, after now; RNA_USEC_NEVER: none is running. Both monotonic. */
rna_usec rna_health_next(const struct rna_health *health, rna_usec now);

/* Has the machine just booted, so that ports are still coming up? */
bool rna_health_is_booting(const struct rna_health *health, const struct rna_view *view);

/*
 * Of which conditions (RNA_CONDITION_BIT) is it known what is wrong? After a start of none before
 * every job has run, or had two minutes to do so, and while the machine boots. Then of all but
 * those whose rules have met a problem that is still held down, wait for what an earlier process
 * found, or let the links of a device come up that was registered late in a boot.
 * RNA_CONDITION_NONE stands for the findings together: a problem that is still held down is none
 * yet.
 */
unsigned rna_health_settled(const struct rna_health *health, const struct rna_view *view);
