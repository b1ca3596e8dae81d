// SPDX-License-Identifier: Apache-2.0
/* What events are made of: the debounce, with a clock of our own; the real monitor of rtnetlink, in
 * a network namespace of our own; drivers that may be held; histograms. */
#include <errno.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <cmocka.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>

#include "rna/base/histogram.h"
#include "rna/monitor.h"
#include "rna/verbs_events.h"

#include "loop/debounce.h"

#define MSEC RNA_USEC_PER_MSEC

/* -- Debounce ---------------------------------------------------------------------------------- */

enum { QUIET = 20 * 1000, LONGEST = 250 * 1000 };

static void test_one_event_waits_for_quiet(void **state)
{
	struct rna_debounce debounce = {0};

	(void)state;
	assert_int_equal(rna_debounce_add(&debounce, QUIET, LONGEST, 1000 * MSEC), 1020 * MSEC);
	assert_int_equal(rna_debounce_add(&debounce, QUIET, LONGEST, 1015 * MSEC), 1035 * MSEC);
}

/* An event each millisecond, for ever: it is acted upon every 250 ms. */
static void test_a_storm_is_acted_upon(void **state)
{
	struct rna_debounce debounce = {0};
	rna_usec due = 0;
	unsigned acted = 0;

	(void)state;
	for (rna_usec now = 1000 * MSEC; now < 11 * RNA_USEC_PER_SEC; now += MSEC) {
		if (due > 0 && now >= due) {
			rna_debounce_reset(&debounce);
			acted++;
		}
		due = rna_debounce_add(&debounce, QUIET, LONGEST, now);
		assert_true(due >= now && due <= now + QUIET);
	}
	assert_in_range(acted, 39, 40);
}

static void test_quiet_may_be_longer_than_the_longest(void **state)
{
	struct rna_debounce debounce = {0};

	(void)state;
	assert_int_equal(rna_debounce_add(&debounce, LONGEST, QUIET, 5 * MSEC), 25 * MSEC);
}

/* -- The monitor ------------------------------------------------------------------------------- */

struct heard {
	unsigned links;
	unsigned addresses;
	unsigned others; /* of another interface than lo */
};

static void hear(const struct rna_link_event *event, void *userdata)
{
	struct heard *heard = userdata;

	heard->others += event->ifindex != 1;
	*(event->address ? &heard->addresses : &heard->links) += 1;
}

static void set_up(int fd, bool up)
{
	struct ifreq request = {.ifr_name = "lo", .ifr_flags = up ? IFF_UP : 0};

	assert_int_equal(ioctl(fd, SIOCSIFFLAGS, &request), 0);
}

/* A namespace has lo, and it is down; the test stays in it. */
static void enter_namespace(void)
{
	if (unshare(CLONE_NEWNET) < 0 && unshare(CLONE_NEWUSER | CLONE_NEWNET) < 0)
		skip();
}

static void test_the_kernel_tells_of_interfaces(void **state)
{
	RNA_CLOSE int control = -1, monitor = -1;
	struct rna_error error;
	struct heard heard = {0};

	(void)state;
	enter_namespace();
	control = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	monitor = rna_link_monitor_open(&error);
	assert_true(monitor >= 0);
	assert_int_equal(rna_link_monitor_read(monitor, hear, &heard), 0);
	set_up(control, true);
	assert_true(rna_link_monitor_read(monitor, hear, &heard) > 0);
	assert_true(heard.links >= 1);
	assert_true(heard.addresses >= 1); /* 127.0.0.1 comes with it */
	assert_int_equal(heard.others, 0);
	assert_int_equal(rna_link_monitor_read(monitor, hear, &heard), 0);
}

static void test_a_loss_is_told_once_and_the_rest_is_read(void **state)
{
	RNA_CLOSE int control = -1, monitor = -1;
	struct rna_error error;
	struct heard heard = {0};
	unsigned losses = 0;
	int ret;

	(void)state;
	enter_namespace();
	control = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	monitor = rna_link_monitor_open(&error);
	assert_true(monitor >= 0);
	for (int i = 0; i < 4000; i++)
		set_up(control, i % 2 == 0);
	while ((ret = rna_link_monitor_read(monitor, hear, &heard)) != 0) {
		losses += ret == -ENOBUFS;
		assert_true(ret > 0 || ret == -ENOBUFS);
	}
	assert_int_equal(losses, 1);
	assert_true(heard.links > 100);
	set_up(control, true);
	assert_true(rna_link_monitor_read(monitor, hear, &heard) > 0);
}

/* Others may send to our address; only the kernel is listened to. */
static void test_only_the_kernel_is_believed(void **state)
{
	RNA_CLOSE int monitor = -1, liar = -1;
	struct sockaddr_nl to = {0}, self = {.nl_family = AF_NETLINK};
	socklen_t len = sizeof(to);
	struct {
		struct nlmsghdr header;
		struct ifinfomsg link;
	} lie = {{.nlmsg_len = sizeof(lie), .nlmsg_type = RTM_NEWLINK}, {.ifi_index = 1}};
	struct rna_error error;
	struct heard heard = {0};

	(void)state;
	enter_namespace();
	monitor = rna_link_monitor_open(&error);
	assert_int_equal(getsockname(monitor, (struct sockaddr *)&to, &len), 0);
	to.nl_groups = 0;
	liar = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	assert_int_equal(bind(liar, (struct sockaddr *)&self, sizeof(self)), 0);
	if (sendto(liar, &lie, sizeof(lie), 0, (struct sockaddr *)&to, sizeof(to)) < 0)
		skip(); /* not even that is allowed */
	assert_int_equal(rna_link_monitor_read(monitor, hear, &heard), 0);
	assert_int_equal(heard.links, 0);
}

/* -- The rest ---------------------------------------------------------------------------------- */

static void test_who_may_be_held(void **state)
{
	(void)state;
	assert_true(rna_verbs_lets_go("mlx5_core"));
	assert_true(rna_verbs_lets_go("ice"));
	assert_false(rna_verbs_lets_go("efa"));
	assert_false(rna_verbs_lets_go("bnxt_en"));
	assert_false(rna_verbs_lets_go(NULL)); /* rxe and siw sit on no function */
}

static void test_histogram(void **state)
{
	struct rna_histogram histogram = {0};

	(void)state;
	rna_histogram_add(&histogram, 0);
	rna_histogram_add(&histogram, 1 * MSEC);
	rna_histogram_add(&histogram, 1 * MSEC + 1);
	rna_histogram_add(&histogram, 10 * RNA_USEC_PER_SEC);
	rna_histogram_add(&histogram, 11 * RNA_USEC_PER_SEC);
	assert_int_equal(histogram.counts[0], 2);
	assert_int_equal(histogram.counts[1], 1);
	assert_int_equal(histogram.counts[RNA_HISTOGRAM_BOUNDS - 1], 1);
	assert_int_equal(histogram.counts[RNA_HISTOGRAM_BOUNDS], 1);
	assert_int_equal(histogram.sum, 21 * RNA_USEC_PER_SEC + 2 * MSEC + 1);
	rna_histogram_merge(&histogram, &(struct rna_histogram){.counts = {1, 2}, .sum = 5});
	assert_int_equal(histogram.counts[0], 3);
	assert_int_equal(histogram.counts[1], 3);
	assert_int_equal(histogram.sum, 21 * RNA_USEC_PER_SEC + 2 * MSEC + 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_event_waits_for_quiet),
		cmocka_unit_test(test_a_storm_is_acted_upon),
		cmocka_unit_test(test_quiet_may_be_longer_than_the_longest),
		cmocka_unit_test(test_the_kernel_tells_of_interfaces),
		cmocka_unit_test(test_a_loss_is_told_once_and_the_rest_is_read),
		cmocka_unit_test(test_only_the_kernel_is_believed),
		cmocka_unit_test(test_who_may_be_held),
		cmocka_unit_test(test_histogram),
	};

	return cmocka_run_group_tests_name("events", tests, NULL, NULL);
}
