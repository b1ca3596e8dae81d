// SPDX-License-Identifier: Apache-2.0
/* agent/cli/options.c and agent/cli/commands.c: command lines, their mistakes, and exit codes. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <cmocka.h>

#include "rna/base/log.h"
#include "rna/base/words.h"

#include "cli/commands.h"

#include "tree.h"

enum { ARGV_MAX = 80, WORDS_MAX = 256, LINE_SIZE = 2048 };

/* A command line as one text, words apart by one blank; "''" is an empty word. */
struct line {
	char words[LINE_SIZE];
	char *argv[ARGV_MAX];
	int argc;
};

static void split(struct line *line, const char *text)
{
	char *rest = line->words, *word;

	assert_true(strlen(text) < sizeof(line->words));
	(void)strcpy(line->words, text);
	line->argv[0] = line->words + strlen(text);
	line->argc = 1;
	while ((word = strsep(&rest, " ")) && *word) {
		assert_true(line->argc < ARGV_MAX);
		line->argv[line->argc++] = strcmp(word, "''") == 0 ? word + 2 : word;
	}
}

static int parse(struct line *line, const char *text, struct rna_arguments *ret,
		 struct rna_error *error)
{
	split(line, text);
	return rna_arguments_parse(line->argc, line->argv, ret, error);
}

static void assert_text(const char *text, const char *expected)
{
	if (expected)
		assert_string_equal(text, expected);
	else
		assert_null(text);
}

static void test_command_lines(void **state)
{
	static const struct {
		const char *text, *command, *root, *config, *format, *operand;
	} cases[] = {
		{"", NULL, NULL, NULL},
		{"run", "run", NULL, NULL},
		{"--root /host run", "run", "/host", NULL},
		{"run --root=/host", "run", "/host", NULL},
		{"run --root a --root b", "run", "b", NULL},
		{"collect --config a=b --format openmetrics", "collect", NULL, "a=b",
		 "openmetrics"},
		{"collect --root --format", "collect", "--format", NULL, "prometheus"},
		{"describe settings", "describe", NULL, NULL, NULL, "settings"},
		{"check-config", "check-config", NULL, NULL},
		{"check-config a.yaml", "check-config", NULL, NULL, NULL, "a.yaml"},
		{"help describe", "describe", NULL, NULL},
		{"--format json collect", "collect", NULL, NULL, "json"},
		{"help", NULL, NULL, NULL},
		{"--version", "version", NULL, NULL},
		{"record -- --odd", "record", NULL, NULL, NULL, "--odd"},
		{"--root a -- run", "run", "a", NULL},
	};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(cases); i++) {
		struct rna_arguments arguments;
		struct rna_error error = {0};
		struct line line;

		assert_int_equal(parse(&line, cases[i].text, &arguments, &error), 0);
		assert_text(arguments.command ? arguments.command->name : NULL, cases[i].command);
		assert_text(arguments.options[RNA_OPTION_ROOT], cases[i].root);
		assert_text(arguments.options[RNA_OPTION_CONFIG], cases[i].config);
		assert_text(arguments.options[RNA_OPTION_FORMAT], cases[i].format);
		assert_text(arguments.operand, cases[i].operand);
	}
}

static void test_words_behind_the_operand(void **state)
{
	struct rna_arguments arguments;
	struct line line;

	(void)state;
	assert_int_equal(parse(&line, "expect accept mlx5_0 --root / mlx5_1/1", &arguments, NULL),
			 0);
	assert_string_equal(arguments.operand, "accept");
	assert_int_equal(arguments.word_count, 2);
	assert_string_equal(arguments.words[0], "mlx5_0");
	assert_string_equal(arguments.words[1], "mlx5_1/1");
}

static void test_help_is_asked_for_in_three_ways(void **state)
{
	static const char *const texts[] = {"collect --help", "-h collect", "help collect"};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(texts); i++) {
		struct rna_arguments arguments;
		struct line line;

		assert_int_equal(parse(&line, texts[i], &arguments, NULL), 0);
		assert_string_equal(arguments.command->name, "collect");
		assert_non_null(arguments.options[RNA_OPTION_HELP]);
	}
}

static void test_each_wrong_usage_is_named(void **state)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		{"colect", "unknown command colect; did you mean collect?"},
		{"frobnicate", "unknown command frobnicate; see --help"},
		{"help statsu", "unknown command statsu; did you mean status?"},
		{"check --jsno", "unknown option --jsno; did you mean --json?"},
		{"status --jsno", "unknown option --jsno; did you mean --json?"},
		{"status --colour=never", "unknown option --colour=never; did you mean --color?"},
		{"run --frobnicate", "unknown option --frobnicate; see --help"},
		{"env --for=mpi",
		 "--for: \"mpi\" is not one of nccl, rccl, ucx, nvshmem, nixl, openmpi, mooncake"},
		{"env --gpu", "--gpu: missing argument GPU"},
		{"nccl --gpu=0", "nccl: unexpected option --gpu"},
		{"check --format=slrum",
		 "--format: \"slrum\" is not one of nagios, slurm, nhc, npd, json"},
		{"status --deadline 1s", "status: unexpected option --deadline"},
		{"run -x", "unknown option -x; see --help"},
		{"run -hx", "unknown option -hx; see --help"},
		{"run -", "run: unexpected argument \"-\""},
		{"run -- --root", "run: unexpected argument \"--root\""},
		{"-- --help", "unknown command --help; did you mean help?"},
		{"run ---root /", "unknown option ---root; did you mean --root?"},
		{"run --roo /", "unknown option --roo; did you mean --root?"},
		{"run --roo", "unknown option --roo; did you mean --root?"},
		{"status --jso=yes", "unknown option --jso=yes; did you mean --json?"},
		{"check --o", "unknown option --o; see --help"},
		{"run --=/", "unknown option --=/; see --help"},
		{"run --json", "run: unexpected option --json"},
		{"--json run", "run: unexpected option --json"},
		{"--json", "rdma-node-agent: unexpected option --json"},
		{"run --root", "--root: missing argument DIR"},
		{"run --root=", "--root: missing argument DIR"},
		{"run --config ''", "--config: missing argument FILE"},
		{"status --json=yes", "--json: unexpected argument \"yes\""},
		{"collect --format=xml",
		 "--format: \"xml\" is not one of prometheus, openmetrics, json"},
		{"topology --format=png", "--format: \"png\" is not one of text, json, dot, svg"},
		{"status --format=json", "status: unexpected option --format"},
		{"status --color on", "--color: \"on\" is not one of auto, always, never"},
		{"run now", "run: unexpected argument \"now\""},
		{"describe settings now", "describe: unexpected argument \"now\""},
		{"describe", "describe: missing argument TOPIC; see describe --help"},
		{"check-config a b", "check-config: unexpected argument \"b\""},
		{"check-config a --config b",
		 "check-config: the argument [FILE] excludes the option --config"},
		{"expect", "expect: missing argument ACTION; see expect --help"},
		{"expect now", "expect: \"now\" is not one of accept, list, profile"},
		{"events now", "events: unexpected argument \"now\""},
		{"events --last 0", "--last: \"0\" is not a number from 1 on"},
		{"events --since soon", "--since: \"soon\" is not a time such as 30m or 2d"},
		{"quiesce --timeout soon", "--timeout: \"soon\" is not a duration such as 30m"},
		{"run --log.level loud",
		 "--log.level: \"loud\" is not one of error, warn, warning, notice, info, debug"},
		{"run --web.listen-address=", "--web.listen-address: missing argument ADDRESS"},
		{"check --log.level debug", "check: unexpected option --log.level"},
		{"check --url node:10879",
		 "--url: \"node:10879\" is not an http:// or https:// URL "
		 "without user, password and query"},
		{"check --url https://a:b@node",
		 "--url: \"https://a:b@node\" is not an http:// or https:// URL without user, "
		 "password and query"},
		{"check --url https:///x",
		 "--url: \"https:///x\" is not an http:// or https:// URL "
		 "without user, password and query"},
		{"check --once --url http://node", "--url excludes --once"},
		{"events --url http://node --last 3", "--url excludes --last"},
		{"check --ca-file ca.pem", "--ca-file requires --url or --nodes"},
		{"events --ca-file ca.pem", "--ca-file requires --url"},
		{"check --nodes a.json --url http://node", "--nodes excludes --url"},
		{"check --once --nodes a.json", "--nodes excludes --once"},
		{"check --nodes=", "--nodes: missing argument NODES"},
		{"events --nodes a.json", "events: unexpected option --nodes"},
		{"check --nodes a.json --user me", "--user requires --password-file"},
		{"check --url http://node --cert-file a", "--cert-file requires --key-file"},
		{"check --url http://node --user me", "--user requires --password-file"},
		{"check --url http://node --user me --password-file p --token-file t",
		 "--token-file excludes --user"},
		{"check --url http://node --user a:b --password-file p",
		 "--user: \"a:b\" is not a name without a colon; the password belongs into a file"},
		{"record", "record: missing argument DIR; see record --help"},
		{"describe seting",
		 "describe: \"seting\" is not one of settings, metrics, "
		 "collectors, commands, rules, remedies, thresholds, meanings, consequences, "
		 "labels, conditions, profiles, shipped, patterns, platform, needs, env, catalog, "
		 "json"},
	};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(cases); i++) {
		struct rna_arguments arguments = {.operand = "untouched"};
		struct rna_error error = {0};
		struct line line;

		assert_int_equal(parse(&line, cases[i].text, &arguments, &error), -EINVAL);
		assert_string_equal(error.text, cases[i].message);
		assert_string_equal(arguments.operand, "untouched");
	}
}

static int override(const char *text, struct rna_settings *settings, struct rna_error *error)
{
	struct rna_arguments arguments;
	struct line line;

	assert_int_equal(parse(&line, text, &arguments, error), 0);
	return rna_config_override(arguments.overrides, settings, error);
}

static void test_options_take_the_place_of_settings(void **state)
{
	RNA_CLEANUP(rna_settings_deinit) struct rna_settings settings = {0};

	(void)state;
	assert_int_equal(rna_settings_init(&settings), 0);
	assert_int_equal(override("run", &settings, NULL), 0);
	assert_string_equal(settings.http_listen[0], ":10879");
	assert_int_equal(override("run --web.listen-address=:9100 --log.level=warn "
				  "--web.listen-address [::1]:9101 --web.config.file web.yml",
				  &settings, NULL),
			 0);
	assert_string_equal(settings.http_listen[0], ":9100");
	assert_string_equal(settings.http_listen[1], "[::1]:9101");
	assert_null(settings.http_listen[2]);
	assert_string_equal(settings.http_web_config_file, "web.yml");
	assert_int_equal(settings.log_level, LOG_WARNING);
}

static void test_values_of_settings_are_checked_as_in_the_file(void **state)
{
	RNA_CLEANUP(rna_settings_deinit) struct rna_settings settings = {0};
	struct rna_error error = {0};

	(void)state;
	assert_int_equal(rna_settings_init(&settings), 0);
	assert_int_equal(override("run --web.listen-address node:9100", &settings, &error),
			 -EINVAL);
	assert_non_null(strstr(error.text, "--web.listen-address: \"node:9100\" is not host:port"));
	assert_int_equal(override("run --web.listen-address :1 --web.listen-address :1", &settings,
				  &error),
			 -EINVAL);
	assert_non_null(strstr(error.text, "duplicate of"));
}

/* Each level that the option lists is one of the setting. */
static void test_levels(void **state)
{
	RNA_CLEANUP(rna_settings_deinit) struct rna_settings settings = {0};
	const char *const *levels = rna_options[RNA_OPTION_LOG_LEVEL].choices;
	char text[WORDS_MAX];

	(void)state;
	assert_int_equal(rna_settings_init(&settings), 0);
	for (; *levels; levels++) {
		(void)snprintf(text, sizeof(text), "run --log.level=%s", *levels);
		assert_int_equal(override(text, &settings, NULL), 0);
	}
	assert_int_equal(settings.log_level, LOG_DEBUG);
}

static void test_too_many_values(void **state)
{
	char text[LINE_SIZE] = "run";
	struct rna_arguments arguments;
	struct rna_error error = {0};
	struct line line;

	(void)state;
	for (size_t i = 0; i < RNA_OVERRIDES_MAX; i++)
		(void)strcat(text, " --log.level=info");
	assert_int_equal(parse(&line, text, &arguments, &error), 0);
	(void)strcat(text, " --log.level=info");
	assert_int_equal(parse(&line, text, &arguments, &error), -EINVAL);
	assert_string_equal(error.text, "--log.level: given too often");
}

static void test_hints(void **state)
{
	static const struct {
		const char *word, *known;
		bool near;
	} cases[] = {
		{"state", "state", true},
		{"sate", "state", true},
		{"satte", "state", true},
		{"sttae", "state", true},
		{"states", "state", true},
		{"stxte", "state", true},
		{"stxxe", "state", false},
		{"", "state", false},
		{"ab", "ac", false},
		{"rnu", "run", true},
		{"collection", "collect", true},
		{"listen", "silent", false},
	};

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(cases); i++) {
		struct rna_hint hint = RNA_HINT(cases[i].word);

		rna_hint_offer(&hint, cases[i].known, strlen(cases[i].known));
		assert_int_equal(hint.best != NULL, cases[i].near);
	}
}

static void test_the_nearest_word_is_the_hint_and_the_first_of_equals(void **state)
{
	struct rna_hint hint = RNA_HINT("linc");

	(void)state;
	rna_hint_offer(&hint, "pink", 4);
	rna_hint_offer(&hint, "line", 4);
	rna_hint_offer(&hint, "link", 4);
	assert_string_equal(hint.best, "line");
}

static void test_shown_words_end_at_control_characters_and_whole_characters(void **state)
{
	char text[100];

	(void)state;
	assert_int_equal(rna_shown_len("mlx5_0"), 6);
	assert_int_equal(rna_shown_len("two\nlines"), 3);
	assert_int_equal(rna_shown_len("\x1b[31m"), 0);
	memset(text, 'x', sizeof(text));
	memcpy(text + 59, "\xc3\xa4", 2); /* a-umlaut across the limit of 60 */
	text[sizeof(text) - 1] = '\0';
	assert_int_equal(rna_shown_len(text), 59);
	memcpy(text + 57, "\xe2\x82\xacx", 4); /* euro sign, up to the limit */
	assert_int_equal(rna_shown_len(text), 60);
}

/* Runs a command with stdout and stderr in files, and returns its exit code. */
static int run_with(const char *text, const char *output_path, const char *error_path)
{
	int out = dup(STDOUT_FILENO), err = dup(STDERR_FILENO), code;
	int file = open(output_path, O_WRONLY | O_CLOEXEC);
	int null = open(error_path, O_WRONLY | O_CLOEXEC);
	struct line line;

	split(&line, text);
	(void)fflush(stdout);
	assert_true(dup2(file, STDOUT_FILENO) >= 0 && dup2(null, STDERR_FILENO) >= 0);
	code = rna_commands_main(line.argc, line.argv);
	assert_true(dup2(out, STDOUT_FILENO) >= 0 && dup2(err, STDERR_FILENO) >= 0);
	(void)close(out);
	(void)close(err);
	(void)close(file);
	(void)close(null);
	return code;
}

static int run_to(const char *text, const char *output_path)
{
	return run_with(text, output_path, "/dev/null");
}

static void test_exit_codes(void **state)
{
	(void)state;
	assert_int_equal(run_to("version", "/dev/null"), RNA_EXIT_SUCCESS);
	assert_int_equal(run_to("help", "/dev/null"), RNA_EXIT_SUCCESS);
	assert_int_equal(run_to("describe settings", "/dev/null"), RNA_EXIT_SUCCESS);
	assert_int_equal(run_to("describe json", "/dev/null"), RNA_EXIT_SUCCESS);
	assert_int_equal(run_to("version", "/dev/full"), RNA_EXIT_FAILURE);
	assert_int_equal(run_to("describe json", "/dev/full"), RNA_EXIT_FAILURE);
	assert_int_equal(run_to("help", "/dev/full"), RNA_EXIT_FAILURE);
	assert_int_equal(run_to("", "/dev/null"), RNA_EXIT_USAGE);
	assert_int_equal(run_to("frobnicate", "/dev/null"), RNA_EXIT_USAGE);
	assert_int_equal(run_to("collect --config /missing", "/dev/null"), RNA_EXIT_USAGE);
	assert_int_equal(run_to("check-config /missing", "/dev/null"), RNA_EXIT_USAGE);
	assert_int_equal(run_to("check-config --config /missing", "/dev/null"), RNA_EXIT_USAGE);
}

static void read_back(const struct tree *tree, const char *name, char *ret, size_t size)
{
	char path[128];
	FILE *file;

	(void)snprintf(path, sizeof(path), "%s/%s", tree->path, name);
	file = fopen(path, "re");
	assert_non_null(file);
	ret[fread(ret, 1, size - 1, file)] = '\0';
	(void)fclose(file);
}

static const struct rna_exit_meaning *exits_of(const struct rna_command *command)
{
	return command->exits ? command->exits : rna_exit_meanings;
}

static bool has_exit(const struct rna_command *command, int code)
{
	for (const struct rna_exit_meaning *exit = exits_of(command); exit->meaning; exit++)
		if (exit->code == code)
			return true;
	return false;
}

/* stderr is a regular file, in which log lines have a time stamp. */
static void test_usage_errors_of_each_command(void **state)
{
	char text[WORDS_MAX], path[128], said[512];
	struct tree tree;

	(void)state;
	tree_init(&tree);
	(void)snprintf(path, sizeof(path), "%s/stderr", tree.path);
	for (size_t i = 0; i < rna_command_count; i++) {
		const struct rna_command *command = &rna_commands[i];
		int code = command->failure ? command->failure : RNA_EXIT_USAGE;

		tree_write(&tree, "stderr", "");
		(void)snprintf(text, sizeof(text), "%s --frobnicate", command->name);
		assert_int_equal(run_with(text, "/dev/null", path), code);
		read_back(&tree, "stderr", said, sizeof(said));
		assert_string_equal(said,
				    "rdma-node-agent: unknown option --frobnicate; see --help\n");
		assert_true(has_exit(command, code));
	}
	tree_deinit(&tree);
}

static void test_usage_errors_that_only_the_command_knows(void **state)
{
	static const struct {
		const char *text, *said;
		int code;
	} cases[] = {
		{"check --deadline 1ms",
		 "--deadline: 1ms is not a duration from 100ms to 1h, such as 900ms", 3},
		{"check --nodes a.json --root /", "--nodes excludes --root", 3},
		{"check --nodes a.json --format=nhc",
		 "--nodes excludes --format=nhc, which is about one node", 3},
		{"check --nodes dns:a:b:c",
		 "--nodes: \"dns:a:b:c\" is not dns:NAME, dns:NAME:PORT or "
		 "dns:_SERVICE._tcp.NAME",
		 3},
		{"check --nodes kubernetes",
		 "--nodes=kubernetes: probe.members_kubernetes names no Service", 3},
		{"check --json --format=nhc", "--json excludes --format=nhc", 3},
		{"mesh", "mesh: missing option --prometheus URL", 3},
		{"mesh --prometheus http://a --root /",
		 "--root: mesh is about all nodes, and reads none of this one", 3},
		{"selftest --duration 5",
		 "--duration: \"5\" is not a duration up to 1m, such as 500ms", 3},
		{"selftest --root /", "--root: the self-test only works with devices of this node",
		 3},
		{"probe bandwidth", "missing argument NODE[:DEVICE]", 3},
		{"probe bandwidth a b", "unexpected argument \"b\"", 3},
		{"probe bandwidth a --wide", "--wide: bandwidth does not take this option", 3},
		{"probe --root /", "--root: a recorded node sends no probes", 3},
		{"runbook RdmaPortDwn",
		 "runbook: unknown runbook RdmaPortDwn; did you mean "
		 "RdmaPortDown?",
		 2},
		{"status --short --gids", "--short excludes --gids", 2},
		{"topology --json --format=dot", "--json excludes --format=dot", 2},
		{"kube cleanup --nodes a;b",
		 "--nodes: \"a;b\" is not all, or labels such as pool=gpu,zone!=a", 2},
		{"kube show --nodes all", "kube show: --nodes is for cleanup only", 2},
	};
	char path[128], said[LINE_SIZE], expected[LINE_SIZE];
	struct tree tree;

	(void)state;
	tree_init(&tree);
	(void)snprintf(path, sizeof(path), "%s/stderr", tree.path);
	for (size_t i = 0; i < RNA_ARRAY_SIZE(cases); i++) {
		tree_write(&tree, "stderr", "");
		assert_int_equal(run_with(cases[i].text, "/dev/null", path), cases[i].code);
		read_back(&tree, "stderr", said, sizeof(said));
		(void)snprintf(expected, sizeof(expected), "rdma-node-agent: %s\n", cases[i].said);
		assert_string_equal(said, expected);
	}
	tree_deinit(&tree);
}

/* An exit code of 3 would make Slurm drain nodes because of a typing error. */
static void test_usage_errors_of_check_have_the_exit_code_of_the_format(void **state)
{
	(void)state;
	assert_int_equal(run_to("check --format=slurm --frobnicate", "/dev/null"), 0);
	assert_int_equal(run_to("check --format=npd --frobnicate", "/dev/null"), 2);
	assert_int_equal(run_to("check --format=nhc --frobnicate", "/dev/null"), 3);
	assert_int_equal(run_to("check --format=frob", "/dev/null"), 3);
}

static void test_help_names_all_exit_codes(void **state)
{
	char text[WORDS_MAX], path[128], line[256], help[16384];
	struct tree tree;

	(void)state;
	tree_init(&tree);
	(void)snprintf(path, sizeof(path), "%s/stdout", tree.path);
	for (size_t i = 0; i < rna_command_count; i++) {
		const struct rna_exit_meaning *exit = exits_of(&rna_commands[i]);

		tree_write(&tree, "stdout", "");
		(void)snprintf(text, sizeof(text), "%s --help", rna_commands[i].name);
		assert_int_equal(run_to(text, path), RNA_EXIT_SUCCESS);
		read_back(&tree, "stdout", help, sizeof(help));
		for (; exit->meaning; exit++) {
			(void)snprintf(line, sizeof(line), "\n  %d  %s\n", exit->code,
				       exit->meaning);
			assert_non_null(strstr(help, line));
		}
	}
	tree_deinit(&tree);
}

static void test_errors_of_the_configuration_are_plain(void **state)
{
	char text[WORDS_MAX], path[128], said[512];
	struct tree tree;

	(void)state;
	tree_init(&tree);
	tree_write(&tree, "a.yaml", "poll: {sate: 2s}\n");
	tree_write(&tree, "stderr", "");
	(void)snprintf(path, sizeof(path), "%s/stderr", tree.path);
	(void)snprintf(text, sizeof(text), "collect --config %s/a.yaml", tree.path);
	assert_int_equal(run_with(text, "/dev/null", path), RNA_EXIT_USAGE);
	read_back(&tree, "stderr", said, sizeof(said));
	assert_ptr_equal(strstr(said, "rdma-node-agent: /"), said);
	assert_non_null(strstr(said, "unknown key poll.sate; did you mean poll.state?"));
	tree_deinit(&tree);
}

static void assert_check_config(const struct tree *tree, const char *output_path, int code)
{
	char text[WORDS_MAX];

	(void)snprintf(text, sizeof(text), "check-config %s/a.yaml", tree->path);
	assert_int_equal(run_to(text, output_path), code);
	(void)snprintf(text, sizeof(text), "check-config --config %s/a.yaml", tree->path);
	assert_int_equal(run_to(text, output_path), code);
}

static void test_check_config_judges_as_run_does(void **state)
{
	struct tree tree;

	(void)state;
	tree_init(&tree);
	tree_write(&tree, "a.yaml", "poll: {state: 2s}\n");
	assert_check_config(&tree, "/dev/null", RNA_EXIT_SUCCESS);
	assert_check_config(&tree, "/dev/full", RNA_EXIT_FAILURE);
	tree_write(&tree, "a.yaml", "poll: {sate: 2s}\n");
	assert_check_config(&tree, "/dev/null", RNA_EXIT_USAGE);
	tree_deinit(&tree);
}

static void test_check_config_reads_the_secret_of_probes(void **state)
{
	char text[WORDS_MAX];
	struct tree tree;

	(void)state;
	tree_init(&tree);
	(void)snprintf(text, sizeof(text), "probe: {enabled: true, secret_file: %s/secret}\n",
		       tree.path);
	tree_write(&tree, "a.yaml", text);
	assert_check_config(&tree, "/dev/null", RNA_EXIT_USAGE);
	tree_write(&tree, "secret", "a secret that a person has typed, and not of random bytes\n");
	(void)snprintf(text, sizeof(text), "%s/secret", tree.path);
	assert_int_equal(chmod(text, 0600), 0);
	assert_check_config(&tree, "/dev/null", RNA_EXIT_USAGE);
	tree_write(&tree, "secret",
		   "3b1f0a9c5e7d2846b0c1d2e3f4a59687f00d15ab1e5eed0123456789abcdef42\n");
	assert_check_config(&tree, "/dev/null", RNA_EXIT_SUCCESS);
	tree_deinit(&tree);
}

/* What topology prints of the file that options name, in ret. */
static void read_topology(const struct tree *tree, const char *options, char *ret, size_t size)
{
	char text[WORDS_MAX], path[128];

	tree_write(tree, "output", "");
	(void)snprintf(path, sizeof(path), "%s/output", tree->path);
	(void)snprintf(text, sizeof(text), "topology --hwloc-xml %s/node.xml %s", tree->path,
		       options);
	assert_int_equal(run_to(text, path), RNA_EXIT_SUCCESS);
	read_back(tree, "output", ret, size);
}

/* Functions of this machine may have the addresses of the file. */
static void test_an_xml_without_a_root_is_a_closed_world(void **state)
{
	static const char xml[] =
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n<topology version=\"2.0\">"
		"<object type=\"Machine\" os_index=\"0\" cpuset=\"0x1\" complete_cpuset=\"0x1\" "
		"allowed_cpuset=\"0x1\" nodeset=\"0x1\" complete_nodeset=\"0x1\" "
		"allowed_nodeset=\"0x1\" gp_index=\"1\">"
		"<object type=\"NUMANode\" os_index=\"0\" cpuset=\"0x1\" complete_cpuset=\"0x1\" "
		"nodeset=\"0x1\" complete_nodeset=\"0x1\" gp_index=\"2\" local_memory=\"1024\"/>"
		"<object type=\"PU\" os_index=\"0\" cpuset=\"0x1\" complete_cpuset=\"0x1\" "
		"nodeset=\"0x1\" complete_nodeset=\"0x1\" gp_index=\"3\"/>"
		"<object type=\"Bridge\" gp_index=\"5\" bridge_type=\"0-1\" depth=\"0\" "
		"bridge_pci=\"0000:[00-02]\">%s</object></object></topology>\n";
	char functions[4096] = "", whole[8192], alone[16384], with_root[16384], options[128];
	struct tree tree;

	(void)state;
	for (unsigned i = 0; i < 8; i++) {
		size_t len = strlen(functions);

		(void)snprintf(functions + len, sizeof(functions) - len,
			       "<object type=\"PCIDev\" gp_index=\"%u\" "
			       "pci_busid=\"0000:00:%02x.0\" "
			       "pci_type=\"0207 [15b3:1021] [15b3:0041] 00\" "
			       "pci_link_speed=\"63.0\"/>",
			       i + 6, i);
	}
	tree_init(&tree);
	(void)snprintf(whole, sizeof(whole), xml, functions);
	tree_write(&tree, "node.xml", whole);
	tree_mkdir(&tree, "empty");
	(void)snprintf(options, sizeof(options), "--root %s/empty", tree.path);
	read_topology(&tree, "", alone, sizeof(alone));
	read_topology(&tree, options, with_root, sizeof(with_root));
	assert_non_null(strstr(alone, "NIC7: 0000:00:07.0"));
	assert_string_equal(alone, with_root);
	tree_deinit(&tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_command_lines),
		cmocka_unit_test(test_words_behind_the_operand),
		cmocka_unit_test(test_help_is_asked_for_in_three_ways),
		cmocka_unit_test(test_each_wrong_usage_is_named),
		cmocka_unit_test(test_options_take_the_place_of_settings),
		cmocka_unit_test(test_values_of_settings_are_checked_as_in_the_file),
		cmocka_unit_test(test_levels),
		cmocka_unit_test(test_too_many_values),
		cmocka_unit_test(test_hints),
		cmocka_unit_test(test_the_nearest_word_is_the_hint_and_the_first_of_equals),
		cmocka_unit_test(test_shown_words_end_at_control_characters_and_whole_characters),
		cmocka_unit_test(test_exit_codes),
		cmocka_unit_test(test_usage_errors_of_each_command),
		cmocka_unit_test(test_usage_errors_that_only_the_command_knows),
		cmocka_unit_test(test_usage_errors_of_check_have_the_exit_code_of_the_format),
		cmocka_unit_test(test_help_names_all_exit_codes),
		cmocka_unit_test(test_errors_of_the_configuration_are_plain),
		cmocka_unit_test(test_check_config_judges_as_run_does),
		cmocka_unit_test(test_check_config_reads_the_secret_of_probes),
		cmocka_unit_test(test_an_xml_without_a_root_is_a_closed_world),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
