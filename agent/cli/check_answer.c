// SPDX-License-Identifier: Apache-2.0
#include "check_answer.h"

#include <errno.h>

#include "loop/collector_sets.h"

enum { OLD_PERIODS = 2 /* of views; older data is not the present state */ };

int rna_check_answer_read(const struct rna_strbuf *json, struct rna_arena *arena,
			  struct rna_check *ret, struct rna_error *error)
{
	int status =
		arena && json->data ? rna_read_check(json->data, json->len, arena, ret) : -ENOMEM;

	if (status < 0)
		return rna_error_set(error, status, "cannot read the reply of the agent");
	ret->now = rna_clock_now().realtime;
	return 0;
}

int rna_check_answer_is_new(const struct rna_check *check, const struct rna_settings *settings,
			    bool far, struct rna_error *error)
{
	rna_usec limit = OLD_PERIODS * RNA_VIEW_PERIOD + settings->poll_deadline;
	rna_usec age = rna_usec_since(check->time, check->now);

	if (check->time == 0 || age <= limit)
		return 0;
	return rna_error_say(error, -ESTALE, "the data of the agent is %.0f s old%s",
			     rna_seconds(age), far ? ", by the clock of this machine" : "");
}
