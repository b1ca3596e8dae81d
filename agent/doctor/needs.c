// SPDX-License-Identifier: Apache-2.0
#include "needs.h"

#include <errno.h>
#include <string.h>

#include "config/settings_table.h"
#include "rules/rules.h"

/* In the order in which they are shown: devices, their files, sockets, processes, files. */
const struct rna_need rna_needs[] = {
	{
		.name = "devices",
		.tried = "list /sys/class/infiniband",
		.by_files = true,
		.attempt = rna_attempt_devices,
		.uses = {{.by = "presence", .lost = "all about RDMA devices and their ports"}},
		.remedy = "Load the RDMA driver of the NICs: modprobe --all ib_uverbs mlx5_ib, for "
			  "example. In a container, mount /sys and use the network namespace of "
			  "the node.",
	},
	{
		.name = "interfaces",
		.tried = "find the network interfaces of NICs with Ethernet ports",
		.by_files = true,
		.attempt = rna_attempt_interfaces,
		.uses = {{.by = "netdev",
			  .lost = "interfaces, and with them drivers' statistics, QoS, gateways "
				  "and "
				  "peers of RoCE ports"}},
		.remedy = "Start the agent in the network namespace of the node: hostNetwork of "
			  "its pod, which the chart sets.",
	},
	{
		.name = "verbs",
		.tried = "open and close /dev/infiniband/uverbs*",
		.attempt = rna_attempt_verbs,
		.uses = {{.by = "link", .lost = "MTUs of RDMA"},
			 {.by = "selftest.enabled", .off = {"false"}, .lost = "self-tests"},
			 {.by = "watch.verbs_events",
			  .off = {"never"},
			  .lost = "events of InfiniBand ports without an interface; their state is "
				  "read every poll.state"},
			 {.by = "probe.enabled",
			  .off = {"false"},
			  .lost = "probes to other nodes"}},
		.profile = "verbs",
		.values = "verbs.enabled, and deviceFiles",
	},
	{
		.name = "umad",
		.tried = "open and close /dev/infiniband/umad* of InfiniBand ports",
		.attempt = rna_attempt_umad,
		.uses = {{.by = "fabric.enabled",
			  .off = {"false"},
			  .lost = "peer ports, the subnet manager, P_Keys and causes of discards; "
				  "what links support; counters that sysfs does not have"}},
		.profile = "umad",
		.values = "umad.enabled, and deviceFiles",
	},
	{
		.name = "locked-memory",
		.tried = "lock the memory of a self-test",
		.own_attempt = rna_try_locked_memory,
		.uses = {{.by = "selftest.enabled", .off = {"false"}, .lost = "self-tests"},
			 {.by = "probe.enabled",
			  .off = {"false"},
			  .lost = "probes to other nodes"}},
		.profile = "verbs",
		.values = "selfTest.enabled, or probe.ipcLock",
	},
	{
		.name = "rdma-netlink",
		.tried = "ask RDMA netlink for the objects of a device",
		.attempt = rna_attempt_rdma_netlink,
		.uses = {{.by = "resources",
			  .lost = "whether devices are in use, and by whom; self-tests cannot tell "
				  "an idle port"},
			 {.by = "hw_counters.source",
			  .off = {"sysfs"},
			  .lost = "optional counters of ports; the others are read from sysfs"}},
		.remedy = "Permit AF_NETLINK (RestrictAddressFamilies of a unit, seccomp of a "
			  "container); the kernel needs ib_core as a module or built in.",
	},
	{
		.name = "events",
		.tried = "open sockets for rtnetlink and uevents",
		.attempt = rna_attempt_events,
		.uses = {{.by = "watch.events",
			  .off = {"false"},
			  .lost = "immediate reaction to changes; the agent polls instead"}},
		.remedy = "Permit AF_NETLINK (RestrictAddressFamilies of a unit, seccomp of a "
			  "container).",
	},
	{
		.name = "ethtool",
		.tried = "ask ethtool netlink for a link",
		.attempt = rna_attempt_ethtool,
		.uses = {{.by = "ethernet",
			  .lost = "FEC, pause frames and standard counters of Ethernet ports"}},
		.remedy = "Use Linux 5.6 or later with CONFIG_ETHTOOL_NETLINK, and permit "
			  "AF_NETLINK.",
	},
	{
		.name = "transceivers",
		.tried = "ask ethtool netlink for a module's memory",
		.attempt = rna_attempt_modules,
		.uses = {{.by = "module",
			  .lost = "transceivers and cables: temperature, optical power, their "
				  "limits"}},
		.remedy = "Linux 5.13 or later, and CAP_NET_ADMIN of the network namespace.",
		.profile = "ethtool",
		.values = "ethtool.enabled",
	},
	{
		.name = "lldpd",
		.tried = "ask lldpd for its neighbours",
		.attempt = rna_attempt_lldpd,
		.uses = {{.by = "lldp", .lost = "switch and switch port of Ethernet ports"}},
		.remedy = "Add the user of the agent to the group of lldpd's socket "
			  "(/run/lldpd.socket, usually _lldpd). A container cannot ask lldpd.",
	},
	{
		.name = "kernel-log",
		.tried = "open /dev/kmsg, or read the journal",
		.attempt = rna_attempt_kernel_log,
		.uses = {{.by = "kernel_log.source",
			  .off = {"off"},
			  .lost = "failures that drivers report in the log of the kernel only"}},
		.profile = "kernel-log, or journal",
		.values = "kernelLog.journal, and kernelLog.group",
	},
	{
		.name = "users",
		.tried = "read control groups of other processes",
		.attempt = rna_attempt_users,
		.uses = {{.by = "metrics.users",
			  .off = {"false"},
			  .lost = "for whom devices are open: pod, Slurm job or unit"}},
		.finding = &rna_rule_users_hidden,
		.values = "users.enabled",
	},
	{
		.name = "pod-names",
		.tried = "list /var/log/containers or /var/log/pods",
		.attempt = rna_attempt_pod_names,
		.uses = {{.by = "metrics.users",
			  .off = {"false"},
			  .lost = "names of pods and containers; their UIDs remain"}},
		.values = "users.enabled",
	},
	{
		.name = "namespaces",
		.tried = "read namespaces and /sys of another process",
		.attempt = rna_attempt_namespaces,
		.uses = {{.by = "follow.enabled",
			  .off = {"false"},
			  .lost = "devices that were moved into pods"}},
		.finding = &rna_rule_namespaces_hidden,
		.profile = "follow",
		.values = "follow.enabled",
	},
	{
		.name = "state-directory",
		.tried = "ask whether files can be made in state.directory",
		.own_attempt = rna_try_state_directory,
		.uses = {{.by = "state.directory",
			  .off = {""},
			  .lost = "the memory across restarts: expected ports and devices, "
				  "history, "
				  "events"}},
		.remedy = "Make the directory, owned by the user of the agent, on a file system "
			  "that is writable; the unit does by StateDirectory=. Or set "
			  "state.directory.",
		.values = "state.type, state.path",
	},
	{
		.name = "control-socket",
		.tried = "ask whether a file can be made in the directory of control.socket",
		.own_attempt = rna_try_control_socket,
		.uses = {{.by = "control.socket",
			  .off = {""},
			  .lost = "the commands quiesce, resume and selftest to the running "
				  "agent"}},
		.remedy = "Make the directory, owned by the user of the agent; the unit does by "
			  "RuntimeDirectory=. Or set control.socket.",
	},
	{
		.name = "probe-secret",
		.tried = "read probe.secret_file",
		.own_attempt = rna_try_probe_secret,
		.uses = {{.by = "probe.enabled",
			  .off = {"false"},
			  .lost = "probes to other nodes"}},
		.remedy = "Make a secret for all members: openssl rand -hex 32. Give the user of "
			  "the agent the right to read the file, and users that are not in its "
			  "group none.",
		.values = "probe.secretName",
	},
	{
		.name = "probe-leaf",
		.tried = "look for what names the leaf switches of this node",
		.own_attempt = rna_try_probe_leaf,
		.uses = {{.by = "probe.enabled",
			  .off = {"false"},
			  .lost = "peers on the leaf of this node: ports probe three members "
				  "instead of six, and mesh cannot tell a leaf from its uplinks"}},
		.remedy = "On a host, run lldpd, or set probe.leaf. In Kubernetes, where a "
			  "container cannot ask lldpd, set kubernetes.backend to api, and the "
			  "label of probe.leaf_label on each Node, as topograph does.",
		.values = "config.probe.leaf_label, config.kubernetes.backend",
	},
	{
		.name = "probe-priority",
		.tried = "take real-time priority, or a nice value of -10, in a child process",
		.optional = true,
		.own_attempt = rna_try_probe_priority,
		.uses = {{.by = "probe.enabled",
			  .off = {"false"},
			  .lost = "probes in time on a busy host: losses are found later, and if "
				  "it "
				  "is starved, not at all (finding probe-host-busy)"}},
		.profile = "priority",
		.values = "probe.priority",
	},
	{
		.name = "api-access",
		.tried = "read the credentials for the API server, without asking it",
		.own_attempt = rna_try_api_access,
		.uses = {{.by = "kubernetes.backend",
			  .off = {"off", "nfd"},
			  .lost = "labels, conditions, Events and taint of the Node"},
			 {.by = "probe.members_kubernetes",
			  .off = {""},
			  .lost = "the members to be probed"}},
		.remedy = "Without the chart, set kubernetes.kubeconfig to a file that the user of "
			  "the agent can read, and kubernetes.node_name.",
		.values = "config.kubernetes.backend",
	},
	{
		.name = "feature-directory",
		.tried = "ask whether a file can be made in kubernetes.nfd_directory",
		.own_attempt = rna_try_feature_directory,
		.uses = {{.by = "kubernetes.backend",
			  .off = {"off", "api"},
			  .lost = "labels of the Node by node-feature-discovery"}},
		.remedy = "Without the chart, let the user of the agent write to the directory.",
		.values = "config.kubernetes.backend",
	},
	{
		.name = "seccomp",
		.tried = "install the filter of system calls in a child process",
		.own_attempt = rna_try_seccomp,
		.uses = {{.by = "security.seccomp",
			  .off = {"off"},
			  .lost = "the agent's filter of system calls"}},
		.remedy = "Use a kernel with CONFIG_SECCOMP_FILTER, and a build with libseccomp.",
	},
	{
		.name = "pci-configuration",
		.tried = "read the PCI configuration of a device behind its first 64 bytes",
		.optional = true,
		.attempt = rna_attempt_pci_configuration,
		.uses = {{.by = "pcie",
			  .lost = "ACS, ordering and other settings of PCIe that only root can "
				  "read"}},
		.remedy = "Neither the unit nor the chart grants CAP_SYS_ADMIN. Run the command "
			  "status as root to see them once.",
	},
	{
		.name = "pod-resources",
		.tried = "read the checkpoint of the kubelet's device manager",
		.optional = true,
		.attempt = rna_attempt_pod_resources,
		.uses = {{.by = "status --pods",
			  .lost = "the resource for which a pod got a device"}},
		.remedy = "Run the command as root on the node.",
	},
};

const size_t rna_need_count = RNA_ARRAY_SIZE(rna_needs);

const char *rna_need_state_name(enum rna_need_state state)
{
	static const char *const names[RNA_NEED_STATE_COUNT] = {
		[RNA_NEED_OK] = "ok",           [RNA_NEED_LOST] = "lost",
		[RNA_NEED_UNUSED] = "unused",   [RNA_NEED_OPTIONAL] = "optional",
		[RNA_NEED_UNKNOWN] = "unknown",
	};

	return names[state];
}

/* -- Uses -------------------------------------------------------------------------------------- */

static bool has_value(const struct rna_schema_row *setting, const char *value,
		      const struct rna_settings *settings)
{
	RNA_CLEANUP(rna_settings_deinit) struct rna_settings other = {0};

	if (rna_settings_init(&other) < 0)
		return false;
	return rna_setting_put(setting, value, &other, NULL) == 0 &&
	       rna_setting_is_same(setting, settings, &other);
}

static const char *find_off(const struct rna_need_use *use, const struct rna_settings *settings)
{
	const struct rna_schema_row *setting = rna_setting_find(use->by);

	for (size_t i = 0; setting && i < RNA_ARRAY_SIZE(use->off) && use->off[i]; i++)
		if (has_value(setting, use->off[i], settings))
			return use->off[i];
	return NULL;
}

bool rna_need_use_is_on(const struct rna_need_use *use, const struct rna_settings *settings)
{
	return !find_off(use, settings);
}

static bool is_wanted(const struct rna_need *need, const struct rna_settings *settings)
{
	for (const struct rna_need_use *use = need->uses; use->by; use++)
		if (rna_need_use_is_on(use, settings))
			return true;
	return false;
}

void rna_need_write_unused(const struct rna_need *need, const struct rna_settings *settings,
			   struct rna_strbuf *out)
{
	for (const struct rna_need_use *use = need->uses; use->by; use++) {
		const char *off = find_off(use, settings);

		rna_strbuf_printf(out, "%s%s is %s", use > need->uses ? ", " : "", use->by,
				  *off ? off : "empty");
	}
}

const char *rna_need_remedy(const struct rna_need *need)
{
	if (need->remedy)
		return need->remedy;
	return need->finding ? need->finding->remedy : NULL;
}

/* -- Judging ----------------------------------------------------------------------------------- */

enum rna_need_state rna_need_judge(const struct rna_need *need, int status,
				   const struct rna_settings *settings)
{
	if (status == RNA_ATTEMPT_WORKS)
		return RNA_NEED_OK;
	if (status == RNA_ATTEMPT_NOTHING || !is_wanted(need, settings))
		return RNA_NEED_UNUSED;
	if (status == -ETIMEDOUT || status == -ECHILD || rna_error_is_lack(status))
		return RNA_NEED_UNKNOWN;
	return need->optional ? RNA_NEED_OPTIONAL : RNA_NEED_LOST;
}

int rna_need_try(const struct rna_need *need, const struct rna_need_input *in,
		 struct rna_strbuf *ret, struct rna_error *error)
{
	return need->attempt ? need->attempt(&in->attempt, ret, error)
			     : need->own_attempt(in, ret, error);
}

/* -- Documents --------------------------------------------------------------------------------- */

static void describe_uses(const struct rna_need *need, struct rna_strbuf *out)
{
	for (const struct rna_need_use *use = need->uses; use->by; use++)
		rna_strbuf_printf(out, "%s%s (`%s`)", use > need->uses ? "; " : "", use->lost,
				  use->by);
}

void rna_needs_describe(struct rna_strbuf *out)
{
	rna_strbuf_puts(out, "Need\tTried\tLost without it\tProfile of the unit\t"
			     "Values of the chart\tOtherwise\n");
	RNA_EACH (need, rna_needs, rna_need_count) {
		const char *remedy = rna_need_remedy(need);

		rna_strbuf_printf(out, "`%s`\t%s\t", need->name, need->tried);
		describe_uses(need, out);
		rna_strbuf_printf(out, "\t%s\t%s\t%s\n", need->profile ? need->profile : "",
				  need->values ? need->values : "", remedy ? remedy : "");
	}
}
