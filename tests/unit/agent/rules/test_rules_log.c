// SPDX-License-Identifier: Apache-2.0
/*
 * agent/rules/rules_log.c and agent/episodes: what the kernel log says becomes findings, and ends
 * by what is seen afterwards. Timelines with a clock of their own.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "rna/model/log_match.h"

#include "health_fixture.h"

#define NIC             "0000:3b:00.0"
#define OTHER           "0000:5e:00.0"
#define SECOND_FUNCTION "0000:3b:00.1"
#define VF              "0000:3b:00.2"
#define PORT            "0000:3a:01.0"
#define SWITCH          "0000:39:00.0"

#define PATTERN(its_name, its_kind, its_severity, its_end)                                         \
	{                                                                                          \
		.name = its_name, .driver = "mlx5_core", .kind = RNA_LOG_##its_kind,               \
		.severity = RNA_SEVERITY_##its_severity, .end = RNA_LOG_ENDS_##its_end,            \
		.meaning = "it means " its_name                                                    \
	}

static const struct rna_log_pattern firmware = PATTERN("firmware", FIRMWARE, CRITICAL, ANSWERING),
				    fatal = PATTERN("fatal", FIRMWARE, CRITICAL, RECOVERED),
				    transmit = PATTERN("transmit", TRANSMIT, WARNING, SENDING),
				    corrected = PATTERN("corrected", PCIE, INFO, COUNTERS),
				    uncorrected = PATTERN("uncorrected", PCIE, WARNING, COUNTERS),
				    slot_power = PATTERN("slot-power", PCIE, WARNING, RECOVERED),
				    cable = PATTERN("cable", MODULE, WARNING, ACTIVE),
				    hot = PATTERN("hot", TEMPERATURE, CRITICAL, COOL),
				    fault = PATTERN("fault", IOMMU, WARNING, RUNNING),
				    lockup = PATTERN("lockup", CPU, WARNING, RUNNING),
				    peermem = PATTERN("peermem", GPUDIRECT, WARNING, RUNNING),
				    protocol = PATTERN("protocol", PROTOCOL, INFO, RUNNING),
				    probe = PATTERN("probe", DRIVER, WARNING, RECOVERED),
				    wanted = PATTERN("wanted", SITE, WARNING, RUNNING),
				    known = PATTERN("known", SITE, INFO, RUNNING);

static void set_up_node(struct node *node, enum rna_link_layer layer)
{
	static const char *const addresses[] = {NIC, OTHER};

	node_init(node, layer, 2);
	node->has_log = true;
	node->log = (struct rna_kernel_log){.source = RNA_KERNEL_LOG_KMSG};
	for (size_t i = 0; i < 2; i++) {
		struct node_port *port = &node->ports[i];

		port->pci_address = addresses[i];
		port->driver = "mlx5_core";
		port->generation = 100 + i;
		port->expectation =
			(struct rna_expectation){RNA_EXPECTED_UP, RNA_EXPECTATION_REMEMBERED};
		port->hop_count = 3;
		port->hops[0] = (struct rna_pcie_hop){.address = addresses[i]};
		port->hops[1] = (struct rna_pcie_hop){.address = i == 0 ? PORT : "0000:5d:01.0"};
		port->hops[2] = (struct rna_pcie_hop){.address = SWITCH};
		for (size_t hop = 0; hop < 3; hop++)
			for (size_t aer = 0; aer < RNA_AER_COUNT; aer++)
				port->hops[hop].aer[aer] = rna_value_ok(0);
	}
}

static int set_up(void **state)
{
	struct fixture *f = fixture_new(IB, 2);

	set_up_node(&f->node, IB);
	*state = f;
	return 0;
}

/* As often as views come, for the span: how many findings there are at the end. */
static size_t count_through(struct fixture *f, rna_usec span)
{
	for (rna_usec gone = 0; gone + 10 * SECOND < span; gone += 10 * SECOND)
		(void)count_after(f, 10 * SECOND);
	return count_after(f, 10 * SECOND);
}

/* Members that are left out are NULL: any text does. */
struct expected {
	const char *rule;
	enum rna_severity severity;
	const char *device;                 /* NULL: the node */
	const char *part, *other, *without; /* of the text */
};

/* The only finding then. */
static void expect_after(struct fixture *f, rna_usec span, const struct expected *expected)
{
	struct rna_view *view = look_after(f, span);
	const struct rna_finding *found = view->findings;

	assert_int_equal(view->finding_count, 1);
	assert_string_equal(found->rule, expected->rule);
	assert_int_equal(found->severity, expected->severity);
	if (expected->device)
		assert_string_equal(found->device ? found->device : "", expected->device);
	else
		assert_null(found->device);
	if (expected->part && !strstr(found->text, expected->part))
		fail_msg("\"%s\" lacks \"%s\"", found->text, expected->part);
	if (expected->other && !strstr(found->text, expected->other))
		fail_msg("\"%s\" lacks \"%s\"", found->text, expected->other);
	if (expected->without && strstr(found->text, expected->without))
		fail_msg("\"%s\" has \"%s\"", found->text, expected->without);
	(void)rna_view_unref(view);
}

/* The log has one more message, said at that time before now. NULL: it names no such object. */
static struct rna_log_episode *say_of(struct fixture *f, size_t index,
				      const struct rna_log_pattern *pattern, const char *pci,
				      rna_usec ago)
{
	static const char *const lines[] = {"line one", "line two", "line three"};
	struct rna_log_episode *episode = &f->node.episodes[index];
	struct rna_log_line line = {
		.sequence = ++f->sequence,
		.time = f->node.now.monotonic - ago,
		.text = lines[episode->count < 2 ? episode->count : 2],
	};

	episode->pattern = pattern;
	episode->pci = pci;
	episode->last = line;
	if (episode->count++ == 0)
		episode->first = line;
	if (index >= f->node.episode_count)
		f->node.episode_count = index + 1;
	return episode;
}

static struct rna_log_episode *say(struct fixture *f, const struct rna_log_pattern *pattern)
{
	return say_of(f, 0, pattern, NIC, 0);
}

/* The ring of the kernel has it no longer. */
static void forget_log(struct fixture *f)
{
	memset(f->node.episodes, 0, sizeof(f->node.episodes));
	f->node.episode_count = 0;
}

/* The reads of mlx5_0 fail. */
static void set_dead(struct fixture *f, bool dead)
{
	f->node.ports[0].state = dead ? rna_value_unreadable() : rna_value_ok(RNA_PORT_ACTIVE);
}

/* The findings about reads that fail are another test's. */
static void disable(struct fixture *f, const char *rule)
{
	add_setting(&f->settings.health_disable, rule);
	assert_int_equal(rna_health_reload(&f->health), 0);
}

/* -- A life of an episode ---------------------------------------------------------------------- */

static void test_nothing_said(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(count_through(f, HOUR), 0);
	assert_string_equal(told, "");
}

/* Two functions of a card say the same: one finding, which is silenced only with both. */
static void test_one_card_is_silenced_as_a_whole(void **state)
{
	static const struct {
		const char *window;
		bool silenced;
	} cases[] = {{"Fri 09:00-10:00 mlx5_0", false}, {"Fri 09:00-10:00 mlx5_*", true}};
	struct fixture *f = *state;

	f->node.ports[1].pci_address = f->node.ports[1].hops[0].address = SECOND_FUNCTION;
	say(f, &firmware);
	say_of(f, 1, &firmware, SECOND_FUNCTION, 0);
	for (size_t i = 0; i < RNA_ARRAY_SIZE(cases); i++) {
		struct rna_view *view;

		add_setting(&f->settings.health_silence, cases[i].window);
		view = look_after(f, SECOND);
		assert_int_equal(view->finding_count, 1);
		assert_string_equal(view->findings[0].device, "mlx5_0");
		assert_int_equal(view->findings[0].other_count, 1);
		assert_string_equal(view->findings[0].others[0], "mlx5_1");
		assert_int_equal(view->findings[0].silenced, cases[i].silenced);
		(void)rna_view_unref(view);
	}
}

static void test_a_command_times_out(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(count_after(f, SECOND), 0);
	say(f, &firmware);
	expect_after(f, SECOND,
		     &(struct expected){"firmware-failing", RNA_SEVERITY_CRITICAL, "mlx5_0",
					"mlx5_0: it means firmware (kernel log, 2025-11-21T",
					"Z \"line one\"); it resolves when the device has answered "
					"for 10 minutes without a further message",
					"first"});
	f->node.now.monotonic += MINUTE;
	f->node.now.realtime += MINUTE;
	say(f, &firmware);
	expect_after(f, SECOND,
		     &(struct expected){"firmware-failing", RNA_SEVERITY_CRITICAL, "mlx5_0",
					"(2 messages, first 2025-11-21T", "Z \"line two\")"});
	/* it answers, but not for long enough */
	assert_int_equal(count_through(f, 9 * MINUTE), 1);
	assert_int_equal(count_through(f, 2 * MINUTE), 0);
	assert_string_equal(told, "+firmware-failing -firmware-failing");
	assert_int_equal(count_through(f, HOUR), 0);
	say(f, &firmware); /* the third since boot, the first since then */
	expect_after(f, SECOND,
		     &(struct expected){"firmware-failing", RNA_SEVERITY_CRITICAL, "mlx5_0",
					"(kernel log, ", "\"line three\""});
}

static void test_silence_alone_ends_nothing(void **state)
{
	struct fixture *f = *state;

	disable(f, "reads-failing");
	say(f, &firmware);
	set_dead(f, true);
	assert_int_equal(count_through(f, 3 * HOUR), 1);
	assert_string_equal(told, "+firmware-failing");
	set_dead(f, false);
	assert_int_equal(count_through(f, 9 * MINUTE), 1);
	set_dead(f, true); /* an interruption begins it anew */
	assert_int_equal(count_through(f, MINUTE), 1);
	set_dead(f, false);
	assert_int_equal(count_through(f, 9 * MINUTE), 1);
	assert_int_equal(count_through(f, 2 * MINUTE), 0);
}

/* What other drivers tell as the state of a port is that of the interface. */
static void test_only_the_firmware_can_answer(void **state)
{
	struct fixture *f = *state;

	disable(f, "port-*"); /* EFA's is down if it does not answer */
	f->node.ports[0].driver = "bnxt_en";
	say(f, &firmware);
	assert_int_equal(count_through(f, HOUR), 1);
	expect_after(f, SECOND,
		     &(struct expected){"firmware-failing", RNA_SEVERITY_CRITICAL, "mlx5_0",
					"when the device is registered again or the node reboots, "
					"or by: rdma-node-agent expect accept mlx5_0"});
	f->node.ports[0].counter_count = 1;
	f->node.ports[0].counters[0].file = "rx_drops";
	f->node.ports[0].counters[0].place = RNA_PLACE_PORT_HW_COUNTERS;
	f->node.ports[0].counters[0].value = rna_value_ok(1);
	assert_int_equal(count_through(f, HOUR), 1);
	f->node.ports[0].driver = "efa";
	f->node.ports[0].counters[0].value = rna_value_unreadable();
	assert_int_equal(count_through(f, HOUR), 1);
	f->node.ports[0].counters[0].value = rna_value_ok(1);
	assert_int_equal(count_through(f, 11 * MINUTE), 0);
}

static void test_lost_messages_are_no_silence(void **state)
{
	struct fixture *f = *state;

	(void)count_after(f, SECOND);
	say(f, &firmware);
	assert_int_equal(count_through(f, 9 * MINUTE), 1);
	f->node.log.lost = 100;
	assert_int_equal(count_through(f, 9 * MINUTE), 1);
	f->node.log.source = RNA_KERNEL_LOG_NONE;
	f->node.log.error = -EPERM;
	disable(f, "kernel-log-unread");
	assert_int_equal(count_through(f, HOUR), 1);
	f->node.log.source = RNA_KERNEL_LOG_KMSG;
	assert_int_equal(count_through(f, 9 * MINUTE), 1);
	assert_int_equal(count_through(f, 2 * MINUTE), 0);
}

static void test_several_messages_of_a_kind(void **state)
{
	struct fixture *f = *state;

	say_of(f, 0, &firmware, NIC, 0);
	say_of(f, 1, &fatal, NIC, 0);
	say_of(f, 2, &fault, NIC, 0);
	say_of(f, 3, &firmware, OTHER, 0);
	assert_int_equal(count_after(f, SECOND), 3);
	forget_log(f);
	assert_int_equal(count_after(f, SECOND), 3); /* what the ring loses is not forgotten */
}

/* -- Other ends -------------------------------------------------------------------------------- */

static void test_registered_again(void **state)
{
	struct fixture *f = *state;

	say(f, &fatal);
	assert_int_equal(count_through(f, 2 * HOUR), 1);
	f->node.ports[0].generation++;
	assert_int_equal(count_after(f, SECOND), 0);
	assert_string_equal(told, "+firmware-failing -firmware-failing");
	say(f, &fatal);
	assert_int_equal(count_after(f, SECOND), 1); /* the reset did not help */
}

static void test_recovery_is_reported(void **state)
{
	struct fixture *f = *state;

	say(f, &fatal);
	assert_int_equal(count_after(f, SECOND), 1);
	f->node.episodes[0].recovered = f->node.now.monotonic;
	assert_int_equal(count_after(f, SECOND), 0);
	assert_int_equal(count_through(f, HOUR), 0);
	say(f, &fatal);
	assert_int_equal(count_after(f, SECOND), 1);
}

static void test_accepted(void **state)
{
	struct fixture *f = *state;

	say_of(f, 0, &slot_power, NIC, 0);
	say_of(f, 1, &slot_power, OTHER, 0);
	assert_int_equal(count_through(f, HOUR), 2);
	f->node.ports[0].accepted = f->node.now.realtime;
	assert_int_equal(count_after(f, SECOND), 1);
	f->node.accepted = f->node.now.realtime;
	assert_int_equal(count_after(f, SECOND), 0);
	(void)count_after(f, SECOND);
	say_of(f, 0, &slot_power, NIC, 0);
	assert_int_equal(count_after(f, SECOND), 1); /* what comes later was not accepted */
}

/* The device goes with the fault; its function is named, and the finding goes on. */
static void test_the_device_is_gone(void **state)
{
	struct fixture *f = *state;

	disable(f, "device-missing");
	say(f, &firmware);
	assert_int_equal(count_after(f, SECOND), 1);
	f->node.ports[0].gone = true;
	expect_after(f, SECOND,
		     &(struct expected){"firmware-failing", RNA_SEVERITY_CRITICAL, "mlx5_0",
					"mlx5_0 (PCI function " NIC "), which has no RDMA device: "
					"it means firmware",
					"when the device is registered again"});
	assert_int_equal(count_through(f, 2 * HOUR), 1);
	assert_string_equal(told, "+firmware-failing");
	f->node.ports[0].gone = false;
	f->node.ports[0].generation++;
	assert_int_equal(count_after(f, SECOND), 0);
}

static void test_a_function_without_device(void **state)
{
	struct fixture *f = *state;

	disable(f, "*-without-device");
	f->node.bare_function = "0000:af:00.0";
	say_of(f, 0, &probe, "0000:af:00.0", 2 * MINUTE);
	expect_after(
		f, SECOND,
		&(struct expected){"driver-failing", RNA_SEVERITY_WARNING, "0000:af:00.0",
				   "mlx5_core 0000:af:00.0, which has no RDMA device: it means "
				   "probe"});
}

/* The driver of a NIC that is not in the topology; what the kernel says of any device is not ours.
 */
static void test_a_function_that_is_no_nic(void **state)
{
	static const struct rna_log_pattern of_any = {.name = "of-any",
						      .driver = "AER",
						      .of_any = true,
						      .meaning = "it means any"};
	struct fixture *f = *state;

	f->node.gpu_count = 1; /* then it has a topology */
	disable(f, "gpu*");
	say_of(f, 0, &of_any, "0000:af:00.0", 0);
	assert_int_equal(count_after(f, SECOND), 0);
	say_of(f, 1, &firmware, "0000:af:00.0", 0);
	expect_after(f, SECOND,
		     &(struct expected){"firmware-failing", RNA_SEVERITY_WARNING, "0000:af:00.0",
					"PCI function 0000:af:00.0, which has no RDMA device: it "
					"means firmware"});
	rna_health_deinit(&f->health);
	begin(f, "boot-1");
	say_of(f, 1, &firmware, "0000:af:00.0", 0)->rdma = "mlx5_1";
	expect_after(f, SECOND,
		     &(struct expected){"firmware-failing", RNA_SEVERITY_CRITICAL, "mlx5_1"});
}

/* A message of last month is no alarm of today, unless what is seen agrees. */
static void test_messages_before_the_agent(void **state)
{
	struct fixture *f = *state;

	disable(f, "reads-failing");
	say_of(f, 0, &firmware, NIC, 100 * HOUR);
	say_of(f, 1, &uncorrected, NIC, 90 * HOUR);
	say_of(f, 2, &lockup, NULL, 80 * HOUR);
	assert_int_equal(count_through(f, HOUR), 0);
	assert_string_equal(told, "");
	rna_health_deinit(&f->health);
	begin(f, "boot-1");
	set_dead(f, true);
	assert_int_equal(count_through(f, MINUTE), 1);
	set_dead(f, false);
	assert_int_equal(count_through(f, 5 * MINUTE), 1);
	assert_int_equal(count_through(f, 10 * MINUTE), 0);
	assert_string_equal(told, "+firmware-failing -firmware-failing");
}

static void test_once(void **state)
{
	struct fixture *f = *state;

	f->health.once = true;
	say_of(f, 0, &firmware, NIC, HOUR);
	say_of(f, 1, &fatal, OTHER, HOUR);
	expect_after(f, SECOND,
		     &(struct expected){"firmware-failing", RNA_SEVERITY_CRITICAL, "mlx5_1"});
}

/* -- Restarts ---------------------------------------------------------------------------------- */

/* A pattern of the table, which a file can name. */
static const struct rna_log_pattern *of_table(enum rna_log_kind kind, enum rna_log_end end)
{
	for (size_t i = 0; i < rna_log_pattern_count; i++)
		if (rna_log_patterns[i].kind == kind && rna_log_patterns[i].end == end &&
		    rna_log_patterns[i].severity > RNA_SEVERITY_INFO)
			return &rna_log_patterns[i];
	fail_msg("there is no such pattern");
	return NULL;
}

static void test_a_restart_within_an_episode(void **state)
{
	struct fixture *f = *state;
	const struct rna_log_pattern *pattern = of_table(RNA_LOG_FIRMWARE, RNA_LOG_ENDS_ANSWERING);

	disable(f, "reads-failing");
	say(f, pattern);
	set_dead(f, true);
	assert_int_equal(count_after(f, SECOND), 1);
	for (int i = 0; i < 3; i++) {
		restart(f);
		assert_int_equal(count_after(f, HOUR), 1);
		forget_log(f); /* the ring has been overwritten */
	}
	set_dead(f, false);
	assert_int_equal(count_through(f, 11 * MINUTE), 0);
	assert_string_equal(told, "+firmware-failing -firmware-failing");
}

/* The new process reads the log from its beginning. */
static void test_what_has_ended_stays_so(void **state)
{
	struct fixture *f = *state;
	const struct rna_log_pattern *pattern = of_table(RNA_LOG_FIRMWARE, RNA_LOG_ENDS_ANSWERING);

	say(f, pattern);
	assert_int_equal(count_through(f, 11 * MINUTE), 0);
	restart(f);
	disable(f, "reads-failing");
	set_dead(f, true);
	assert_int_equal(count_through(f, HOUR), 0);
	assert_string_equal(told, "+firmware-failing -firmware-failing");
	restart(f);
	say(f, pattern);
	assert_int_equal(count_after(f, SECOND), 1);
}

/* Messages came while no agent ran. */
static void test_said_meanwhile(void **state)
{
	struct fixture *f = *state;
	const struct rna_log_pattern *pattern = of_table(RNA_LOG_FIRMWARE, RNA_LOG_ENDS_ANSWERING);

	say(f, pattern);
	assert_int_equal(count_after(f, SECOND), 1);
	halt(f);
	f->node.now.monotonic += MINUTE;
	f->node.now.realtime += MINUTE;
	say(f, pattern);
	say(f, pattern);
	start(f, "boot-1");
	expect_after(f, SECOND,
		     &(struct expected){"firmware-failing", pattern->severity, "mlx5_0",
					"(3 messages", "\"line three\""});
}

static void test_accepted_before_a_restart(void **state)
{
	struct fixture *f = *state;
	const struct rna_log_pattern *pattern = of_table(RNA_LOG_FIRMWARE, RNA_LOG_ENDS_ANSWERING);

	say(f, pattern);
	assert_int_equal(count_after(f, SECOND), 1);
	f->node.accepted = f->node.now.realtime;
	assert_int_equal(count_after(f, SECOND), 0);
	f->node.accepted = 0; /* the file of what was accepted is gone */
	restart(f);
	assert_int_equal(count_through(f, HOUR), 0);
}

static void test_a_reboot_ends_all(void **state)
{
	struct fixture *f = *state;
	const struct rna_log_pattern *pattern = of_table(RNA_LOG_FIRMWARE, RNA_LOG_ENDS_ANSWERING);

	say(f, pattern);
	assert_int_equal(count_after(f, SECOND), 1);
	halt(f);
	f->node.now.realtime += MINUTE;
	f->node.now.monotonic = 20 * SECOND;
	forget_log(f);
	start(f, "boot-2");
	assert_int_equal(count_through(f, HOUR), 0);
	assert_string_equal(told, "+firmware-failing -firmware-failing");
}

/* A damaged episode costs only itself. */
static void test_damaged_files(void **state)
{
	static const char *const episodes[] = {
		"[1, null, {}, {\"pattern\": \"none\"}, {\"pattern\": 3}]",
		"{}",
		"[{\"pattern\": \"NAME\"}]",
		("[{\"pattern\": \"NAME\", \"pci\": 1, \"state\": \"?\", \"last\": 7, "
		 "\"count\": -1, \"heard\": 1e99, \"first\": []}]"),
	};
	struct fixture *f = *state;
	const char *name = of_table(RNA_LOG_FIRMWARE, RNA_LOG_ENDS_ANSWERING)->name;

	for (size_t i = 0; i < RNA_ARRAY_SIZE(episodes); i++) {
		const char *place = strstr(episodes[i], "NAME");
		int before = place ? (int)(place - episodes[i]) : (int)strlen(episodes[i]);

		rna_strbuf_deinit(&f->file);
		rna_strbuf_printf(&f->file,
				  "{\"version\": 1, \"boot\": \"boot-1\", \"problems\": [], "
				  "\"counters\": [], \"episodes\": %.*s%s%s}",
				  before, episodes[i], place ? name : "",
				  place ? place + strlen("NAME") : "");
		rna_health_deinit(&f->health);
		start(f, "boot-1");
		(void)count_after(f, SECOND);
	}
}

/* -- Kinds ------------------------------------------------------------------------------------- */

/* Of the node, with severity and text of the pattern; it ends as others of the node do. */
static void test_patterns_of_the_site(void **state)
{
	struct fixture *f = *state;

	say_of(f, 0, &known, NULL, 0);
	expect_after(f, SECOND,
		     &(struct expected){"kernel-log-pattern", RNA_SEVERITY_INFO, NULL,
					"it means known (kernel log, ",
					"\"line one\"); it resolves "
					"when 10 minutes have passed without a further message"});
	say_of(f, 1, &wanted, NULL, 0);
	expect_after(f, SECOND,
		     &(struct expected){"kernel-log-pattern", RNA_SEVERITY_WARNING, NULL,
					"it means wanted (kernel log, ",
					"; 1 other kind of such messages"});
	assert_int_equal(count_through(f, 9 * MINUTE), 1);
	assert_int_equal(count_through(f, 2 * MINUTE), 0);
	assert_string_equal(told, "+kernel-log-pattern -kernel-log-pattern");
}

static void test_transmit_queue_stops_once(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(count_after(f, SECOND), 0);
	say(f, &transmit)->netdev = "eth0";
	f->node.episodes[0].recovered = f->node.now.monotonic + 1;
	assert_int_equal(count_after(f, SECOND), 0); /* hold-down */
	expect_after(f, MINUTE,
		     &(struct expected){"transmit-timeout", RNA_SEVERITY_INFO, "mlx5_0",
					"the driver reports that it has recovered"});
	assert_int_equal(count_through(f, 11 * MINUTE), 0);
	assert_string_equal(told, "");
}

static void test_transmit_queue_stops_again_and_again(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < 4; i++) {
		say(f, &transmit)->netdev = "eth0";
		(void)count_through(f, MINUTE);
	}
	expect_after(f, SECOND,
		     &(struct expected){"transmit-timeout", RNA_SEVERITY_CRITICAL, "mlx5_0",
					"it resolves when the interface has been up for 10 "
					"minutes"});
	disable(f, "netdev-*");
	f->node.ports[0].netdev.admin_up = false; /* nothing looks at its queues */
	assert_int_equal(count_through(f, HOUR), 1);
	f->node.ports[0].netdev.admin_up = true;
	assert_int_equal(count_through(f, 9 * MINUTE), 1);
	assert_int_equal(count_through(f, 2 * MINUTE), 0);
}

/* Of an interface alone, of one of its children, and of one that is none of ours. */
static void test_interfaces(void **state)
{
	struct fixture *f = *state;

	say_of(f, 0, &transmit, NULL, MINUTE)->netdev = "eth1";
	expect_after(f, SECOND,
		     &(struct expected){"transmit-timeout", RNA_SEVERITY_WARNING, "mlx5_1"});
	f->node.episodes[0].netdev = "eth1.100";
	assert_int_equal(count_after(f, SECOND), 1);
	f->node.episodes[0].netdev = "enp4s0";
	rna_health_deinit(&f->health);
	begin(f, "boot-1");
	assert_int_equal(count_after(f, SECOND), 0);
}

static void set_errors(struct fixture *f, size_t hop, enum rna_aer severity, uint64_t count)
{
	f->node.ports[0].hops[hop].aer[severity] = rna_value_ok(count);
}

static void test_pcie_errors_stand_still(void **state)
{
	struct fixture *f = *state;

	set_errors(f, 0, RNA_AER_CORRECTABLE, 7);
	say(f, &uncorrected);
	assert_int_equal(count_through(f, 5 * MINUTE), 1);
	set_errors(f, 0, RNA_AER_CORRECTABLE, 8); /* too few for a threshold */
	assert_int_equal(count_through(f, 9 * MINUTE), 1);
	expect_after(f, SECOND,
		     &(struct expected){"pcie-errors-logged", RNA_SEVERITY_WARNING, "mlx5_0",
					"its PCIe error counters have stood still"});
	assert_int_equal(count_through(f, 2 * MINUTE), 0);
	f->node.ports[0].hops[1].aer[RNA_AER_FATAL] = rna_value_unreadable();
	say(f, &uncorrected);
	assert_int_equal(count_through(f, HOUR), 1);
	expect_after(f, SECOND,
		     &(struct expected){"pcie-errors-logged", RNA_SEVERITY_WARNING, "mlx5_0",
					"expect accept"});
}

/* One finding for one fact. */
static void test_pcie_errors_are_counted_too(void **state)
{
	struct fixture *f = *state;
	struct rna_view *view;

	assert_int_equal(count_after(f, SECOND), 0);
	set_errors(f, 1, RNA_AER_NONFATAL, 3);
	say_of(f, 0, &uncorrected, PORT, 0);
	expect_after(f, SECOND,
		     &(struct expected){"pcie-errors", RNA_SEVERITY_WARNING, "mlx5_0",
					"aer_nonfatal rose by 3",
					"; the PCIe port " PORT " above it reports: it means "
					"uncorrected (kernel log, "});
	say_of(f, 1, &slot_power, NIC, 0); /* another fact */
	view = look_after(f, SECOND);
	assert_int_equal(view->finding_count, 2);
	for (size_t i = 0; i < 2; i++)
		assert_non_null(strstr(view->findings[i].text,
				       strcmp(view->findings[i].rule, "pcie-errors") == 0
					       ? "it means uncorrected"
					       : "it means slot-power"));
	(void)rna_view_unref(view);
}

static void test_single_corrected_errors(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < 9; i++) {
		say(f, &corrected);
		assert_int_equal(count_after(f, SECOND), 0);
	}
	say(f, &corrected);
	expect_after(f, SECOND,
		     &(struct expected){"pcie-errors-logged", RNA_SEVERITY_INFO, "mlx5_0",
					"(10 messages"});
	assert_string_equal(told, "");
}

static void test_ports_above(void **state)
{
	struct fixture *f = *state;

	say_of(f, 0, &uncorrected, SWITCH, 0);
	expect_after(f, SECOND,
		     &(struct expected){"pcie-errors-logged", RNA_SEVERITY_WARNING, SWITCH,
					SWITCH
					", the PCIe port above mlx5_0 and 1 other: it means"});
	assert_int_equal(count_through(f, 11 * MINUTE), 0);
}

static void test_module_of_a_port(void **state)
{
	struct fixture *f = *state;

	disable(f, "port-*");
	f->node.ports[0].state = rna_value_ok(RNA_PORT_DOWN);
	say(f, &cable);
	assert_int_equal(count_through(f, 2 * HOUR), 1);
	expect_after(f, SECOND,
		     &(struct expected){"module-event", RNA_SEVERITY_WARNING, "mlx5_0",
					"when its port has been up for 10 minutes"});
	f->node.ports[0].state = rna_value_ok(RNA_PORT_ACTIVE);
	assert_int_equal(count_through(f, 11 * MINUTE), 0);
}

static void test_module_of_a_port_without_use(void **state)
{
	struct fixture *f = *state;

	disable(f, "port-*");
	f->node.ports[0].state = rna_value_ok(RNA_PORT_DOWN);
	f->node.ports[0].expectation = (struct rna_expectation){0};
	say_of(f, 0, &cable, NIC, MINUTE);
	expect_after(f, SECOND, &(struct expected){"module-event", RNA_SEVERITY_INFO, "mlx5_0"});
	f->node.ports[0].expectation =
		(struct rna_expectation){RNA_EXPECTED_DOWN, RNA_EXPECTATION_CONFIGURED};
	assert_int_equal(count_through(f, 11 * MINUTE), 0);
}

static void set_module(struct fixture *f, uint64_t degrees)
{
	f->node.ports[0].module_count = 1;
	f->node.ports[0].module = (struct rna_port_module){
		.netdev = "eth0",
		.port = 1,
		.temperature = rna_value_ok(degrees * 1000),
	};
	f->node.ports[0].module.limits[RNA_MODULE_TEMPERATURE][RNA_MODULE_HIGH_ALARM] =
		rna_value_ok(75000);
	f->node.ports[0].module.limits[RNA_MODULE_TEMPERATURE][RNA_MODULE_HIGH_WARNING] =
		rna_value_ok(70000);
}

static void test_heat(void **state)
{
	struct fixture *f = *state;

	say(f, &hot);
	assert_int_equal(count_through(f, 2 * HOUR), 1);
	expect_after(f, SECOND,
		     &(struct expected){"device-overheated", RNA_SEVERITY_CRITICAL, "mlx5_0",
					"expect accept"});
	set_module(f, 80);
	(void)count_through(f, MINUTE);
	expect_after(f, HOUR,
		     &(struct expected){"module-temperature", RNA_SEVERITY_CRITICAL, "mlx5_0",
					"80.0", "it means hot"});
}

static void test_it_cools_down(void **state)
{
	struct fixture *f = *state;

	set_module(f, 50);
	say(f, &hot);
	assert_int_equal(count_through(f, 9 * MINUTE), 1);
	assert_int_equal(count_through(f, 2 * MINUTE), 0);
}

static void test_faults_of_the_iommu(void **state)
{
	struct fixture *f = *state;

	say(f, &fault);
	expect_after(f, SECOND,
		     &(struct expected){"iommu-fault", RNA_SEVERITY_WARNING, "mlx5_0", NULL,
					"when 10 minutes have passed without a further message"});
	assert_int_equal(count_through(f, 11 * MINUTE), 0);
}

static void test_the_node(void **state)
{
	struct fixture *f = *state;

	say_of(f, 0, &lockup, NULL, 0);
	expect_after(f, SECOND,
		     &(struct expected){"cpu-lockup", RNA_SEVERITY_WARNING, NULL,
					"it means lockup (kernel log, "});
	f->node.episodes[0].pattern = &protocol;
	rna_health_deinit(&f->health);
	begin(f, "boot-1");
	assert_int_equal(count_through(f, 3 * MINUTE), 0);
	say_of(f, 0, &protocol, NULL, 0);
	say_of(f, 0, &protocol, NULL, 0);
	(void)count_through(f, 2 * MINUTE);
	expect_after(f, SECOND,
		     &(struct expected){"protocol-errors-logged", RNA_SEVERITY_INFO, NULL});
}

static void test_nodes_without_hardware(void **state)
{
	struct fixture *f = *state;

	f->node.ports[0].function = f->node.ports[1].function = RNA_FUNCTION_VIRTUAL;
	say_of(f, 0, &lockup, NULL, 0);
	assert_int_equal(count_after(f, SECOND), 0);
	f->node.bare_function = "0000:af:00.0"; /* a NIC that has lost its RDMA device */
	disable(f, "*-without-device");
	expect_after(f, SECOND, &(struct expected){"cpu-lockup", RNA_SEVERITY_WARNING, NULL});
}

static void test_peer_memory(void **state)
{
	struct fixture *f = *state;

	f->node.gpu_count = 8;
	f->node.gpu_class = 0x0302;
	say_of(f, 0, &peermem, NULL, 2 * MINUTE);
	expect_after(f, SECOND,
		     &(struct expected){"gpudirect-failing", RNA_SEVERITY_WARNING, NULL,
					"it means peermem"});
	f->node.readiness.gpu_driver.name = "nvidia";
	f->node.readiness.gpudirect_state = RNA_GPUDIRECT_NOT_READY;
	f->node.readiness.gpudirect_reason = "no peer memory";
	(void)count_through(f, 5 * MINUTE);
	expect_after(f, SECOND,
		     &(struct expected){"gpudirect-not-ready", RNA_SEVERITY_WARNING, NULL,
					"no peer memory", "it means peermem"});
}

/* The log makes a warning of what is info without it, and that is another runbook. */
static void test_runbook_is_that_of_the_severity(void **state)
{
	struct fixture *f = *state;
	struct rna_view *view;

	f->node.gpu_count = 1;
	f->node.gpu_class = 0x0300; /* a display controller */
	f->node.readiness.gpu_driver.name = "nvidia";
	f->node.readiness.gpudirect_state = RNA_GPUDIRECT_NOT_READY;
	f->node.readiness.gpudirect_reason = "no peer memory";
	view = look_after(f, SECOND);
	assert_int_equal(view->finding_count, 1);
	assert_string_equal(view->findings->runbook, "RdmaNodeHints");
	(void)rna_view_unref(view);
	say_of(f, 0, &peermem, NULL, 2 * MINUTE);
	view = look_after(f, SECOND);
	assert_int_equal(view->finding_count, 1);
	assert_int_equal(view->findings->severity, RNA_SEVERITY_WARNING);
	assert_string_equal(view->findings->runbook, "RdmaNodeNotReady");
	(void)rna_view_unref(view);
}

/* -- Objects ----------------------------------------------------------------------------------- */

static void test_objects_that_are_none_of_ours(void **state)
{
	struct fixture *f = *state;

	say_of(f, 0, &firmware, "0000:01:00.0", 0);
	say_of(f, 1, &uncorrected, "0000:00:1c.0", 0);
	say_of(f, 2, &transmit, NULL, MINUTE)->netdev = "eno1";
	say_of(f, 3, &protocol, NULL, MINUTE)->rdma = "rxe0";
	assert_int_equal(count_through(f, HOUR), 0);
}

/* Programs that read its counters make its driver complain. */
static void test_functions_that_manage_switches(void **state)
{
	struct fixture *f = *state;

	f->node.ports[0].function = RNA_FUNCTION_SWITCH_MANAGEMENT;
	say(f, &firmware);
	assert_int_equal(count_through(f, HOUR), 0);
}

static void test_virtual_functions(void **state)
{
	struct fixture *f = *state;
	struct node_port *vf = &f->node.ports[1];

	f->node.ports[0].vf_count = 1;
	f->node.ports[0].vfs[0] = (struct rna_virtual_function){.pci_address = VF};
	say_of(f, 0, &fatal, VF, 0);
	expect_after(f, SECOND,
		     &(struct expected){"firmware-failing", RNA_SEVERITY_CRITICAL, "mlx5_0",
					"its virtual function " VF ": it means fatal"});
	vf->function = RNA_FUNCTION_VF;
	vf->pci_address = VF;
	vf->physical_function = NIC;
	rna_health_deinit(&f->health);
	begin(f, "boot-1");
	expect_after(f, SECOND,
		     &(struct expected){"firmware-failing", RNA_SEVERITY_CRITICAL, "mlx5_0",
					"its virtual function " VF});
	f->settings.health_virtual_functions = true;
	rna_health_deinit(&f->health);
	begin(f, "boot-1");
	expect_after(f, SECOND,
		     &(struct expected){"firmware-failing", RNA_SEVERITY_CRITICAL, "mlx5_1", NULL,
					NULL, "virtual function"});
}

static void test_rdma_names(void **state)
{
	struct fixture *f = *state;

	say_of(f, 0, &fault, NULL, 0)->rdma = "mlx5_1";
	expect_after(f, SECOND, &(struct expected){"iommu-fault", RNA_SEVERITY_WARNING, "mlx5_1"});
}

/* Devices come up anew after a reload, and the driver has said this and that before. */
static void test_an_administrator_reloads_the_driver(void **state)
{
	struct fixture *f = *state;

	disable(f, "device-missing");
	assert_int_equal(count_after(f, SECOND), 0);
	f->node.ports[0].gone = true;
	say_of(f, 0, &probe, NIC, 0);
	say_of(f, 1, &uncorrected, PORT, 0);
	assert_int_equal(count_after(f, 10 * SECOND), 0);
	f->node.ports[0].gone = false;
	f->node.ports[0].generation++;
	assert_int_equal(count_through(f, HOUR), 0);
	assert_string_equal(told, "");
}

/* -- Recordings -------------------------------------------------------------------------------- */

static void test_recordings_have_no_clock(void **state)
{
	struct fixture *f = *state;

	f->node.live = false;
	f->health.once = true;
	f->node.log.source = RNA_KERNEL_LOG_RECORDED;
	say_of(f, 0, &transmit, NIC, 0)->netdev = "eth0";
	f->node.episodes[0].first.time = f->node.episodes[0].last.time = 1234567000;
	expect_after(f, HOUR,
		     &(struct expected){"transmit-timeout", RNA_SEVERITY_WARNING, "mlx5_0",
					"(kernel log, \"line one\")", NULL, "resolves"});
	f->node.episodes[0].recovered = 1234568000;
	assert_int_equal(count_after(f, SECOND), 0);
}

/* -- The log itself ---------------------------------------------------------------------------- */

static void test_floods(void **state)
{
	struct fixture *f = *state;

	(void)count_after(f, SECOND);
	f->node.log.rate = 99;
	assert_int_equal(count_through(f, 2 * MINUTE), 0);
	f->node.log.rate = 1700;
	f->node.log.loudest = "mlx5_core " NIC;
	assert_int_equal(count_through(f, 50 * SECOND), 0);
	(void)count_through(f, 20 * SECOND);
	expect_after(f, SECOND,
		     &(struct expected){"kernel-log-flood", RNA_SEVERITY_WARNING, NULL,
					"grows by 102000 messages a minute, most of them by "
					"mlx5_core " NIC});
	f->node.log.rate = 60;
	assert_int_equal(count_after(f, SECOND), 1);
	f->node.log.rate = 40;
	assert_int_equal(count_after(f, SECOND), 0);
}

static void test_the_log_is_refused(void **state)
{
	struct fixture *f = *state;

	f->node.log.source = RNA_KERNEL_LOG_NONE;
	assert_int_equal(count_through(f, HOUR), 0); /* the settings want none */
	f->node.log.error = -EPERM;
	f->node.log.problem = "/dev/kmsg: Operation not permitted";
	(void)count_through(f, 2 * MINUTE);
	expect_after(f, SECOND,
		     &(struct expected){"kernel-log-unread", RNA_SEVERITY_INFO, NULL,
					"cannot read the kernel log: /dev/kmsg: Operation not "
					"permitted"});
}

/* More objects than are kept: what has ended makes room, what holds stays. */
static void test_many_objects(void **state)
{
	struct fixture *f = *state;
	char address[RNA_EPISODES_KEPT + 10][16];
	struct rna_episodes *episodes = &f->health.episodes;

	for (size_t i = 0; i < RNA_ARRAY_SIZE(address); i++) {
		struct rna_episode *episode;

		(void)snprintf(address[i], sizeof(address[i]), "%04zx:3b:00.0", i);
		episode = rna_episodes_get(episodes, &firmware, address[i], NULL, NULL);
		if (i >= RNA_EPISODES_KEPT + 5) {
			assert_null(episode);
			continue;
		}
		assert_non_null(episode);
		if (i >= 5)
			episode->state = RNA_EPISODE_HOLDS;
	}
	assert_int_equal(episodes->count, RNA_EPISODES_KEPT);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_nothing_said),
		TEST(test_a_command_times_out),
		TEST(test_one_card_is_silenced_as_a_whole),
		TEST(test_silence_alone_ends_nothing),
		TEST(test_only_the_firmware_can_answer),
		TEST(test_lost_messages_are_no_silence),
		TEST(test_several_messages_of_a_kind),
		TEST(test_registered_again),
		TEST(test_recovery_is_reported),
		TEST(test_accepted),
		TEST(test_the_device_is_gone),
		TEST(test_a_function_without_device),
		TEST(test_a_function_that_is_no_nic),
		TEST(test_messages_before_the_agent),
		TEST(test_once),
		TEST(test_a_restart_within_an_episode),
		TEST(test_what_has_ended_stays_so),
		TEST(test_said_meanwhile),
		TEST(test_accepted_before_a_restart),
		TEST(test_a_reboot_ends_all),
		TEST(test_damaged_files),
		TEST(test_patterns_of_the_site),
		TEST(test_transmit_queue_stops_once),
		TEST(test_transmit_queue_stops_again_and_again),
		TEST(test_interfaces),
		TEST(test_pcie_errors_stand_still),
		TEST(test_pcie_errors_are_counted_too),
		TEST(test_single_corrected_errors),
		TEST(test_ports_above),
		TEST(test_module_of_a_port),
		TEST(test_module_of_a_port_without_use),
		TEST(test_heat),
		TEST(test_it_cools_down),
		TEST(test_faults_of_the_iommu),
		TEST(test_the_node),
		TEST(test_nodes_without_hardware),
		TEST(test_peer_memory),
		TEST(test_runbook_is_that_of_the_severity),
		TEST(test_objects_that_are_none_of_ours),
		TEST(test_functions_that_manage_switches),
		TEST(test_virtual_functions),
		TEST(test_rdma_names),
		TEST(test_an_administrator_reloads_the_driver),
		TEST(test_recordings_have_no_clock),
		TEST(test_floods),
		TEST(test_the_log_is_refused),
		TEST(test_many_objects),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
