// SPDX-License-Identifier: Apache-2.0
#include "pace.h"

/* The most that a server may ask us to wait. */
#define AT_LEAST_MAX (10 * 60 * RNA_USEC_PER_SEC)
/* Of a glance, at most; at least half of it. */
#define GLANCE (60 * RNA_USEC_PER_SEC)

/* splitmix64 (Steele, Lea, Flood 2014): any state is good, and near seeds give far numbers. */
uint64_t rna_pace_random(uint64_t *random, uint64_t below)
{
	uint64_t z = *random += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	z ^= z >> 31;
	return below ? z % below : 0; /* below is far from 2^64: no bias that matters */
}

/* Half to one and a half of period. */
static rna_usec random_time_around(struct rna_pace *pace, rna_usec period, rna_usec now)
{
	if (period == 0)
		return RNA_USEC_NEVER;
	return now + period / 2 + rna_pace_random(&pace->random, period);
}

void rna_pace_init(struct rna_pace *pace, const struct rna_kubernetes_options *options,
		   uint64_t seed)
{
	*pace = (struct rna_pace){
		.options = options,
		.random = seed,
		.change = RNA_USEC_NEVER,
		.look = RNA_USEC_NEVER,
		.glance = RNA_USEC_NEVER,
		.resync = RNA_USEC_NEVER,
		.heartbeat = RNA_USEC_NEVER,
	};
}

void rna_pace_start(struct rna_pace *pace, rna_usec now)
{
	if (pace->options->look > 0)
		pace->look = now + rna_pace_random(&pace->random, pace->options->first_delay);
}

static rna_usec earlier_of(rna_usec a, rna_usec b)
{
	return a < b ? a : b;
}

/* What is first takes along a change that already waits; drawn once, for a second draw hurries. */
void rna_pace_want(struct rna_pace *pace, bool urgent, bool first, rna_usec now)
{
	rna_usec spread;

	first |= !pace->has_written;
	spread = first ? pace->options->first_delay : pace->options->spread;
	pace->urgent = urgent;
	if (pace->change != RNA_USEC_NEVER && (pace->first || !first))
		return;
	pace->first = first;
	pace->change = earlier_of(pace->change, now + rna_pace_random(&pace->random, spread));
}

static void drop_change(struct rna_pace *pace)
{
	pace->change = RNA_USEC_NEVER;
	pace->first = false;
}

void rna_pace_forget(struct rna_pace *pace)
{
	if (pace->has_written)
		drop_change(pace);
}

static rna_usec draw_glance(struct rna_pace *pace, rna_usec now)
{
	return now + GLANCE / 2 + rna_pace_random(&pace->random, GLANCE / 2);
}

void rna_pace_glance(struct rna_pace *pace, bool tainted, rna_usec now)
{
	if (!tainted || pace->options->look == 0)
		pace->glance = RNA_USEC_NEVER;
	else if (pace->glance == RNA_USEC_NEVER)
		pace->glance = draw_glance(pace, now);
}

/* -- Tokens ------------------------------------------------------------------------------------ */

/* When there is a token, of count that are all back at whole. */
static rna_usec token_time(const struct rna_pace *pace, rna_usec whole, unsigned count)
{
	return rna_usec_since((count - 1) * pace->options->refill, whole);
}

static rna_usec budget_time(const struct rna_pace *pace)
{
	return token_time(pace, pace->budget, pace->options->burst);
}

static rna_usec reserve_time(const struct rna_pace *pace)
{
	return token_time(pace, pace->reserve, pace->options->reserve);
}

/* The reserve only behind the others; where neither has one, none is spent. */
static void spend(struct rna_pace *pace, rna_usec now)
{
	rna_usec *whole = NULL;

	if (budget_time(pace) <= now)
		whole = &pace->budget;
	else if (reserve_time(pace) <= now)
		whole = &pace->reserve;
	if (whole)
		*whole = (*whole > now ? *whole : now) + pace->options->refill;
}

/* -- What is due ------------------------------------------------------------------------------- */

/* When the change may be written: not before there is a token for it. */
static rna_usec change_time(const struct rna_pace *pace)
{
	rna_usec token = budget_time(pace);

	if (pace->urgent)
		token = earlier_of(token, reserve_time(pace));
	return pace->change > token ? pace->change : token;
}

bool rna_pace_is_spent(const struct rna_pace *pace, rna_usec now)
{
	return change_time(pace) > now && change_time(pace) != pace->change;
}

rna_usec rna_pace_next(const struct rna_pace *pace)
{
	return earlier_of(earlier_of(change_time(pace), earlier_of(pace->look, pace->glance)),
			  earlier_of(pace->resync, pace->heartbeat));
}

/* A first change does not wait for the first look: the Node may have what an earlier agent left. */
unsigned rna_pace_take(struct rna_pace *pace, rna_usec now)
{
	bool change = change_time(pace) <= now;
	bool look = pace->look <= now || (change && !pace->has_looked);
	bool glance = pace->glance <= now;
	bool resync = pace->resync <= now;
	bool heartbeat = pace->heartbeat <= now;
	bool all = resync || (change && !pace->has_written);

	if (change) {
		spend(pace, now);
		drop_change(pace);
		pace->has_written = true;
	}
	if (look) {
		pace->look = random_time_around(pace, pace->options->look, now);
		pace->has_looked = true;
	}
	if (glance)
		pace->glance = draw_glance(pace, now);
	if (all)
		pace->resync = random_time_around(pace, pace->options->resync, now);
	if (all || heartbeat)
		pace->heartbeat = random_time_around(pace, pace->options->heartbeat, now);
	return (change ? RNA_PACE_CHANGE : 0) | (look ? RNA_PACE_LOOK : 0) |
	       (glance ? RNA_PACE_GLANCE : 0) | (resync ? RNA_PACE_RESYNC : 0) |
	       (heartbeat ? RNA_PACE_HEARTBEAT : 0);
}

/* -- Trouble ----------------------------------------------------------------------------------- */

void rna_wait_longer(struct rna_wait *wait, rna_usec longest, rna_usec at_least, uint64_t *random,
		     rna_usec now)
{
	rna_usec most = RNA_WAIT_FIRST;

	for (unsigned i = 0; i <= wait->failures && most < longest; i++)
		most *= 2;
	if (most > longest)
		most = longest;
	wait->failures++;
	wait->until = now + earlier_of(at_least, AT_LEAST_MAX) + RNA_WAIT_FIRST +
		      rna_pace_random(random, most - RNA_WAIT_FIRST);
}
