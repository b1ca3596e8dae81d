// SPDX-License-Identifier: Apache-2.0
/* From the command line to an exit code. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "rna/base/log.h"
#include "rna/base/root.h"
#include "rna/base/thread.h"
#include "rna/collector.h"

#include "memory/state_directory.h"

#include "commands.h"

#define ASIDE_PATIENCE (100 * RNA_USEC_PER_MSEC)

/*
 * A closed pipe makes write() fail and must not kill the process. Standard descriptors that are
 * closed are opened on /dev/null, so that no other file gets their numbers and the output; read
 * only, so that writing to them still fails.
 */
static void prepare_process(void)
{
	int fd;

	rna_backends_prepare_process();
	(void)signal(SIGPIPE, SIG_IGN); /* cannot fail for a signal that exists */
	do
		fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		(void)close(fd); /* nothing was written */
}

static int load_settings(struct rna_call *call, struct rna_error *error)
{
	int ret = rna_config_load(call->config, &call->settings, &call->mistakes, error);

	return ret < 0 ? ret
		       : rna_config_override(call->arguments.overrides, &call->settings, error);
}

int rna_call_find_state(const struct rna_call *call, const char **ret, struct rna_error *error)
{
	const char *root_path = call->arguments.options[RNA_OPTION_ROOT];
	RNA_CLEANUP(rna_root_close_p) struct rna_root *root = NULL;
	int status = rna_root_open(root_path, &root, error);

	if (status < 0)
		return status;
	*ret = rna_state_directory(&call->settings, rna_root_is_live(root));
	return *ret ? 0
		    : rna_error_say(error, -ENOENT, "no state directory: %s",
				    root_path ? "with --root there is none unless state.directory "
						"is set"
					      : "state.directory is empty");
}

/* Returns an exit code. */
static int execute(struct rna_call *call, struct rna_error *error)
{
	const struct rna_command *command = call->arguments.command;
	int ret;

	if (call->arguments.options[RNA_OPTION_HELP])
		return rna_command_show_help(command, error) < 0 ? RNA_EXIT_FAILURE
								 : RNA_EXIT_SUCCESS;
	if (!command) {
		(void)rna_command_show_help(
			NULL, error); /* the exit code is RNA_EXIT_USAGE in any case */
		return RNA_EXIT_USAGE;
	}
	call->config = call->arguments.options[RNA_OPTION_CONFIG];
	if (command->config_operand && call->arguments.operand)
		call->config = call->arguments.operand;
	if (command->settings && load_settings(call, error) < 0)
		return RNA_EXIT_USAGE;
	ret = command->execute(call, error);
	return ret < 0 ? RNA_EXIT_FAILURE : ret;
}

/* The exit code of a failure. */
static int fail(const struct rna_arguments *arguments, const struct rna_error *error, int code)
{
	const struct rna_command *command = arguments->command;

	if (command && command->fail)
		return command->fail(arguments, error);
	return command && command->failure ? command->failure : code;
}

static void deinit_call(struct rna_call *call)
{
	rna_settings_deinit(&call->settings);
}

int rna_commands_main(int argc, char *argv[])
{
	RNA_CLEANUP(deinit_call) struct rna_call call = {0};
	struct rna_error error = {0};
	int code = RNA_EXIT_USAGE;

	prepare_process();
	rna_log_open(LOG_INFO);
	if (rna_arguments_parse(argc, argv, &call.arguments, &error) == 0)
		code = execute(&call, &error);
	if (code == RNA_EXIT_USAGE)
		rna_log_set_plain();
	if (error.code < 0)
		rna_log_error("%s", error.text);
	rna_mistakes_log(&call.mistakes);
	if (error.code < 0)
		code = fail(&call.arguments, &error, code);
	if (!rna_threads_aside_join(ASIDE_PATIENCE)) /* one waits for a name server, for example */
		_exit(code);
	return code;
}
