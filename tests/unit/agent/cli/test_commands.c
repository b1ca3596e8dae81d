// SPDX-License-Identifier: Apache-2.0
/* agent/cli/options.c and agent/cli/commands.c: command lines, their mistakes, and exit codes. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "rna/base/words.h"

#include "cli/commands.h"

#include "tree.h"

enum { ARGV_MAX = 8, WORDS_MAX = 256 };

/* A command line as one text, words apart by one blank; "''" is an empty word. */
struct line {
	char words[WORDS_MAX];
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
		 "--for: \"mpi\" is not one of nccl, rccl, ucx, nvshmem, nixl, openmpi"},
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
		{"record", "record: missing argument DIR; see record --help"},
		{"describe seting", "describe: \"seting\" is not one of settings, metrics, "
				    "collectors, commands, rules, thresholds, labels, "
				    "conditions, profiles, shipped, patterns, catalog, json"},
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
static int run_to(const char *text, const char *output_path)
{
	int out = dup(STDOUT_FILENO), err = dup(STDERR_FILENO), code;
	int file = open(output_path, O_WRONLY | O_CLOEXEC);
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
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

/* What topology prints of the file that options name, in ret. */
static void read_topology(const struct tree *tree, const char *options, char *ret, size_t size)
{
	char text[WORDS_MAX], path[128];
	FILE *file;

	tree_write(tree, "output", "");
	(void)snprintf(path, sizeof(path), "%s/output", tree->path);
	(void)snprintf(text, sizeof(text), "topology --hwloc-xml %s/node.xml %s", tree->path,
		       options);
	assert_int_equal(run_to(text, path), RNA_EXIT_SUCCESS);
	file = fopen(path, "re");
	assert_non_null(file);
	ret[fread(ret, 1, size - 1, file)] = '\0';
	(void)fclose(file);
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
		cmocka_unit_test(test_hints),
		cmocka_unit_test(test_the_nearest_word_is_the_hint_and_the_first_of_equals),
		cmocka_unit_test(test_shown_words_end_at_control_characters_and_whole_characters),
		cmocka_unit_test(test_exit_codes),
		cmocka_unit_test(test_check_config_judges_as_run_does),
		cmocka_unit_test(test_an_xml_without_a_root_is_a_closed_world),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
