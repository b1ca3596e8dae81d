/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules: one table (rules.c) that lists what can be wrong, and pure functions (rules_*.c) that
 * check it. A rule gets a view, the history of each port and the settings, and reports what holds
 * at this moment. health.c applies the hold-down.
 *
 * Unreadable data is unknown, never a problem: rules ignore it. rna_rule_run() keeps the findings
 * of a device that does not answer; a rule that cannot decide for a reason of its own calls
 * rna_finds_add_unknown().
 */
#pragma once

#include <stdbool.h>

#include "rna/base/strbuf.h"
#include "rna/model/finding.h"
#include "rna/model/view.h"

struct rna_baseline_choice;
struct rna_episodes;
struct rna_remedy_names;
struct rna_settings;
struct rna_thresholds;
struct rna_past;

enum rna_rule_id {
	RNA_RULE_PORT_DOWN,
	RNA_RULE_PORT_INIT,
	RNA_RULE_PORT_ARMED,
	RNA_RULE_PORT_DISABLED,
	RNA_RULE_DEVICE_MISSING,
	RNA_RULE_DEVICE_OFF_BUS,
	RNA_RULE_DEVICE_MOVED,
	RNA_RULE_NAMESPACES_HIDDEN,
	RNA_RULE_NAMESPACES_CROWDED,
	RNA_RULE_DEVICE_CONTESTED,
	RNA_RULE_USERS_HIDDEN,
	RNA_RULE_DEVICE_NODE_POD,
	RNA_RULE_DEVICE_RENAMED,
	RNA_RULE_DEVICE_REPLACED,
	RNA_RULE_FUNCTION_WITHOUT_DEVICE,
	RNA_RULE_RDMA_ABSENT,
	RNA_RULE_NOTHING_WATCHED,
	RNA_RULE_EXPECT_UNMATCHED,
	RNA_RULE_LINK_DEGRADED,
	RNA_RULE_PLANE_DOWN,
	RNA_RULE_LINK_LIMITED,
	RNA_RULE_CABLE_MOVED,
	RNA_RULE_SUBNET_MANAGER_CHANGED,
	RNA_RULE_SUBNET_MANAGER_UNHEALTHY,
	RNA_RULE_PKEY_DEFAULT_MISSING,
	RNA_RULE_RAILS_PKEYS,
	RNA_RULE_PORT_FLAPPING,
	RNA_RULE_ERRORS_RISING,
	RNA_RULE_ACKNOWLEDGEMENTS_MISSING,
	RNA_RULE_PACKETS_LOST,
	RNA_RULE_COUNTER_SATURATED,
	RNA_RULE_CONGESTION_IGNORED,
	RNA_RULE_PAUSE_STORM,
	RNA_RULE_PAUSE_TRANSMITTED,
	RNA_RULE_PAUSE_RECEIVED,
	RNA_RULE_GID_MISSING,
	RNA_RULE_GID_ROCE_V1_ONLY,
	RNA_RULE_GID_LINK_LOCAL_ONLY,
	RNA_RULE_GID_NCCL_INDEX_MOVED,
	RNA_RULE_GID_RAILS_DISAGREE,
	RNA_RULE_NETDEV_DOWN,
	RNA_RULE_NETDEV_NO_ADDRESS,
	RNA_RULE_MTU_LOW,
	RNA_RULE_BOND_MEMBER_LOST,
	RNA_RULE_LACP_PARTNER_MISSING,
	RNA_RULE_LACP_AGGREGATORS_DIFFER,
	RNA_RULE_LACP_MEMBER_INACTIVE,
	RNA_RULE_BOND_UNMONITORED,
	RNA_RULE_GATEWAY_UNREACHABLE,
	RNA_RULE_NEIGHBOUR_TABLE_FULL,
	RNA_RULE_PCIE_DEGRADED,
	RNA_RULE_PCIE_LIMITS_PORT,
	RNA_RULE_PCIE_ERRORS,
	RNA_RULE_PCIE_STALLED,
	RNA_RULE_PCIE_READ_REQUEST,
	RNA_RULE_GPUDIRECT_REDIRECTED,
	RNA_RULE_GPUDIRECT_NOT_READY,
	RNA_RULE_GPUDIRECT_ASYNC_OFF,
	RNA_RULE_MODULE_MISSING,
	RNA_RULE_RDMA_DRIVER_MISSING,
	RNA_RULE_DEVICE_NODE,
	RNA_RULE_CPU_GOVERNOR,
	RNA_RULE_IOMMU_TRANSLATING,
	RNA_RULE_NETNS_EXCLUSIVE,
	RNA_RULE_MEMLOCK_LOW,
	RNA_RULE_NCCL_CONF,
	RNA_RULE_RAILS_FIRMWARE,
	RNA_RULE_RAILS_LINK_LAYER,
	RNA_RULE_RAILS_MTU,
	RNA_RULE_RAILS_IPOIB,
	RNA_RULE_RAILS_SHARE_SUBNET,
	RNA_RULE_JUMBO_FRAMES,
	RNA_RULE_RAILS_VIRTUAL_FUNCTIONS,
	RNA_RULE_QOS_RAILS,
	RNA_RULE_QOS_DRIFT,
	RNA_RULE_QOS_LOSSY_CLASS,
	RNA_RULE_QOS_LOSSLESS_DISCARDS,
	RNA_RULE_QOS_PFC_PRIORITIES,
	RNA_RULE_QOS_VLAN_MTU,
	RNA_RULE_VIRTUAL_FUNCTION_GUID,
	RNA_RULE_VIRTUAL_FUNCTION_LINK,
	RNA_RULE_MODULE_TEMPERATURE,
	RNA_RULE_MODULE_VOLTAGE,
	RNA_RULE_MODULE_LIGHT,
	RNA_RULE_MODULE_LANE,
	RNA_RULE_DEVICE_STALLED,
	RNA_RULE_READS_FAILING,
	RNA_RULE_DATA_TOO_OLD,
	RNA_RULE_RESOURCES_MISSING,
	RNA_RULE_SELFTEST_FAILED,
	RNA_RULE_SELFTEST_SLOW,
	RNA_RULE_SELFTEST_STUCK,
	RNA_RULE_PROBE_UNREACHABLE,
	RNA_RULE_PROBE_PEER_UNREACHABLE,
	RNA_RULE_PROBE_LOSS,
	RNA_RULE_PROBE_MTU_HOLE,
	RNA_RULE_PROBE_SLOW,
	RNA_RULE_PROBE_DSCP_REWRITTEN,
	RNA_RULE_PROBE_DETOUR,
	RNA_RULE_PROBE_FLOODED,
	RNA_RULE_FIRMWARE_FAILING, /* those of the kernel log stand behind those of counters */
	RNA_RULE_TRANSMIT_TIMEOUT,
	RNA_RULE_PCIE_ERRORS_LOGGED,
	RNA_RULE_MODULE_EVENT,
	RNA_RULE_DEVICE_OVERHEATED,
	RNA_RULE_IOMMU_FAULT,
	RNA_RULE_CPU_LOCKUP,
	RNA_RULE_GPUDIRECT_FAILING,
	RNA_RULE_PROTOCOL_ERRORS_LOGGED,
	RNA_RULE_DRIVER_FAILING,
	RNA_RULE_KERNEL_LOG_PATTERN,
	RNA_RULE_KERNEL_LOG_FLOOD,
	RNA_RULE_KERNEL_LOG_UNREAD,
	RNA_RULE_PROFILE_UNUSABLE,
	RNA_RULE_PROFILE_NODE,
	RNA_RULE_PROFILE_COUNT,
	RNA_RULE_PROFILE_DEVICE,
	RNA_RULE_PROFILE_PORT,
	RNA_RULE_COUNT,
};

enum { RNA_RULE_MODELS_MAX = 64 }; /* ports of further models have no siblings */

/* A port, or a device as a whole (number 0), with everything known about it; NULL: not known. */
struct rna_rule_subject {
	const struct rna_snapshot_device *device;
	unsigned number;
	const struct rna_identity *identity;
	enum rna_link_layer link_layer;
	const struct rna_port_state_value *state;
	const struct rna_port_link *link;
	const struct rna_port_fabric *fabric;
	const struct rna_peer *peer; /* at the other end of the cable */
	const struct rna_port_gids *gids;
	const struct rna_netdev *netdev;
	const struct rna_qos_port *qos; /* of a port with an Ethernet interface */
	const struct rna_view_port *account;
	const struct rna_view_device *changes; /* of the device */
	const struct rna_selftest_port *selftest;
	const struct rna_past *past;
	size_t job_count; /* of the device */
	const struct rna_job_status *jobs;
	bool judged; /* all rules apply; otherwise only those about its PCIe path */
	bool unseen; /* some of its data is missing: findings of before stay */
	/* Ports of one number are of one model, each of a function of its own: siblings. 0: none */
	unsigned model;
	/*
	 * Ports of one number are in one place: the same port of the same function on cards of one
	 * model with as many functions, of any link layer, and all are rails or none is. 0: none
	 */
	unsigned place;
	unsigned card_functions; /* of its card, those that are NICs; 0: not known */
	bool rail;               /* its NIC serves GPUs, or has a rail on a node without GPUs */
	/* The GID index that NCCL uses; known if its address is reachable from other hosts. */
	bool nccl_known;
	unsigned nccl_index;
};

struct rna_rail_memo;
struct rna_rail_rate_memo;
struct rna_pcie_bounds;

struct rna_rule_input {
	const struct rna_view *view; /* all of it but the findings */
	const struct rna_settings *settings;
	const struct rna_thresholds *thresholds;
	const struct rna_baseline_choice *baseline; /* NULL: there is none */
	const struct rna_episodes *episodes;        /* of the kernel log; NULL: none */
	/* Devices and their ports in the order of the view, each device in front of its ports. */
	size_t count;
	const struct rna_rule_subject *subjects;
	const struct rna_rule_subject *subject; /* the one to check; NULL: the node */
	struct rna_rail_memo *rails;            /* of this run of the rule (rails.h); NULL: none */
	struct rna_rail_rate_memo *rates;       /* likewise */
	struct rna_pcie_bounds *pcie;           /* likewise (pcie_demand.h) */
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
	const struct rna_rule_subject *subject;
};

struct rna_find {
	enum rna_rule_id rule;
	bool unknown;    /* keeps an existing finding, makes no new one */
	bool settling;   /* and shows none of an earlier process */
	const char *key; /* of the device; NULL: the node, or a device that is missing */
	struct rna_finding finding;
};

/* Conditions of the Kubernetes Node; details are in the table of node_conditions.c. */
enum rna_node_condition_id {
	RNA_CONDITION_NONE, /* the rule sets no condition */
	RNA_CONDITION_PORT_DOWN,
	RNA_CONDITION_DEVICE_MISSING,
	RNA_CONDITION_LINK_DEGRADED,
	RNA_CONDITION_PORT_UNREACHABLE,
	RNA_CONDITION_NOT_OBSERVED,
	RNA_CONDITION_NOT_READY,
	RNA_CONDITION_RESOURCES_MISSING,
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
	enum rna_severity severity; /* the usual one */
	enum rna_rule_scope scope;
	bool devices_too; /* a rule of ports that also checks the counters of devices */
	bool settles;     /* not checked just after boot or driver load (health.boot_grace) */
	bool slow;        /* after a start it takes several readings to find the problem */
	rna_usec lately;  /* about an event: holds so long after it, also over a restart; or 0 */
	const char *hold; /* hold-down: the problem must last this long to become a finding */
	const char *help; /* when it holds */
	void (*check)(const struct rna_rule_input *in, struct rna_finds *out);
	const char *remedy;                   /* the usual one; a template, see remedy.h */
	const char *message_id;               /* of the journal, 32 hex digits */
	enum rna_node_condition_id condition; /* that its findings set, from warning on */
};

extern const struct rna_rule rna_rules[RNA_RULE_COUNT];
/* Of the journal entry that reports a resolved finding, whatever the rule. */
extern const char rna_rule_resolved_id[];

/* The rule of that name; RNA_RULE_COUNT: there is none. name: NULL counts as none. */
enum rna_rule_id rna_rule_find(const char *name);

/*
 * Which runbook is about the findings of a rule: a table that exporter/page/runbooks.py makes of
 * the lines "Findings: ..." in helm/rdma-node-agent/runbooks.md.
 */
struct rna_rule_runbook {
	const char *rule;
	enum rna_link_layer link_layer; /* UNKNOWN: any that has no row of its own */
	const char *runbook;
};

extern const struct rna_rule_runbook rna_rule_runbooks[];
extern const size_t rna_rule_runbook_count;

/* The name of the runbook, static; NULL: no line has the rule. */
const char *rna_rule_find_runbook(const char *rule, enum rna_link_layer link_layer);

/* Does the glob match a rule; and is text "RULE=DURATION", RULE a glob? For settings. */
bool rna_rule_glob_is_valid(const char *text);
bool rna_rule_hold_is_valid(const char *text);
void rna_rule_explain(const char *text, struct rna_strbuf *out); /* why not, if by name */

enum { RNA_RULE_GLOB_MAX = 64 };
bool rna_rule_split_hold(const char *text, char glob[RNA_RULE_GLOB_MAX], rna_usec *ret);

/* The table for the command describe, and as the catalog of the journal. */
void rna_rules_describe(struct rna_strbuf *out);
void rna_rules_write_catalog(struct rna_strbuf *out);

/* Runs one rule on all of its subjects. */
void rna_rule_run(enum rna_rule_id id, const struct rna_rule_input *in, struct rna_finds *out);

/*
 * For check functions: adds a finding, with the object in front of the text. The returned finding
 * has the rule's severity and remedy and the subject's names, and may be changed; never NULL.
 */
struct rna_finding *rna_finds_add(struct rna_finds *out, const char *format, ...) RNA_PRINTF(2, 3);
/* It cannot be determined whether the rule holds. */
void rna_finds_add_unknown(struct rna_finds *out);
/*
 * The names of the subject are filled into remedies after the check function returns. A check
 * function that knows other names calls this: returns the text in arena, or remedy itself if it has
 * no placeholder.
 */
const char *rna_rule_fill_remedy(const char *remedy, const struct rna_remedy_names *names,
				 struct rna_arena *arena);

/* Questions about a port that several rules ask. */
bool rna_subject_in_state(const struct rna_rule_subject *subject, enum rna_port_state state);
bool rna_subject_is_active(const struct rna_rule_subject *subject); /* false: no, or unknown */
/*
 * False for iWARP, which also runs on Ethernet but has no RoCE versions, one GID made of a MAC
 * address, MTUs of TCP, and TCP's retransmissions instead of lossless priorities.
 */
bool rna_subject_is_active_roce(const struct rna_rule_subject *subject);
bool rna_subject_state_is_known(const struct rna_rule_subject *subject);
enum rna_expected rna_subject_expected(const struct rna_rule_subject *subject);
/* Has it a GID that is not link-local? Its table must be known. */
bool rna_subject_has_routable_gid(const struct rna_rule_subject *subject);
/* The GID index that NCCL uses; false if its address is not reachable from other hosts. */
bool rna_subject_nccl_index(const struct rna_rule_subject *subject, unsigned *ret);
/* The reason for a missing link that the interface's driver reports, in arena; NULL: none. */
const char *rna_subject_link_trouble(const struct rna_rule_subject *subject,
				     struct rna_arena *arena);
/* The bond of the port being checked, or NULL. */
const struct rna_netdev *rna_rule_bond_of(const struct rna_rule_input *in);
bool rna_netdev_has_no_address(const struct rna_netdev *netdev); /* false: it has, or unknown */

double rna_gigabits(uint64_t bytes_per_second);

/* "leaf-07 port 12", in arena; and the current peer, NULL: not known. */
const char *rna_rule_say_peer(const struct rna_peer *peer, struct rna_arena *arena);
const struct rna_peer *rna_rule_live_peer(const struct rna_rule_subject *port);

/* The check functions, by subject: */
void rna_check_port_down(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_port_init(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_port_armed(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_port_disabled(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_device_missing(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_device_moved(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_namespaces_hidden(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_namespaces_crowded(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_device_contested(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_device_node_pod(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_users_hidden(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_device_renamed(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_device_replaced(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_function_without_device(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_rdma_absent(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_nothing_watched(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_expect_unmatched(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_link_degraded(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_plane_down(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_link_limited(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_cable_moved(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_subnet_manager_changed(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_subnet_manager_unhealthy(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_pkey_default_missing(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_rails_pkeys(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_threshold(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_acknowledgements_missing(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_counter_saturated(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_gid_missing(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_gid_roce_v1_only(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_gid_link_local_only(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_gid_nccl_index_moved(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_gid_rails_disagree(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_netdev_down(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_netdev_no_address(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_mtu_low(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_bond_member_lost(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_lacp_partner_missing(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_lacp_aggregators_differ(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_lacp_member_inactive(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_bond_unmonitored(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_gateway_unreachable(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_neighbour_table_full(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_device_off_bus(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_pcie_degraded(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_pcie_limits_port(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_pcie_read_request(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_gpudirect_redirected(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_pcie_errors(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_gpudirect_not_ready(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_gpudirect_async_off(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_module_missing(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_rdma_driver_missing(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_device_node(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_cpu_governor(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_iommu_translating(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_netns_exclusive(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_memlock_low(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_nccl_conf(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_rails_firmware(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_rails_link_layer(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_rails_mtu(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_rails_ipoib(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_rails_share_subnet(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_jumbo_frames(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_rails_virtual_functions(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_qos_rails(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_qos_drift(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_qos_lossy_class(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_qos_lossless_discards(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_qos_pfc_priorities(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_qos_vlan_mtu(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_virtual_function_guid(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_virtual_function_link(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_module_temperature(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_module_voltage(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_module_light(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_module_lane(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_device_stalled(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_reads_failing(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_data_too_old(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_resources_missing(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_selftest_failed(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_selftest_slow(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_selftest_stuck(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_probe_unreachable(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_probe_peer_unreachable(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_probe_loss(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_probe_mtu_hole(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_probe_slow(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_probe_dscp_rewritten(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_probe_detour(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_probe_flooded(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_episodes(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_kernel_log_flood(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_kernel_log_unread(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_profile_unusable(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_profile_node(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_profile_count(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_profile_device(const struct rna_rule_input *in, struct rna_finds *out);
void rna_check_profile_port(const struct rna_rule_input *in, struct rna_finds *out);
