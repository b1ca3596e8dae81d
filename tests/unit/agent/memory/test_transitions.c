// SPDX-License-Identifier: Apache-2.0
/* agent/memory/history.c: who saw which downs, and how many there were. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "rna/base/cleanup.h"

#include "memory/history.h"

enum { EVENTS_MAX = 12, MSEC = 1000 };

/*
 * What becomes known, one word each, in the order in which it is published:
 *   U D ?   the state was read: up, down, unreadable
 *   cN      the interface's carrier was lost N times so far
 *   lN      link_downed is N
 *   G       the device is gone
 *   R       the device is registered anew; what is known of it is void
 *   I       another interface serves the port
 * @T behind a word: it was read at T, in milliseconds (without: 1000 more than the word before);
 * +T: reading took T milliseconds until then (without: 10).
 */
struct timeline {
	const char *name;
	const char *words;
	unsigned downs, ups;
	unsigned told; /* downs of them that only a counter knew */
};

struct player {
	struct rna_port_track track;
	struct rna_port_reading look;
	uint64_t interface;
	rna_usec now;
	unsigned told;
};

static void read_times(struct player *player, const char *word, struct rna_span_of_time *ret)
{
	const char *at = strchr(word, '@'), *took = strchr(word, '+');
	rna_usec duration = (took ? strtoull(took + 1, NULL, 10) : 10) * MSEC;

	player->now = at ? strtoull(at + 1, NULL, 10) * MSEC : player->now + 1000 * MSEC;
	ret->taken = (struct rna_time){player->now, player->now + RNA_USEC_PER_SEC * 1000000};
	ret->started = player->now - duration;
}

static void tell(struct player *player, enum rna_down_counter_id id, const char *word)
{
	struct rna_down_reading *read = &player->look.counters[id];

	read->downs = rna_value_ok(strtoull(word + 1, NULL, 10));
	if (read->downs.number == 255)
		read->downs.state = RNA_VALUE_SATURATED;
	read->of = id == RNA_DOWN_COUNTER_CARRIER ? player->interface : player->look.generation;
	read_times(player, word, &read->when);
}

static void play_word(struct player *player, const char *word)
{
	struct rna_port_reading *reading = &player->look;

	switch (*word) {
	case 'c':
		tell(player, RNA_DOWN_COUNTER_CARRIER, word);
		break;
	case 'l':
		tell(player, RNA_DOWN_COUNTER_LINK, word);
		break;
	case 'I':
		player->interface++;
		break;
	case 'R':
		reading->generation++;
		reading->up = (struct rna_value){0};
		memset(reading->counters, 0, sizeof(reading->counters));
		__attribute__((fallthrough));
	default:
		reading->present = *word != 'G';
		if (*word == 'U' || *word == 'D')
			reading->up = rna_value_ok(*word == 'U');
		if (*word == '?')
			reading->up = rna_value_unreadable();
		read_times(player, word, &reading->when);
	}
}

static void check_steps(struct player *player, const struct rna_port_transition *transitions,
			size_t count)
{
	assert_true(count <= RNA_PORT_TRANSITIONS_MAX);
	for (size_t i = 0; i < count; i++) {
		assert_true(transitions[i].count > 0);
		assert_true(transitions[i].time.monotonic > 0 && transitions[i].time.realtime > 0);
		if (i > 0) /* they alternate */
			assert_true(transitions[i].up != transitions[i - 1].up);
		assert_int_equal(transitions[i].source == RNA_SOURCE_COUNTER,
				 transitions[i].sighting == RNA_SIGHTING_COUNTED);
		if (transitions[i].sighting == RNA_SIGHTING_COUNTED && !transitions[i].up)
			player->told += (unsigned)transitions[i].count;
	}
	if (count > 0) {
		assert_int_equal(transitions[count - 1].up, player->track.up);
		assert_int_equal(transitions[count - 1].time.realtime,
				 player->track.history.last.realtime);
	}
}

static void play(const struct timeline *timeline)
{
	struct player player = {.look = {.generation = 7, .source = RNA_SOURCE_POLL}};
	char words[256], *rest = words, *word;

	assert_true(strlen(timeline->words) < sizeof(words));
	(void)strcpy(words, timeline->words);
	while ((word = strsep(&rest, " "))) {
		struct rna_port_transition transitions[RNA_PORT_TRANSITIONS_MAX];

		play_word(&player, word);
		check_steps(&player, transitions,
			    rna_port_track_follow(&player.track, &player.look, transitions));
	}
	if (player.track.history.downs != timeline->downs ||
	    player.track.history.ups != timeline->ups || player.told != timeline->told)
		fail_msg("%s: %ju down, %ju up, %u told; expected %u, %u, %u", timeline->name,
			 (uintmax_t)player.track.history.downs, (uintmax_t)player.track.history.ups,
			 player.told, timeline->downs, timeline->ups, timeline->told);
}

static void test_timelines(void **state)
{
	static const struct timeline timelines[] = {
		{"nothing happens", "U c3 l1 U U c3 l1 U U", 0, 0, 0},
		{"the first look is no transition", "D", 0, 0, 0},
		{"down and up, seen", "U D U", 1, 1, 0},
		{"down stays one down", "U D D D", 1, 0, 0},
		{"up from the start on", "D U", 0, 1, 0},
		{"unreadable is no down", "U ? ? U", 0, 0, 0},
		{"down behind an unreadable look", "U ? D", 1, 0, 0},

		{"one down, three who saw it", "U c3 l1 D c4 l2 D U", 1, 1, 0},
		{"the same, told before the next look", "U c3 l1 c4 l2 D U U", 1, 1, 0},
		{"the same, told ten seconds later", "U c3 l1 D U U U U c4 U l2 U U", 1, 1, 0},
		{"a down that link_downed does not see, and a flap that it does",
		 "U c3 l1 D c4 U U l1 U U l2 U", 2, 2, 1},
		{"two counters, one of them late",
		 "U@1000 c3@1500 l1@1501 U@2000 c4@3000 l1@3001 U@4000 c4@5000 l2@5001 U@6000", 1,
		 1, 1},
		{"an administrator's down and up", "U c3 D D c4 D U U c4 U", 1, 1, 0},

		{"an unobserved flap", "U c3 U c4 U", 1, 1, 1},
		{"two unobserved flaps", "U c3 U c5 U", 2, 2, 2},
		{"a flap that two told", "U c3 l1 U c4 l2 U", 1, 1, 1},
		{"a flap that two told, apart", "U c3 l1 U c4 U l2 U U", 1, 1, 1},
		{"two flaps, each told by another one", "U c3 l1 U c4 U U l1 U U c4 U l2 U", 2, 2,
		 2},
		{"a flap while it was down", "D c3 D c4 D", 1, 1, 1},
		{"a flap, and a down that was seen", "U c3 U c5 D U", 2, 2, 1},
		{"three, one of them seen", "U c3 U D U c6 U", 3, 3, 2},
		{"a flap behind downs that link_downed does not see",
		 "U l1 D U D U D U l1 U U l2 U U", 4, 4, 1},
		{"the same, at once", "U l1 D U D U l1 U l2 U", 3, 3, 1},

		{"read before the look, published after it",
		 "U@1000 c3@1500 D@3000 c3@2990 U@4000 c4@4500 U@5000", 1, 1, 0},
		{"read in the middle of the look", "U@1000 c3@1500 D@3000+500 c4@2800 U@4000", 1, 1,
		 0},
		{"a slow reading that may have it or not",
		 "U@1000 l1@1500 D@3000 U@4000 l1@4500+3000 U@5000 l2@6000 U@7000", 1, 1, 0},
		{"waiting for the state to be read", "U c3 c4 ? ? ? D U", 1, 1, 0},

		{"another interface counts anew", "U c3 U I c9 U c9 U", 0, 0, 0},
		{"a counter that was reset", "U l9 U l0 U l1 U", 1, 1, 1},
		{"a counter at its end", "U l254 U l255 U l255 U D U l255 U", 2, 2, 1},

		{"the device goes and comes back", "U c3 l1 G G R U c0 l0 U c0 l0 U", 1, 1, 0},
		{"it comes back with other numbers", "U c3 l1 G R U c7 l9 U c7 l9 U", 1, 1, 0},
		{"an unobserved reload", "U c3 l5 R U c0 l0 U", 1, 1, 0},
		{"a reload while it was down", "D R D U", 0, 1, 0},
		{"gone while it was down", "U D G R U", 1, 1, 0},
		{"gone for good", "U G G G", 1, 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(timelines); i++)
		play(&timelines[i]);
}

/* Whatever is read when: with a counter that sees all, each down is counted once in the end. */
static void test_any_order(void **state)
{
	enum { ROUNDS = 2000, SECONDS = 40 };
	unsigned seed = 4711;

	(void)state;
	for (unsigned round = 0; round < ROUNDS; round++) {
		struct player player = {.look = {.present = true, .generation = 1}};
		rna_usec look = 0, tell = 0, flip = 0;
		unsigned downs = 0;
		bool up = true;

		for (rna_usec now = 1; now < SECONDS * 1000; now++) {
			struct rna_port_transition transitions[RNA_PORT_TRANSITIONS_MAX];
			struct rna_span_of_time when = {now * MSEC - 1, {now * MSEC, now * MSEC}};
			bool last = now > (SECONDS - 5) * 1000;

			if (now >= flip && !last) {
				up = now == 1 || !up;
				downs += !up;
				flip = now + 1 + (rna_usec)rand_r(&seed) % 4000;
			}
			if (now >= look) {
				player.look.up = rna_value_ok(up);
				player.look.when = when;
				look = now + 1000;
			}
			if (now >= tell) {
				player.look.counters[0] =
					(struct rna_down_reading){rna_value_ok(downs), 1, when};
				tell = now + 1 + (rna_usec)rand_r(&seed) % 3000;
			}
			if (now % 10 == 1) /* published now and then */
				check_steps(&player, transitions,
					    rna_port_track_follow(&player.track, &player.look,
								  transitions));
		}
		if (player.track.history.downs != downs)
			fail_msg("round %u: %ju downs counted, there were %u", round,
				 (uintmax_t)player.track.history.downs, downs);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_timelines),
		cmocka_unit_test(test_any_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
