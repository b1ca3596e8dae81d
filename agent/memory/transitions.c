// SPDX-License-Identifier: Apache-2.0
/*
 * Transitions of one port.
 *
 * Its state is looked at now and then; tellers (carrier losses, link_downed, link_down_events_phy)
 * count meanwhile. Both see the same downs, at other times: a sum would count a down twice, and a
 * maximum since the start would hide a flap behind downs that a teller does not see (a subnet
 * manager's, for example). So each teller is compared by itself, from one reading to the next:
 *
 *	extra = what it rose by - the downs counted since its reading before
 *
 * If that is positive, there were unseen flaps: each a down and an up, for before and
 * after the port was looked at. Then these are counted too, and for the other tellers they are
 * downs like any other. Ups need no teller: between two downs there is one.
 *
 * What is read takes time, and the parts come in any order. Two rules keep that from mattering:
 *
 *  1. A reading waits until the state was looked at after it; what it knows that the newest look
 *     could not is then known from both sides.
 *  2. A down that was seen after the reading began, or less than a second before (hardware counts
 *     in its own time), may be in its number or not: what did not show yet is carried to the next
 *     reading. Older downs are not carried: if it did not rise by them, it does not see them.
 *
 * A number that fell was reset: comparing starts again, as with another interface or registration.
 * link_downed saturates at 255 and is ignored from then on.
 *
 * An administrator's "down" is a down: traffic stops the same. So is the removal of the device; a
 * driver reload is one down and one up, even if it went by between two looks.
 */
#include "transitions.h"

/* How late a teller may count. */
#define LAG RNA_USEC_PER_SEC

struct steps {
	size_t count;
	struct rna_step *items;
	struct rna_track *track;
};

static void add_step(struct steps *steps, struct rna_step step)
{
	struct rna_port_history *history = &steps->track->history;

	if (step.up)
		history->ups += step.count;
	else
		history->downs += step.count;
	history->last = step.time;
	steps->items[steps->count++] = step;
}

static void forget_tellers(struct rna_track *track)
{
	for (size_t i = 0; i < RNA_TELLER_COUNT; i++)
		track->tellers[i] = (struct rna_teller){0};
}

/* The port is gone with its device. */
static void note_down(struct steps *steps, const struct rna_look *look, enum rna_cause cause)
{
	struct rna_track *track = steps->track;

	if (track->known && track->up)
		add_step(steps, (struct rna_step){
					.count = 1,
					.source = look->source,
					.cause = cause,
					.time = look->when.taken,
				});
	if (track->up)
		track->since = look->when.taken.monotonic;
	track->up = false;
	forget_tellers(track);
}

static void take_telling(struct rna_teller *teller, const struct rna_telling *telling)
{
	if (!rna_value_is_known(telling->downs) || teller->waiting)
		return;
	if (!teller->based || teller->of != telling->of) {
		*teller = (struct rna_teller){
			.based = true,
			.of = telling->of,
			.base = telling->downs.number,
			.when = telling->when,
		};
		return;
	}
	if (telling->when.taken.monotonic <= teller->when.taken.monotonic)
		return; /* seen */
	teller->waiting = true;
	teller->newest = telling->downs.number;
	teller->when = telling->when;
}

/* The teller whose reading is the oldest of those that can be compared now, or NULL. */
static struct rna_teller *next_teller(struct rna_track *track, rna_usec looked)
{
	struct rna_teller *next = NULL;

	for (size_t i = 0; i < RNA_TELLER_COUNT; i++) {
		struct rna_teller *teller = &track->tellers[i];

		if (teller->waiting && teller->when.taken.monotonic <= looked &&
		    (!next || teller->when.taken.monotonic < next->when.taken.monotonic))
			next = teller;
	}
	return next;
}

/* Unseen flaps: the port came back to what it was. */
static void add_flaps(struct steps *steps, const struct rna_teller *teller, uint64_t count)
{
	struct rna_track *track = steps->track;
	struct rna_step step = {
		.up = !track->up,
		.count = count,
		.source = RNA_SOURCE_COUNTER,
		.cause = RNA_CAUSE_TOLD,
		.teller = (enum rna_teller_id)(teller - track->tellers),
		.time = teller->when.taken,
	};

	add_step(steps, step);
	step.up = track->up;
	add_step(steps, step);
	if (step.time.monotonic > track->last_down)
		track->last_down = step.time.monotonic;
	for (size_t i = 0; i < RNA_TELLER_COUNT; i++)
		if (&track->tellers[i] != teller)
			track->tellers[i].unaccounted += count;
}

/* The look's own down, if it is one, is among unaccounted already. */
static void compare(struct steps *steps, struct rna_teller *teller, bool down)
{
	const struct rna_track *track = steps->track;
	uint64_t rise = teller->newest > teller->base ? teller->newest - teller->base : 0;
	uint64_t counted = teller->unaccounted, uncertain = down ? 1 : 0;

	if (track->last_down > 0 && track->last_down + LAG > teller->when.started)
		uncertain = counted;
	teller->waiting = false;
	teller->base = teller->newest;
	teller->unaccounted = counted > rise ? counted - rise : 0;
	if (teller->unaccounted > uncertain)
		teller->unaccounted = uncertain;
	if (rise > counted)
		add_flaps(steps, teller, rise - counted);
}

static void follow_state(struct steps *steps, const struct rna_look *look)
{
	struct rna_track *track = steps->track;
	bool up = look->up.number != 0, first = !track->known;
	bool changed = !first && up != track->up, down = changed && !up;
	struct rna_teller *teller;

	for (size_t i = 0; i < RNA_TELLER_COUNT; i++)
		track->tellers[i].unaccounted += down;
	while (!first && (teller = next_teller(track, look->when.started)))
		compare(steps, teller, down);
	if (changed)
		add_step(steps, (struct rna_step){
					.up = up,
					.count = 1,
					.source = look->source,
					.cause = RNA_CAUSE_STATE,
					.time = look->when.taken,
				});
	if (changed || first)
		track->since = look->when.taken.monotonic;
	if (down)
		track->last_down = look->when.taken.monotonic;
	track->known = true;
	track->up = up;
	track->looked = look->when.taken.monotonic;
}

size_t rna_track_follow(struct rna_track *track, const struct rna_look *look,
			struct rna_step items[RNA_STEPS_MAX])
{
	struct steps steps = {.items = items, .track = track};

	if (!look->present) {
		note_down(&steps, look, RNA_CAUSE_REMOVED);
		track->gone = true;
		return steps.count;
	}
	if (track->generation != look->generation && !track->gone)
		note_down(&steps, look, RNA_CAUSE_REGISTERED);
	track->gone = false;
	track->generation = look->generation;
	for (size_t i = 0; i < RNA_TELLER_COUNT; i++)
		take_telling(&track->tellers[i], &look->tellings[i]);
	if (rna_value_is_known(look->up) && look->when.taken.monotonic > track->looked)
		follow_state(&steps, look);
	return steps.count;
}
