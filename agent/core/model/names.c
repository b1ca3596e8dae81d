// SPDX-License-Identifier: Apache-2.0
/*
 * The words of all enumerations. Metric labels, JSON and tables show them, so they must be as
 * stable as metric names. An unknown code is "?" or "unknown".
 */
#include <errno.h>
#include <linux/dcbnl.h>

#include "rna/model/bandwidths.h"
#include "rna/model/change.h"
#include "rna/model/device.h"
#include "rna/model/ethernet.h"
#include "rna/model/expectation.h"
#include "rna/model/fabric.h"
#include "rna/model/finding.h"
#include "rna/model/gid.h"
#include "rna/model/kernel_log.h"
#include "rna/model/module.h"
#include "rna/model/netdev.h"
#include "rna/model/node_status.h"
#include "rna/model/part.h"
#include "rna/model/pcie.h"
#include "rna/model/probe.h"
#include "rna/model/qos.h"
#include "rna/model/readiness.h"
#include "rna/model/resources.h"
#include "rna/model/selftest.h"
#include "rna/model/topology.h"
#include "rna/model/value.h"
#include "rna/model/view.h"
#include "rna/model/virtual_functions.h"
#include "rna/model/web_status.h"

/* names[index], or fallback if there is none. */
static const char *pick(const char *const *names, size_t count, uint64_t index,
			const char *fallback)
{
	return index < count && names[index] ? names[index] : fallback;
}

/* Defines function(code), which returns the word of the row [code], or fallback. */
#define NAMES(function, type, fallback, ...)                                                       \
	const char *function(type code)                                                            \
	{                                                                                          \
		static const char *const names[] = {__VA_ARGS__};                                  \
                                                                                                   \
		return pick(names, RNA_ARRAY_SIZE(names), code, fallback);                         \
	}

/* clang-format off */
NAMES(rna_function_name, enum rna_function, "?",
      [RNA_FUNCTION_PF] = "pf",
      [RNA_FUNCTION_VF] = "vf",
      [RNA_FUNCTION_GUEST_VF] = "guest-vf",
      [RNA_FUNCTION_SF] = "sf",
      [RNA_FUNCTION_VIRTUAL] = "virtual",
      [RNA_FUNCTION_SWITCH_MANAGEMENT] = "switch-management")

NAMES(rna_node_type_name, enum rna_node_type, "unknown",
      [RNA_NODE_TYPE_CA] = "ca",
      [RNA_NODE_TYPE_SWITCH] = "switch",
      [RNA_NODE_TYPE_ROUTER] = "router",
      [RNA_NODE_TYPE_RNIC] = "rnic",
      [RNA_NODE_TYPE_USNIC] = "usnic",
      [RNA_NODE_TYPE_USNIC_UDP] = "usnic_udp",
      [RNA_NODE_TYPE_UNSPECIFIED] = "unspecified")

/* The words of sysfs link_layer. */
NAMES(rna_link_layer_name, enum rna_link_layer, "Unknown",
      [RNA_LINK_LAYER_INFINIBAND] = "InfiniBand",
      [RNA_LINK_LAYER_ETHERNET] = "Ethernet")

/* The words of sysfs state, as ibstat users know them. */
NAMES(rna_port_state_name, uint64_t, "?",
      [RNA_PORT_NOP] = "NOP",
      [RNA_PORT_DOWN] = "DOWN",
      [RNA_PORT_INIT] = "INIT",
      [RNA_PORT_ARMED] = "ARMED",
      [RNA_PORT_ACTIVE] = "ACTIVE",
      [RNA_PORT_ACTIVE_DEFER] = "ACTIVE_DEFER")

/* The words of sysfs phys_state. */
NAMES(rna_physical_state_name, uint64_t, "?",
      [RNA_PHYSICAL_SLEEP] = "Sleep",
      [RNA_PHYSICAL_POLLING] = "Polling",
      [RNA_PHYSICAL_DISABLED] = "Disabled",
      [RNA_PHYSICAL_TRAINING] = "PortConfigurationTraining",
      [RNA_PHYSICAL_LINK_UP] = "LinkUp",
      [RNA_PHYSICAL_RECOVERY] = "LinkErrorRecovery",
      [RNA_PHYSICAL_TEST] = "Phy Test")

/* The words of sysfs class/net/X/operstate. */
NAMES(rna_operstate_name, enum rna_operstate, "unknown",
      [RNA_OPER_UNKNOWN] = "unknown",
      [RNA_OPER_NOTPRESENT] = "notpresent",
      [RNA_OPER_DOWN] = "down",
      [RNA_OPER_LOWERLAYERDOWN] = "lowerlayerdown",
      [RNA_OPER_TESTING] = "testing",
      [RNA_OPER_DORMANT] = "dormant",
      [RNA_OPER_UP] = "up")

NAMES(rna_netdev_source_name, enum rna_netdev_source, "?",
      [RNA_NETDEV_BY_NETLINK] = "netlink",
      [RNA_NETDEV_BY_GID] = "gid",
      [RNA_NETDEV_BY_DEV_PORT] = "dev_port",
      [RNA_NETDEV_BY_PARENT] = "parent",
      [RNA_NETDEV_BY_IPOIB] = "ipoib")

/* The words of show_gids; sysfs has "IB/RoCE v1" for two of them. */
NAMES(rna_gid_type_name, enum rna_gid_type, "unknown",
      [RNA_GID_TYPE_IB] = "IB",
      [RNA_GID_TYPE_ROCE_V1] = "RoCE v1",
      [RNA_GID_TYPE_ROCE_V2] = "RoCE v2")

NAMES(rna_gid_family_name, enum rna_gid_family, "?",
      [RNA_GID_IPV4] = "ipv4",
      [RNA_GID_IPV6] = "ipv6")

NAMES(rna_job_state_name, enum rna_job_state, "?",
      [RNA_JOB_SUCCEEDED] = "succeeded",
      [RNA_JOB_FAILED] = "failed",
      [RNA_JOB_STALLED] = "stalled",
      [RNA_JOB_PENDING] = "pending")

NAMES(rna_source_name, enum rna_source, "?",
      [RNA_SOURCE_POLL] = "poll",
      [RNA_SOURCE_RTNETLINK] = "rtnetlink",
      [RNA_SOURCE_UEVENT] = "uevent",
      [RNA_SOURCE_KMSG] = "kmsg",
      [RNA_SOURCE_VERBS] = "verbs",
      [RNA_SOURCE_COUNTER] = "counter")

NAMES(rna_expectation_reason_name, enum rna_expectation_reason, "?",
      [RNA_EXPECTATION_NONE] = "unknown",
      [RNA_EXPECTATION_CONFIGURED] = "configured",
      [RNA_EXPECTATION_ACCEPTED] = "accepted",
      [RNA_EXPECTATION_REMEMBERED] = "remembered",
      [RNA_EXPECTATION_SIBLINGS] = "siblings",
      [RNA_EXPECTATION_UNWIRED] = "unwired")

NAMES(rna_whereabouts_name, enum rna_whereabouts, "?",
      [RNA_WHEREABOUTS_LOST] = "lost",
      [RNA_WHEREABOUTS_UNBOUND] = "unbound",
      [RNA_WHEREABOUTS_MOVED] = "moved",
      [RNA_WHEREABOUTS_RELOCATED] = "relocated",
      [RNA_WHEREABOUTS_UNKNOWN] = "unknown")

NAMES(rna_impact_name, enum rna_impact, "?",
      [RNA_IMPACT_NODE_LOST] = "node-lost",
      [RNA_IMPACT_RAIL_LOST] = "rail-lost",
      [RNA_IMPACT_RAIL_SLOW] = "rail-slow",
      [RNA_IMPACT_ERRORS] = "errors",
      [RNA_IMPACT_HOST] = "host-setting",
      [RNA_IMPACT_FABRIC] = "fabric",
      [RNA_IMPACT_AGENT] = "agent")

NAMES(rna_cause_name, enum rna_cause, "?",
      [RNA_CAUSE_CARD] = "card",
      [RNA_CAUSE_HOST] = "host",
      [RNA_CAUSE_CABLE] = "cable",
      [RNA_CAUSE_PLATFORM] = "platform",
      [RNA_CAUSE_FABRIC] = "fabric",
      [RNA_CAUSE_JOB] = "job")

NAMES(rna_change_kind_name, enum rna_change_kind, "?",
      [RNA_CHANGE_OF_PORT] = "port",
      [RNA_CHANGE_OF_FINDING] = "finding",
      [RNA_CHANGE_OF_AGENT] = "agent")

NAMES(rna_change_name, enum rna_change_what, "?",
      [RNA_CHANGE_DOWN] = "down",
      [RNA_CHANGE_UP] = "up",
      [RNA_CHANGE_RAISED] = "raised",
      [RNA_CHANGE_ALTERED] = "changed",
      [RNA_CHANGE_RESOLVED] = "resolved",
      [RNA_CHANGE_STARTED] = "started",
      [RNA_CHANGE_STOPPED] = "stopped",
      [RNA_CHANGE_RELOADED] = "reloaded",
      [RNA_CHANGE_REFUSED] = "reload-refused",
      [RNA_CHANGE_ACCEPTED] = "accepted")

NAMES(rna_health_state_name, enum rna_health_state, "?",
      [RNA_HEALTH_OK] = "ok",
      [RNA_HEALTH_WARNING] = "warning",
      [RNA_HEALTH_CRITICAL] = "critical",
      [RNA_HEALTH_UNKNOWN] = "unknown")

NAMES(rna_severity_name, enum rna_severity, "?",
      [RNA_SEVERITY_INFO] = "info",
      [RNA_SEVERITY_WARNING] = "warning",
      [RNA_SEVERITY_CRITICAL] = "critical")

NAMES(rna_value_state_name, enum rna_value_state, "?",
      [RNA_VALUE_ABSENT] = "absent",
      [RNA_VALUE_OK] = "ok",
      [RNA_VALUE_UNREADABLE] = "unreadable",
      [RNA_VALUE_SATURATED] = "saturated")

NAMES(rna_reason_name, enum rna_reason, "other",
      [RNA_REASON_INVALID] = "invalid",
      [RNA_REASON_DENIED] = "denied",
      [RNA_REASON_IO] = "io",
      [RNA_REASON_GONE] = "gone",
      [RNA_REASON_UNSUPPORTED] = "unsupported",
      [RNA_REASON_TIMEOUT] = "timeout",
      [RNA_REASON_FORMAT] = "format",
      [RNA_REASON_OTHER] = "other")

NAMES(rna_withheld_reason, enum rna_withheld, "it is not withheld",
      [RNA_WITHHELD_DRY_RUN] = "kubernetes.taint_dry_run is true",
      [RNA_WITHHELD_LIMIT] = "other nodes hold all Leases of kubernetes.taint_leases",
      [RNA_WITHHELD_NO_LEASES] = "there are no Leases of kubernetes.taint_leases",
      [RNA_WITHHELD_DENIED] = "the API server refuses the Leases of kubernetes.taint_leases")

NAMES(rna_kubernetes_result_name, enum rna_kubernetes_result, "?",
      [RNA_KUBERNETES_OK] = "ok",
      [RNA_KUBERNETES_REFUSED] = "refused",
      [RNA_KUBERNETES_UNAUTHORIZED] = "unauthorized",
      [RNA_KUBERNETES_FORBIDDEN] = "forbidden",
      [RNA_KUBERNETES_THROTTLED] = "throttled",
      [RNA_KUBERNETES_FAILED] = "failed",
      [RNA_KUBERNETES_UNREACHABLE] = "unreachable")

NAMES(rna_node_backend_name, enum rna_node_backend_id, "?",
      [RNA_NODE_BACKEND_API] = "api",
      [RNA_NODE_BACKEND_NFD] = "nfd")

NAMES(rna_login_name, enum rna_login, "?",
      [RNA_LOGIN_OK] = "ok",
      [RNA_LOGIN_REFUSED] = "refused",
      [RNA_LOGIN_LIMITED] = "limited")

NAMES(rna_drop_name, enum rna_drop, "?",
      [RNA_DROP_FULL] = "full",
      [RNA_DROP_ADDRESS_LIMIT] = "address_limit",
      [RNA_DROP_MADE_ROOM] = "made_room",
      [RNA_DROP_REQUEST_TIMEOUT] = "request_timeout",
      [RNA_DROP_REPLY_TIMEOUT] = "reply_timeout",
      [RNA_DROP_MAX_OLD_BYTES] = "max_old_bytes",
      [RNA_DROP_FAILED] = "failed")

NAMES(rna_resource_name, enum rna_resource, "?",
      [RNA_RESOURCE_PD] = "pd",
      [RNA_RESOURCE_CQ] = "cq",
      [RNA_RESOURCE_QP] = "qp",
      [RNA_RESOURCE_CM_ID] = "cm_id",
      [RNA_RESOURCE_MR] = "mr",
      [RNA_RESOURCE_CTX] = "ctx",
      [RNA_RESOURCE_SRQ] = "srq",
      [RNA_RESOURCE_COMP_CNTR] = "comp_cntr")

NAMES(rna_peer_source_name, enum rna_peer_source, "?",
      [RNA_PEER_BY_MAD] = "mad",
      [RNA_PEER_BY_LLDP] = "lldp")

NAMES(rna_kernel_log_source_name, enum rna_kernel_log_source, "?",
      [RNA_KERNEL_LOG_NONE] = "none",
      [RNA_KERNEL_LOG_KMSG] = "kmsg",
      [RNA_KERNEL_LOG_JOURNAL] = "journal",
      [RNA_KERNEL_LOG_RECORDED] = "recorded")

NAMES(rna_manager_state_name, uint64_t, "?",
      [RNA_MANAGER_NOT_ACTIVE] = "not active",
      [RNA_MANAGER_DISCOVERING] = "discovering",
      [RNA_MANAGER_STANDBY] = "standby",
      [RNA_MANAGER_MASTER] = "master")

NAMES(rna_gpudirect_state_name, enum rna_gpudirect_state, "?",
      [RNA_GPUDIRECT_UNKNOWN] = "unknown",
      [RNA_GPUDIRECT_READY] = "ready",
      [RNA_GPUDIRECT_READY_FOR_NEWER] = "ready-for-nccl-2.23",
      [RNA_GPUDIRECT_NOT_READY] = "not-ready",
      [RNA_GPUDIRECT_NOT_SEEN] = "unknown",
      [RNA_GPUDIRECT_IMPOSSIBLE] = "impossible")

NAMES(rna_gpudirect_name, enum rna_gpudirect, "?",
      [RNA_GPUDIRECT_PEER_MEMORY] = "peer-memory",
      [RNA_GPUDIRECT_DMA_BUF] = "dma-buf")

NAMES(rna_fec_name, enum rna_fec, "?",
      [RNA_FEC_OFF] = "off",
      [RNA_FEC_BASER] = "baser",
      [RNA_FEC_RS] = "rs",
      [RNA_FEC_LLRS] = "llrs")

/* The words of type in /sys/kernel/iommu_groups/N, but for the first. */
NAMES(rna_iommu_mode_name, enum rna_iommu_mode, "?",
      [RNA_IOMMU_OFF] = "off",
      [RNA_IOMMU_IDENTITY] = "identity",
      [RNA_IOMMU_OTHER] = "other",
      [RNA_IOMMU_LAZY] = "DMA-FQ",
      [RNA_IOMMU_STRICT] = "DMA")

NAMES(rna_aer_name, enum rna_aer, "?",
      [RNA_AER_CORRECTABLE] = "correctable",
      [RNA_AER_NONFATAL] = "nonfatal",
      [RNA_AER_FATAL] = "fatal")

NAMES(rna_vf_link_name, uint64_t, "?",
      [RNA_VF_LINK_AUTO] = "auto",
      [RNA_VF_LINK_UP] = "up",
      [RNA_VF_LINK_DOWN] = "down")

NAMES(rna_vf_property_name, enum rna_vf_property, "?",
      [RNA_VF_BOUND] = "bound",
      [RNA_VF_PASSED] = "passed",
      [RNA_VF_RDMA] = "rdma",
      [RNA_VF_REPRESENTED] = "represented",
      [RNA_VF_UNASSIGNED] = "unassigned",
      [RNA_VF_LINK_IS_DOWN] = "link-down",
      [RNA_VF_TRUSTED] = "trusted",
      [RNA_VF_SPOOF_UNCHECKED] = "spoof-unchecked")

NAMES(rna_endpoint_name, enum rna_endpoint, "?",
      [RNA_ENDPOINT_LOCAL] = "local",
      [RNA_ENDPOINT_REMOTE] = "remote",
      [RNA_ENDPOINT_GPU] = "gpu")

NAMES(rna_loopback_end_name, enum rna_loopback_end, "?",
      [RNA_LOOPBACK_DONE] = "done",
      [RNA_LOOPBACK_SKIPPED] = "skipped",
      [RNA_LOOPBACK_FAILED] = "failed",
      [RNA_LOOPBACK_CORRUPT] = "corrupt")

NAMES(rna_user_traffic_name, enum rna_user_traffic_id, "?",
      [RNA_USER_BYTES_TRANSMITTED] = "transmitted_bytes",
      [RNA_USER_BYTES_RECEIVED] = "received_bytes",
      [RNA_USER_PACKETS_TRANSMITTED] = "transmitted_packets",
      [RNA_USER_PACKETS_RECEIVED] = "received_packets")

NAMES(rna_unnamed_name, enum rna_unnamed, "?",
      [RNA_UNNAMED_OTHERS] = "others",
      [RNA_UNNAMED_GROUP] = "unnamed",
      [RNA_UNNAMED_HIDDEN] = "hidden")

NAMES(rna_skip_name, enum rna_skip, "?",
      [RNA_SKIP_NONE] = "none",
      [RNA_SKIP_DISABLED] = "disabled",
      [RNA_SKIP_QUIESCED] = "quiesced",
      [RNA_SKIP_NOT_ACTIVE] = "not_active",
      [RNA_SKIP_NO_GID] = "no_gid",
      [RNA_SKIP_NO_PKEY] = "no_pkey",
      [RNA_SKIP_VIRTUAL] = "virtual",
      [RNA_SKIP_MANAGEMENT] = "management",
      [RNA_SKIP_ELSEWHERE] = "elsewhere",
      [RNA_SKIP_TRANSPORT] = "transport",
      [RNA_SKIP_BUSY] = "busy",
      [RNA_SKIP_DISTURBED] = "disturbed",
      [RNA_SKIP_RECENT_CHANGE] = "recent_change",
      [RNA_SKIP_WINDOW] = "window",
      [RNA_SKIP_NODE_GATE] = "node_gate",
      [RNA_SKIP_LOCKED] = "locked",
      [RNA_SKIP_DENIED] = "denied",
      [RNA_SKIP_MEMLOCK] = "memlock",
      [RNA_SKIP_NO_MEMORY_NODE] = "no_memory_node",
      [RNA_SKIP_NO_GPU] = "no_gpu",
      [RNA_SKIP_STALLED] = "stalled",
      [RNA_SKIP_NO_DEVICE] = "no_device",
      [RNA_SKIP_NO_RESOURCES] = "no_resources")

NAMES(rna_grade_name, enum rna_grade, "?",
      [RNA_GRADE_NONE] = "none",
      [RNA_GRADE_OK] = "ok",
      [RNA_GRADE_WARNING] = "warning",
      [RNA_GRADE_FAILED] = "failed")

NAMES(rna_module_measure_name, enum rna_module_measure, "?",
      [RNA_MODULE_TEMPERATURE] = "temperature",
      [RNA_MODULE_VOLTAGE] = "voltage",
      [RNA_MODULE_RECEIVE_POWER] = "receive_power",
      [RNA_MODULE_TRANSMIT_POWER] = "transmit_power",
      [RNA_MODULE_BIAS] = "bias")

NAMES(rna_module_limit_name, enum rna_module_limit, "?",
      [RNA_MODULE_HIGH_ALARM] = "high-alarm",
      [RNA_MODULE_LOW_ALARM] = "low-alarm",
      [RNA_MODULE_HIGH_WARNING] = "high-warning",
      [RNA_MODULE_LOW_WARNING] = "low-warning")

NAMES(rna_trust_name, enum rna_trust, NULL,
      [RNA_TRUST_PCP] = "pcp",
      [RNA_TRUST_DSCP] = "dscp")

NAMES(rna_ets_algorithm_name, unsigned, "?",
      [IEEE_8021QAZ_TSA_STRICT] = "strict",
      [IEEE_8021QAZ_TSA_CB_SHAPER] = "credit_based",
      [IEEE_8021QAZ_TSA_ETS] = "ets",
      [IEEE_8021QAZ_TSA_VENDOR] = "vendor")

NAMES(rna_ecn_name, enum rna_ecn, "?",
      [RNA_ECN_NOTIFICATION] = "notification",
      [RNA_ECN_REACTION] = "reaction")

NAMES(rna_log_kind_name, enum rna_log_kind, "?",
      [RNA_LOG_FIRMWARE] = "firmware",
      [RNA_LOG_TRANSMIT] = "transmit",
      [RNA_LOG_PCIE] = "pcie",
      [RNA_LOG_MODULE] = "module",
      [RNA_LOG_TEMPERATURE] = "temperature",
      [RNA_LOG_IOMMU] = "iommu",
      [RNA_LOG_CPU] = "cpu",
      [RNA_LOG_GPUDIRECT] = "gpudirect",
      [RNA_LOG_PROTOCOL] = "protocol",
      [RNA_LOG_DRIVER] = "driver",
      [RNA_LOG_SITE] = "site",
      [RNA_LOG_RECOVERY] = "recovery")

NAMES(rna_log_end_text, enum rna_log_end, "?",
      [RNA_LOG_ENDS_ANSWERING] = "the device answers",
      [RNA_LOG_ENDS_SENDING] = "the interface is up and sends packets",
      [RNA_LOG_ENDS_COUNTERS] = "the error counters of its PCIe path stand still",
      [RNA_LOG_ENDS_COOL] = "its temperature is below the limit",
      [RNA_LOG_ENDS_ACTIVE] = "its port is up",
      [RNA_LOG_ENDS_RECOVERED] = "the driver reports recovery, or the device is new",
      [RNA_LOG_ENDS_RUNNING] = "the agent saw no such message for that time")

NAMES(rna_path_class_name, enum rna_path_class, "?",
      [RNA_PATH_SAME] = "X",
      [RNA_PATH_PIX] = "PIX",
      [RNA_PATH_PXB] = "PXB",
      [RNA_PATH_PHB] = "PHB",
      [RNA_PATH_NODE] = "NODE",
      [RNA_PATH_SYS] = "SYS",
      [RNA_PATH_UNKNOWN] = "unknown")

NAMES(rna_pci_role_name, enum rna_pci_role, "?",
      [RNA_PCI_HOST_BRIDGE] = "host-bridge",
      [RNA_PCI_ROOT_PORT] = "root-port",
      [RNA_PCI_UPSTREAM] = "upstream",
      [RNA_PCI_DOWNSTREAM] = "downstream",
      [RNA_PCI_BRIDGE] = "bridge",
      [RNA_PCI_GPU] = "gpu",
      [RNA_PCI_NIC] = "nic",
      [RNA_PCI_DATA_DIRECT] = "data-direct")

NAMES(rna_bandwidth_cause_name, enum rna_bandwidth_cause, "?",
      [RNA_BANDWIDTH_DEMAND] = "demand",
      [RNA_BANDWIDTH_WINDOW] = "window",
      [RNA_BANDWIDTH_PEER] = "peer")

NAMES(rna_probes_result_name, enum rna_probes_result, "unknown",
      [RNA_PROBES_OK] = "ok",
      [RNA_PROBES_WARNING] = "warning",
      [RNA_PROBES_CRITICAL] = "critical",
      [RNA_PROBES_UNKNOWN] = "unknown")

NAMES(rna_probe_priority_name, enum rna_probe_priority, "unknown",
      [RNA_PROBE_PRIORITY_NORMAL] = "normal",
      [RNA_PROBE_PRIORITY_NICE] = "nice",
      [RNA_PROBE_PRIORITY_REALTIME] = "realtime")

NAMES(rna_probe_scope_name, enum rna_probe_scope, "unknown",
      [RNA_PROBE_HOST] = "host",
      [RNA_PROBE_LEAF] = "leaf",
      [RNA_PROBE_FABRIC] = "fabric")

NAMES(rna_probe_state_name, enum rna_probe_state, "unknown",
      [RNA_PROBE_WAITING] = "waiting",
      [RNA_PROBE_RUNNING] = "running",
      [RNA_PROBE_PEER_DOWN] = "peer_down",
      [RNA_PROBE_PEER_REFUSED] = "peer_refused",
      [RNA_PROBE_NO_NEIGHBOUR] = "no_neighbour",
      [RNA_PROBE_LOCAL] = "local")

NAMES(rna_probe_use_name, enum rna_probe_use, "unknown",
      [RNA_PROBE_OFF] = "off",
      [RNA_PROBE_OPENING] = "opening",
      [RNA_PROBE_OPEN] = "open",
      [RNA_PROBE_FAILED] = "failed",
      [RNA_PROBE_PAUSED] = "paused")

NAMES(rna_probe_verdict_name, enum rna_probe_verdict, "unknown",
      [RNA_PROBE_UNKNOWN] = "unknown",
      [RNA_PROBE_WELL] = "well",
      [RNA_PROBE_UNREACHABLE] = "unreachable",
      [RNA_PROBE_LOSSY] = "lossy")

NAMES(rna_probe_stranger_name, enum rna_probe_stranger, "unknown",
      [RNA_STRANGER_REPLAY] = "replay",
      [RNA_STRANGER_DUPLICATE] = "duplicate",
      [RNA_STRANGER_RATE] = "rate")
/* clang-format on */

/* linux/ethtool.h, ETHTOOL_LINK_EXT_STATE_* and below. */
static const struct link_state {
	const char *name;
	const char *text;
	const char *substates[7]; /* from 1 */
} link_states[] = {
	{"autoneg",
	 "autonegotiation found no common mode",
	 {NULL, "no-partner-detected", "ack-not-received", "next-page-exchange-failed",
	  "no-partner-detected-force-mode", "fec-mismatch-during-override", "no-hcd"}},
	{"link-training-failure",
	 "link training failed",
	 {NULL, "kr-frame-lock-not-acquired", "kr-link-inhibit-timeout",
	  "kr-link-partner-did-not-set-receiver-ready", "remote-fault"}},
	{"link-logical-mismatch",
	 "logical mismatch: the ends differ in lanes or FEC",
	 {NULL, "pcs-did-not-acquire-block-lock", "pcs-did-not-acquire-am-lock",
	  "pcs-did-not-get-align-status", "fc-fec-is-not-locked", "rs-fec-is-not-locked"}},
	{"bad-signal-integrity",
	 "bad signal integrity",
	 {NULL, "large-number-of-physical-errors", "unsupported-rate",
	  "serdes-reference-clock-lost", "serdes-alos"}},
	{"no-cable", "no cable", {0}},
	{"cable-issue", "cable fault", {NULL, "unsupported-cable", "cable-test-failure"}},
	{"eeprom-issue", "the EEPROM of the module or cable cannot be read", {0}},
	{"calibration-failure", "calibration failed", {0}},
	{"power-budget-exceeded", "the module needs more power than the port can supply", {0}},
	{"overheat", "overheated", {0}},
	{"module", "the module is not ready", {NULL, "cmis-not-ready"}},
};

static const struct link_state *find(uint64_t state)
{
	return state < RNA_ARRAY_SIZE(link_states) ? &link_states[state] : NULL;
}

const char *rna_ethernet_link_state_name(uint64_t state)
{
	return find(state) ? find(state)->name : "?";
}

const char *rna_ethernet_link_state_text(uint64_t state)
{
	return find(state) ? find(state)->text : "a reason that this version does not know";
}

const char *rna_ethernet_link_substate_name(uint64_t state, uint64_t substate)
{
	const struct link_state *of = find(state);

	return of && substate < RNA_ARRAY_SIZE(of->substates) ? of->substates[substate] : NULL;
}

bool rna_device_is_nic(const struct rna_device *device)
{
	return device->function == RNA_FUNCTION_PF || device->function == RNA_FUNCTION_GUEST_VF;
}

bool rna_port_is_up(const struct rna_port_state_value *port)
{
	return port && rna_value_is_known(port->state) &&
	       (port->state.number == RNA_PORT_ACTIVE ||
		port->state.number == RNA_PORT_ACTIVE_DEFER);
}

struct rna_value rna_link_planes_up(const struct rna_link *link)
{
	uint64_t count = 0;

	if (!link || link->plane_count == 0)
		return (struct rna_value){0};
	for (size_t i = 0; i < link->plane_count; i++) {
		const struct rna_port_state_value plane = {.state = link->planes[i].state};

		if (!rna_value_is_known(plane.state))
			return (struct rna_value){0};
		count += rna_port_is_up(&plane);
	}
	return rna_value_ok(count);
}

enum rna_reason rna_reason_from_errno(int error)
{
	switch (error < 0 ? -error : error) {
	case EINVAL:
		return RNA_REASON_INVALID;
	case EACCES:
	case EPERM:
		return RNA_REASON_DENIED;
	case EIO:
		return RNA_REASON_IO;
	case ENODEV:
	case ENOENT:
	case ENXIO:
		return RNA_REASON_GONE;
	case EOPNOTSUPP:
	case ENOSYS:
	case EPROTONOSUPPORT:
		return RNA_REASON_UNSUPPORTED;
	case ETIMEDOUT:
	case EAGAIN:
		return RNA_REASON_TIMEOUT;
	/* Errors of the agent's own parsers for text that is not as documented. */
	case EBADMSG:
	case EILSEQ:
	case EMSGSIZE:
	case ERANGE:
		return RNA_REASON_FORMAT;
	default:
		return RNA_REASON_OTHER;
	}
}
