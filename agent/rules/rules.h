/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules: what can be wrong. A rule is a row and, in front of it, the pure function that checks
 * it, in the rules_*.c of its subject; RNA_RULES lists the rows. A rule gets a view, the history of
 * each port and the settings, and reports what holds at this moment. health.c applies the
 * hold-down.
 *
 * Unreadable data is unknown, never a problem: rules ignore it. rna_rule_run() keeps the findings
 * of a device that does not answer; a rule that cannot decide for a reason of its own calls
 * rna_finds_add_unknown().
 */
#pragma once

#include <stdbool.h>

#include "rna/base/strbuf.h"
#include "rna/model/finding.h"
#include "rna/model/subject.h"

struct rna_baseline_choice;
struct rna_episodes;
struct rna_remedy_place;
struct rna_settings;
struct rna_thresholds;
struct rna_past;

struct rna_rail_memo;
struct rna_rail_rate_memo;
struct rna_pcie_bounds;

struct rna_rule_input {
	const struct rna_view *view; /* all of it but the findings */
	const struct rna_settings *settings;
	const struct rna_thresholds *thresholds;
	const struct rna_baseline_choice *baseline;     /* NULL: there is none */
	const struct rna_episodes *episodes;            /* of the kernel log; NULL: none */
	const struct rna_subject_list *devices, *ports; /* of the view */
	struct rna_past *const *pasts;     /* of devices, and behind them of ports; NULL: none */
	const struct rna_subject *subject; /* the one to check; NULL: the node */
	struct rna_rail_memo *rails;       /* of this run of the rule (rails.h); NULL: none */
	struct rna_rail_rate_memo *rates;  /* likewise */
	struct rna_pcie_bounds *pcie;      /* likewise (pcie_demand.h) */
};

/* What rules found, in the arena of the view. */
struct rna_finds {
	struct rna_arena *arena;
	size_t count;
	size_t size;
	struct rna_find *items; /* to be freed */
	bool failed;            /* no memory; items found before that are valid */
	unsigned settling;      /* conditions (RNA_CONDITION_BIT) of rules that let links come up */
	struct rna_finding spare; /* returned in that case */
	/* What is being checked: */
	const struct rna_rule *rule;
	size_t number; /* of the rule */
	const struct rna_subject *subject;
};

struct rna_find {
	size_t rule;     /* index of rna_rules */
	bool unknown;    /* keeps an existing finding, makes no new one */
	bool settling;   /* and shows none of an earlier process */
	const char *key; /* of the device; NULL: the node, or a device that is missing */
	enum rna_link_layer link_layer; /* of the subject */
	const char *fold; /* the cause that findings of the rule share (fold.h); NULL: its own */
	struct rna_finding finding;
};

/* Conditions of the Kubernetes Node; details are in the table of node_conditions.c. */
enum rna_node_condition_id {
	RNA_CONDITION_NONE, /* of no rule */
	RNA_CONDITION_PORT_DOWN,
	RNA_CONDITION_DEVICE_MISSING,
	RNA_CONDITION_LINK_DEGRADED,
	RNA_CONDITION_PORT_UNREACHABLE,
	RNA_CONDITION_NOT_OBSERVED,
	RNA_CONDITION_NOT_READY,
	RNA_CONDITION_RESOURCES_MISSING,
	RNA_CONDITION_FABRIC_UNHEALTHY,
	RNA_CONDITION_CHANGED,
	RNA_CONDITION_TAINT_WITHHELD,
	RNA_CONDITION_COUNT,
};

/* Sets of conditions, one bit each; that of RNA_CONDITION_NONE is for all rules together. */
#define RNA_CONDITION_BIT(id)  (1U << (id))
#define RNA_CONDITION_ALL_BITS (RNA_CONDITION_BIT(RNA_CONDITION_COUNT) - 1)

enum rna_rule_scope {
	RNA_RULE_OF_NODE,   /* checked once, with subject NULL */
	RNA_RULE_OF_DEVICE, /* checked for each device, and with NULL for node-wide collectors */
	RNA_RULE_OF_PORT,   /* checked for each judged port */
};

struct rna_rule {
	const char *name;
	enum rna_severity severity; /* the usual one, as the next two */
	enum rna_impact impact;
	enum rna_cause cause;
	enum rna_rule_scope scope;
	bool devices_too; /* a rule of ports that also checks the counters of devices */
	/* The only one on which it can hold; UNKNOWN: any. */
	enum rna_link_layer link_layer;
	bool settles;    /* not checked just after boot or driver load (health.boot_grace) */
	bool slow;       /* after a start it takes several readings to find the problem */
	rna_usec lately; /* about an event: holds so long after it, also over a restart; or 0 */
	/* Hold-down: the problem must last this long to become a finding. NULL: it is one at once.
	 */
	const char *hold;
	const char *help; /* when it holds */
	void (*check)(const struct rna_rule_input *in, struct rna_finds *out);
	const char *remedy;                          /* the usual one; a template, see remedy.h */
	const char *message_id;                      /* of the journal, 32 hex digits */
	enum rna_node_condition_id condition;        /* that its findings set, from warning on */
	enum rna_node_condition_id second_condition; /* likewise; most rules have none */
};

/* What every row begins with, the words of its enumerations without their prefix. */
/* clang-format off */
#define RNA_RULE_ROW(title, of, usual_severity, usual_impact, usual_cause, node_condition)	\
	.name = title, .severity = RNA_SEVERITY_##usual_severity, .scope = RNA_RULE_OF_##of,	\
	.impact = RNA_IMPACT_##usual_impact, .cause = RNA_CAUSE_##usual_cause,			\
	.condition = RNA_CONDITION_##node_condition
/* clang-format on */

/*
 * All rules by the names of their rows, in the order in which they run and outputs list them, a
 * line or more for each subject. Those of the kernel log stand behind those of counters, whose
 * findings they complete.
 */
/* clang-format off */
#define RNA_RULES(RULE)										\
	RULE(port_down) RULE(rails_down) RULE(port_init) RULE(port_armed) RULE(port_disabled)			\
	RULE(device_missing) RULE(device_off_bus) RULE(device_moved)				\
	RULE(namespaces_hidden) RULE(namespaces_crowded) RULE(device_contested)			\
	RULE(users_hidden) RULE(device_node_pod) RULE(device_renamed)				\
	RULE(device_replaced)									\
	RULE(function_without_device) RULE(rdma_absent) RULE(gpu_without_nic)			\
	RULE(nothing_watched)									\
	RULE(expect_unmatched)									\
	RULE(link_degraded) RULE(plane_down) RULE(link_limited) RULE(cable_moved)		\
	RULE(subnet_manager_changed) RULE(subnet_manager_unhealthy)				\
	RULE(pkey_default_missing) RULE(rails_pkeys) RULE(network_missing)			\
	RULE(port_flapping) RULE(errors_rising) RULE(acknowledgements_missing)			\
	RULE(packets_lost) RULE(counter_saturated) RULE(congestion_ignored)			\
	RULE(pause_storm) RULE(pause_transmitted) RULE(pause_received) RULE(link_pause)		\
	RULE(gid_missing) RULE(gid_roce_v1_only) RULE(gid_link_local_only)			\
	RULE(gid_nccl_index_moved) RULE(gid_rails_disagree)					\
	RULE(netdev_down) RULE(netdev_no_address) RULE(mtu_low) RULE(bond_member_lost)		\
	RULE(lacp_partner_missing) RULE(lacp_aggregators_differ)				\
	RULE(lacp_member_inactive) RULE(bond_unmonitored) RULE(gateway_unreachable)		\
	RULE(neighbour_table_full)								\
	RULE(pcie_degraded) RULE(pcie_limits_port) RULE(pcie_errors) RULE(pcie_stalled)		\
	RULE(pcie_read_request) RULE(gpudirect_redirected)					\
	RULE(gpudirect_not_ready) RULE(gpudirect_async_off) RULE(module_missing)		\
	RULE(rdma_driver_missing) RULE(device_node) RULE(verbs_abi) RULE(iwarp)			\
	RULE(cpu_governor)									\
	RULE(iommu_translating) RULE(netns_exclusive) RULE(memlock_low) RULE(nccl_conf)		\
	RULE(rails_firmware) RULE(rails_link_layer) RULE(rails_mtu) RULE(rails_ipoib)		\
	RULE(rails_share_subnet) RULE(jumbo_frames) RULE(rails_virtual_functions)		\
	RULE(qos_rails) RULE(qos_drift) RULE(qos_lossy_class)					\
	RULE(qos_lossless_discards) RULE(qos_pfc_priorities) RULE(qos_vlan_mtu)			\
	RULE(virtual_function_guid) RULE(virtual_function_link)					\
	RULE(module_temperature) RULE(module_voltage) RULE(module_light)			\
	RULE(module_lane)									\
	RULE(device_stalled) RULE(reads_failing) RULE(data_too_old)				\
	RULE(resources_missing) RULE(taint_withheld) RULE(label_held)						\
	RULE(selftest_failed) RULE(selftest_slow) RULE(selftest_stuck)				\
	RULE(probe_unreachable) RULE(probe_peer_unreachable) RULE(probe_loss)			\
	RULE(probe_mtu_hole) RULE(probe_slow) RULE(probe_dscp_rewritten)			\
	RULE(probe_detour) RULE(probe_flooded) RULE(probe_host_busy)				\
	RULE(firmware_failing) RULE(transmit_timeout) RULE(pcie_errors_logged)			\
	RULE(module_event) RULE(device_overheated) RULE(iommu_fault) RULE(cpu_lockup)		\
	RULE(gpudirect_failing) RULE(protocol_errors_logged) RULE(driver_failing)		\
	RULE(kernel_log_pattern) RULE(kernel_log_flood) RULE(kernel_log_unread)			\
	RULE(profile_unusable) RULE(profile_node) RULE(profile_count)				\
	RULE(profile_device) RULE(profile_port)
/* clang-format on */

#define RNA_RULE_DECLARE(name) extern const struct rna_rule rna_rule_##name;
#define RNA_RULE_ONE(name)     +1

enum { RNA_RULE_COUNT = 0 RNA_RULES(RNA_RULE_ONE) };

RNA_RULES(RNA_RULE_DECLARE)
extern const struct rna_rule *const rna_rules[RNA_RULE_COUNT];
/* Of the journal entry that reports a resolved finding, whatever the rule. */
extern const char rna_rule_resolved_id[];

/* Its index in rna_rules; RNA_RULE_COUNT: there is none. name: NULL counts as none. */
size_t rna_rule_find(const char *name);

/*
 * Which runbook is about the findings of a rule: a table that exporter/page/runbooks.py makes of
 * the lines "Findings: ..." in helm/rdma-node-agent/runbooks.md.
 */
struct rna_rule_runbook {
	const char *rule;
	enum rna_link_layer link_layer; /* UNKNOWN: any that has no row of its own */
	bool info;                      /* of findings of severity info only */
	const char *runbook;
};

extern const struct rna_rule_runbook rna_rule_runbooks[];
extern const size_t rna_rule_runbook_count;

/* The name of the runbook, static; NULL: no line has the rule. */
const char *rna_rule_find_runbook(const char *rule, enum rna_link_layer link_layer,
				  enum rna_severity severity);

/* Does the glob match a rule; and is text "RULE=DURATION", RULE a glob? For settings. */
bool rna_rule_glob_is_valid(const char *text);
bool rna_rule_hold_is_valid(const char *text);
void rna_rule_explain(const char *text, struct rna_strbuf *out); /* why not, if by name */

enum { RNA_RULE_GLOB_MAX = 64 };
bool rna_rule_split_hold(const char *text, char glob[RNA_RULE_GLOB_MAX], rna_usec *ret);

/* The table for the command describe, and as the catalog of the journal. */
void rna_rules_describe(struct rna_strbuf *out);
void rna_rules_write_catalog(struct rna_strbuf *out);

/* Runs one rule, by its index in rna_rules, on all of its subjects. */
void rna_rule_run(size_t number, const struct rna_rule_input *in, struct rna_finds *out);

/* After all rules: a later rule may raise the severity of a finding, which decides its runbook. */
void rna_finds_name_runbooks(struct rna_finds *finds);

/*
 * For check functions: adds a finding, with the object in front of the text. The returned finding
 * has the rule's severity and remedy and the subject's names, and may be changed; never NULL.
 */
struct rna_finding *rna_finds_add(struct rna_finds *out, const char *format, ...) RNA_PRINTF(2, 3);
/*
 * The newest finding shares its cause with all of its rule and severity that have the same text
 * here; they become one (fold.h). cause: in the arena, or static; NULL: its cause is its own.
 */
void rna_finds_share_cause(struct rna_finds *out, const char *cause);
/* It cannot be determined whether the rule holds. */
void rna_finds_add_unknown(struct rna_finds *out);
/*
 * The place of the subject is filled into remedies after the check function returns. A check
 * function that knows another place calls this: returns the text in arena, or remedy itself if it
 * has no placeholder.
 */
const char *rna_rule_fill_remedy(const char *remedy, const struct rna_remedy_place *place,
				 struct rna_arena *arena);
/* The place of a device or port (remedy.h); subject NULL: of the node, which has no names. */
struct rna_remedy_place rna_rule_place_of(const struct rna_rule_input *in,
					  const struct rna_subject *subject);
/* Of a PCI function without a device; address NULL: not known. */
struct rna_remedy_place rna_rule_place_at(const struct rna_rule_input *in, const char *address);

/* What a subject had before; NULL: no memory for it. */
const struct rna_past *rna_rule_past_of(const struct rna_rule_input *in,
					const struct rna_subject *subject);

/* Questions that several rules ask; those about a port alone are in rna/model/subject.h. */
/* The reason for a missing link that the interface's driver reports, in arena; NULL: none. */
const char *rna_subject_link_trouble(const struct rna_subject *subject, struct rna_arena *arena);
/* The bond of the port being checked, or NULL. */
const struct rna_netdev *rna_rule_bond_of(const struct rna_rule_input *in);
/*
 * Completes the finding that the interface of the port being checked has no address: it may have
 * been the other member of its card's bond.
 */
void rna_rule_mention_former_bond(const struct rna_rule_input *in, struct rna_finding *found,
				  struct rna_finds *out);
bool rna_netdev_has_no_address(const struct rna_netdev *netdev); /* false: it has, or unknown */

/* "leaf-07 port 12", in arena; and the current peer, NULL: not known. */
const char *rna_rule_say_peer(const struct rna_peer *peer, struct rna_arena *arena);
const struct rna_peer *rna_rule_live_peer(const struct rna_subject *port);
