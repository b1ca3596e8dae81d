// SPDX-License-Identifier: Apache-2.0
#include "liveness.h"

#include <systemd/sd-daemon.h>
#include <time.h>

#include "rna/base/log.h"

#define INTERVAL_MAX (10 * RNA_USEC_PER_SEC)

enum {
	CHECKS = 4,     /* in the time that the watchdog has, at least */
	MISSED_MAX = 3, /* a check may fail because the machine is busy */
};

static void give_up(struct rna_liveness *liveness)
{
	rna_log_error("HTTP clients are neither accepted nor answered; the watchdog of systemd is "
		      "not fed any more, so that it restarts the agent");
	(void)sd_event_set_watchdog(liveness->event, false); /* if it fails, there is none */
}

static void recover(struct rna_liveness *liveness)
{
	rna_log_notice("HTTP clients are answered again");
	(void)sd_event_set_watchdog(liveness->event, true); /* if it fails, systemd restarts us */
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct rna_liveness *liveness = userdata;
	bool alive = rna_http_check(liveness->server->http);

	(void)usec;
	if (alive && liveness->missed >= MISSED_MAX)
		recover(liveness);
	liveness->missed = alive ? 0 : liveness->missed + 1;
	if (liveness->missed == MISSED_MAX)
		give_up(liveness);
	(void)sd_event_source_set_time_relative(source, liveness->interval);
	return 0; /* a timer that was due stays armed: it fires again at once */
}

static rna_usec choose_interval(void)
{
	uint64_t watchdog = 0;

	if (sd_watchdog_enabled(false, &watchdog) <= 0 || watchdog / CHECKS > INTERVAL_MAX)
		return INTERVAL_MAX;
	return watchdog / CHECKS;
}

int rna_liveness_start(struct rna_liveness *liveness, sd_event *event, struct rna_server *server,
		       struct rna_error *error)
{
	int ret = sd_event_set_watchdog(event, true);

	*liveness = (struct rna_liveness){.event = event,
					  .server = server,
					  .interval = choose_interval()};
	if (ret == 0)
		return 0; /* without a watchdog, a check would be in vain */
	if (ret > 0)
		ret = sd_event_add_time_relative(event, &liveness->timer, CLOCK_MONOTONIC,
						 liveness->interval, 0, on_timer, liveness);
	/* after answers that are due, which a busy machine may delay as well */
	if (ret >= 0)
		ret = sd_event_source_set_priority(liveness->timer, SD_EVENT_PRIORITY_NORMAL + 1);
	if (ret >= 0)
		ret = sd_event_source_set_enabled(liveness->timer, SD_EVENT_ON);
	return ret < 0 ? rna_error_set(error, ret, "cannot feed the watchdog") : 0;
}

void rna_liveness_stop(struct rna_liveness *liveness)
{
	liveness->timer = sd_event_source_disable_unref(liveness->timer);
}
