// SPDX-License-Identifier: Apache-2.0
/*
 * The commands: one table. To add a command: a row here, and its function in a command_*.c. Help
 * texts and the table in agent/README.md follow from the row.
 */
#include "commands.h"

#include <string.h>

const struct rna_command rna_commands[] = {
	{
		.name = "run",
		.summary = "Polls the devices and serves HTTP until SIGTERM or SIGINT.",
		.help = "SIGHUP reads the configuration again; when it is wrong, the old settings "
			"stay.",
		.settings = true,
		.execute = rna_command_run,
	},
	{
		.name = "collect",
		.summary = "Polls once and writes the metrics.",
		.options = RNA_OPTION_BIT(FORMAT),
		.formats = (const char *const[]){"prometheus", "openmetrics", "json", NULL},
		.settings = true,
		.execute = rna_command_collect,
	},
	{
		.name = "status",
		.summary = "Polls once and shows ports and their links, or GIDs, as a table.",
		.help = "JSON has all that is known, GIDs included, with or without --gids.",
		.options = RNA_OPTION_BIT(JSON) | RNA_OPTION_BIT(COLOR) | RNA_OPTION_BIT(GIDS),
		.settings = true,
		.execute = rna_command_status,
	},
	{
		.name = "nccl",
		.summary = "Polls once and writes the environment that NCCL needs on this node.",
		.help = "Each variable has its reason; where NCCL finds out by itself there is "
			"none. "
			"Warnings say\nwhat does not fit, also of the NCCL_IB_ variables that "
			"choose a GID and are set where it\nis called. shell is for eval, env for "
			"docker --env-file, yaml is the env of a container.\nThe exit code is 1 "
			"when "
			"no port can be used.",
		.options = RNA_OPTION_BIT(FORMAT),
		.formats = rna_nccl_forms,
		.settings = true,
		.execute = rna_command_nccl,
	},
	{
		.name = "topology",
		.summary = "Polls once and shows which GPU and which NIC are near each other.",
		.help = "The matrix of nvidia-smi topo -m, of any vendor's GPUs, and the PCI "
			"tree that it follows\nfrom; links below what both of their ends can do "
			"are marked. --json is --format=json; dot is\nfor Graphviz; svg is the "
			"drawing of the status page.",
		.options = RNA_OPTION_BIT(FORMAT) | RNA_OPTION_BIT(JSON) | RNA_OPTION_BIT(COLOR) |
			   RNA_OPTION_BIT(HWLOC_XML),
		.formats = (const char *const[]){"text", "json", "dot", "svg", NULL},
		.settings = true,
		.execute = rna_command_topology,
	},
	{
		.name = "events",
		.summary = "Asks the running agent which ports went up or down.",
		.help = "It is asked at the first address of http.listen, with "
			"http.web_config_file "
			"at the first\nunix socket in it.",
		.options = RNA_OPTION_BIT(JSON),
		.settings = true,
		.execute = rna_command_events,
	},
	{
		.name = "expect",
		.operand = "ACTION",
		.operands = rna_expect_actions,
		.words = "[DEVICE[/PORT]]...",
		.summary = "Shows which ports are meant to be up, or takes what is now for what is "
			   "meant.",
		.help = "accept polls once and writes down the state of the named devices and "
			"ports, "
			"by default of\nall: a port that is down is no longer expected up, until "
			"it "
			"is up again; a device that is\nmissing is no longer missed. A running "
			"agent "
			"notices. list shows what is expected, and why.",
		.settings = true,
		.execute = rna_command_expect,
	},
	{
		.name = "check",
		.summary = "Shows what is wrong with the node, with an exit code for monitoring.",
		.help = "It asks the running agent, at the first address of http.listen (with "
			"http.web_config_file,\nat the first unix socket in it); with --once or "
			"--root it looks by itself, once. The exit\ncode is 0 when all is well, 1 "
			"with a warning, 2 when something is critical, and 3 when\nit cannot tell. "
			"What is info or silenced is shown and does not count.",
		.options = RNA_OPTION_BIT(JSON) | RNA_OPTION_BIT(ONCE),
		.settings = true,
		.failure = 3,
		.execute = rna_command_check,
	},
	{
		.name = "kube",
		.operand = "ACTION",
		.operands = rna_kube_actions,
		.summary = "Shows what Kubernetes would be told of this node, tells it once, or "
			   "takes it all back.",
		.help = "show polls once and writes a Node with the labels, the conditions and the "
			"taint. apply\ntells the backends that kubernetes.backend names, at once: "
			"a "
			"running agent does so by itself,\nand with delays. cleanup removes all "
			"that the agent owns, from the Node and from\nkubernetes.nfd_directory; a "
			"running agent would write it again.",
		.options = RNA_OPTION_BIT(DRY_RUN),
		.settings = true,
		.execute = rna_command_kube,
	},
	{
		.name = "check-config",
		.operand = "[FILE]",
		.config_operand = true,
		.summary = "Reads the configuration as run would, and says what is wrong with it.",
		.help = "Without FILE it is the file that --config names, or the default one.",
		.execute = rna_command_check_config,
	},
	{
		.name = "selftest",
		.summary = "Tests how fast ports move data, from memory to memory of this node.",
		.help = "Each port is connected to itself, and data is written over it by RDMA: "
			"that tests "
			"HCA, PCIe\nand memory, not cable and fabric. A port that is in use is "
			"left alone. The exit "
			"code is 0\nwhen all is well, 1 with a warning, 2 when a test has failed, "
			"and 3 when nothing "
			"could be\ntested.",
		.options = RNA_OPTION_BIT(DEVICE) | RNA_OPTION_BIT(GPU) | RNA_OPTION_BIT(NUMA) |
			   RNA_OPTION_BIT(SIZE) | RNA_OPTION_BIT(QPS) | RNA_OPTION_BIT(DURATION) |
			   RNA_OPTION_BIT(FORCE) | RNA_OPTION_BIT(JSON),
		.settings = true,
		.failure = 3,
		.execute = rna_command_selftest,
	},
	{
		.name = "quiesce",
		.summary =
			"Makes the running agent let go of the RDMA stack, so that drivers can be "
			"changed.",
		.help = "It waits until nothing is open any more. Until resume, or "
			"quiesce.timeout, "
			"nothing of\nverbs, MADs and RDMA netlink is used and no port is tested; "
			"what files of /sys say is\nread on. SIGUSR1 does the same, and SIGUSR2 "
			"resumes.",
		.options = RNA_OPTION_BIT(TIMEOUT),
		.settings = true,
		.execute = rna_command_quiesce,
	},
	{
		.name = "resume",
		.summary = "Ends what quiesce began.",
		.settings = true,
		.execute = rna_command_resume,
	},
	{
		.name = "record",
		.operand = "DIR",
		.summary =
			"Copies what is read of this node into a directory, for --root elsewhere.",
		.help = "Runs each collector once. DIR must be empty or not exist. GUIDs, MAC and "
			"IP addresses,\nserial numbers and node descriptions are replaced, each by "
			"the same stand-in wherever it\nappears. What could not be read is listed "
			"in DIR/recorded/unreadable.",
		.options = RNA_OPTION_BIT(KEEP_IDENTITY),
		.execute = rna_command_record,
	},
	{
		.name = "describe",
		.operand = "TOPIC",
		.operands = rna_describe_topics,
		.summary = "Writes a table of the program as Markdown, or all as JSON.",
		.execute = rna_command_describe,
	},
	{
		.name = "version",
		.summary = "Shows the version.",
		.execute = rna_command_version,
	},
	{
		.name = "help",
		.operand = "[COMMAND]",
		.summary = "Shows help, of a command or of all.",
	},
};

const size_t rna_command_count = RNA_ARRAY_SIZE(rna_commands);

const struct rna_command *rna_command_find(const char *name)
{
	for (size_t i = 0; i < rna_command_count; i++)
		if (strcmp(rna_commands[i].name, name) == 0)
			return &rna_commands[i];
	return NULL;
}

const char *const rna_exit_meanings[RNA_EXIT_COUNT] = {
	[RNA_EXIT_SUCCESS] = "success",
	[RNA_EXIT_FAILURE] = "failure",
	[RNA_EXIT_USAGE] = "wrong usage or configuration",
};
