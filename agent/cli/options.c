// SPDX-License-Identifier: Apache-2.0
/*
 * The command line, by getopt_long(). Two things are our own: an abbreviated option is an error, so
 * that a script that works today works with the next option too, and an unknown word gets a hint.
 */
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <string.h>

#include "rna/base/duration.h"
#include "rna/base/parse.h"
#include "rna/base/words.h"
#include "rna/model/env.h"

#include "commands.h"

/* -- Forms of values --------------------------------------------------------------------------- */

static bool is_count(const char *value)
{
	uint64_t count;

	return rna_parse_u64(value, &count) == 0 && count > 0;
}

static bool is_process(const char *value)
{
	uint64_t process;

	return rna_parse_u64(value, &process) == 0 && process > 0 && process <= INT32_MAX;
}

static bool is_duration(const char *value)
{
	rna_usec duration;

	return rna_duration_parse(value, &duration) == 0;
}

/* A password in it would be in the list of processes; a query would end up behind the path. */
static bool is_url(const char *value)
{
	size_t scheme = strncmp(value, "https://", 8) == 0  ? 8
			: strncmp(value, "http://", 7) == 0 ? 7
							    : 0;

	return scheme > 0 && value[scheme] != '\0' && value[scheme] != '/' &&
	       !strpbrk(value, "@?# \t\r\n");
}

static bool is_user(const char *value)
{
	return !strchr(value, ':'); /* it ends the name: RFC 7617 */
}

/* -- The table --------------------------------------------------------------------------------- */

/* Options that make a command ask the agents of other nodes. */
#define OF_OTHERS (RNA_OPTION_BIT(URL) | RNA_OPTION_BIT(NODES))

const struct rna_option rna_options[RNA_OPTION_COUNT] = {
	[RNA_OPTION_ROOT] = {"root", "DIR", .help = "read hardware below this directory, not /"},
	[RNA_OPTION_CONFIG] = {"config", "FILE",
			       .help = "configuration; default " RNA_CONFIG_DEFAULT
				       ", if it exists"},
	[RNA_OPTION_WEB_LISTEN_ADDRESS] = {"web.listen-address", "ADDRESS",
					   .help = "serve HTTP on this address, such as :9100 or "
						   "[::1]:9100, instead of http.listen; may be "
						   "repeated",
					   .setting = "http.listen"},
	[RNA_OPTION_WEB_CONFIG_FILE] = {"web.config.file", "FILE",
					.help = "web configuration (TLS, logins), instead of "
						"http.web_config_file",
					.setting = "http.web_config_file"},
	[RNA_OPTION_LOG_LEVEL] = {"log.level", "LEVEL",
				  (const char *const[]){"error", "warn", "warning", "notice",
							"info", "debug", NULL},
				  .help = "minimum severity of log messages, instead of log.level",
				  .setting = "log.level"},
	[RNA_OPTION_FORMAT] = {"format", "FORMAT", .help = "output format"},
	[RNA_OPTION_JSON] = {"json", .help = "write JSON instead of a table"},
	[RNA_OPTION_OUTPUT] = {"output", "FILE",
			       .help = "write to this file, which is replaced atomically, instead "
				       "of standard output"},
	[RNA_OPTION_COLOR] = {"color", "WHEN",
			      (const char *const[]){"auto", "always", "never", NULL}, "auto",
			      "use colours; auto: on a terminal, unless NO_COLOR is set"},
	[RNA_OPTION_GIDS] = {"gids", .help = "show GID tables instead of ports, as show_gids does"},
	[RNA_OPTION_WIDE] = {"wide", .help = "show all columns, and cut nothing"},
	[RNA_OPTION_PODS] = {"pods", .help = "show the devices of pods instead of ports",
			     .excludes = RNA_OPTION_BIT(GIDS) | RNA_OPTION_BIT(JSON) |
					 RNA_OPTION_BIT(PID)},
	[RNA_OPTION_SHORT] = {"short",
			      .help = "show a line for each port, in the form of ibdev2netdev",
			      .excludes = RNA_OPTION_BIT(GIDS) | RNA_OPTION_BIT(WIDE) |
					  RNA_OPTION_BIT(JSON) | RNA_OPTION_BIT(PODS)},
	[RNA_OPTION_HWLOC_XML] = {"hwloc-xml", "FILE",
				  .help = "use the PCI tree of this file, written by lstopo; "
					  "without --root nothing else is read"},
	[RNA_OPTION_ONCE] = {"once", .help = "poll once instead of asking the running agent"},
	[RNA_OPTION_URL] = {"url", "URL",
			    .help = "ask the agent of another node, for example "
				    "https://node:10879",
			    .is_valid = is_url,
			    .form = "an http:// or https:// URL without user, password and query",
			    .excludes = RNA_OPTION_BIT(ROOT) | RNA_OPTION_BIT(ONCE) |
					RNA_OPTION_BIT(LAST) | RNA_OPTION_BIT(SINCE)},
	[RNA_OPTION_PROMETHEUS] = {"prometheus", "URL",
				   .help = "the Prometheus that scrapes the agents, for example "
					   "http://prometheus:9090",
				   .is_valid = is_url,
				   .form = "an http:// or https:// URL without user, password and "
					   "query"},
	[RNA_OPTION_JOB] = {"job", "JOB", .help = "only agents with this label job"},
	[RNA_OPTION_GROUP] = {"group", "GROUP", .help = "only ports of this probe.group"},
	[RNA_OPTION_CA_FILE] = {"ca-file", "FILE",
				.help = "trust the authorities in this PEM file, instead of the "
					"system's",
				.needs_one = OF_OTHERS},
	[RNA_OPTION_CERT_FILE] = {"cert-file", "FILE", .help = "client certificate, PEM",
				  .needs = RNA_OPTION_BIT(KEY_FILE), .needs_one = OF_OTHERS},
	[RNA_OPTION_KEY_FILE] = {"key-file", "FILE", .help = "key of the client certificate, PEM",
				 .needs = RNA_OPTION_BIT(CERT_FILE), .needs_one = OF_OTHERS},
	[RNA_OPTION_TOKEN_FILE] = {"token-file", "FILE",
				   .help = "send the bearer token in this file",
				   .needs_one = OF_OTHERS, .excludes = RNA_OPTION_BIT(USER)},
	[RNA_OPTION_USER] = {"user", "NAME", .help = "log in as this user, by basic authentication",
			     .is_valid = is_user,
			     .form = "a name without a colon; the password belongs into a file",
			     .needs = RNA_OPTION_BIT(PASSWORD_FILE), .needs_one = OF_OTHERS},
	[RNA_OPTION_PASSWORD_FILE] = {"password-file", "FILE",
				      .help = "the user's password is in this file",
				      .needs = RNA_OPTION_BIT(USER), .needs_one = OF_OTHERS},
	[RNA_OPTION_DEADLINE] = {"deadline", "TIME",
				 .help = "the state is unknown after this time; default 900ms for "
					 "slurm, nhc and npd, none otherwise"},
	[RNA_OPTION_DRY_RUN] = {"dry-run", .help = "show what would be done, and do nothing"},
	[RNA_OPTION_NODES] = {"nodes", "NODES",
			      .help = "check: ask the agents of these nodes: the path of a file, "
				      "dns:NAME, or kubernetes; kube cleanup: all Nodes with these "
				      "labels, for example pool=gpu, instead of this one; all: "
				      "every Node",
			      .excludes = RNA_OPTION_BIT(URL) | RNA_OPTION_BIT(ONCE)},
	[RNA_OPTION_KEEP_IDENTITY] = {"keep-identity",
				      .help = "do not replace GUIDs, addresses and descriptions"},
	[RNA_OPTION_FOR] = {"for", "LIBRARY", rna_env_names, .help = "the library"},
	[RNA_OPTION_DEVICE] = {"device", "DEVICE",
			       .help = "test this device only; DEVICE/PORT: this port only"},
	[RNA_OPTION_GPU] = {"gpu", "GPU",
			    .help = "env: for this GPU, by number or PCI address; selftest: use "
				    "memory of the GPU at this PCI address"},
	[RNA_OPTION_PID] = {"pid", "PID",
			    .help = "look at what this process sees: its network namespace, files "
				    "and limits",
			    .is_valid = is_process, .form = "the number of a process"},
	[RNA_OPTION_POD] = {"pod", "POD",
			    .help = "the same of a process of this pod, POD or NAMESPACE/POD, one "
				    "that has an RDMA device open if there is one",
			    .excludes = RNA_OPTION_BIT(PID)},
	[RNA_OPTION_CHECK] = {"check",
			      .help = "compare the environment and the open devices of a process "
				      "with what this node would give",
			      .needs_one = RNA_OPTION_BIT(PID) | RNA_OPTION_BIT(POD),
			      .excludes = RNA_OPTION_BIT(FORMAT)},
	[RNA_OPTION_HOST_NETWORK] = {"host-network",
				     .help = "yaml: for a container in the network of the host"},
	[RNA_OPTION_NUMA] = {"numa", "NODE", .help = "use memory and CPUs of this NUMA node"},
	[RNA_OPTION_SIZE] = {"size", "BYTES", .help = "size of one write"},
	[RNA_OPTION_QPS] = {"qps", "COUNT", .help = "number of parallel connections"},
	[RNA_OPTION_DURATION] = {"duration", "TIME",
				 .help = "write for this long, instead of a number of bytes"},
	[RNA_OPTION_FORCE] = {"force", .help = "test ports that are in use, too"},
	[RNA_OPTION_TIMEOUT] = {"timeout", "TIME", .help = "resume automatically after this time",
				.is_valid = is_duration, .form = "a duration such as 30m"},
	[RNA_OPTION_LAST] = {"last", "COUNT", .help = "read so many from the state directory",
			     .is_valid = is_count, .form = "a number from 1 on"},
	[RNA_OPTION_SINCE] = {"since", "TIME",
			      .help = "read those of this time, for example 2h, from the state "
				      "directory",
			      .is_valid = is_duration, .form = "a time such as 30m or 2d"},
	[RNA_OPTION_HELP] = {"help", .help = "show help; also -h"},
	[RNA_OPTION_VERSION] = {"version", .help = "show the version"},
};

const char *const *rna_option_choices(enum rna_option_id id, const struct rna_command *command)
{
	return id == RNA_OPTION_FORMAT && command ? command->formats : rna_options[id].choices;
}

/* NULL: there is none. */
static const char *default_of(enum rna_option_id id, const struct rna_command *command)
{
	const char *const *choices = rna_option_choices(id, command);
	const char *standard = rna_options[id].standard;

	return standard || !choices || rna_options[id].setting ? standard : choices[0];
}

static uint64_t options_of(const struct rna_command *command)
{
	return RNA_OPTIONS_COMMON | (command ? command->options : 0);
}

/* Texts begin at RNA_HELP_COLUMN, those of long names on the next line. */
static void write_explanation(size_t start, const char *text, struct rna_strbuf *out)
{
	size_t used = out->len - start;

	if (used >= RNA_HELP_COLUMN) {
		rna_strbuf_puts(out, "\n");
		used = 0;
	}
	rna_strbuf_printf(out, "%*s%s", (int)(RNA_HELP_COLUMN - used), "", text);
}

static void describe_option(enum rna_option_id id, const struct rna_command *command,
			    struct rna_strbuf *out)
{
	const struct rna_option *option = &rna_options[id];
	const char *const *choices = rna_option_choices(id, command);
	const char *standard = default_of(id, command);
	size_t start = out->len;

	rna_strbuf_printf(out, "  --%s%s%s", option->name, option->value ? " " : "",
			  option->value ? option->value : "");
	write_explanation(start, option->help, out);
	if (choices) {
		rna_strbuf_puts(out, ": ");
		rna_words_write(choices, out);
	}
	if (choices && standard)
		rna_strbuf_printf(out, "; default %s", standard);
	rna_strbuf_puts(out, "\n");
}

void rna_options_describe(const struct rna_command *command, struct rna_strbuf *out)
{
	uint64_t mask = options_of(command);

	for (enum rna_option_id i = 0; i < RNA_OPTION_COUNT; i++)
		if (rna_option_is_in(mask, i))
			describe_option(i, command, out);
}

/* -- One option -------------------------------------------------------------------------------- */

/* What getopt_long() returns for an operand, as "-" in its letters wants, and for options. */
enum { FOUND_WORD = 1, FOUND_HELP = 'h', FOUND_OPTION = 256 };

static void list_options(struct option ret[RNA_OPTION_COUNT + 1])
{
	for (size_t i = 0; i < RNA_OPTION_COUNT; i++)
		ret[i] = (struct option){
			.name = rna_options[i].name,
			.has_arg = rna_options[i].value ? required_argument : no_argument,
			.val = FOUND_OPTION + (int)i,
		};
	ret[RNA_OPTION_COUNT] = (struct option){0};
}

static int fail_unknown(const char *word, struct rna_error *error)
{
	const char *name = word + strspn(word, "-");
	struct rna_hint hint = RNA_HINT_LEN(name, strcspn(name, "="));

	for (size_t i = 0; i < RNA_OPTION_COUNT; i++)
		rna_hint_offer(&hint, rna_options[i].name, strlen(rna_options[i].name));
	if (!hint.best)
		return rna_error_say(error, -EINVAL, "unknown option %.*s; see --help",
				     RNA_SHOWN(word));
	return rna_error_say(error, -EINVAL, "unknown option %.*s; did you mean --%s?",
			     RNA_SHOWN(word), hint.best);
}

/* dashes and name: the option or command that has word as its argument. */
static int check_choice(const char *dashes, const char *name, const char *const *choices,
			const char *word, struct rna_error *error)
{
	RNA_STRBUF struct rna_strbuf allowed = RNA_STRBUF_INIT;

	if (rna_words_have(choices, word))
		return 0;
	rna_words_write(choices, &allowed);
	if (!rna_strbuf_ok(&allowed))
		return rna_error_set(error, -ENOMEM, "%s%s", dashes, name);
	return rna_error_say(error, -EINVAL, "%s%s: \"%.*s\" is not one of %s", dashes, name,
			     RNA_SHOWN(word), allowed.data);
}

/* value: NULL if the option has none on the command line. */
static int take_value(const struct rna_option *option, const char *value, const char **ret,
		      struct rna_error *error)
{
	if (option->value && (!value || *value == '\0'))
		return rna_error_say(error, -EINVAL, "--%s: missing argument %s", option->name,
				     option->value);
	*ret = value ? value : "";
	if (option->is_valid && !option->is_valid(value))
		return rna_error_say(error, -EINVAL, "--%s: \"%.*s\" is not %s", option->name,
				     RNA_SHOWN(value), option->form);
	return option->choices ? check_choice("--", option->name, option->choices, value, error)
			       : 0;
}

/* Prometheus exporters call a level warn that is called warning here. */
static int take_override(const struct rna_option *option, const char *value,
			 struct rna_override *overrides, struct rna_error *error)
{
	size_t count = 0;

	while (overrides[count].option)
		count++;
	if (count == RNA_OVERRIDES_MAX)
		return rna_error_say(error, -EINVAL, "--%s: given too often", option->name);
	overrides[count] = (struct rna_override){
		.option = option->name,
		.setting = option->setting,
		.value = option->choices && strcmp(value, "warn") == 0 ? "warning" : value,
	};
	return 0;
}

/* found: what getopt_long() returned for word; of an error, optopt may say which option it is. */
static int take_option(int found, const char *word, struct rna_arguments *arguments,
		       struct rna_error *error)
{
	int index = (found == '?' || found == ':' ? optopt : found) - FOUND_OPTION;
	size_t len = strcspn(word, "=");
	int status;

	if (found == FOUND_HELP)
		index = RNA_OPTION_HELP;
	else if (index < 0 || strlen(rna_options[index].name) + strlen("--") != len)
		return fail_unknown(word, error);
	if (found == '?')
		return rna_error_say(error, -EINVAL, "--%s: unexpected argument \"%.*s\"",
				     rna_options[index].name, RNA_SHOWN(word + len + 1));
	status = take_value(&rna_options[index], optarg, &arguments->options[index], error);
	if (status < 0 || !rna_options[index].setting)
		return status;
	return take_override(&rna_options[index], optarg, arguments->overrides, error);
}

/* -- Words ------------------------------------------------------------------------------------- */

static int take_command(const char *word, struct rna_arguments *arguments, struct rna_error *error)
{
	struct rna_hint hint = RNA_HINT(word);

	arguments->command = rna_command_find(word);
	if (arguments->command)
		return 0;
	for (size_t i = 0; i < rna_command_count; i++)
		rna_hint_offer(&hint, rna_commands[i].name, strlen(rna_commands[i].name));
	if (!hint.best)
		return rna_error_say(error, -EINVAL, "unknown command %.*s; see --help",
				     RNA_SHOWN(word));
	return rna_error_say(error, -EINVAL, "unknown command %.*s; did you mean %s?",
			     RNA_SHOWN(word), hint.best);
}

static int take_word(const char *word, struct rna_arguments *arguments, struct rna_error *error)
{
	if (!arguments->command)
		return take_command(word, arguments, error);
	if (arguments->operand && arguments->command->words &&
	    arguments->word_count < RNA_WORDS_MAX) {
		arguments->words[arguments->word_count++] = word;
		return 0;
	}
	if (arguments->operand || !arguments->command->operand)
		return rna_error_say(error, -EINVAL, "%s: unexpected argument \"%.*s\"",
				     arguments->command->name, RNA_SHOWN(word));
	arguments->operand = word;
	if (!arguments->command->operands)
		return 0;
	return check_choice("", arguments->command->name, arguments->command->operands, word,
			    error);
}

/* -- The whole --------------------------------------------------------------------------------- */

static int check_mask(const struct rna_arguments *arguments, struct rna_error *error)
{
	const struct rna_command *command = arguments->command;
	uint64_t mask = options_of(command);

	for (enum rna_option_id i = 0; i < RNA_OPTION_COUNT; i++)
		if (arguments->options[i] && !rna_option_is_in(mask, i))
			return rna_error_say(error, -EINVAL, "%s: unexpected option --%s",
					     command ? command->name : "rdma-node-agent",
					     rna_options[i].name);
	return 0;
}

static uint64_t options_given(const struct rna_arguments *arguments)
{
	uint64_t given = 0;

	for (enum rna_option_id i = 0; i < RNA_OPTION_COUNT; i++)
		if (arguments->options[i])
			given |= UINT64_C(1) << i;
	return given;
}

/* The first of options, which are some. */
static enum rna_option_id first_of(uint64_t options)
{
	return (enum rna_option_id)__builtin_ctzll(options);
}

static const char *first_name(uint64_t options)
{
	return rna_options[first_of(options)].name;
}

/* one_of: one of needed is enough. */
static int check_needed(const struct rna_arguments *arguments, enum rna_option_id id,
			uint64_t needed, bool one_of, struct rna_error *error)
{
	uint64_t given = options_given(arguments), rest;
	uint64_t missing = needed & ~given & options_of(arguments->command);

	if (!missing || (one_of && (needed & given)))
		return 0;
	rest = one_of ? missing & (missing - 1) : 0; /* without the first */
	return rna_error_say(error, -EINVAL, "--%s requires --%s%s%s", rna_options[id].name,
			     first_name(missing), rest ? " or --" : "",
			     rest ? first_name(rest) : "");
}

static int check_together(const struct rna_arguments *arguments, struct rna_error *error)
{
	uint64_t given = options_given(arguments);
	int status = 0;

	for (enum rna_option_id i = 0; status == 0 && i < RNA_OPTION_COUNT; i++) {
		const struct rna_option *option = &rna_options[i];

		if (!rna_option_is_in(given, i))
			continue;
		if (option->excludes & given)
			return rna_error_say(error, -EINVAL, "--%s excludes --%s", option->name,
					     first_name(option->excludes & given));
		status = check_needed(arguments, i, option->needs, false, error);
		if (status == 0)
			status = check_needed(arguments, i, option->needs_one, true, error);
	}
	return status;
}

/* The command, which may follow the option, decides which formats there are. */
static int check_format(struct rna_arguments *arguments, struct rna_error *error)
{
	const char **format = &arguments->options[RNA_OPTION_FORMAT];
	const char *json = rna_options[RNA_OPTION_JSON].name;
	int status = *format ? check_choice("--", rna_options[RNA_OPTION_FORMAT].name,
					    arguments->command->formats, *format, error)
			     : 0;

	if (status < 0 || !arguments->options[RNA_OPTION_JSON] || !arguments->command->formats)
		return status;
	if (*format && strcmp(*format, json) != 0)
		return rna_error_say(error, -EINVAL, "--json excludes --format=%s", *format);
	*format = json;
	return 0;
}

/* What the command needs, and what it does not take; its help is there without. */
static int check_command(const struct rna_arguments *arguments, struct rna_error *error)
{
	const struct rna_command *command = arguments->command;
	uint64_t missing;

	if (!command || arguments->options[RNA_OPTION_HELP])
		return 0;
	if (command->no_root && arguments->options[RNA_OPTION_ROOT])
		return rna_error_say(error, -EINVAL, "--root: %s", command->no_root);
	missing = command->required & ~options_given(arguments);
	if (!missing)
		return 0;
	return rna_error_say(error, -EINVAL, "%s: missing option --%s %s", command->name,
			     rna_options[first_of(missing)].name,
			     rna_options[first_of(missing)].value);
}

static int check_operand(const struct rna_arguments *arguments, struct rna_error *error)
{
	const struct rna_command *command = arguments->command;

	if (!command || !command->operand || arguments->options[RNA_OPTION_HELP])
		return 0;
	if (arguments->operand && command->config_operand && arguments->options[RNA_OPTION_CONFIG])
		return rna_error_say(error, -EINVAL,
				     "%s: the argument %s excludes the option --config",
				     command->name, command->operand);
	if (arguments->operand || command->operand[0] == '[')
		return 0;
	return rna_error_say(error, -EINVAL, "%s: missing argument %s; see %s --help",
			     command->name, command->operand, command->name);
}

static void fill_defaults(struct rna_arguments *arguments)
{
	for (enum rna_option_id i = 0; i < RNA_OPTION_COUNT; i++)
		if (!arguments->options[i])
			arguments->options[i] = default_of(i, arguments->command);
}

/* "help WORD" means "WORD --help", and "--version" means "version". */
static int resolve(struct rna_arguments *arguments, struct rna_error *error)
{
	if (arguments->options[RNA_OPTION_VERSION])
		arguments->command = rna_command_find("version");
	if (!arguments->command || strcmp(arguments->command->name, "help") != 0)
		return 0;
	arguments->options[RNA_OPTION_HELP] = "";
	arguments->command = NULL;
	return arguments->operand ? take_command(RNA_TAKE(arguments->operand), arguments, error)
				  : 0;
}

static int take_all(int argc, char *argv[], struct rna_arguments *arguments,
		    struct rna_error *error)
{
	struct option options[RNA_OPTION_COUNT + 1];
	int found, status = 0;

	list_options(options);
	opterr = 0;
	optind = 0; /* resets what it remembers: getopt(3), NOTES */
	do {
		int next = optind > 0 ? optind : 1;
		const char *word = next < argc ? argv[next] : "";

		found = getopt_long(argc, argv, "-:h", options, NULL);
		if (found == FOUND_WORD)
			status = take_word(optarg, arguments, error);
		else if (found >= 0)
			status = take_option(found, word, arguments, error);
	} while (status == 0 && found >= 0);
	while (status == 0 && optind < argc)
		status = take_word(argv[optind++], arguments, error);
	return status;
}

int rna_arguments_parse(int argc, char *argv[], struct rna_arguments *ret, struct rna_error *error)
{
	struct rna_arguments arguments = {0};
	int status = take_all(argc, argv, &arguments, error);

	if (status == 0)
		status = check_mask(&arguments, error);
	if (status == 0)
		status = check_together(&arguments, error);
	if (status == 0)
		status = check_format(&arguments, error);
	if (status == 0)
		status = check_command(&arguments, error);
	if (status == 0)
		status = resolve(&arguments, error);
	if (status == 0)
		status = check_operand(&arguments, error);
	if (status < 0) {
		ret->command = arguments.command;
		ret->options[RNA_OPTION_FORMAT] = arguments.options[RNA_OPTION_FORMAT];
		return status;
	}
	fill_defaults(&arguments);
	*ret = arguments;
	return 0;
}
