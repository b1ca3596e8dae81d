// SPDX-License-Identifier: Apache-2.0
/* agent/control: a real socket, with those who ask in threads and processes of their own. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <systemd/sd-event.h>
#include <unistd.h>
#include <cmocka.h>

#include "rna/base/cleanup.h"
#include "rna/base/clock.h"

#include "cli/control_client.h"
#include "loop/control.h"

#define PATIENCE (20 * RNA_USEC_PER_SEC)

enum { LONG = 100000, VERY_LONG = 2000000, WAITING_MAX = 4 };

/* -- The agent's side -------------------------------------------------------------------------- */

struct scene {
	char directory[64];
	char path[96];
	sd_event *event;
	struct rna_control *control;
	struct rna_control_call *waiting[WAITING_MAX];
	unsigned waiting_count, left;
};

static void echo(struct rna_control_call *call, void *userdata)
{
	const char *text = rna_control_value(call, "text");

	(void)userdata;
	assert_null(rna_control_value(call, "nothing"));
	rna_control_send(call, RNA_CONTROL_PROGRESS, "...", 3);
	rna_control_send(call, RNA_CONTROL_OUTPUT, text, strlen(text));
	rna_control_exit(call, 2);
}

static void say_a_lot(struct rna_control_call *call, void *userdata)
{
	size_t len = strtoul(rna_control_value(call, "len"), NULL, 10);
	RNA_FREE char *text = malloc(len);

	(void)userdata;
	memset(text, 'x', len);
	rna_control_send(call, RNA_CONTROL_OUTPUT, text, len);
	rna_control_exit(call, 0);
}

static void refuse(struct rna_control_call *call, void *userdata)
{
	const struct rna_error error = {.text = "not today"};

	(void)userdata;
	rna_control_fail(call, &error);
}

static void wait_with(struct rna_control_call *call, void *userdata)
{
	struct scene *scene = userdata;

	assert_true(scene->waiting_count < WAITING_MAX);
	scene->waiting[scene->waiting_count++] = call;
}

static void on_left(struct rna_control_call *call, void *userdata)
{
	struct scene *scene = userdata;

	(void)call;
	scene->left++;
}

static const struct rna_control_command commands[] = {
	{"echo", echo, NULL},         {"long", say_a_lot, NULL}, {"refuse", refuse, NULL},
	{"wait", wait_with, on_left}, {NULL, NULL, NULL},
};

static int start(struct scene *scene, struct rna_error *error)
{
	return rna_control_start(scene->event, scene->path, commands, scene, &scene->control,
				 error);
}

static int set_up(void **state)
{
	struct scene *scene = calloc(1, sizeof(*scene));

	(void)snprintf(scene->directory, sizeof(scene->directory), "/tmp/rna-control-XXXXXX");
	assert_non_null(mkdtemp(scene->directory));
	assert_int_equal(chmod(scene->directory, 0755), 0); /* others have to get to the socket */
	(void)snprintf(scene->path, sizeof(scene->path), "%s/control", scene->directory);
	assert_true(sd_event_new(&scene->event) >= 0);
	*state = scene;
	return start(scene, NULL);
}

static int tear_down(void **state)
{
	struct scene *scene = *state;

	(void)rna_control_stop(scene->control);
	(void)sd_event_unref(scene->event);
	(void)unlink(scene->path);
	assert_int_equal(rmdir(scene->directory), 0);
	free(scene);
	return 0;
}

static void turn(struct scene *scene, rna_usec end)
{
	assert_true(rna_clock_monotonic() < end);
	assert_true(sd_event_run(scene->event, 10 * RNA_USEC_PER_MSEC) >= 0);
}

/* -- The command's side ------------------------------------------------------------------------ */

struct question {
	const char *path, *request;
	int status;
	struct rna_error error;
	size_t len;
	char output[256]; /* the start of len bytes */
	atomic_bool done;
	pthread_t thread;
};

static atomic_uint progress; /* lines of all questions */

static void on_progress(const char *text, size_t len)
{
	(void)text, (void)len;
	progress++;
}

static void *ask(void *userdata)
{
	struct question *question = userdata;
	RNA_STRBUF struct rna_strbuf output = RNA_STRBUF_INIT;
	const struct rna_control_reader reader = {on_progress, &output};

	question->status =
		rna_control_ask(question->path, question->request, &reader, &question->error);
	question->len = output.len;
	(void)snprintf(question->output, sizeof(question->output), "%s",
		       output.data ? output.data : "");
	atomic_store(&question->done, true);
	return NULL;
}

static void begin(struct scene *scene, struct question *question, const char *request)
{
	*question = (struct question){.path = scene->path, .request = request};
	assert_int_equal(pthread_create(&question->thread, NULL, ask, question), 0);
}

static void end(struct scene *scene, struct question *question)
{
	rna_usec latest = rna_clock_monotonic() + PATIENCE;

	while (!atomic_load(&question->done))
		turn(scene, latest);
	assert_int_equal(pthread_join(question->thread, NULL), 0);
}

static void wait_for_waiting(struct scene *scene, unsigned count)
{
	rna_usec latest = rna_clock_monotonic() + PATIENCE;

	while (scene->waiting_count < count)
		turn(scene, latest);
}

static int connect_raw(struct scene *scene)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	memcpy(address.sun_path, scene->path, strlen(scene->path));
	assert_int_equal(connect(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

/* -- The tests --------------------------------------------------------------------------------- */

static void test_question_and_answer(void **state)
{
	struct question question;

	begin(*state, &question, "echo\ntext=a=b c\n");
	end(*state, &question);
	assert_int_equal(question.status, 2);
	assert_int_equal(progress, 1);
	assert_string_equal(question.output, "a=b c");
}

static void test_answers_longer_than_a_packet(void **state)
{
	struct question question;

	begin(*state, &question, "long\nlen=100000\n");
	end(*state, &question);
	assert_int_equal(question.status, 0);
	assert_int_equal(question.len, LONG);
}

static void wait_for_answer(struct scene *scene, int fd)
{
	rna_usec latest = rna_clock_monotonic() + PATIENCE;
	char byte;

	while (recv(fd, &byte, 1, MSG_DONTWAIT | MSG_PEEK) < 0 && errno == EAGAIN)
		turn(scene, latest);
}

/* Begins to read what he asked for when the agent can send no more, and reads bit by bit. */
static void test_answers_longer_than_the_kernel_takes(void **state)
{
	struct scene *scene = *state;
	RNA_FREE char *packet = malloc(RNA_CONTROL_PACKET_MAX);
	rna_usec latest = rna_clock_monotonic() + PATIENCE;
	struct question other;
	size_t got = 0;
	int fd = connect_raw(scene);
	ssize_t len;

	assert_true(send(fd, "long\nlen=2000000\n", 17, 0) == 17);
	wait_for_answer(scene, fd);
	begin(scene, &other, "echo\ntext=a\n"); /* a slow reader does not delay others */
	end(scene, &other);
	assert_int_equal(other.status, 2);
	do {
		turn(scene, latest);
		len = recv(fd, packet, RNA_CONTROL_PACKET_MAX, MSG_DONTWAIT);
		got += len > 0 && packet[0] == RNA_CONTROL_OUTPUT ? (size_t)len - 1 : 0;
	} while (len > 0 ? packet[0] != RNA_CONTROL_EXIT : len < 0 && errno == EAGAIN);
	assert_true(len == 2 && packet[1] == '0');
	assert_int_equal(got, VERY_LONG);
	while ((len = recv(fd, packet, 1, MSG_DONTWAIT)) < 0 && errno == EAGAIN)
		turn(scene, latest);
	assert_int_equal(len, 0);
	(void)close(fd);
}

/* One leaves in the midst of his answer, the other lets more wait than there is room for. */
static void test_answers_that_nobody_reads(void **state)
{
	struct scene *scene = *state;
	RNA_FREE char *packet = malloc(RNA_CONTROL_PACKET_MAX);
	rna_usec latest = rna_clock_monotonic() + PATIENCE;
	struct question question;
	int fds[2] = {connect_raw(scene), connect_raw(scene)};
	ssize_t len;

	assert_true(send(fds[0], "long\nlen=2000000\n", 17, 0) == 17);
	assert_true(send(fds[1], "long\nlen=8000000\n", 17, 0) == 17);
	wait_for_answer(scene, fds[0]);
	(void)close(fds[0]);
	while ((len = recv(fds[1], packet, RNA_CONTROL_PACKET_MAX, MSG_DONTWAIT)) > 0 ||
	       (len < 0 && errno == EAGAIN)) {
		assert_true(len < 0 || packet[0] == RNA_CONTROL_OUTPUT); /* not to its end */
		turn(scene, latest);
	}
	(void)close(fds[1]);
	begin(scene, &question, "echo\ntext=a\n");
	end(scene, &question);
	assert_int_equal(question.status, 2);
}

/* Who comes meanwhile is answered later, and the loop has nothing to do until then. */
static void test_no_descriptor_for_who_comes(void **state)
{
	struct scene *scene = *state;
	struct rlimit limit, less;
	struct question question;
	int fd = connect_raw(scene);
	unsigned turns = 0;
	rna_usec since;
	char byte;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	less = (struct rlimit){.rlim_cur = 3, .rlim_max = limit.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &less), 0);
	since = rna_clock_monotonic();
	while (rna_usec_since(since, rna_clock_monotonic()) < RNA_USEC_PER_SEC / 2)
		turns += sd_event_run(scene->event, RNA_USEC_PER_SEC / 10) > 0;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_true(turns < 10);
	assert_true(recv(fd, &byte, 1, MSG_DONTWAIT) < 0 &&
		    errno == EAGAIN); /* the connection is open */
	(void)close(fd);
	begin(scene, &question, "echo\ntext=a\n");
	end(scene, &question);
	assert_int_equal(question.status, 2);
}

static void test_refusals(void **state)
{
	struct question question;

	begin(*state, &question, "refuse\n");
	end(*state, &question);
	assert_int_equal(question.status, -EPROTO);
	assert_string_equal(question.error.text, "not today");
	begin(*state, &question, "brew\n");
	end(*state, &question);
	assert_int_equal(question.status, -EPROTO);
	assert_string_equal(question.error.text,
			    "unknown command brew; the agent may be of another version");
}

static void test_two_wait_at_a_time(void **state)
{
	struct scene *scene = *state;
	struct question first, second;

	begin(scene, &first, "wait\nwho=first\n");
	wait_for_waiting(scene, 1);
	begin(scene, &second, "wait\nwho=second\n");
	wait_for_waiting(scene, 2);
	assert_string_equal(rna_control_value(scene->waiting[0], "who"), "first");
	rna_control_exit(scene->waiting[1], 7);
	end(scene, &second);
	assert_int_equal(second.status, 7);
	rna_control_exit(scene->waiting[0], 8);
	end(scene, &first);
	assert_int_equal(first.status, 8);
	assert_int_equal(scene->left, 0);
}

static void test_who_leaves_is_told_of(void **state)
{
	struct scene *scene = *state;
	rna_usec latest = rna_clock_monotonic() + PATIENCE;
	int fd = connect_raw(scene);

	assert_true(send(fd, "wait\n", 5, 0) == 5);
	wait_for_waiting(scene, 1);
	(void)close(fd);
	while (scene->left == 0)
		turn(scene, latest);
	assert_int_equal(scene->left, 1);
}

static void test_the_agent_ends_first(void **state)
{
	struct scene *scene = *state;
	struct question question;

	begin(scene, &question, "wait\n");
	wait_for_waiting(scene, 1);
	scene->control = rna_control_stop(scene->control);
	assert_int_equal(scene->left, 1);
	end(scene, &question);
	assert_int_equal(question.status, -ECONNRESET);
	assert_string_equal(question.error.text, "the agent ended before it answered");
	assert_int_equal(access(scene->path, F_OK), -1);
}

/* Nothing of it is obeyed: the caller finds his call closed. */
static void test_a_request_that_is_too_long(void **state)
{
	struct scene *scene = *state;
	RNA_FREE char *text = malloc(2 * RNA_CONTROL_PACKET_MAX);
	rna_usec latest = rna_clock_monotonic() + PATIENCE;
	int fd = connect_raw(scene);
	ssize_t len;
	char byte;

	memset(text, 'x', 2 * RNA_CONTROL_PACKET_MAX);
	memcpy(text, "wait\ntext=", 10);
	assert_true(send(fd, text, 2 * RNA_CONTROL_PACKET_MAX, 0) == 2 * RNA_CONTROL_PACKET_MAX);
	while ((len = recv(fd, &byte, 1, MSG_DONTWAIT)) < 0 && errno == EAGAIN)
		turn(scene, latest);
	assert_true(len == 0 || errno == ECONNRESET);
	assert_int_equal(scene->waiting_count, 0);
	(void)close(fd);
}

static void test_more_callers_than_there_is_room_for(void **state)
{
	enum { MANY = 20, ROOM = 16 };
	struct scene *scene = *state;
	int fds[MANY];
	unsigned closed = 0;
	char byte;

	for (unsigned i = 0; i < MANY; i++) {
		fds[i] = connect_raw(scene);
		/* more than are in the queue of those who wait to be let in */
		for (unsigned t = 0; t < 4; t++)
			assert_true(sd_event_run(scene->event, 0) >= 0);
	}
	for (unsigned i = 0; i < MANY; i++) {
		closed += recv(fds[i], &byte, 1, MSG_DONTWAIT) == 0;
		(void)close(fds[i]);
	}
	assert_int_equal(closed, MANY - ROOM);
}

/* Left by a process that died. */
static void test_a_socket_that_nobody_listens_at(void **state)
{
	struct scene *scene = *state;
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct question question;
	int fd;

	scene->control = rna_control_stop(scene->control);
	memcpy(address.sun_path, scene->path, strlen(scene->path));
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
	(void)close(fd);
	begin(scene, &question, "echo\ntext=\n");
	end(scene, &question);
	assert_int_equal(question.status, -ECONNREFUSED);
	assert_int_equal(start(scene, NULL), 0);
	begin(scene, &question, "echo\ntext=a\n");
	end(scene, &question);
	assert_int_equal(question.status, 2);
}

static void test_a_second_agent(void **state)
{
	struct scene *scene = *state;
	struct rna_control *second = NULL;
	struct rna_error error = {0};
	struct question question;

	assert_int_equal(rna_control_start(scene->event, scene->path, commands, scene, &second,
					   &error),
			 -EADDRINUSE);
	assert_non_null(strstr(error.text, scene->path));
	begin(scene, &question, "echo\ntext=a\n"); /* the first one is as it was */
	end(scene, &question);
	assert_int_equal(question.status, 2);
}

/* What is no socket is not ours to take away. */
static void test_a_file_in_the_way(void **state)
{
	struct scene *scene = *state;
	FILE *file;

	scene->control = rna_control_stop(scene->control);
	file = fopen(scene->path, "w");
	assert_non_null(file);
	(void)fclose(file);
	assert_int_equal(start(scene, NULL), -EEXIST);
	assert_int_equal(access(scene->path, F_OK), 0);
}

static void test_no_agent(void **state)
{
	struct scene *scene = *state;
	struct question question;

	scene->control = rna_control_stop(scene->control);
	begin(scene, &question, "echo\n");
	end(scene, &question);
	assert_int_equal(question.status, -ENOENT);
}

/* As another user, in a process of its own. 0: was refused as it should be. */
static int ask_as_nobody(const struct scene *scene)
{
	RNA_STRBUF struct rna_strbuf output = RNA_STRBUF_INIT;
	const struct rna_control_reader reader = {.output = &output};
	struct rna_error error = {0};

	if (setresuid(65534, 65534, 65534) < 0)
		return 1;
	if (rna_control_ask(scene->path, "echo\ntext=a\n", &reader, &error) != -EPROTO)
		return 2;
	return strcmp(error.text,
		      "permission denied: only root and the agent's own user may do this") == 0
		       ? 0
		       : 3;
}

static void test_who_may_ask(void **state)
{
	struct scene *scene = *state;
	rna_usec latest = rna_clock_monotonic() + PATIENCE;
	int status = -1;
	pid_t pid;

	if (geteuid() != 0)
		skip(); /* cannot change the user */
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		_exit(ask_as_nobody(scene));
	while (waitpid(pid, &status, WNOHANG) == 0)
		turn(scene, latest);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* Connects and sends nothing, as often as it can, until done is closed. */
static void call_in_silence(const struct scene *scene, int ready, int done)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	char byte = 0;

	memcpy(address.sun_path, scene->path, strlen(scene->path));
	if (setresuid(65534, 65534, 65534) < 0)
		_exit(1);
	for (unsigned i = 0; i < 20; i++) {
		int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);

		if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
			_exit(2);
	}
	_exit(write(ready, &byte, 1) == 1 && read(done, &byte, 1) == 0 ? 0 : 3);
}

static void test_who_may_not_ask_is_in_nobodys_way(void **state)
{
	struct scene *scene = *state;
	rna_usec latest = rna_clock_monotonic() + PATIENCE;
	struct question question;
	int ready[2], done[2], status = -1;
	char byte;
	pid_t pid;

	if (geteuid() != 0)
		skip(); /* cannot change the user */
	assert_int_equal(pipe2(ready, O_NONBLOCK), 0);
	assert_int_equal(pipe(done), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		(void)close(done[1]);
		call_in_silence(scene, ready[1], done[0]);
	}
	while (read(ready[0], &byte, 1) < 0)
		turn(scene, latest);
	begin(scene, &question, "echo\ntext=a\n");
	end(scene, &question);
	assert_int_equal(question.status, 2);
	for (unsigned i = 0; i < 2; i++) {
		(void)close(done[1 - i]);
		(void)close(ready[i]);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_question_and_answer),
		TEST(test_answers_longer_than_a_packet),
		TEST(test_answers_longer_than_the_kernel_takes),
		TEST(test_answers_that_nobody_reads),
		TEST(test_no_descriptor_for_who_comes),
		TEST(test_refusals),
		TEST(test_two_wait_at_a_time),
		TEST(test_who_leaves_is_told_of),
		TEST(test_the_agent_ends_first),
		TEST(test_a_request_that_is_too_long),
		TEST(test_more_callers_than_there_is_room_for),
		TEST(test_a_socket_that_nobody_listens_at),
		TEST(test_a_second_agent),
		TEST(test_a_file_in_the_way),
		TEST(test_no_agent),
		TEST(test_who_may_ask),
		TEST(test_who_may_not_ask_is_in_nobodys_way),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
