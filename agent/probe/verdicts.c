// SPDX-License-Identifier: Apache-2.0
#include "verdicts.h"

#include <math.h>

#include "rna/base/cleanup.h"

enum {
	UNKNOWN = 255,
	SILENT_OF_PORT = 16,   /* of all its pairs: 1 % if one of two spines loses everything */
	ANSWERS_OF_SOUND = 30, /* that make a port well: one loss in ten would have shown */
	PAIRS_SHARE = 3,       /* one of so many has to lose before the port is blamed */
	/* Nanoseconds that a path must be slower than usual, at least: noise of short paths; */
	SLOW_EXTRA = 20000,
	/* and of a host without a clock in its HCA, whose CPU other programs take for some slices
	 */
	SLOW_EXTRA_OF_HOST = 10000000,
	QUEUES = 10000000, /* nanoseconds: 125 MB at 100 Gb/s, more than a switch buffers */
};

#define SILENCE       (3 * RNA_USEC_PER_SEC)
#define CONFIRMED     (1200 * RNA_USEC_PER_MSEC)
#define NO_NEIGHBOUR  (10 * RNA_USEC_PER_SEC) /* refused, and never answered, or not for long */
#define PEER_PATIENCE (10 * RNA_USEC_PER_SEC) /* after it was away: it is still starting */
#define RECENT_ANSWER (60 * RNA_USEC_PER_SEC)
#define SHARE_MAX     0.9
#define CHANCE        1e-6
#define DETOUR        (60 * RNA_USEC_PER_SEC)
#define SLOW          (60 * RNA_USEC_PER_SEC)
#define SEEN          (60 * RNA_USEC_PER_SEC)

/*
 * What a sound path loses. A link with one wrong bit in 1e12 loses one frame of 64 octets in 2e9;
 * 1e-5 leaves room for hosts.
 */
#define SOUND_LOSS 1e-5
/*
 * How improbable losses of a sound path have to be: with three windows of a port that are judged
 * anew each ten seconds, 1e-7 is a false verdict in some seven years of a port that really loses
 * SOUND_LOSS, which few do.
 */
#define NEXT_TO_IMPOSSIBLE 1e-7

/* Of the longest window as many as the ledger has. */
static const rna_usec windows[] = {
	30 * RNA_USEC_PER_SEC,
	120 * RNA_USEC_PER_SEC,
	RNA_PROBE_RECENT,
};

/* -- Losses ------------------------------------------------------------------------------------ */

/* The probability of so many events or more: Poisson. */
static double tail(uint64_t events, double expected)
{
	double term = exp(-expected), below = 0;

	if (events == 0)
		return 1;
	if (expected < 0.1) { /* 1 - below would be all rounding: the first term says enough */
		for (uint64_t i = 1; i <= events; i++)
			term *= expected / (double)i;
		return term;
	}
	for (uint64_t i = 0; i < events; i++) {
		below += term;
		term *= expected / (double)(i + 1);
	}
	return 1 - below;
}

bool rna_loss_is_real(uint64_t lost, uint64_t count)
{
	return lost > 1 && tail(lost, SOUND_LOSS * (double)count) < NEXT_TO_IMPOSSIBLE;
}

/* -- Pairs ------------------------------------------------------------------------------------- */

/* The peer has said that it runs, after the silence began, and was not away just before. */
static bool peer_is_well(const struct rna_peer_word *peer, rna_usec began, rna_usec now)
{
	if (!peer)
		return true;
	return peer->runs && peer->asked > began && peer->back > 0 &&
	       rna_usec_since(peer->back, now) >= PEER_PATIENCE;
}

/* Without those that are lost in a row until now. */
static double share_of_losses(const struct rna_ledger *ledger, rna_usec length)
{
	struct rna_probe_counts window = rna_ledger_window(ledger, length);
	uint64_t lost = window.lost > ledger->unanswered ? window.lost - ledger->unanswered : 0;

	return lost > 0 ? (double)lost / (double)(lost + window.answered) : 0;
}

/*
 * What a pair should lose if its way there is like its way here, on which some of the peer's own
 * probes have come since the last answer, and some have not. Of few, the estimate of Laplace.
 */
static double share_of_visits_missing(const struct rna_ledger *ledger)
{
	double missing = (double)ledger->visits_missing, all = missing + (double)ledger->visits;
	double share = (missing + 1) / (all + 2);

	return ledger->visits_missing > 0 ? 1 - (1 - share) * (1 - share) : 0;
}

/*
 * If one of several equal-cost paths loses everything, a pair loses a share of its probes, and some
 * in a row by chance. So the more a pair lost before, the longer nothing must come back: before
 * means in half a minute, or in two, in which a single run weighs less. In the first seconds only
 * the peer's probes show it, of which some arrive. The share is bounded, because a pair may have
 * lost everything while its peer was starting.
 */
static bool is_chance(const struct rna_ledger *ledger)
{
	double share =
		fmax(share_of_losses(ledger, windows[0]), share_of_losses(ledger, windows[1]));

	share = fmax(share, share_of_visits_missing(ledger));
	return pow(fmin(share, SHARE_MAX), ledger->unanswered) > CHANCE;
}

static rna_usec silence_began(const struct rna_ledger *ledger)
{
	return ledger->last_answer > 0 ? ledger->last_answer : ledger->first_sent;
}

bool rna_pair_is_confirmed(const struct rna_judged_pair *pair)
{
	return !pair->peer || (pair->peer->runs &&
			       pair->peer->asked > silence_began(pair->ledger) + RNA_PAIR_NOTICED);
}

/*
 * A host that stood still answers a question first, and its prober's answers, all late, are
 * reported within a second.
 */
static bool is_still_confirmed(const struct rna_judged_pair *pair, rna_usec now)
{
	return !pair->peer || (pair->ledger->confirmed > 0 &&
			       rna_usec_since(pair->ledger->confirmed, now) >= CONFIRMED);
}

/*
 * This host cannot send: it finds no neighbour, or no route. If it could a minute ago, that is
 * news; else, as after a boot, the kernel has had the time to find one.
 */
static bool is_refused(const struct rna_ledger *ledger, rna_usec now)
{
	bool news = ledger->last_answer > 0 &&
		    rna_usec_since(ledger->last_answer, ledger->refused_first) < RECENT_ANSWER;

	return ledger->refusal != 0 &&
	       rna_usec_since(ledger->refused_first, now) >= (news ? SILENCE : NO_NEIGHBOUR);
}

/* Nothing comes back, or this host cannot even send. */
static bool is_silent(const struct rna_judged_pair *pair, rna_usec now)
{
	const struct rna_ledger *ledger = pair->ledger;
	rna_usec began = silence_began(ledger);
	bool unanswered = ledger->unanswered >= RNA_LEDGER_RUN && began > 0 &&
			  rna_usec_since(began, now) >= SILENCE && !is_chance(ledger);

	return (is_refused(ledger, now) || unanswered) &&
	       peer_is_well(pair->peer, began + RNA_PAIR_NOTICED, now) &&
	       is_still_confirmed(pair, now);
}

static bool has_loss(const struct rna_judged_pair *pair, rna_usec now)
{
	bool real = false;

	for (size_t w = 0; w < RNA_ARRAY_SIZE(windows); w++) {
		struct rna_probe_counts window = rna_ledger_window(pair->ledger, windows[w]);

		real |= rna_loss_is_real(window.lost, window.lost + window.answered);
	}
	return real && peer_is_well(pair->peer, 0, now);
}

static bool is_slow(const struct rna_ledger *ledger, rna_usec now)
{
	return ledger->slow_since > 0 && rna_usec_since(ledger->slow_since, now) >= SLOW;
}

static bool has_detour(const struct rna_judged_pair *pair, rna_usec now)
{
	const struct rna_ledger *ledger = pair->ledger;

	return ledger->hops_usual != UNKNOWN && ledger->hops.length > 0 &&
	       ledger->hops.value < ledger->hops_usual && !pair->rail_moved &&
	       rna_usec_since(ledger->hops.since, now) >= DETOUR;
}

unsigned rna_pair_signs(const struct rna_judged_pair *pair, rna_usec now)
{
	const struct rna_ledger *ledger = pair->ledger;
	unsigned signs = 0;

	/* Between ports of this node: the network may not offer that path. */
	if (!pair->peer && !ledger->answered)
		return 0;
	if (is_silent(pair, now))
		return RNA_PROBE_SILENT; /* all else is of the time before */
	if (ledger->hole.found)
		signs |= RNA_PROBE_MTU_HOLE;
	if (has_loss(pair, now))
		signs |= RNA_PROBE_LOSS;
	if (is_slow(ledger, now))
		signs |= RNA_PROBE_SLOW;
	if (ledger->dscp.found)
		signs |= RNA_PROBE_DSCP;
	if (has_detour(pair, now))
		signs |= RNA_PROBE_DETOUR;
	return signs;
}

/* The recent round trips of a pair. */
struct trips {
	uint64_t low; /* a tenth of them are faster */
	uint64_t median;
};

/*
 * By half, and so do all but the fastest tenth. others: their median; 0: there is nothing to
 * compare with.
 */
static bool exceeds(struct trips trips, uint64_t others)
{
	return others == 0 || (trips.median > others + others / 2 && trips.low > others);
}

/*
 * A longer or slower path delays each probe. A busy host, or bursts of other traffic, delay many of
 * them and let some through as fast as ever: these do not count, however high the median is.
 *
 * The paths of a port share its queue: when a job fills it, all are slower. So a port is compared
 * with its siblings only where no queue explains it.
 */
bool rna_pair_is_slower(const struct rna_judged_pair *pair)
{
	const struct rna_ledger *ledger = pair->ledger;
	const uint64_t extra = pair->hardware_times ? SLOW_EXTRA : SLOW_EXTRA_OF_HOST;
	struct trips trips = {.median = rna_ledger_rtt(ledger, 50)};

	if (trips.median == 0 || ledger->usual == 0 || trips.median <= 2 * ledger->usual + extra)
		return false;
	trips.low = rna_ledger_rtt(ledger, 10);
	if (trips.low <= ledger->usual + extra)
		return false;
	return exceeds(trips, pair->rail_median) ||
	       (trips.median > ledger->usual + QUEUES && exceeds(trips, pair->node_median));
}

/* -- Ports ------------------------------------------------------------------------------------- */

/*
 * All pairs are silent, at least two of them, and one of their peers at least answers another port
 * of this node: so neither is this host at fault, nor are the peers.
 */
static bool is_unreachable(const struct rna_port_evidence *pairs, size_t count,
			   struct rna_port_verdict *verdict)
{
	bool others = false;
	unsigned unanswered = 0;

	for (size_t i = 0; i < count; i++) {
		if (!pairs[i].judged)
			continue;
		verdict->judged++;
		verdict->bad += (pairs[i].signs & RNA_PROBE_SILENT) != 0;
		others |= pairs[i].peer_has_others;
		/* What this host cannot send is not lost on one of several paths. */
		unanswered += pairs[i].ledger->refusal != 0 ? SILENT_OF_PORT
							    : pairs[i].ledger->unanswered;
	}
	return verdict->judged >= 2 && verdict->bad == verdict->judged && others &&
	       unanswered >= SILENT_OF_PORT;
}

/*
 * Losses of one pair alone may be of its peer; those of several are of what they share. But if no
 * other pair answers, none says that the port is well.
 */
static bool is_lossy(const struct rna_port_evidence *pairs, size_t count,
		     struct rna_port_verdict *verdict)
{
	for (size_t w = 0; w < RNA_ARRAY_SIZE(windows); w++) {
		struct rna_probe_counts sum = {0};
		unsigned bad = 0, judged = 0, signs = 0;

		for (size_t i = 0; i < count; i++) {
			struct rna_probe_counts own;

			if (!pairs[i].judged || (pairs[i].signs & RNA_PROBE_SILENT))
				continue;
			own = rna_ledger_window(pairs[i].ledger, windows[w]);
			rna_probe_counts_merge(&sum, &own);
			bad += own.lost > 0;
			signs |= pairs[i].signs;
			judged++;
		}
		verdict->window = sum;
		verdict->length = windows[w];
		if (!rna_loss_is_real(sum.lost, sum.lost + sum.answered) ||
		    PAIRS_SHARE * bad < judged ||
		    (bad < 2 && (judged > 1 || !(signs & RNA_PROBE_LOSS))))
			continue;
		verdict->bad = bad;
		verdict->judged = judged;
		return true;
	}
	return false;
}

/* Of the probes of the last minute, less is known than not: that it is well was not seen. */
static bool is_unseen(const struct rna_port_evidence *pairs, size_t count)
{
	struct rna_probe_counts sum = {0};

	for (size_t i = 0; i < count; i++) {
		struct rna_probe_counts own = rna_ledger_window(pairs[i].ledger, SEEN);

		if (pairs[i].judged)
			rna_probe_counts_merge(&sum, &own);
	}
	return sum.voided + sum.missed > sum.answered + sum.lost;
}

struct rna_port_verdict rna_port_judge(const struct rna_port_evidence *pairs, size_t count)
{
	struct rna_port_verdict verdict = {.verdict = RNA_PROBE_UNKNOWN};

	if (is_unreachable(pairs, count, &verdict)) {
		verdict.verdict = RNA_PROBE_UNREACHABLE;
	} else if (is_lossy(pairs, count, &verdict)) {
		verdict.verdict = RNA_PROBE_LOSSY;
	} else if (verdict.window.answered >= ANSWERS_OF_SOUND && !is_unseen(pairs, count)) {
		verdict.verdict = RNA_PROBE_WELL;
	}
	return verdict;
}
