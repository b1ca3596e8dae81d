// SPDX-License-Identifier: Apache-2.0
/*
 * The commands: one table. To add a command, add a row here and its function in a command_*.c. Help
 * texts, the man page, the completion and the table in agent/README.md are made from the row.
 */
#include "commands.h"

#include <string.h>

#include "rna/check.h"

static const struct rna_exit_meaning run_exits[] = {
	{0, "ended by SIGTERM or SIGINT"},
	{1, "the agent could not start, for example because its address is in use"},
	{2, "invalid command line or configuration"},
	{0},
};

static const struct rna_exit_meaning env_exits[] = {
	{0, "success"},
	{1, "no port can be used, or another failure; env --check found something wrong"},
	{2, "invalid command line or configuration"},
	{0},
};

static const struct rna_exit_meaning check_exits[] = {
	{0, "no finding that counts; of slurm, nhc and npd also: a warning; of slurm: unknown"},
	{1, "a warning; of slurm, nhc and npd: a critical finding"},
	{2, "a critical finding; of npd: unknown"},
	{3, "unknown, for example because no agent answers; an invalid command line"},
	{0},
};

static const struct rna_exit_meaning check_config_exits[] = {
	{0, "the file is valid"},
	{1, "with --root: the recorded node differs from what is expected; or another failure"},
	{2, "the file or the command line is invalid"},
	{0},
};

static const struct rna_exit_meaning doctor_exits[] = {
	{0, "all that the configuration needs is there"},
	{1, "something is lost, or could not be tried; or another failure"},
	{2, "invalid command line or configuration"},
	{0},
};

static const struct rna_exit_meaning selftest_exits[] = {
	{0, "all is well"},
	{1, "a warning: slower than expected"},
	{2, "a test failed"},
	{3, "nothing could be tested; an invalid command line"},
	{0},
};

static const struct rna_exit_meaning probe_exits[] = {
	{0, "no port and no path shows a fault; bandwidth: as expected"},
	{1, "a warning: a port loses probes or cannot be used, or a path shows a sign of a fault; "
	    "bandwidth: less than expected"},
	{2, "a port is unreachable; bandwidth: far less than expected, or a test failed"},
	{3, "unknown: probes are disabled or do not run, a port is not judged, or no agent "
	    "answers; bandwidth: nothing was measured; an invalid command line"},
	{0},
};

static const struct rna_exit_meaning mesh_exits[] = {
	{0, "no pair of ports loses probes"},
	{1, "pairs lose, and no part explains them"},
	{2, "a host, port, leaf, spine or path is to blame"},
	{3, "unknown, for example because most members have no data; an invalid command line"},
	{0},
};

const struct rna_command rna_commands[] = {
	{
		.name = "run",
		.summary = "Poll the devices and serve HTTP until SIGTERM or SIGINT.",
		.help = "SIGHUP reloads the configuration; if it is not valid, the old settings "
			"stay. Options for\nsettings take precedence over the file, also after a "
			"reload. Commands of this node that ask\nthe agent read the file: if "
			"--web.listen-address names another address, they need --url.",
		.options = RNA_OPTION_BIT(WEB_LISTEN_ADDRESS) | RNA_OPTION_BIT(WEB_CONFIG_FILE) |
			   RNA_OPTION_BIT(LOG_LEVEL),
		.exits = run_exits,
		.settings = true,
		.execute = rna_command_run,
	},
	{
		.name = "collect",
		.summary = "Poll once and write the metrics.",
		.help = "--output is for the textfile collector of node_exporter, which reads "
			"files "
			"whose names end in\n.prom. The file has mode 0644. Metrics of the process "
			"are "
			"not in it, because node_exporter\nexports its own. If the file cannot be "
			"written, the old one stays.",
		.options = RNA_OPTION_BIT(FORMAT) | RNA_OPTION_BIT(OUTPUT),
		.formats = (const char *const[]){"prometheus", "openmetrics", "json", NULL},
		.settings = true,
		.execute = rna_command_collect,
	},
	{
		.name = "status",
		.summary = "Poll once and show ports and cards, or GIDs, as a table.",
		.help = "Lines have at most 120 columns: --wide shows further columns, and texts "
			"in full. --short is\nfor scripts that read ibdev2netdev. JSON contains "
			"the "
			"whole snapshot, GIDs included, with or\nwithout --gids. --pods has a line "
			"for each device of a pod, with the number of its virtual\nfunction and "
			"the "
			"resource for which the kubelet gave it, for root on the node. --pid shows "
			"what a\nprocess has: devices and GIDs of its network namespace, its limit "
			"of locked memory, and the files\nof /dev/infiniband that it could open; "
			"whether its device cgroup permits them, is not known.",
		.options = RNA_OPTION_BIT(JSON) | RNA_OPTION_BIT(COLOR) | RNA_OPTION_BIT(GIDS) |
			   RNA_OPTION_BIT(WIDE) | RNA_OPTION_BIT(SHORT) | RNA_OPTION_BIT(PODS) |
			   RNA_OPTION_BIT(PID),
		.settings = true,
		.execute = rna_command_status,
	},
	{
		.name = "env",
		.summary = "Poll once and write the environment variables that a communication "
			   "library needs.",
		.help = "Each variable comes with the reason for it. Variables that the library "
			"sets correctly by\nitself are left out, as are ports that are down or "
			"serve no GPU. Warnings describe what does\nnot fit, including variables "
			"of the calling environment that choose a GID. With --gpu the\nports are "
			"those nearest to one GPU; numbers are those of topology. With --pid "
			"devices,\nGIDs and environment are those of a process, for example in a "
			"pod. --check has a line for each\nvariable and device of a running job: "
			"ok, "
			"wrong, missing, or extra, with the reason.\n\n"
			"shell is for eval, env for docker --env-file, yaml is the env of a "
			"container. A pod has\ninterfaces of its own, so yaml names none of the "
			"host, but with --host-network or --pid.",
		.exits = env_exits,
		.options = RNA_OPTION_BIT(FORMAT) | RNA_OPTION_BIT(FOR) | RNA_OPTION_BIT(GPU) |
			   RNA_OPTION_BIT(PID) | RNA_OPTION_BIT(POD) | RNA_OPTION_BIT(CHECK) |
			   RNA_OPTION_BIT(HOST_NETWORK),
		.formats = rna_env_forms,
		.settings = true,
		.execute = rna_command_env,
	},
	{
		.name = "nccl",
		.summary = "Poll once and write the environment variables that NCCL needs on this "
			   "node.",
		.help = "The same as env --for=nccl.",
		.exits = env_exits,
		.options =
			RNA_OPTION_BIT(FORMAT) | RNA_OPTION_BIT(PID) | RNA_OPTION_BIT(HOST_NETWORK),
		.formats = rna_env_forms,
		.settings = true,
		.execute = rna_command_nccl,
	},
	{
		.name = "topology",
		.summary = "Poll once and show which GPUs and NICs are close to each other.",
		.help = "The matrix of nvidia-smi topo -m, for GPUs of any vendor, and the PCI "
			"tree that it is\nderived from. Links slower than both of their ends "
			"support are marked. --json is\n--format=json; dot is for Graphviz; svg "
			"is the drawing of the status page.",
		.options = RNA_OPTION_BIT(FORMAT) | RNA_OPTION_BIT(JSON) | RNA_OPTION_BIT(COLOR) |
			   RNA_OPTION_BIT(HWLOC_XML),
		.formats = (const char *const[]){"text", "json", "dot", "svg", NULL},
		.settings = true,
		.execute = rna_command_topology,
	},
	{
		.name = "events",
		.summary = "Show what changed: ports, findings, and the agent itself.",
		.help = "The command connects to the first address of http.listen; if "
			"http.web_config_file is set,\nto the first unix socket of http.listen. "
			"The "
			"agent shows ports that went up or down, findings that\nwere raised, "
			"changed "
			"their severity or were resolved, starts and ends of the agent, reloads of "
			"the\nconfiguration, and expect accept: the last 64 of ports, of findings "
			"and of the agent. With --last\nor --since the command reads the state "
			"directory instead, which has the last 1,000 of each at\nleast, also of "
			"earlier processes, and needs no running agent. With --url it asks the "
			"agent "
			"of\nanother node.",
		.options = RNA_OPTION_BIT(LAST) | RNA_OPTION_BIT(SINCE) | RNA_OPTION_BIT(JSON) |
			   RNA_OPTIONS_URL,
		.settings = true,
		.execute = rna_command_events,
	},
	{
		.name = "expect",
		.operand = "ACTION",
		.operands = rna_expect_actions,
		.words = "[DEVICE[/PORT]]...",
		.summary =
			"Accept the current state of ports as expected, list what is expected, or "
			"write a profile.",
		.help = "accept polls once and records the state of the named devices and ports, "
			"e.g. ports that are\ndown on purpose: the agent no longer expects such a "
			"port to be up, until it has been up\nagain, and no longer reports a "
			"missing device, and what the kernel log said of these\ndevices until now. "
			"'*' is all of the node, with its rails. A running agent notices.\n"
			"list shows what is expected of each port and why. profile polls once and "
			"writes the profile of\nthis node for the setting expect.profile, to be "
			"reviewed.",
		.settings = true,
		.execute = rna_command_expect,
	},
	{
		.name = "check",
		.summary = "Show the findings of this node, with an exit code for monitoring.",
		.help = "The command asks the running agent at the first address of http.listen; "
			"if\nhttp.web_config_file is set, at the first unix socket of http.listen. "
			"With --once or --root\nit polls by itself, once; with --url it asks the "
			"agent of another node, by HTTP. Findings that\nare info or silenced are "
			"shown and do not count.\n\n"
			"nagios is the output of a monitoring plugin, with performance data. "
			"--json is\n--format=json. slurm (HealthCheckProgram, Prolog), nhc (LBNL "
			"NHC) and npd\n(node-problem-detector) write one line. They ask the agent "
			"by its control socket first. If it\ndoes not answer within a third of "
			"the deadline, they poll by themselves, but not with --url.\n\n"
			"--nodes asks the agents of many nodes at once and writes a line for each, "
			"the worst first, and\none with the sums; JSON is a list. A node without "
			"an answer of use is unknown, with the reason.\nFILE is in the file_sd "
			"format of Prometheus, dns:NAME as probe.members_dns, kubernetes the\n"
			"Service of probe.members_kubernetes. Where the list says https, the "
			"options for TLS apply. An\nagent has 2.4 seconds: 2,000 nodes take ten "
			"seconds if none answers. With --deadline, nodes\nwithout an answer by "
			"then "
			"are unknown. The exit code is that of the worst node: critical,\nunknown, "
			"warning, ok.",
		.options = RNA_OPTION_BIT(FORMAT) | RNA_OPTION_BIT(JSON) | RNA_OPTION_BIT(ONCE) |
			   RNA_OPTION_BIT(DEADLINE) | RNA_OPTION_BIT(NODES) | RNA_OPTIONS_URL,
		.exits = check_exits,
		.formats = rna_check_forms,
		.settings = true,
		.failure = 3,
		.fail = rna_command_check_fail,
		.execute = rna_command_check,
	},
	{
		.name = "runbook",
		.operand = "[NAME]",
		.summary = "Show what to do about an alert or a finding, or the list of runbooks.",
		.help = "check names the runbook of each finding. The running agent serves them at "
			"/runbooks/, with\nthe names of its node filled in.",
		.execute = rna_command_runbook,
	},
	{
		.name = "kube",
		.operand = "ACTION",
		.operands = rna_kube_actions,
		.summary = "Show, apply once, or remove the labels, conditions and taint of this "
			   "node; check all agents.",
		.help = "show polls once and writes a Node with the labels, the conditions and the "
			"taint. apply\nupdates the backends of kubernetes.backend at once; a "
			"running agent does so by itself, with\ndelays. cleanup removes all that "
			"the agent owns from the Node and from\nkubernetes.nfd_directory; a "
			"running agent writes it again. With --nodes it cleans up\nmany "
			"Nodes, through the API server only, after their agents are gone. "
			"agents asks all agents\nbehind the Service of probe.members_kubernetes "
			"whether they are ready, and for their metrics;\nit fails unless all are.",
		.options = RNA_OPTION_BIT(DRY_RUN) | RNA_OPTION_BIT(NODES),
		.settings = true,
		.execute = rna_command_kube,
	},
	{
		.name = "check-config",
		.operand = "[FILE]",
		.config_operand = true,
		.summary = "Read the configuration as run does, or profiles, and report errors.",
		.help = "Without FILE: the file of --config, or the default one. A file with "
			"profiles is checked as\nsuch. Entries of expect that match no port of "
			"this node are shown. With --root the command\ncompares the recorded node "
			"with them and with the profile that fits it.",
		.exits = check_config_exits,
		.execute = rna_command_check_config,
	},
	{
		.name = "doctor",
		.summary =
			"Try what the agent takes of this node, and show what is lost without it.",
		.help = "Each row is tried as the agent does it, by the rights of this command: "
			"device files are\nopened and closed, netlink, lldpd and the log of the "
			"kernel are asked, memory is locked for a\nmoment. Of directories and "
			"credentials it is asked whether they could be used. No device is sent\na "
			"command, and nothing is written. What no setting asks for is unused; what "
			"is unknown could\nnot be tried. The rights of the agent are those of its "
			"user, unit and container, so start the\ncommand with them. With --root "
			"of a recording only its files are looked at.",
		.options = RNA_OPTION_BIT(JSON),
		.exits = doctor_exits,
		.settings = true,
		.execute = rna_command_doctor,
	},
	{
		.name = "selftest",
		.summary = "Measure how fast ports move data, from memory to memory of this node.",
		.help = "Each port is connected to itself and writes data by RDMA. This tests HCA, "
			"PCIe and memory,\nbut not cable and fabric. Ports that are in use are not "
			"tested.",
		.exits = selftest_exits,
		.options = RNA_OPTION_BIT(DEVICE) | RNA_OPTION_BIT(GPU) | RNA_OPTION_BIT(NUMA) |
			   RNA_OPTION_BIT(SIZE) | RNA_OPTION_BIT(QPS) | RNA_OPTION_BIT(DURATION) |
			   RNA_OPTION_BIT(FORCE) | RNA_OPTION_BIT(JSON),
		.settings = true,
		.no_root = "the self-test only works with devices of this node",
		.failure = 3,
		.execute = rna_command_selftest,
	},
	{
		.name = "probe",
		.operand = "[ACTION]",
		.operands = rna_probe_actions,
		.words = "[NODE[:DEVICE]]",
		.summary = "Show what probes between this node and others say, or measure the "
			   "bandwidth.",
		.help = "The command asks the running agent, as events does; with --url it asks "
			"the agent of another\nnode. The worst ports and paths come first. SENT, "
			"LOST and round trips are those of the last\nten minutes; LARGE has the "
			"probes as large as the MTU: lost/sent; DSCP: sent/arrived. --wide\nshows "
			"further columns and all paths between ports of this node. Findings, with "
			"remedies, are\nthose of check.\n\n"
			"bandwidth NODE measures the bandwidth to a node that this one probes. "
			"Each port of this node\nwrites to the port of NODE on the same rail, "
			"then the other way, while both are idle. DEVICE,\nor DEVICE/PORT, is a "
			"port of NODE; without it all ports are measured, one after the other.\n"
			"probe.bandwidth must be true on both nodes. Results are compared with "
			"the slower of the two\nports.",
		.options = RNA_OPTION_BIT(JSON) | RNA_OPTION_BIT(WIDE) | RNA_OPTIONS_URL,
		.exits = probe_exits,
		.settings = true,
		.no_root = "a recorded node sends no probes",
		.failure = 3,
		.execute = rna_command_probe,
	},
	{
		.name = "mesh",
		.summary = "Show which part of the fabric loses the probes of nodes, as Prometheus "
			   "has them.",
		.help = "The command asks the Prometheus that scrapes the agents, which need "
			"probe.enabled. It names\nhosts, ports (NIC, cable or port of the leaf), "
			"leaves, uplinks, spines and paths with the\nevidence, the worst first, "
			"and "
			"at the end says how many nodes take part. Each job and each\nprobe.group "
			"is judged by itself.",
		.exits = mesh_exits,
		.options = RNA_OPTION_BIT(PROMETHEUS) | RNA_OPTION_BIT(JOB) |
			   RNA_OPTION_BIT(GROUP) | RNA_OPTION_BIT(JSON) | RNA_OPTIONS_LOGIN,
		.required = RNA_OPTION_BIT(PROMETHEUS),
		.no_root = "mesh is about all nodes, and reads none of this one",
		.failure = 3,
		.execute = rna_command_mesh,
	},
	{
		.name = "quiesce",
		.summary = "Make the running agent release the RDMA stack, so that drivers can be "
			   "changed.",
		.help = "The command waits until the agent has closed everything. Until resume, or "
			"until\nquiesce.timeout is over, the agent does not use verbs, MADs and "
			"RDMA netlink and does not\ntest ports; it still reads files of /sys. "
			"SIGUSR1 does the same, and SIGUSR2 resumes.",
		.options = RNA_OPTION_BIT(TIMEOUT),
		.settings = true,
		.execute = rna_command_quiesce,
	},
	{
		.name = "resume",
		.summary = "Make the running agent use the RDMA stack again, after quiesce.",
		.settings = true,
		.execute = rna_command_resume,
	},
	{
		.name = "record",
		.operand = "DIR",
		.summary = "Copy what the agent reads on this node to a directory, for use with "
			   "--root.",
		.help = "The command runs each collector once. DIR must be empty or not exist,\n"
			"and not be a symbolic link. GUIDs, MAC and IP addresses, serial numbers "
			"and node\ndescriptions are replaced, each by the same substitute wherever "
			"it appears.\nDIR/recorded/unreadable lists what could not be read.",
		.options = RNA_OPTION_BIT(KEEP_IDENTITY),
		.settings = true, /* which messages of the kernel a site looks for */
		.execute = rna_command_record,
	},
	{
		.name = "version",
		.summary = "Show the version.",
		.execute = rna_command_version,
	},
	{
		.name = "help",
		.operand = "[COMMAND]",
		.summary = "Show help for a command, or a list of all commands.",
	},
	{
		.name = "chown-state",
		.operand = "UID",
		.aside = true,
		.summary = "Assign the state directory and its files to a user and its group.",
		.help = "For the chart's init container: UID is the number of the user and of its "
			"group. The command\nneeds no right but CAP_CHOWN.",
		.settings = true,
		.execute = rna_command_chown_state,
	},
	{
		.name = "describe",
		.operand = "TOPIC",
		.operands = rna_describe_topics,
		.aside = true,
		.summary = "Write a table of the program as Markdown, or all of them as JSON.",
		.help = "catalog is the message catalog of the journal. The man pages are made "
			"from json.",
		.execute = rna_command_describe,
	},
};

const size_t rna_command_count = RNA_ARRAY_SIZE(rna_commands);

const struct rna_command *rna_command_find(const char *name)
{
	return RNA_FIND(i, rna_commands, rna_command_count,
			strcmp(rna_commands[i].name, name) == 0);
}

const struct rna_exit_meaning rna_exit_meanings[] = {
	{RNA_EXIT_SUCCESS, "success"},
	{RNA_EXIT_FAILURE, "failure"},
	{RNA_EXIT_USAGE, "invalid command line or configuration"},
	{0},
};
