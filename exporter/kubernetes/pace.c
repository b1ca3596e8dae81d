// SPDX-License-Identifier: Apache-2.0
#include "pace.h"

/* The most that a server may ask us to wait. */
#define AT_LEAST_MAX (10 * 60 * RNA_USEC_PER_SEC)

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

void rna_pace_init(struct rna_pace *pace, const struct rna_pace_limits *limits, uint64_t seed)
{
	const unsigned burst = limits->burst ? limits->burst : RNA_PACE_BURST;
	const unsigned reserve = limits->reserve ? limits->reserve : RNA_PACE_RESERVE;

	*pace = (struct rna_pace){
		.limits = *limits,
		.random = seed,
		.change = RNA_USEC_NEVER,
		.look = RNA_USEC_NEVER,
		.resync = RNA_USEC_NEVER,
		.heartbeat = RNA_USEC_NEVER,
		.common = {.most = burst, .tokens = burst},
		.reserve = {.most = reserve, .tokens = reserve},
	};
	if (pace->limits.refill == 0)
		pace->limits.refill = RNA_PACE_REFILL;
}

void rna_pace_start(struct rna_pace *pace, rna_usec now)
{
	if (pace->limits.look > 0)
		pace->look = now + rna_pace_random(&pace->random, pace->limits.first_delay);
}

static rna_usec earlier_of(rna_usec a, rna_usec b)
{
	return a < b ? a : b;
}

/* What is first takes along a change that already waits; drawn once, for a second draw hurries. */
void rna_pace_want(struct rna_pace *pace, struct rna_pace_news news, rna_usec now)
{
	bool first = news.first || !pace->has_written;
	rna_usec spread = first ? pace->limits.first_delay : pace->limits.spread;

	pace->urgent = news.urgent;
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

/* When there is a token. */
static rna_usec token_time(const struct rna_pace_bucket *bucket)
{
	return bucket->tokens > 0 ? 0 : bucket->refill;
}

/* When the change may be written: not before there is a token for it. */
static rna_usec change_time(const struct rna_pace *pace)
{
	rna_usec token = token_time(&pace->common);

	if (pace->urgent)
		token = earlier_of(token, token_time(&pace->reserve));
	return pace->change == RNA_USEC_NEVER || pace->change > token ? pace->change : token;
}

bool rna_pace_is_spent(const struct rna_pace *pace, rna_usec now)
{
	return pace->change != RNA_USEC_NEVER && change_time(pace) > now &&
	       change_time(pace) != pace->change;
}

rna_usec rna_pace_next(const struct rna_pace *pace)
{
	return earlier_of(earlier_of(change_time(pace), pace->look),
			  earlier_of(pace->resync, pace->heartbeat));
}

/* A first change does not wait for the first look: the Node may have what an earlier agent left. */
struct rna_pace_due rna_pace_due(const struct rna_pace *pace, rna_usec now)
{
	bool change = change_time(pace) <= now;

	return (struct rna_pace_due){
		.change = change,
		.look = pace->look <= now || (change && !pace->has_looked),
		.resync = pace->resync <= now,
		.heartbeat = pace->heartbeat <= now,
	};
}

static void refill(struct rna_pace_bucket *bucket, rna_usec period, rna_usec now)
{
	while (bucket->tokens < bucket->most && bucket->refill <= now) {
		bucket->tokens++;
		bucket->refill += period;
	}
}

/* False: there is none. */
static bool spend(struct rna_pace_bucket *bucket, rna_usec period, rna_usec now)
{
	refill(bucket, period, now);
	if (bucket->tokens == 0)
		return false;
	if (bucket->tokens == bucket->most)
		bucket->refill = now + period;
	bucket->tokens--;
	return true;
}

void rna_pace_begin(struct rna_pace *pace, const struct rna_pace_due *due, rna_usec now)
{
	bool all = due->resync || (due->change && !pace->has_written);

	if (due->change) {
		if (!spend(&pace->common, pace->limits.refill, now))
			(void)spend(&pace->reserve, pace->limits.refill, now);
		drop_change(pace);
		pace->has_written = true;
	}
	if (due->look) {
		pace->look = random_time_around(pace, pace->limits.look, now);
		pace->has_looked = true;
	}
	if (all)
		pace->resync = random_time_around(pace, pace->limits.resync, now);
	if (all || due->heartbeat)
		pace->heartbeat = random_time_around(pace, pace->limits.heartbeat, now);
}

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
