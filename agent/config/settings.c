// SPDX-License-Identifier: Apache-2.0
/*
 * The settings: one table. To add a setting: a field in struct rna_settings and a row here. The
 * configuration file, its error texts, the defaults, agent/README.md and the sample configuration
 * follow from the row.
 */
#include <string.h>

#include "rna/base/log.h"
#include "rna/collector.h"
#include "rna/kubernetes.h"
#include "rna/model/device_filter.h"
#include "rna/model/ethernet.h"
#include "rna/model/topology.h"

#include "memory/expect.h"
#include "rules/rules.h"
#include "rules/thresholds.h"
#include "selftest/plan.h"
#include "settings/qos_profile.h"
#include "settings/silence.h"

#include "setting_forms.h"
#include "settings_table.h"

static const struct rna_setting_choice log_levels[] = {
	{"error", LOG_ERR}, {"warning", LOG_WARNING}, {"notice", LOG_NOTICE},
	{"info", LOG_INFO}, {"debug", LOG_DEBUG},     {NULL, 0},
};

static const struct rna_setting_choice seccomp_modes[] = {
	{"auto", RNA_SECCOMP_AUTO},
	{"on", RNA_SECCOMP_ON},
	{"off", RNA_SECCOMP_OFF},
	{NULL, 0},
};

static const struct rna_setting_choice counters_sources[] = {
	{"auto", RNA_COUNTERS_AUTO},
	{"sysfs", RNA_COUNTERS_SYSFS},
	{"mad", RNA_COUNTERS_MAD},
	{NULL, 0},
};

static const struct rna_setting_choice hw_counters_sources[] = {
	{"sysfs", RNA_HW_COUNTERS_SYSFS},
	{"netlink", RNA_HW_COUNTERS_NETLINK},
	{NULL, 0},
};

static const struct rna_setting_choice kubernetes_backends[] = {
	{"off", 0},
	{"api", RNA_NODE_BACKEND_BIT(API)},
	{"nfd", RNA_NODE_BACKEND_BIT(NFD)},
	{"both", RNA_NODE_BACKEND_BIT(API) | RNA_NODE_BACKEND_BIT(NFD)},
	{NULL, 0},
};

static const struct rna_setting_choice taint_effects[] = {
	{"NoSchedule", RNA_TAINT_NO_SCHEDULE},
	{"PreferNoSchedule", RNA_TAINT_PREFER_NO_SCHEDULE},
	{"NoExecute", RNA_TAINT_NO_EXECUTE},
	{NULL, 0},
};

static const struct rna_setting_choice taint_whens[] = {
	{"down", RNA_TAINT_WHEN_DOWN},
	{"degraded", RNA_TAINT_WHEN_DEGRADED},
	{NULL, 0},
};

static const struct rna_setting_choice gpu_nic_paths[] = {
	{"nearest", RNA_PATH_SAME},
	{"PIX", RNA_PATH_PIX},
	{"PXB", RNA_PATH_PXB},
	{"PHB", RNA_PATH_PHB},
	{"NODE", RNA_PATH_NODE},
	{"SYS", RNA_PATH_SYS},
	{NULL, 0},
};

/* clang-format off */
#define DURATION(key, field, min, max, standard, help) \
	{key, RNA_SETTING_DURATION, offsetof(struct rna_settings, field), min, max, standard, help}
/* In these four more may stand behind the help, such as .read_at_start. */
#define INTEGER(key, field, min, max, standard, ...) \
	{key, RNA_SETTING_INTEGER, offsetof(struct rna_settings, field), min, max, standard, \
	 __VA_ARGS__}
#define CHOICE(key, field, names, preset, ...) \
	{key, RNA_SETTING_CHOICE, offsetof(struct rna_settings, field), .standard = preset, \
	 .choices = names, .help = __VA_ARGS__}
#define TEXT(key, field, shape, fits, preset, ...) \
	{key, RNA_SETTING_TEXT, offsetof(struct rna_settings, field), .standard = preset, \
	 .form = shape, .is_valid = fits, .help = __VA_ARGS__}
#define LIST(key, field, shape, fits, preset, ...) \
	{key, RNA_SETTING_LIST, offsetof(struct rna_settings, field), .standard = preset, \
	 .form = shape, .is_valid = fits, .help = __VA_ARGS__}
#define BOOLEAN(key, field, standard, help) \
	{key, RNA_SETTING_BOOLEAN, offsetof(struct rna_settings, field), NULL, NULL, standard, \
	 help, .form = "true or false"}
/* Entries begin with a name that knows can explain; ends: they must not name a thing twice. */
#define NAMED(key, field, form, fits, knows, ends, help) \
	LIST(key, field, form, fits, NULL, help, .explain = knows, .once = ends)
#define EXPECT(key, field, help) \
	LIST(key, field, \
	     "a glob such as mlx5_*, 0000:3b:00.? or 1070:fd03:*, without blanks, and /PORT behind " \
	     "it for one port only", \
	     rna_expect_glob_is_valid, NULL, help)
/* Checked when the agent starts: a name that cannot be one must not keep it from monitoring. */
#define NAME(key, field, form, allows, standard, help) \
	TEXT(key, field, form, rna_any_text_is_valid, standard, help, .check = allows)
#define GLOBS(key, field, help) \
	LIST(key, field, \
	     "a glob such as mlx5_bond_*, 0000:3b:00.? or ib[0-3], without blanks and slashes", \
	     rna_device_glob_is_valid, NULL, help)
#define POLL(name, id, standard, help) \
	DURATION("poll." name, poll[RNA_COLLECTOR_##id], "100ms", "24h", standard, help)

const struct rna_setting rna_setting_table[] = {
	GLOBS("devices.include", devices_include,
	      "Watch only devices that one of these fits: by name, PCI address or network interface; "
	      "all when empty."),
	GLOBS("devices.exclude", devices_exclude,
	      "Leave these devices alone, included or not: nothing is read of them."),
	POLL("presence", PRESENCE, "10s",
	     "Period of looking for RDMA devices that came or went."),
	POLL("state", STATE, "1s",
	     "Period of reading logical and physical port states."),
	POLL("identity", IDENTITY, "10m",
	     "Period of reading what rarely changes: GUIDs, firmware, board, link layer."),
	POLL("link", LINK, "60s",
	     "Period of reading rate, width, speed, MTU, LIDs and capabilities."),
	POLL("counters", COUNTERS, "10s",
	     "Period of reading the port counters that InfiniBand defines."),
	POLL("hw_counters", HW_COUNTERS, "10s",
	     "Period of reading the driver's own counters of ports and devices."),
	POLL("gids", GIDS, "5m",
	     "Period of reading GID tables; they are also read when a port or an interface changes."),
	POLL("fabric", FABRIC, "60s",
	     "Period of asking InfiniBand ports for what is at the other end of the cable, the subnet "
	     "manager, partitions, and why packets were lost; about a dozen MADs each."),
	POLL("pcie", PCIE, "60s",
	     "Period of reading the PCIe paths of devices: speed, width and errors of each link."),
	POLL("ethernet", ETHERNET, "15s",
	     "Period of reading what ethtool says of Ethernet interfaces: link, FEC, pause frames, statistics."),
	POLL("resources", RESOURCES, "30s",
	     "Period of counting RDMA objects, by which one sees whether a device is in use."),
	POLL("qos", QOS, "60s",
	     "Period of reading how packets of RoCE ports are treated: priorities, PFC, ECN, VLANs."),
	POLL("virtual_functions", VIRTUAL_FUNCTIONS, "60s",
	     "Period of reading who has the virtual functions of a device, and what they were given."),
	POLL("module", MODULE, "5m",
	     "Period of reading transceivers and cables; that takes CAP_NET_ADMIN, and some 0.1 s a port."),
	POLL("netdev", NETDEV, "10s",
	     "Period of reading network interfaces and which port each belongs to."),
	POLL("lldp", LLDP, "60s",
	     "Period of asking lldpd, where it runs, which switch port each Ethernet interface is in."),
	POLL("topology", TOPOLOGY, "10m",
	     "Period of reading the PCI tree with its GPUs and NICs; it is also read when devices come "
	     "or go."),
	POLL("readiness", READINESS, "5m",
	     "Period of reading what the node needs beside devices: drivers, modules, device files, limits."),
	POLL("process", PROCESS, "10s",
	     "Period of reading the agent's own use of CPU, memory and descriptors."),
	DURATION("poll.deadline", poll_deadline, "100ms", "10m", "5s",
		 "A run that takes longer counts as stalled, and its device gets a rest."),
	DURATION("poll.handover", poll_handover, "10ms", "1m", "250ms",
		 "When a run takes longer, another lane goes on with the other devices; "
		 "shorter than poll.deadline."),
	CHOICE("counters.source", counters_source, counters_sources, "auto",
	       "Where counters of InfiniBand ports come from: files of sysfs, or MADs to the port; "
	       "auto asks by MAD where sysfs has none, or none with 64 bits."),
	BOOLEAN("watch.events", watch_events, "true",
		"Whether a port is read at once when the kernel tells of a change to it."),
	DURATION("watch.debounce", watch_debounce, "1ms", "1s", "20ms",
		 "An event is acted upon when none has followed it for so long."),
	DURATION("watch.debounce_max", watch_debounce_max, "1ms", "10s", "250ms",
		 "In a storm of events, it is acted upon after so long anyway."),
	BOOLEAN("watch.verbs_events", watch_verbs_events, "false",
		"Whether devices are held open for events of InfiniBand ports; "
		"that blocks the unloading of ib_uverbs."),
	LIST("watch.verbs_drivers", watch_verbs_drivers,
	     "the name of a driver such as bnxt_en, of the PCI function", rna_driver_is_valid, NULL,
	     "Drivers, beyond those known to, that let a held device be removed; "
	     "with any other, the removal would wait for ever."),
	INTEGER("lanes.max", lanes_max, "2", "64", "8",
		"Limit of worker threads; one is enough while every device answers.",
		.read_at_start = true),
	INTEGER("reader.descriptors", reader_descriptors, "0", "65536", "1024",
		"Limit of attribute files kept open between runs, of all devices together."),
	BOOLEAN("module.serial", module_serial, "false",
		"Whether serial numbers of transceivers and cables are read, and shown."),
	LIST("ethernet.statistics", ethernet_statistics,
	     "the name of a statistic in ethtool -S, of at most 32 characters and no glob, beyond "
	     "those that have a family",
	     rna_ethernet_extra_is_valid, NULL,
	     "Statistics of the drivers of Ethernet interfaces, as ethtool -S names them, that have a "
	     "series of rdma_port_ethernet_unknown_total: one for each interface that has it.",
	     .max = "64"),
	CHOICE("hw_counters.source", hw_counters_source, hw_counters_sources, "sysfs",
	       "Where the driver's counters of ports are read: netlink asks once for all of a port, "
	       "optional ones included; ports that it has no answer for are read from sysfs."),
	BOOLEAN("hw_counters.optional_status", hw_counters_optional_status, "false",
		"Whether it is told which optional counters a port has, and which of them are turned on: a "
		"series of rdma_port_optional_counter_enabled for each."),
	LIST("http.listen", http_listen,
	     "host:port, [ipv6]:port or :port, where host is an IP address or localhost, or "
	     "unix:/path or unix:@name of at most 107 bytes",
	     rna_listen_address_is_valid, ":10879",
	     "Addresses to serve HTTP on; without a host, all of the machine's. "
	     "Not used when systemd passes sockets.",
	     .once = ""),
	INTEGER("http.max_connections", http_max_connections, "4", "4096", "256",
		"Limit of HTTP connections; further ones are refused."),
	INTEGER("http.max_header_bytes", http_max_header_bytes, "1024", "65536", "16384",
		"Limit of a request's first line and headers, in bytes."),
	DURATION("http.idle_timeout", http_idle_timeout, "1s", "1h", "2m",
		 "An HTTP connection that is silent for longer is closed."),
	TEXT("http.web_config_file", http_web_config_file, "an absolute path, or \"\" for none",
	     rna_path_or_none_is_valid, "",
	     "Web configuration as Prometheus's exporters have it, with TLS, client certificates, users "
	     "and headers; it is read again when it, or a file that it names, changes."),
	BOOLEAN("metrics.gid_info", metrics_gid_info, "true",
		"Whether each GID is a series of rdma_port_gid_info; counts by type stay."),
	BOOLEAN("metrics.qos_details", metrics_qos_details, "false",
		"Whether ETS, receive buffers and parameters of congestion control have series, some 55 for "
		"each RoCE port; JSON has them anyway."),
	BOOLEAN("metrics.node_exporter_names", metrics_node_exporter_names, "false",
		"Whether the families of node_exporter's infiniband collector, node_infiniband_*, "
		"are served as well."),
	BOOLEAN("metrics.virtual_functions", metrics_virtual_functions, "false",
		"Whether each virtual function (SR-IOV) is a series of rdma_device_virtual_function_info, "
		"256 of a device at most, and an entry of the JSON; they are counted in any case."),
	BOOLEAN("metrics.priorities", metrics_priorities, "true",
		"Whether statistics of Ethernet ports that there are for each priority or lane have series: "
		"up to 68 of each interface, of some 110."),
	BOOLEAN("metrics.fec_lanes", metrics_fec_lanes, "false",
		"Whether what FEC counts has series for each lane beside those of the port, where a driver tells "
		"lanes apart: 3 for each, 24 of an interface at most; JSON has them anyway."),
	CHOICE("metrics.gpu_nic_paths", metrics_gpu_nic_paths, gpu_nic_paths, "nearest",
	       "Which pairs of a GPU and a NIC have a series of rdma_gpu_nic_path: the nearest NICs of "
	       "each GPU, or all that are no farther than this as well."),
	EXPECT("expect.up", expect_up,
	       "Ports that are meant to be up: by device, PCI address, network interface, node GUID or "
	       "port GUID."),
	EXPECT("expect.down", expect_down,
	       "Ports that are meant to be down; of a port that both lists fit this is said."),
	NAMED("qos.expect", qos_expect,
	     "pfc=PRIORITIES, ecn=PRIORITIES, trust=dscp or pcp, dscpNUMBER=PRIORITY, mtu=BYTES, "
	     "traffic_class=NUMBER or none, or cm_tos=NUMBER, for example pfc=3 or dscp26=3, and a blank "
	     "and a glob of devices behind it",
	     rna_qos_expectation_is_valid, rna_qos_expectation_explain, "=",
	     "How RoCE ports are meant to be configured; what is not said here may be as it is."),
	TEXT("state.directory", state_directory, "an absolute path, or \"\" for none",
	     rna_path_or_none_is_valid, RNA_STATE_DIRECTORY_DEFAULT,
	     "Where the agent keeps what it knows of devices and ports over restarts; systemd's "
	     "StateDirectory= wins, and a root other than the running system's has none by default.",
	     .read_at_start = true),
	NAMED("health.disable", health_disable,
	     "the name of a rule, or a glob such as gid-*",
	     rna_rule_glob_is_valid, rna_rule_explain, NULL,
	     "Rules that are not applied."),
	NAMED("health.hold_down", health_hold_down,
	     "RULE=DURATION, for example port-init=1m or gid-*=5m",
	     rna_rule_hold_is_valid, rna_rule_explain, "=",
	     "How long a rule must hold before its finding is told, in the place of its own time."),
	NAMED("health.thresholds", health_thresholds,
	     "COUNTER=COUNT/UNIT with the unit s, m, h or d, for example symbol_error=500/h, or "
	     "COUNTER=off",
	     rna_threshold_is_valid, rna_threshold_explain, "=",
	     "How much a counter may rise; for the name of its file, or downs for how often a port went "
	     "down."),
	LIST("health.silence", health_silence,
	     "DAYS HH:MM-HH:MM, where DAYS are such as Sat, Mon-Fri or daily, or "
	     "2026-12-01T00:00Z/2026-12-01T06:00Z, and a blank and a glob of devices behind it",
	     rna_silence_is_valid, NULL,
	     "Times, in UTC, at which findings count for nothing: they are shown as silenced, but are not "
	     "in metrics, the journal and the exit code of check."),
	DURATION("health.boot_grace", health_boot_grace, "0s", "1h", "3m",
		 "For so long after boot, and after a driver registered a device, nothing new is said of ports and "
		 "links: they are still coming up."),
	BOOLEAN("health.virtual_functions", health_virtual_functions, "false",
		"Whether virtual and scalable functions are judged as physical ones are."),
	CHOICE("kubernetes.backend", kubernetes_backend, kubernetes_backends, "off",
	       "Who puts labels on this node's Node object: the agent, by the API server; "
	       "node-feature-discovery, by a file that the agent writes; or both."),
	NAME("kubernetes.node_name", kubernetes_node_name, "the name of a Node, or \"\"", NULL, "",
	     "Name of this node's Node object; when empty, what the environment has as NODE_NAME."),
	TEXT("kubernetes.kubeconfig", kubernetes_kubeconfig, "an absolute path, or \"\"",
	     rna_path_or_none_is_valid, "",
	     "Kubeconfig file that says where the API server is and who the agent is there; when empty, "
	     "the pod's service account."),
	NAME("kubernetes.server", kubernetes_server, "https://HOST:PORT, or \"\"", NULL, "",
	     "Address of the API server, instead of the one that these say."),
	NAME("kubernetes.roce_label", kubernetes_roce_label, "the key of a label",
	     rna_label_key_check, "network.nvidia.com/roce",
	     "Label that the node has exactly while it can do RoCE."),
	NAME("kubernetes.roce_value", kubernetes_roce_value, "the value of a label",
	     rna_label_value_check, "true",
	     "Value of that label."),
	NAME("kubernetes.label_prefix", kubernetes_label_prefix,
	     "a DNS subdomain, with or without a slash behind it", rna_label_prefix_check,
	     "rdma-node-agent/",
	     "What the keys of all other labels begin with."),
	DURATION("kubernetes.up_delay", kubernetes_up_delay, "0s", "1h", "30s",
		 "Good news about the node is told when it has been so for so long."),
	DURATION("kubernetes.down_delay", kubernetes_down_delay, "0s", "1h", "1m",
		 "Bad news about the node is told when nothing better was seen for so long."),
	DURATION("kubernetes.unknown_delay", kubernetes_unknown_delay, "1m", "24h", "10m",
		 "What could not be read for so long is told to be unknown; until then what was told "
		 "before stays."),
	BOOLEAN("kubernetes.conditions", kubernetes_conditions, "true",
		"Whether findings set conditions of the Node, such as RdmaPortDown; by the API server only."),
	DURATION("kubernetes.heartbeat", kubernetes_heartbeat, "0s", "24h", "30m",
		 "How often conditions are written again to show that the agent lives; 0s: never."),
	BOOLEAN("kubernetes.events", kubernetes_events, "true",
		"Whether findings are told as Events of the Node; by the API server only."),
	NAME("kubernetes.taint", kubernetes_taint, "the key of a taint, or \"\" for none",
	     rna_taint_check, "",
	     "Taint that the node gets while its health is bad; by the API server only."),
	CHOICE("kubernetes.taint_effect", kubernetes_taint_effect, taint_effects, "NoSchedule",
	       "Effect of that taint."),
	CHOICE("kubernetes.taint_when", kubernetes_taint_when, taint_whens, "down",
	       "Which health gets the taint; degraded includes down."),
	LIST("kubernetes.former_names", kubernetes_former_names,
	     "the key of a label or of a taint, or a prefix of labels with the slash behind it",
	     rna_any_text_is_valid,
	     NULL,
	     "Names that earlier settings had, beside those that the agent remembers itself in its state "
	     "directory: what stands under them is taken off the Node.",
	     .check = rna_former_name_check),
	LIST("kubernetes.resources", kubernetes_resources,
	     "the name of a resource such as nvidia.com/hostdev, or a glob",
	     rna_resource_glob_is_valid, NULL,
	     "Resources of device plugins that belong to RDMA, beyond rdma/*; one that is no glob must be "
	     "there."),
	DURATION("kubernetes.first_delay", kubernetes_first_delay, "0s", "1h", "30s",
		 "An agent that starts writes to the API server within this, at random, so that a fleet does "
		 "not write at once."),
	DURATION("kubernetes.spread", kubernetes_spread, "0s", "1h", "2m",
		 "Later writes are spread likewise over so long after what they tell."),
	DURATION("kubernetes.resync", kubernetes_resync, "10m", "7d", "12h",
		 "How often everything is written to the API server again, changed or not."),
	DURATION("kubernetes.look", kubernetes_look, "1m", "24h", "30m",
		 "How often the Node is read, for what others changed and for its resources."),
	TEXT("kubernetes.nfd_directory", kubernetes_nfd_directory, "an absolute path",
	     rna_path_is_valid,
	     "/etc/kubernetes/node-feature-discovery/features.d",
	     "Where node-feature-discovery looks for files with features."),
	DURATION("kubernetes.nfd_expiry", kubernetes_nfd_expiry, "10s", "7d", "1h",
		 "For so long the labels of the file outlive the agent; it is renewed in half that time."),
	TEXT("control.socket", control_socket, "an absolute path, or \"\" for none",
	     rna_path_or_none_is_valid,
	     RNA_CONTROL_SOCKET_DEFAULT,
	     "Unix socket at which commands of this node ask the agent to do something, as root or as "
	     "its own user; a root other than the running system's has none.",
	     .read_at_start = true),
	CHOICE("security.seccomp", security_seccomp, seccomp_modes, "auto",
	       "Whether the agent puts a filter of system calls on itself; auto does unless the process has "
	       "one already, of systemd or of a container, and unless selftest.gpu_memory is on.",
	       .read_at_start = true),
	DURATION("quiesce.timeout", quiesce_timeout, "10s", "7d", "1h",
		 "A quiesce that was asked for ends by itself after so long, unless the command says "
		 "otherwise; so does one for a label that the Node had when it was last read, before "
		 "the agent was started again."),
	TEXT("quiesce.node_label", quiesce_node_label, "KEY, or \"\" for none",
	     rna_label_key_is_valid,
	     "nvidia.com/ofed-driver-upgrade-state",
	     "Label of the Node that says that its driver is being changed: while it has one, the agent "
	     "is quiesced. It is read at the start, every kubernetes.look and with each write to the "
	     "Node, with kubernetes.backend api or both."),
	LIST("quiesce.node_label_idle", quiesce_node_label_idle, "a value of a label",
	     rna_label_value_is_valid, "upgrade-done",
	     "Values of that label that say nothing of the kind."),
	BOOLEAN("selftest.enabled", selftest_enabled, "true",
		"Whether ports are tested from time to time, while they are idle: whether they still move "
		"data, and how fast."),
	DURATION("selftest.period", selftest_period, "1h", "30d", "6h",
		 "How often each port is tested; when within it is left to chance."),
	INTEGER("selftest.bytes", selftest_bytes, "1", "256", "64",
		"How much a test writes at most, in MiB, for each kind of memory: two writes at least."),
	DURATION("selftest.time_limit", selftest_time_limit, "10ms", "200ms", "200ms",
		 "How long that takes at most, warm-up and latency as well, for each kind of memory."),
	INTEGER("selftest.size", selftest_size, "64", "8388608", "65536",
		"Size of one RDMA write of a test, in bytes."),
	INTEGER("selftest.queue_pairs", selftest_queue_pairs, "0", "16", "0",
		"Connections that a test uses side by side; 0 means 1, and 4 from 300 Gb/s on."),
	BOOLEAN("selftest.remote_memory", selftest_remote_memory, "true",
		"Whether memory of a NUMA node that is not the NIC's is tested as well."),
	BOOLEAN("selftest.gpu_memory", selftest_gpu_memory, "false",
		"Whether memory of the GPU that a NIC serves is tested as well; for a second that takes "
		"some 500 MiB of it and a CUDA context."),
	DURATION("selftest.quiet", selftest_quiet, "0s", "24h", "10m",
		 "A port whose state changed is not tested for so long."),
	INTEGER("selftest.busy_rate", selftest_busy_rate, "1", "10000", "10",
		"Traffic of a port from which on it is in use and not tested, in MB/s."),
	INTEGER("selftest.idle_contexts", selftest_idle_contexts, "0", "1000", "0",
		"How often services that are always there, such as ibacm, have each device open; a "
		"device that is open more often is in use and not tested."),
	LIST("selftest.window", selftest_window,
	     "as in health.silence, for example daily 02:00-04:00 or Sat 00:00-06:00 mlx5_*",
	     rna_silence_is_valid, NULL,
	     "Times, in UTC, at which tests are allowed; at all times when empty."),
	TEXT("selftest.node_label", selftest_node_label, "KEY, KEY=VALUE, or \"\" for none",
	     rna_node_label_is_valid, "",
	     "Tests are made only while the Node has this label, which the agent reads every "
	     "kubernetes.look: with kubernetes.backend api or both; while it is not known, there are none."),
	INTEGER("selftest.ok", selftest_ok, "1", "100", "90",
		"How much of the bandwidth that link and PCIe path allow is good, in percent."),
	INTEGER("selftest.warning", selftest_warning, "1", "100", "80",
		"Below how much of it a test has failed, in percent; in between is a warning."),
	INTEGER("selftest.siblings", selftest_siblings, "0", "100", "93",
		"How much of the median of ports of the same kind is good, in percent; 0: no comparison."),
	LIST("selftest.limits", selftest_limits, "RATE=OK/WARNING, for example 400=95/85",
	     rna_selftest_limit_is_valid, NULL,
	     "Other values of selftest.ok and selftest.warning for what is expected to reach RATE Gb/s."),
	CHOICE("log.level", log_level, log_levels, "info",
	       "Least urgent messages that are written."),
};
/* clang-format on */

const size_t rna_setting_count = RNA_ARRAY_SIZE(rna_setting_table);

_Static_assert(RNA_ARRAY_SIZE(rna_setting_table) <= RNA_SETTINGS_MAX, "raise RNA_SETTINGS_MAX");

const struct rna_setting *rna_setting_find(const char *key)
{
	for (size_t i = 0; i < rna_setting_count; i++)
		if (strcmp(rna_setting_table[i].key, key) == 0)
			return &rna_setting_table[i];
	return NULL;
}

/* -- All of them ------------------------------------------------------------------------------- */

void rna_settings_deinit(struct rna_settings *settings)
{
	for (size_t i = 0; i < rna_setting_count; i++)
		if (rna_setting_table[i].type == RNA_SETTING_LIST ||
		    rna_setting_table[i].type == RNA_SETTING_TEXT)
			rna_setting_clear(&rna_setting_table[i], settings);
	*settings = (struct rna_settings){0};
}

int rna_settings_init(struct rna_settings *settings)
{
	*settings = (struct rna_settings){0};
	for (size_t i = 0; i < rna_setting_count; i++) {
		const struct rna_setting *setting = &rna_setting_table[i];
		int ret = 0;

		if (setting->standard)
			ret = rna_setting_put(setting, setting->standard, settings, NULL);
		if (ret < 0) {
			rna_settings_deinit(settings);
			return ret;
		}
	}
	return 0;
}

int rna_settings_check_names(const struct rna_settings *settings, struct rna_error *error)
{
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < rna_setting_count; i++)
		ret = rna_setting_check(&rna_setting_table[i], settings, error);
	return ret;
}

bool rna_settings_are_same(const struct rna_settings *a, const struct rna_settings *b,
			   const char *section)
{
	size_t len = strlen(section);

	for (size_t i = 0; i < rna_setting_count; i++) {
		const struct rna_setting *setting = &rna_setting_table[i];

		if (strncmp(setting->key, section, len) == 0 && setting->key[len] == '.' &&
		    !rna_setting_is_same(setting, a, b))
			return false;
	}
	return true;
}

void rna_settings_describe(struct rna_strbuf *out)
{
	rna_strbuf_puts(out, "Setting\tType\tAllowed\tDefault\tMeaning\n");
	for (size_t i = 0; i < rna_setting_count; i++) {
		const struct rna_setting *setting = &rna_setting_table[i];

		rna_strbuf_printf(out, "`%s`\t%s\t", setting->key, rna_setting_type_name(setting));
		rna_setting_write_allowed(setting, out);
		rna_strbuf_puts(out, "\t`");
		rna_setting_write_default(setting, out);
		rna_strbuf_puts(out, "`\t");
		rna_setting_write_help(setting, out);
		rna_strbuf_puts(out, "\n");
	}
}
