// SPDX-License-Identifier: Apache-2.0
/*
 * The settings: one table. To add a setting, add a field in struct rna_settings and a row here. The
 * configuration file, its error messages, the defaults, agent/README.md and the sample
 * configuration are derived from the row.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/un.h>

#include "rna/base/log.h"
#include "rna/base/parse.h"
#include "rna/collector.h"
#include "rna/kubernetes.h"
#include "rna/model/device_filter.h"
#include "rna/model/ethernet.h"
#include "rna/model/fabric.h"
#include "rna/model/log_site.h"
#include "rna/model/topology.h"

#include "baseline/baseline.h"
#include "memory/expect.h"
#include "mesh/dns.h"
#include "mesh/member_source.h"
#include "probe/probe_ports.h"
#include "rules/rules.h"
#include "rules/thresholds.h"
#include "selftest/plan.h"
#include "settings/qos_profile.h"
#include "settings/silence.h"

#include "settings_table.h"

/* -- Forms ------------------------------------------------------------------------------------- */

/* Of texts that have no module of their own; other modules check theirs themselves. */

static bool is_port(const char *text)
{
	uint64_t port;

	return rna_parse_u64(text, &port) == 0 && port >= 1 && port <= UINT16_MAX;
}

static bool is_host(const char *text, size_t len)
{
	char host[INET6_ADDRSTRLEN + 2]; /* and brackets */
	struct in6_addr address;         /* large enough for both */

	if (len == 0)
		return true;
	if (len >= sizeof(host))
		return false;
	memcpy(host, text, len);
	host[len] = '\0';
	if (host[0] != '[')
		return strcmp(host, "localhost") == 0 || inet_pton(AF_INET, host, &address) == 1;
	if (host[len - 1] != ']')
		return false;
	host[len - 1] = '\0';
	return inet_pton(AF_INET6, host + 1, &address) == 1;
}

/* A path, or a name without a file (unix(7), abstract), neither of them empty. */
static bool is_socket_name(const char *text)
{
	return (text[0] == '/' || text[0] == '@') && text[1] != '\0' &&
	       strlen(text) < sizeof(((struct sockaddr_un *)NULL)->sun_path);
}

/* Host names are left out on purpose: looking one up may wait for the network. */
static bool listen_address_is_valid(const char *entry)
{
	const char *colon = strrchr(entry, ':');

	if (strncmp(entry, RNA_LISTEN_UNIX, strlen(RNA_LISTEN_UNIX)) == 0)
		return is_socket_name(entry + strlen(RNA_LISTEN_UNIX));
	return colon && is_port(colon + 1) && is_host(entry, (size_t)(colon - entry));
}

bool rna_path_or_none_is_valid(const char *text)
{
	return *text == '/' || *text == '\0';
}

static bool path_is_valid(const char *text)
{
	return *text == '/';
}

static bool profile_setting_is_valid(const char *text)
{
	return rna_path_or_none_is_valid(text) || strcmp(text, RNA_BASELINE_AUTO) == 0;
}

static bool any_text_is_valid(const char *text)
{
	(void)text;
	return true;
}

/* The prefix is part of it: what has none belongs to Kubernetes, as cpu and memory do. */
static bool resource_glob_is_valid(const char *entry)
{
	return strchr(entry, '/') && strlen(entry) <= 317 /* 253, a slash and 63 */ &&
	       entry[strcspn(entry, " \t")] == '\0';
}

static bool node_label_is_valid(const char *entry)
{
	size_t len = strcspn(entry, "=");
	RNA_FREE char *key = strndup(entry, len);

	if (*entry == '\0')
		return true;
	return key && rna_label_key_check("selftest.node_label", key, NULL) == 0 &&
	       (entry[len] == '\0' || rna_label_value_is_legal(entry + len + 1));
}

static bool label_key_is_valid(const char *entry)
{
	return *entry == '\0' || rna_label_key_check("quiesce.node_label", entry, NULL) == 0;
}

static bool label_value_is_valid(const char *entry)
{
	return *entry && rna_label_value_is_legal(entry);
}

/* A module's name, which has no other characters in any driver of the kernel. */
static bool driver_is_valid(const char *entry)
{
	size_t len = strlen(entry);

	return len > 0 && len < 64 /* MODULE_NAME_LEN */ &&
	       strspn(entry, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") ==
		       len;
}

static int taint_check(const char *key, const char *text, struct rna_error *error)
{
	return *text ? rna_label_key_check(key, text, error) : 0;
}

/* A key, or what keys begin with. What is Kubernetes' own is not taken away either. */
static int former_name_check(const char *key, const char *entry, struct rna_error *error)
{
	RNA_STRBUF struct rna_strbuf name = RNA_STRBUF_INIT;
	size_t len = strlen(entry);

	rna_strbuf_printf(&name, "%s%s", entry, len > 0 && entry[len - 1] == '/' ? "x" : "");
	if (!rna_strbuf_ok(&name))
		return rna_error_set(error, -ENOMEM, "%s", key);
	return rna_label_key_check(key, name.data, error);
}

/* -- Choices ----------------------------------------------------------------------------------- */

static const struct rna_schema_choice log_levels[] = {
	{"error", LOG_ERR}, {"warning", LOG_WARNING}, {"notice", LOG_NOTICE},
	{"info", LOG_INFO}, {"debug", LOG_DEBUG},     {NULL, 0},
};

static const struct rna_schema_choice seccomp_modes[] = {
	{"auto", RNA_SECCOMP_AUTO},
	{"on", RNA_SECCOMP_ON},
	{"off", RNA_SECCOMP_OFF},
	{NULL, 0},
};

static const struct rna_schema_choice counters_sources[] = {
	{"auto", RNA_COUNTERS_AUTO},
	{"sysfs", RNA_COUNTERS_SYSFS},
	{"mad", RNA_COUNTERS_MAD},
	{NULL, 0},
};

static const struct rna_schema_choice verbs_events[] = {
	{"auto", RNA_VERBS_EVENTS_AUTO},
	{"always", RNA_VERBS_EVENTS_ALWAYS},
	{"never", RNA_VERBS_EVENTS_NEVER},
	{NULL, 0},
};
static const struct rna_schema_choice hw_counters_sources[] = {
	{"sysfs", RNA_HW_COUNTERS_SYSFS},
	{"netlink", RNA_HW_COUNTERS_NETLINK},
	{NULL, 0},
};

static const struct rna_schema_choice kernel_log_sources[] = {
	{"auto", RNA_KERNEL_LOG_SETTING_AUTO},
	{"kmsg", RNA_KERNEL_LOG_SETTING_KMSG},
	{"journal", RNA_KERNEL_LOG_SETTING_JOURNAL},
	{"off", RNA_KERNEL_LOG_SETTING_OFF},
	{NULL, 0},
};

static const struct rna_schema_choice kubernetes_backends[] = {
	{"off", 0},
	{"api", RNA_NODE_BACKEND_BIT(API)},
	{"nfd", RNA_NODE_BACKEND_BIT(NFD)},
	{"both", RNA_NODE_BACKEND_BIT(API) | RNA_NODE_BACKEND_BIT(NFD)},
	{NULL, 0},
};

static const struct rna_schema_choice taint_effects[] = {
	{"NoSchedule", RNA_TAINT_NO_SCHEDULE},
	{"PreferNoSchedule", RNA_TAINT_PREFER_NO_SCHEDULE},
	{"NoExecute", RNA_TAINT_NO_EXECUTE},
	{NULL, 0},
};

static const struct rna_schema_choice taint_whens[] = {
	{"critical", RNA_TAINT_WHEN_CRITICAL},
	{"warning", RNA_TAINT_WHEN_WARNING},
	{"node-lost", RNA_TAINT_WHEN_NODE_LOST},
	{NULL, 0},
};

static const struct rna_schema_choice roce_labels[] = {
	{"only-if-unset", RNA_ROCE_LABEL_ONLY_IF_UNSET},
	{"own", RNA_ROCE_LABEL_OWN},
	{"off", RNA_ROCE_LABEL_OFF},
	{0},
};

static const struct rna_schema_choice device_taints[] = {
	{"off", RNA_DEVICE_TAINTS_OFF},
	{"report", RNA_DEVICE_TAINTS_REPORT},
	{"taint", RNA_DEVICE_TAINTS_TAINT},
	{NULL, 0},
};

static const struct rna_schema_choice collector_accounts[] = {
	{"summary", 0},
	{"full", 1},
	{NULL, 0},
};

static const struct rna_schema_choice gpu_nic_paths[] = {
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
	{key, &rna_setting_duration, offsetof(struct rna_settings, field), min, max, standard, help}
/* These four accept further members after the help, such as .read_at_start. */
#define INTEGER(key, field, min, max, standard, ...) \
	{key, &rna_setting_integer, offsetof(struct rna_settings, field), min, max, standard, \
	 __VA_ARGS__}
#define CHOICE(key, field, names, preset, ...) \
	{key, &rna_schema_choice, offsetof(struct rna_settings, field), .standard = preset, \
	 .choices = names, .help = __VA_ARGS__}
#define TEXT(key, field, shape, fits, preset, ...) \
	{key, &rna_setting_text, offsetof(struct rna_settings, field), .standard = preset, \
	 .form = shape, .is_valid = fits, .help = __VA_ARGS__}
#define SHORT_LIST(key, field, number, shape, fits, preset, ...) \
	{key, &rna_setting_list, offsetof(struct rna_settings, field), .most = number, \
	 .standard = preset, .form = shape, .is_valid = fits, .help = __VA_ARGS__}
#define LIST(key, field, shape, fits, preset, ...) \
	SHORT_LIST(key, field, RNA_SCHEMA_ENTRIES_MAX, shape, fits, preset, __VA_ARGS__)
#define BOOLEAN(key, field, standard, help) \
	{key, &rna_setting_boolean, offsetof(struct rna_settings, field), NULL, NULL, standard, \
	 help, .form = "true or false"}
/* Entries begin with a name; knows explains an invalid one; ends: delimiters of unique names. */
#define NAMED(key, field, form, fits, knows, ends, help) \
	LIST(key, field, form, fits, NULL, help, .explain = knows, .once = ends)
#define EXPECT(key, field, help) \
	LIST(key, field, \
	     "a glob such as mlx5_*, 0000:3b:00.? or 1070:fd03:* without spaces, followed by /PORT " \
	     "for a single port", \
	     rna_expect_glob_is_valid, NULL, help)
/* Checked when the agent starts: an invalid name must not prevent monitoring. */
#define NAME(key, field, form, allows, standard, help) \
	TEXT(key, field, form, any_text_is_valid, standard, help, .check = allows)
#define GLOBS(key, field, help) \
	LIST(key, field, \
	     "a glob such as mlx5_bond_*, 0000:3b:00.? or ib[0-3] without spaces and slashes", \
	     rna_device_glob_is_valid, NULL, help)
/* A key of an earlier version: it is accepted, and has no effect, which the log says. */
#define RETIRED(key, instead) \
	{key, &rna_setting_retired, .standard = "", .help = "No effect. " instead}
#define POLL(name, id, standard, help) \
	DURATION("poll." name, poll[RNA_COLLECTOR_##id], "100ms", "24h", standard, help)

static const struct rna_schema_row rows[] = {
	GLOBS("devices.include", devices_include,
	      "Devices to monitor, matched by name, PCI address or network interface. All devices "
	      "if empty."),
	GLOBS("devices.exclude", devices_exclude,
	      "Devices to ignore: the agent reads nothing from them. Takes precedence over "
	      "devices.include."),
	POLL("presence", PRESENCE, "10s",
	     "How often to look for RDMA devices that were added or removed. Every 10 minutes where "
	     "the agent receives the kernel's events of devices."),
	POLL("state", STATE, "1s",
	     "How often to read logical and physical port states. Every 10 to 15 seconds where events "
	     "tell of changes: if each port of the device has a network interface."),
	POLL("identity", IDENTITY, "10m",
	     "How often to read attributes that rarely change: GUIDs, firmware, board, link "
	     "layer."),
	POLL("link", LINK, "60s",
	     "How often to read rate, width, speed, MTU, LIDs and capabilities. Every 10 minutes "
	     "where events tell of changes."),
	POLL("counters", COUNTERS, "10s",
	     "How often to read the port counters that InfiniBand defines. The agent reads them up to "
	     "half the period later, one second before a client that scrapes in a regular interval."),
	POLL("hw_counters", HW_COUNTERS, "10s",
	     "How often to read the driver-specific counters of ports and devices, or later, as "
	     "poll.counters."),
	POLL("gids", GIDS, "5m",
	     "How often to read GID tables. They are also read when a port or an interface "
	     "changes."),
	POLL("fabric", FABRIC, "60s",
	     "How often to query InfiniBand ports for the peer port, the subnet manager, "
	     "partitions and the reasons of packet loss. Takes about a dozen MADs per port."),
	POLL("pcie", PCIE, "5m",
	     "How often to read the PCIe paths of devices: speed, width and errors of each link."),
	POLL("ethernet", ETHERNET, "15s",
	     "How often to read Ethernet and IPoIB interfaces by ethtool: link, FEC, pause frames, "
	     "statistics, or later, as poll.counters."),
	POLL("resources", RESOURCES, "30s",
	     "How often to count RDMA objects, which show whether a device is in use."),
	POLL("qos", QOS, "60s",
	     "How often to read the QoS configuration of RoCE ports: priorities, PFC, ECN, VLANs."),
	POLL("virtual_functions", VIRTUAL_FUNCTIONS, "60s",
	     "How often to read the virtual functions of a device: their drivers, users and "
	     "configuration. Every 10 minutes where events tell of changes."),
	POLL("module", MODULE, "5m",
	     "How often to read transceivers and cables. Requires CAP_NET_ADMIN and takes about "
	     "0.1 s per port."),
	POLL("netdev", NETDEV, "10s",
	     "How often to read network interfaces and the ports that they belong to. Every 10 "
	     "minutes where events tell of changes."),
	POLL("gateways", GATEWAYS, "60s",
	     "How often to read the gateways of RoCE interfaces and their entries in the kernel's "
	     "neighbour table."),
	POLL("lldp", LLDP, "60s",
	     "How often to query lldpd, if it runs, for the switch port of each Ethernet "
	     "interface."),
	POLL("topology", TOPOLOGY, "10m",
	     "How often to read the PCI tree with its GPUs and NICs. It is also read when devices "
	     "are added or removed."),
	POLL("readiness", READINESS, "5m",
	     "How often to read the node prerequisites of RDMA: drivers, modules, device files, "
	     "limits."),
	POLL("kernel_log", KERNEL_LOG, "1s",
	     "How often to read new messages of the kernel. Every minute, and when there is a new "
	     "one, where the agent can wait for messages."),
	POLL("process", PROCESS, "10s",
	     "How often to read the agent's own use of CPU, memory and file descriptors, or later, "
	     "as poll.counters."),
	DURATION("poll.deadline", poll_deadline, "100ms", "10m", "5s",
		 "A collector run that takes longer is stalled; the agent reads its device no "
		 "further until the run ends."),
	DURATION("poll.handover", poll_handover, "10ms", "1m", "250ms",
		 "If a collector run takes longer, another lane continues with the other devices. "
		 "Must be shorter than poll.deadline."),
	BOOLEAN("fabric.enabled", fabric_enabled, "true",
		"Whether to send MADs, to the node's own InfiniBand ports, their peers and the "
		"subnet manager. If false, counters and links are read from files only, and "
		"nothing is known of peers, P_Keys and the subnet manager."),
	LIST("fabric.networks", fabric_networks,
	     "NAME=ADDRESS/BITS or NAME=P_KEY, for example plane-a=172.16.0.0/13 or tenant=0x0a01",
	     rna_network_range_is_valid, NULL,
	     "Networks whose ports reach each other, but not those of other networks: the "
	     "addresses of RoCE ports, or partitions of InfiniBand. Several entries may have one "
	     "name. If empty, ports of InfiniBand are told apart by subnet and partition, those of "
	     "RoCE by VLAN and subnet, both by probes, and planes of RoCE by their addresses. The "
	     "command env and the label networks use them."),
	CHOICE("counters.source", counters_source, counters_sources, "auto",
	       "Source of the counters of InfiniBand ports: sysfs files, or MADs to the port. auto "
	       "uses MADs if sysfs has no counters, or none with 64 bits."),
	BOOLEAN("watch.events", watch_events, "true",
		"Whether the agent reads a port immediately when the kernel reports a change, and "
		"polls less where events tell of changes."),
	DURATION("watch.debounce", watch_debounce, "1ms", "1s", "20ms",
		 "The agent reacts to an event after this time without further events."),
	DURATION("watch.debounce_max", watch_debounce_max, "1ms", "10s", "250ms",
		 "During an event storm the agent reacts after this time at the latest."),
	CHOICE("watch.verbs_events", watch_verbs_events, verbs_events, "auto",
	       "Which devices the agent keeps open to receive their events. auto: those with an "
	       "InfiniBand port that has no interface, because nothing else tells at once that it "
	       "goes down, but none where openibd (MLNX_OFED, DOCA) manages the drivers, because "
	       "it would refuse to unload them. always: all whose driver allows it. The agent "
	       "closes them when their driver is unloaded, and during quiesce."),
	LIST("watch.verbs_drivers", watch_verbs_drivers,
	     "the driver of the PCI function, for example bnxt_en", driver_is_valid, NULL,
	     "Additional drivers that can remove a device while it is open. With any other driver "
	     "the removal would hang, so the agent does not keep its devices open."),
	INTEGER("lanes.max", lanes_max, "2", "64", "8",
		"Maximum number of worker threads (lanes). One is used while every device answers, "
		"two at the start.",
		.read_at_start = true),
	INTEGER("reader.descriptors", reader_descriptors, "0", "65536", "4096",
		"Maximum number of attribute files kept open between runs, over all devices, or half "
		"of what RLIMIT_NOFILE allows. The kernel takes 4.5 kB for each. A device whose "
		"share is below 16 keeps two directories open."),
	BOOLEAN("follow.enabled", follow_enabled, "false",
		"Whether to go on reading devices that are in another network namespace, usually "
		"that of a pod, through the files of a process there. The agent needs the PID "
		"namespace of the node and CAP_SYS_PTRACE."),
	INTEGER("follow.max_devices", follow_max_devices, "1", "4096", "64",
		"Maximum number of devices that the agent follows into one network namespace, so "
		"that no pod crowds out the others. Further ones are counted, and a finding says so."),
	INTEGER("follow.max_ports", follow_max_ports, "1", "8192", "256",
		"Maximum number of ports of the devices that the agent follows into one network "
		"namespace. A device with more than are left is not followed."),
	BOOLEAN("module.serial", module_serial, "false",
		"Whether to read and export the serial numbers of transceivers and cables."),
	BOOLEAN("gateways.probe", gateways_probe, "false",
		"Whether to make the kernel verify gateways that it has no fresh answer of, by ARP or "
		"neighbour discovery: the agent sends an empty UDP datagram to port 9 (discard) of "
		"each, at most once per poll.gateways and ten seconds. If false, the agent sends "
		"nothing and reads what is known."),
	SHORT_LIST("ethernet.statistics", ethernet_statistics, 64,
	     "the name of a statistic in ethtool -S that has no family of its own, at most 32 "
	     "characters, not a glob",
	     rna_ethernet_extra_is_valid, NULL,
	     "Additional statistics of network drivers, named as in ethtool -S, to export as "
	     "rdma_port_ethernet_unknown_total: one series per interface that has the statistic."),
	CHOICE("hw_counters.source", hw_counters_source, hw_counters_sources, "sysfs",
	       "Source of the driver-specific port counters. netlink reads all counters of a port "
	       "in one request, including optional ones, and falls back to sysfs for ports that it "
	       "does not support."),
	BOOLEAN("hw_counters.optional_status", hw_counters_optional_status, "false",
		"Whether to export the optional counters of ports and whether each is enabled, as "
		"rdma_port_optional_counter_enabled."),
	CHOICE("kernel_log.source", kernel_log_source, kernel_log_sources, "auto",
	       "Source of the kernel's messages, in which drivers report failures: /dev/kmsg, or "
	       "the systemd journal. auto uses the journal if /dev/kmsg cannot be opened."),
	SHORT_LIST("kernel_log.patterns", kernel_log_patterns, 32,
	     "a mapping of name, regex, severity (info or warning), meaning and remedy; the regex is "
	     "a POSIX extended one with at least 8 literal characters in a row",
	     rna_log_site_is_valid, NULL,
	     "Messages of the kernel that are a finding on this site (kernel-log-pattern), beside "
	     "those that the agent knows. The finding resolves 10 minutes after the last one.",
	     .explain = rna_log_site_explain, .once = "\n", .members = rna_log_site_members,
	     .read_at_start = true),
	LIST("http.listen", http_listen,
	     "host:port, [ipv6]:port or :port, where host is an IP address or localhost, or "
	     "unix:/path or unix:@name of at most 107 bytes",
	     listen_address_is_valid, ":10879",
	     "Addresses to serve HTTP on. Without a host, all addresses of the machine. Ignored if "
	     "systemd passes sockets.",
	     .once = ""),
	INTEGER("http.max_connections", http_max_connections, "4", "4096", "256",
		"Maximum number of HTTP connections, over all addresses. One client address gets a "
		"quarter of them at most. Beyond a limit, those without progress are closed."),
	INTEGER("http.max_header_bytes", http_max_header_bytes, "1024", "65536", "16384",
		"Maximum size of a request line with its headers, in bytes."),
	DURATION("http.idle_timeout", http_idle_timeout, "1s", "1h", "2m",
		 "An HTTP connection that is idle for longer is closed."),
	DURATION("http.request_timeout", http_request_timeout, "1s", "1h", "10s",
		 "Time for a whole HTTP request, including the TLS handshake of a new connection. "
		 "Slower connections are closed."),
	DURATION("http.reply_timeout", http_reply_timeout, "1s", "1h", "1m",
		 "Time in which a client has to read a whole reply. Slower connections are closed."),
	INTEGER("http.max_old_bytes", http_max_old_bytes, "1048576", "1073741824", "16777216",
		"Maximum size of replies that are still being sent while newer data is available, in "
		"bytes. If they exceed it, the slowest connections are closed."),
	TEXT("http.web_config_file", http_web_config_file, "an absolute path, or \"\" for none",
	     rna_path_or_none_is_valid, "",
	     "Web configuration file as for Prometheus exporters: TLS, client certificates, users "
	     "and headers. It is reloaded when it, or a file that it names, changes."),
	CHOICE("metrics.collectors", metrics_collectors, collector_accounts, "summary",
	       "Series of the collectors' account: one per collector and one per stalled device, or "
	       "one per collector and device, about 45 per device. JSON always has the latter."),
	BOOLEAN("metrics.details", metrics_details, "false",
		"Whether to export the families that hardly ever change or repeat others as well: "
		"limits of links and ports, unicast and multicast packets, states of network "
		"interfaces, and the like; about 25 series per port. JSON always has them."),
	BOOLEAN("metrics.gid_info", metrics_gid_info, "false",
		"Whether to export rdma_port_gid_info, one series per GID, and "
		"rdma_port_nccl_gid_info. Counts by type are always exported; JSON always has the "
		"GIDs."),
	BOOLEAN("metrics.qos_details", metrics_qos_details, "false",
		"Whether to export ETS, receive buffers and congestion control parameters, about "
		"55 series per RoCE port. JSON always has them."),
	BOOLEAN("metrics.node_exporter_names", metrics_node_exporter_names, "false",
		"Whether to export the families of node_exporter's infiniband collector, "
		"node_infiniband_*, as well."),
	BOOLEAN("metrics.virtual_functions", metrics_virtual_functions, "false",
		"Whether each virtual function (SR-IOV), up to 256 per device, has a series of "
		"rdma_device_virtual_function_info and an entry in JSON. Their number is always "
		"exported."),
	BOOLEAN("metrics.users", metrics_users, "false",
		"Whether to export rdma_device_user_info, which names the pod, container, Slurm job "
		"or systemd unit that has a device open: at most 32 series per device, new ones with "
		"each job. JSON, status and findings always name them."),
	BOOLEAN("metrics.finding_text", metrics_finding_text, "true",
		"Whether to export rdma_finding_info, which has the text of each active finding as it "
		"was when the finding was reported; it may name users of a device. Alerts quote it."),
	BOOLEAN("metrics.priorities", metrics_priorities, "true",
		"Whether to export Ethernet statistics per priority and per lane: up to 68 of "
		"about 110 series per interface."),
	BOOLEAN("metrics.fec_lanes", metrics_fec_lanes, "false",
		"Whether to export FEC statistics per lane in addition to those of the port, if "
		"the driver has them: 3 series per lane, at most 24 per interface. JSON always has "
		"them."),
	CHOICE("metrics.gpu_nic_paths", metrics_gpu_nic_paths, gpu_nic_paths, "nearest",
	       "GPU and NIC pairs to export as rdma_gpu_nic_path: only the nearest NICs of each "
	       "GPU, or also all pairs up to this distance."),
	EXPECT("expect.up", expect_up,
	       "Ports expected to be up, matched by device, PCI address, network interface, node "
	       "GUID or port GUID."),
	EXPECT("expect.down", expect_down,
	       "Ports expected to be down. Takes precedence over expect.up."),
	TEXT("expect.profile", expect_profile, "an absolute path, auto, or \"\" for none",
	     profile_setting_is_valid, "",
	     "What this node must have: a file with profiles, of which the one for this node is "
	     "chosen, or auto for the profiles that the program contains. If empty, a profile that "
	     "the program contains and that fits this node is information only."),
	NAMED("qos.expect", qos_expect,
	     "pfc=PRIORITIES, ecn=PRIORITIES, trust=dscp or pcp, dscpNUMBER=PRIORITY, mtu=BYTES, "
	     "traffic_class=NUMBER or none, or cm_tos=NUMBER, for example pfc=3 or dscp26=3, "
	     "optionally followed by a space and a glob of devices",
	     rna_qos_expectation_is_valid, rna_qos_expectation_explain, "=",
	     "Expected QoS configuration of RoCE ports. Values that are not listed are not "
	     "checked."),
	TEXT("state.directory", state_directory, "an absolute path, or \"\" for none",
	     rna_path_or_none_is_valid, RNA_STATE_DIRECTORY_DEFAULT,
	     "Directory in which the agent stores its knowledge of devices and ports across "
	     "restarts. systemd's StateDirectory= takes precedence. With --root other than / the "
	     "default is none.",
	     .read_at_start = true),
	NAMED("health.disable", health_disable,
	     "the name of a rule, or a glob such as gid-*",
	     rna_rule_glob_is_valid, rna_rule_explain, NULL,
	     "Rules to disable."),
	NAMED("health.hold_down", health_hold_down,
	     "RULE=DURATION, for example port-init=1m or gid-*=5m",
	     rna_rule_hold_is_valid, rna_rule_explain, "=",
	     "Hold-down times that replace the defaults: how long a problem must last before it "
	     "becomes a finding."),
	NAMED("health.thresholds", health_thresholds,
	     "COUNTER=COUNT/UNIT with the unit s, m, h or d, for example symbol_error=500/h; "
	     "COUNTER=COUNT/UNIT+Nppm of one that may rise with the traffic, for example "
	     "sequence_naks_received=1/s+100ppm; or COUNTER=off",
	     rna_threshold_is_valid, rna_threshold_explain, "=",
	     "Thresholds that replace the defaults, by the name of a threshold, or by the file "
	     "name of a counter; downs for how often a port may go down."),
	LIST("health.silence", health_silence,
	     "DAYS HH:MM-HH:MM with DAYS such as Sat, Mon-Fri or daily, or "
	     "2026-12-01T00:00Z/2026-12-01T06:00Z, optionally followed by a space and a glob of "
	     "devices",
	     rna_silence_is_valid, NULL,
	     "Maintenance windows (UTC). Findings are shown as silenced and excluded from metrics, "
	     "the journal and exit codes."),
	DURATION("health.boot_grace", health_boot_grace, "0s", "1h", "3m",
		 "For this time after boot, and after a driver registers a device, the agent makes "
		 "no new findings about ports and links, because they are still coming up."),
	BOOLEAN("health.virtual_functions", health_virtual_functions, "false",
		"Whether rules also apply to virtual and scalable functions."),
	CHOICE("kubernetes.backend", kubernetes_backend, kubernetes_backends, "off",
	       "How the labels of this Node are set: api, by the agent through the API server; "
	       "nfd, by node-feature-discovery from a file that the agent writes; or both."),
	NAME("kubernetes.node_name", kubernetes_node_name, "the name of a Node, or \"\"", NULL, "",
	     "Name of this node's Node object. If empty, the environment variable NODE_NAME."),
	TEXT("kubernetes.kubeconfig", kubernetes_kubeconfig, "an absolute path, or \"\"",
	     rna_path_or_none_is_valid, "",
	     "Kubeconfig file with the address of the API server and the agent's credentials. If "
	     "empty, the pod's service account."),
	NAME("kubernetes.server", kubernetes_server, "https://HOST:PORT, or \"\"", NULL, "",
	     "Address of the API server, instead of that of the kubeconfig or the pod."),
	NAME("kubernetes.roce_key", kubernetes_roce_key, "the key of a label",
	     rna_label_key_check, "network.nvidia.com/roce",
	     "Label that is set while the node supports RoCE, and removed otherwise."),
	CHOICE("kubernetes.roce_label", kubernetes_roce_label, roce_labels, "only-if-unset",
	       "Who sets that label. only-if-unset: the agent, unless another client has written "
	       "it, whose value stays (finding label-held). own: the agent alone, which changes it "
	       "back. off: others."),
	NAME("kubernetes.roce_value", kubernetes_roce_value, "the value of a label",
	     rna_label_value_check, "true",
	     "Value of kubernetes.roce_key."),
	NAME("kubernetes.label_prefix", kubernetes_label_prefix,
	     "a DNS subdomain, with or without a trailing slash", rna_label_prefix_check,
	     "rdma-node-agent/",
	     "Prefix of the keys of all other labels."),
	DURATION("kubernetes.up_delay", kubernetes_up_delay, "0s", "1h", "30s",
		 "An improvement is published after it has lasted this long."),
	DURATION("kubernetes.down_delay", kubernetes_down_delay, "0s", "1h", "1m",
		 "A deterioration is published after it has lasted this long without "
		 "interruption."),
	BOOLEAN("kubernetes.conditions", kubernetes_conditions, "true",
		"Whether findings set Node conditions such as RdmaPortDown. Requires "
		"kubernetes.backend api or both."),
	BOOLEAN("kubernetes.events", kubernetes_events, "true",
		"Whether findings create Events of the Node. Requires kubernetes.backend api or "
		"both."),
	NAME("kubernetes.taint", kubernetes_taint, "the key of a taint, or \"\" for none",
	     taint_check, "",
	     "Taint to set while the node is unhealthy. Requires kubernetes.backend api or both."),
	CHOICE("kubernetes.taint_effect", kubernetes_taint_effect, taint_effects, "NoSchedule",
	       "Effect of kubernetes.taint. NoExecute also evicts the agent, if it runs in a pod that "
	       "does not tolerate the taint; the chart adds the toleration."),
	CHOICE("kubernetes.taint_when", kubernetes_taint_when, taint_whens, "critical",
	       "Findings at which the taint is set, of those whose cause lies in the node: "
	       "critical; warning, which includes critical; node-lost, only if the node has no "
	       "RDMA at all."),
	TEXT("kubernetes.taint_leases", kubernetes_taint_leases,
	     "NAMESPACE/NAME, or \"\" for none", rna_member_service_or_none_is_valid, "",
	     "Leases of which the agent must hold one while the taint is set, so that no more nodes "
	     "have it at once than there are Leases: those in this namespace with the label "
	     "rdma-node-agent/leases=NAME. A Lease ends three times kubernetes.refresh after its "
	     "last renewal. None: the taint has no limit."),
	BOOLEAN("kubernetes.taint_dry_run", kubernetes_taint_dry_run, "false",
		"Whether the agent only says that it would set the taint, by the finding "
		"taint-withheld."),
	CHOICE("kubernetes.device_taints", kubernetes_device_taints, device_taints, "off",
	       "What happens to the devices of an unhealthy NIC in ResourceSlices (DRA): report, a "
	       "DeviceTaintRule without an effect for each; taint, one that keeps new pods off. "
	       "kubernetes.taint_when applies. Requires kubernetes.backend api or both, and "
	       "Kubernetes 1.36."),
	LIST("kubernetes.former_names", kubernetes_former_names,
	     "the key of a label or a taint, or a prefix of labels that ends with a slash",
	     any_text_is_valid,
	     NULL,
	     "Names of labels and taints from earlier configurations, which the agent removes from "
	     "the Node. It remembers its own former names in the state directory.",
	     .check = former_name_check),
	LIST("kubernetes.resources", kubernetes_resources,
	     "the name of a resource such as nvidia.com/hostdev, or a glob",
	     resource_glob_is_valid, NULL,
	     "Device plugin resources to check in addition to rdma/*. A name without a glob must "
	     "exist."),
	DURATION("kubernetes.spread", kubernetes_spread, "0s", "1h", "2m",
		 "Maximum random delay of writes to the API server, so that a fleet does not write "
		 "simultaneously. The first labels and conditions wait up to a quarter of it."),
	INTEGER("kubernetes.changes", kubernetes_changes, "1", "100", "5",
		"Changes of the Node that are written as they come; behind these, one in 12 "
		"minutes, so that a port that flaps for ever costs no more."),
	INTEGER("kubernetes.urgent_changes", kubernetes_urgent_changes, "1", "100", "3",
		"Further changes for taints and the label health alone, so that they do not wait "
		"where other changes have used up kubernetes.changes."),
	DURATION("kubernetes.refresh", kubernetes_refresh, "1m", "24h", "30m",
		 "How often the Node is read, to detect changes by others and to check its "
		 "resources."),
	TEXT("kubernetes.nfd_directory", kubernetes_nfd_directory, "an absolute path",
	     path_is_valid,
	     "/etc/kubernetes/node-feature-discovery/features.d",
	     "Directory from which node-feature-discovery reads feature files."),
	RETIRED("kubernetes.change_period", "One more change may be written each 12 minutes."),
	RETIRED("kubernetes.first_delay", "It is a quarter of kubernetes.spread."),
	RETIRED("kubernetes.heartbeat", "Conditions are rewritten every 30 minutes."),
	RETIRED("kubernetes.nfd_expiry",
		"The labels of the feature file stay valid for an hour after the agent has stopped."),
	RETIRED("kubernetes.resync", "All data is rewritten to the API server every 12 hours."),
	RETIRED("kubernetes.unknown_delay",
		"Labels and conditions become unknown 10 minutes after the last reading."),
	TEXT("control.socket", control_socket, "an absolute path, or \"\" for none",
	     rna_path_or_none_is_valid,
	     RNA_CONTROL_SOCKET_DEFAULT,
	     "Unix socket for commands to the running agent, accessible to root and to the agent's "
	     "user. Not used with --root other than /.",
	     .read_at_start = true),
	CHOICE("security.seccomp", security_seccomp, seccomp_modes, "auto",
	       "Whether the agent installs a system call filter. auto: unless the process already "
	       "has one from systemd or a container, or selftest.gpu_memory is true.",
	       .read_at_start = true),
	DURATION("quiesce.timeout", quiesce_timeout, "10s", "7d", "1h",
		 "A quiesce ends automatically after this time, unless the command gives another "
		 "one. The same applies to a quiesce for a Node label that was last read before a "
		 "restart of the agent."),
	TEXT("quiesce.node_label", quiesce_node_label, "KEY, or \"\" for none",
	     label_key_is_valid,
	     "nvidia.com/ofed-driver-upgrade-state",
	     "Node label that announces a driver upgrade: the agent is quiesced while the label is "
	     "set. It is read at the start, every kubernetes.refresh and with each write to the Node. "
	     "Requires kubernetes.backend api or both."),
	LIST("quiesce.node_label_idle", quiesce_node_label_idle, "a value of a label",
	     label_value_is_valid, "upgrade-done",
	     "Values of quiesce.node_label that do not quiesce the agent."),
	BOOLEAN("probe.enabled", probe_enabled, "false",
		"Whether ports of this node send small probes to ports of other nodes, and answer "
		"theirs. Requires probe.secret_file."),
	TEXT("probe.secret_file", probe_secret_file, "an absolute path, or \"\" for none",
	     rna_path_or_none_is_valid, "",
	     "File with the secret that all members share: at least 32 random bytes in hexadecimal "
	     "or base64, as \"openssl rand -hex 32\" writes them, without rights for other users. "
	     "It is read again when it changes."),
	TEXT("probe.group", probe_group, "1 to 63 letters, digits, dashes, dots or underscores, or "
	     "\"\"",
	     rna_probe_name_or_none_is_valid, "",
	     "Members of different groups do not probe each other, even if one list has both."),
	TEXT("probe.members_file", probe_members_file, "an absolute path, or \"\" for none",
	     rna_path_or_none_is_valid, "",
	     "List of the agents of all members, in the file_sd format of Prometheus (JSON or YAML): "
	     "targets HOST:PORT; labels node and leaf are used. It is read again when it changes."),
	TEXT("probe.members_dns", probe_members_dns,
	     "NAME, NAME:PORT or _SERVICE._tcp.NAME, or \"\" for none",
	     rna_dns_place_or_none_is_valid, "",
	     "Name in DNS of the agents of all members, instead of probe.members_file: its addresses "
	     "(A, or AAAA if it has no A) with PORT, 10879 by default; or SRV records, with HTTPS if "
	     "the service is _https. It is looked up again when its TTL ends, after 30 seconds at "
	     "least and 5 minutes at most. If that fails, the last list stays in use."),
	TEXT("probe.members_kubernetes", probe_members_kubernetes,
	     "NAMESPACE/SERVICE, or \"\" for none", rna_member_service_or_none_is_valid, "",
	     "Service in Kubernetes whose pods are the agents of all members, instead of "
	     "probe.members_file. Its EndpointSlices are read with the access that kubernetes.server "
	     "and kubernetes.kubeconfig describe, within six times kubernetes.first_delay after the "
	     "start, and then each minute, or after 0.3 seconds for each member if that is longer."),
	LIST("probe.leaf", probe_leaf, "DEVICE=NAME, for example mlx5_0=leaf-12",
	     rna_probe_leaf_is_valid, NULL,
	     "Leaf switches of ports. Comes before what LLDP or InfiniBand say."),
	TEXT("probe.leaf_label", probe_leaf_label, "the key of a label, or \"\" for none",
	     label_key_is_valid, "fabric.topograph.run/tier-0",
	     "Label of the Node whose value is the leaf switch of ports for which neither probe.leaf, "
	     "LLDP nor InfiniBand names one. Requires kubernetes.backend api or both. NVIDIA topograph "
	     "sets the default."),
	INTEGER("probe.neighbours", probe_neighbours, "0", "3", "3",
		"Number of members of the same leaf that each port probes, and of others."),
	DURATION("probe.period", probe_period, "400ms", "60s", "500ms",
		 "Time between two probes to the same port. A port sends at most 20 probes per second "
		 "and 60 kb/s."),
	INTEGER("probe.large_every", probe_large_every, "0", "1000", "4",
		"Every so many-th probe is as large as the MTU, if the limit of 60 kb/s permits. 0: "
		"none."),
	BOOLEAN("probe.priority", probe_priority, "true",
		"Whether the process that probes takes real-time priority, or a nice value of -10, if it "
		"has the right to one: the profile priority of the unit, or probe.priority of the Helm "
		"chart. It gives real time up if it takes 200 ms of the CPU without a wait."),
	TEXT("probe.traffic_class", probe_traffic_class, "auto, or 0 to 255",
	     rna_probe_traffic_class_is_valid, "auto",
	     "Traffic class of probes: DSCP times four. auto: that of jobs, so that probes take the "
	     "same queues: NCCL_IB_TC of /etc/nccl.conf, else of the command env --for=nccl, else 0."),
	TEXT("probe.service_level", probe_service_level, "auto, or 0 to 15",
	     rna_probe_service_level_is_valid, "auto",
	     "Service level of probes. auto: that of jobs, NCCL_IB_SL, found likewise."),
	BOOLEAN("probe.host_mesh", probe_host_mesh, "true",
		"Whether InfiniBand ports of this node probe each other through their switches as "
		"well. The kernel delivers RoCE packets to an address of the node without the cable."),
	BOOLEAN("probe.bandwidth", probe_bandwidth, "false",
		"Whether this node measures the bandwidth to other nodes, on demand or in "
		"probe.bandwidth_window, and lets them measure it, while its ports are idle. Requires "
		"probe.enabled."),
	INTEGER("probe.bandwidth_port", probe_bandwidth_port, "1", "65535", "10880",
		"TCP port on which the agent listens for such measurements, on all addresses. The "
		"default is the one behind that of HTTP, so that one rule of a firewall covers both."),
	LIST("probe.bandwidth_window", probe_bandwidth_window,
	     "as for health.silence, for example Sat 02:00-04:00 or daily 02:00-03:00 mlx5_*",
	     rna_silence_is_valid, NULL,
	     "Time windows (UTC) in which the agent measures the bandwidth of each port to the next "
	     "node on its rail, once in each window. None if empty."),
	BOOLEAN("selftest.enabled", selftest_enabled, "true",
		"Whether the agent periodically tests idle ports: whether they transfer data, and "
		"how fast."),
	DURATION("selftest.period", selftest_period, "1h", "30d", "6h",
		 "How often each port is tested. The time within the period is random."),
	INTEGER("selftest.bytes", selftest_bytes, "1", "256", "64",
		"Maximum amount of data that a test writes per kind of memory, in MiB. At least "
		"two writes."),
	DURATION("selftest.time_limit", selftest_time_limit, "10ms", "200ms", "200ms",
		 "Maximum duration of a test per kind of memory, including warm-up and latency "
		 "measurement."),
	INTEGER("selftest.size", selftest_size, "64", "8388608", "65536",
		"Size of one RDMA write of a test, in bytes."),
	INTEGER("selftest.queue_pairs", selftest_queue_pairs, "0", "16", "0",
		"Number of parallel queue pairs of a test. 0: 1, or 4 from 300 Gb/s on."),
	BOOLEAN("selftest.relaxed_ordering", selftest_relaxed_ordering, "true",
		"Whether tests register memory for relaxed ordering of PCIe, as NCCL and perftest "
		"do. Drivers that do not support it ignore it."),
	BOOLEAN("selftest.remote_memory", selftest_remote_memory, "true",
		"Whether tests also use memory of a NUMA node other than that of the NIC."),
	BOOLEAN("selftest.gpu_memory", selftest_gpu_memory, "false",
		"Whether tests also use memory of the GPU nearest to the NIC. This needs about 500 "
		"MiB of GPU memory and a CUDA context for about a second."),
	DURATION("selftest.quiet", selftest_quiet, "0s", "24h", "10m",
		 "A port is not tested for this time after a change of its state."),
	INTEGER("selftest.busy_rate", selftest_busy_rate, "1", "10000", "10",
		"Traffic from which on a port counts as in use and is not tested, in MB/s."),
	INTEGER("selftest.idle_contexts", selftest_idle_contexts, "0", "1000", "0",
		"Number of contexts that permanent services such as ibacm keep open per device. A "
		"device with more open contexts counts as in use and is not tested."),
	LIST("selftest.window", selftest_window,
	     "as for health.silence, for example daily 02:00-04:00 or Sat 00:00-06:00 mlx5_*",
	     rna_silence_is_valid, NULL,
	     "Time windows (UTC) in which tests are allowed. At any time if empty."),
	TEXT("selftest.node_label", selftest_node_label, "KEY, KEY=VALUE, or \"\" for none",
	     node_label_is_valid, "",
	     "Tests run only while the Node has this label, which the agent reads every "
	     "kubernetes.refresh. Requires kubernetes.backend api or both. There are no tests while "
	     "the label is unknown."),
	INTEGER("selftest.ok", selftest_ok, "0", "100", "0",
		"Share of the bandwidth that link and PCIe path allow from which on a test passes, "
		"in percent. 0: as vendors rate it, 78 from 100 Gb/s on, 87.5 from 200 Gb/s on, 90 "
		"from 400 Gb/s on and below 100 Gb/s."),
	INTEGER("selftest.warning", selftest_warning, "0", "100", "0",
		"Share of the bandwidth below which a test fails, in percent. Between this and "
		"selftest.ok it is a warning. 0: ten percent of the bandwidth less than "
		"selftest.ok."),
	INTEGER("selftest.siblings", selftest_siblings, "0", "100", "93",
		"Share of the median bandwidth of sibling ports from which on a test passes, in "
		"percent. 0: no comparison."),
	LIST("selftest.limits", selftest_limits, "RATE=OK/WARNING, for example 400=95/85",
	     rna_selftest_limit_is_valid, NULL,
	     "Values that replace selftest.ok and selftest.warning for an expected bandwidth of "
	     "RATE Gb/s."),
	CHOICE("log.level", log_level, log_levels, "info",
	       "Minimum severity of log messages."),
};
/* clang-format on */

const struct rna_schema rna_settings_schema = {.count = RNA_ARRAY_SIZE(rows), .rows = rows};

_Static_assert(RNA_ARRAY_SIZE(rows) <= RNA_SETTINGS_MAX, "raise RNA_SETTINGS_MAX");
