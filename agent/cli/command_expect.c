// SPDX-License-Identifier: Apache-2.0
/*
 * The command expect: which ports are expected to be up, and the profile of this node.
 *
 * accept writes the accepted state to a file of its own in the state directory, which the agent
 * only reads. So it works without a running agent and without access by HTTP, and the permissions
 * of the directory decide who may accept.
 */
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "rna/base/log.h"
#include "rna/model/subject.h"

#include "baseline/baseline.h"
#include "memory/expect.h"
#include "memory/state_directory.h"
#include "memory/state_file.h"

#include "once.h"

#define LOCK "accepted.lock" /* concurrent commands would lose changes */

const char *const rna_expect_actions[] = {"accept", "list", "profile", NULL};

/* One call of the command. */
struct work {
	const struct rna_arguments *arguments;
	const struct rna_view *view;
	struct rna_strbuf *out;
	struct rna_memory *accepted;
	bool used[RNA_WORDS_MAX]; /* words that matched something */
	unsigned up, down, gone;
};

#define EVERYTHING "*" /* the word that means all of the node, not only its ports */

/* -- Selection --------------------------------------------------------------------------------- */

static bool is_selected(struct work *work, const struct rna_subject *port)
{
	const char *netdev = port->netdev ? port->netdev->name : NULL;
	bool selected = work->arguments->word_count == 0;

	for (size_t i = 0; i < work->arguments->word_count; i++)
		if (rna_expect_fits(work->arguments->words[i], port->device, port->port, netdev))
			selected = work->used[i] = true;
	return selected;
}

static bool is_missing_selected(struct work *work, const struct rna_missing_device *device)
{
	bool selected = work->arguments->word_count == 0;

	for (size_t i = 0; i < work->arguments->word_count; i++) {
		const char *word = work->arguments->words[i];

		if (fnmatch(word, device->name, 0) == 0 ||
		    (device->pci_address && fnmatch(word, device->pci_address, 0) == 0))
			selected = work->used[i] = true;
	}
	return selected;
}

static bool is_everything(const struct rna_arguments *arguments)
{
	return RNA_ANY(i, arguments->word_count, strcmp(arguments->words[i], EVERYTHING) == 0);
}

static int check_words(const struct work *work, struct rna_error *error)
{
	for (size_t i = 0; i < work->arguments->word_count; i++)
		if (!work->used[i] && strcmp(work->arguments->words[i], EVERYTHING) != 0)
			return rna_error_say(error, -ENOENT, "%.64s: no such device or port",
					     work->arguments->words[i]);
	return 0;
}

/* Calls visit for each selected port. */
static int for_each_port(struct work *work,
			 int (*visit)(struct work *work, const struct rna_subject *port))
{
	const struct rna_subject_list *ports = rna_view_ports(work->view);
	int ret = 0;

	for (size_t i = 0; ret == 0 && i < ports->count; i++)
		if (is_selected(work, &ports->items[i]))
			ret = visit(work, &ports->items[i]);
	return ret;
}

/* -- List -------------------------------------------------------------------------------------- */

static int list_port(struct work *work, const struct rna_subject *port)
{
	static const char *const words[] = {
		[RNA_EXPECTED_UNKNOWN] = "-",
		[RNA_EXPECTED_UP] = "up",
		[RNA_EXPECTED_DOWN] = "down",
	};
	const char *state = rna_subject_state_name(port);
	char name[64];

	(void)snprintf(name, sizeof(name), "%.48s/%u", port->rdma_device->name, port->port);
	rna_strbuf_printf(work->out, "%-20s  %-12s  %-8s  %s\n", name, state ? state : "-",
			  words[rna_subject_expected(port)],
			  rna_expectation_reason_name(port->account->expectation.reason));
	return 0;
}

static int list(struct work *work, struct rna_error *error)
{
	rna_strbuf_printf(work->out, "%-20s  %-12s  %-8s  %s\n", "PORT", "STATE", "EXPECTED",
			  "REASON");
	(void)for_each_port(work, list_port);
	RNA_EACH (missing, work->view->missing, work->view->missing_count)
		if (is_missing_selected(work, missing))
			rna_strbuf_printf(work->out, "%-20s  %-12s  %-8s  missing: %s\n",
					  missing->name, "-", "present",
					  rna_whereabouts_name(missing->whereabouts));
	return check_words(work, error);
}

/* -- Accept ------------------------------------------------------------------------------------ */

static int accept_port(struct work *work, const struct rna_subject *port)
{
	const struct rna_device *device = port->rdma_device;
	struct rna_device_memory *memory = rna_memory_device(work->accepted, device->key);
	struct rna_port_memory *entry = memory ? rna_memory_port(memory, port->port) : NULL;
	bool up;

	if (!entry)
		return -ENOMEM;
	if (!rna_subject_state_is_known(port)) {
		rna_strbuf_printf(work->out, "%s/%u: unknown state; not changed\n", device->name,
				  port->port);
		return 0;
	}
	up = rna_subject_is_active(port);
	entry->accepted.expected = up ? RNA_EXPECTED_UP : RNA_EXPECTED_DOWN;
	entry->accepted.time = work->view->snapshot->time.realtime;
	*(up ? &work->up : &work->down) += 1;
	if (!up)
		rna_strbuf_printf(work->out, "%s/%u: %s accepted as expected\n", device->name,
				  port->port, rna_subject_state_name(port));
	return 0;
}

static int accept_missing(struct work *work)
{
	RNA_EACH (missing, work->view->missing, work->view->missing_count) {
		struct rna_device_memory *memory;

		if (!is_missing_selected(work, missing))
			continue;
		memory = rna_memory_device(work->accepted, missing->key);
		if (!memory)
			return -ENOMEM;
		memory->accepted.expected = RNA_EXPECTED_DOWN;
		memory->accepted.time = work->view->snapshot->time.realtime;
		work->gone++;
		rna_strbuf_printf(work->out, "%s: no longer expected\n", missing->name);
	}
	return 0;
}

static int lock(int directory, struct rna_error *error)
{
	enum { HOW = O_RDONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK };
	int fd = openat(directory, LOCK, HOW, 0644); /* a FIFO serves as well */

	if (fd < 0)
		return rna_error_set(error, -errno, LOCK);
	if (flock(fd, LOCK_EX) == 0)
		return fd;
	(void)rna_error_set(error, -errno, LOCK);
	(void)close(fd);
	return error->code;
}

/* Reads the state that was accepted before. Only a damaged file is set aside. */
static int read_accepted(int directory, struct rna_memory *memory, struct rna_error *error)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	int ret;

	ret = rna_state_file_read(directory, RNA_STATE_ACCEPTED, &text, error);
	if (ret == -ENOENT)
		return 0;
	if (ret == 0)
		ret = rna_accepted_read(memory, text.data ? text.data : "", text.len, error);
	if (ret != -EBADMSG)
		return ret < 0 ? rna_error_prefix(error, RNA_STATE_ACCEPTED) : 0;
	rna_log_warning(RNA_STATE_ACCEPTED ": damaged, set aside: %s", error->text);
	*error = (struct rna_error){0};
	return rna_state_file_set_aside(directory, RNA_STATE_ACCEPTED, rna_clock_now().realtime,
					error);
}

static int accept_all(struct work *work, int directory, struct rna_error *error)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	int ret;

	ret = read_accepted(directory, work->accepted, error);
	if (ret < 0)
		return ret;
	ret = for_each_port(work, accept_port);
	if (ret == 0)
		ret = accept_missing(work);
	if (ret < 0)
		return rna_error_set(error, ret, "cannot record the accepted state");
	ret = check_words(work, error);
	if (ret < 0)
		return ret;
	if (is_everything(work->arguments)) /* so the rails as well */
		work->accepted->rails.accepted = work->view->snapshot->time.realtime;
	rna_accepted_write(work->accepted, &text);
	if (!rna_strbuf_ok(&text))
		return rna_error_set(error, -ENOMEM, "cannot record the accepted state");
	rna_strbuf_printf(work->out, "accepted: %u up, %u down, %u gone\n", work->up, work->down,
			  work->gone);
	return rna_state_file_write(directory, RNA_STATE_ACCEPTED, text.data, text.len, error);
}

static int accept_locked(struct work *work, const char *path, struct rna_error *error)
{
	RNA_CLOSE int directory = rna_state_directory_open(path, true, error);
	RNA_CLOSE int locked = -1;

	if (directory < 0)
		return directory;
	(void)umask(022); /* root writes the file; the agent's own user has to read it */
	locked = lock(directory, error);
	return locked < 0 ? locked : accept_all(work, directory, error);
}

/* -- Profile ----------------------------------------------------------------------------------- */

static int write_profile(const struct rna_call *call, const struct rna_view *view,
			 struct rna_error *error)
{
	RNA_CLEANUP(rna_arena_free_p) struct rna_arena *arena = rna_arena_new(4096);
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	struct rna_profile profile;

	if (call->arguments.word_count > 0) {
		(void)rna_error_say(error, -EINVAL, "expect profile: unexpected argument \"%.64s\"",
				    call->arguments.words[0]);
		return RNA_EXIT_USAGE;
	}
	if (!arena || rna_profile_make(view, arena, &profile) < 0)
		return rna_error_set(error, -ENOMEM, "cannot make a profile");
	rna_strbuf_puts(&text, "# The profile of a node as it is. Remove what may vary, and set "
			       "expect.profile to the path of\n"
			       "# this file. \"rdma-node-agent describe profiles\" explains the "
			       "keys.\n");
	rna_profile_write(&profile, &text);
	return rna_output_strbuf(&text, error);
}

/* -- The command ------------------------------------------------------------------------------- */

/* To be called before the settings are handed over for polling. The caller frees *ret. */
static int find_directory(const struct rna_call *call, char **ret, struct rna_error *error)
{
	const char *path;
	int status = rna_call_find_state(call, &path, error);

	if (status < 0)
		return status;
	*ret = strdup(path);
	return *ret ? 0 : rna_error_set(error, -ENOMEM, "%s", path);
}

int rna_command_expect(struct rna_call *call, struct rna_error *error)
{
	bool accept = strcmp(call->arguments.operand, "accept") == 0;
	RNA_CLEANUP(rna_memory_deinit) struct rna_memory accepted = RNA_MEMORY_INIT;
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	RNA_ONCE struct rna_once once = {0};
	RNA_FREE char *directory = NULL;
	struct work work = {.arguments = &call->arguments, .out = &text, .accepted = &accepted};
	int ret = 0;

	if (accept && call->arguments.word_count == 0) {
		(void)rna_error_say(error, -EINVAL,
				    "expect accept: name devices or ports, such as mlx5_3 or "
				    "mlx5_3/1, or '*' for all of this node");
		return RNA_EXIT_USAGE;
	}
	if (accept)
		ret = find_directory(call, &directory, error);
	if (ret == 0)
		ret = rna_once_poll(call, &once, error);
	if (ret < 0)
		return ret;
	work.view = once.view;
	if (strcmp(call->arguments.operand, "profile") == 0)
		return write_profile(call, work.view, error);
	if (!work.view->ports)
		return rna_error_say(error, -ENODATA, "cannot read the devices of this node");
	ret = accept ? accept_locked(&work, directory, error) : list(&work, error);
	return ret < 0 ? ret : rna_output_strbuf(&text, error);
}
