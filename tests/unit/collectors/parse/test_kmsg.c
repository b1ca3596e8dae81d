// SPDX-License-Identifier: Apache-2.0
/* collectors/parse/kmsg: records whole and cut, what the device answers, and files. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

#include "parse/kmsg.h"

#include "tree.h"

/* -- Records ----------------------------------------------------------------------------------- */

static const char whole[] = "4,339,5140900,-;mlx5_core 0000:3b:00.0: it is \\x5ctoo\\x5c hot\n"
			    " SUBSYSTEM=pci\n"
			    " DEVICE=+pci:0000:3b:00.0\n";

static int parse(const char *text, char buffer[RNA_KMSG_RECORD_MAX + 1],
		 struct rna_kmsg_record *ret)
{
	size_t len = strlen(text);

	memcpy(buffer, text, len);
	return rna_kmsg_parse(buffer, len, ret);
}

static void test_a_record(void **state)
{
	char buffer[RNA_KMSG_RECORD_MAX + 1];
	struct rna_kmsg_record record;

	(void)state;
	assert_int_equal(parse(whole, buffer, &record), 0);
	assert_int_equal(record.facility, RNA_KMSG_KERNEL);
	assert_int_equal(record.level, 4);
	assert_int_equal(record.sequence, 339);
	assert_int_equal(record.time, 5140900);
	assert_false(record.fragment);
	assert_null(record.caller);
	assert_string_equal(record.message, "mlx5_core 0000:3b:00.0: it is \\too\\ hot");
	assert_int_equal(record.len, strlen(record.message));
	assert_string_equal(record.device, "+pci:0000:3b:00.0");
}

/* A record that ends anywhere else than behind one of its lines is none. */
static void test_cut_records(void **state)
{
	char buffer[RNA_KMSG_RECORD_MAX + 1], text[sizeof(whole)];
	size_t message = (size_t)(strchr(whole, '\n') - whole) + 1;
	struct rna_kmsg_record record;

	(void)state;
	for (size_t len = 0; len < sizeof(whole); len++) {
		memcpy(text, whole, len);
		text[len] = '\0';
		assert_int_equal(parse(text, buffer, &record), len < message ? -EBADMSG : 0);
	}
}

static void test_records_that_are_none(void **state)
{
	static const char *const texts[] = {
		"",
		"\n",
		";\n",
		"text\n",
		"4;text\n",
		"4,1;text\n",
		"4,1,2;text\n", /* Linux 3.5: without flags */
		"4,,2,-;text\n",
		"-4,1,2,-;text\n",
		" 4,1,2,-;text\n",
		"4,1,2,-\ntext;text\n",
		"4,18446744073709551616,2,-;text\n",
		"99999999,1,2,-;text\n",
	};
	char buffer[RNA_KMSG_RECORD_MAX + 1];
	struct rna_kmsg_record record;

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(texts); i++)
		assert_int_equal(parse(texts[i], buffer, &record), -EBADMSG);
	memcpy(buffer, "4,1,2,-;a\0b\n", 12);
	assert_int_equal(rna_kmsg_parse(buffer, 12, &record), -EBADMSG);
}

static void test_fields_of_the_prefix(void **state)
{
	char buffer[RNA_KMSG_RECORD_MAX + 1];
	struct rna_kmsg_record record;

	(void)state;
	assert_int_equal(parse("30,340,5690716,-;udevd[80]: starting\n", buffer, &record), 0);
	assert_int_equal(record.facility, 3);
	assert_int_equal(record.level, 6);
	assert_int_equal(parse("6,18446744073709551615,0,c,caller=T1,new=2;\n", buffer, &record),
			 0);
	assert_true(record.fragment);
	assert_string_equal(record.caller, "T1");
	assert_int_equal(record.sequence, UINT64_MAX);
	assert_int_equal(record.len, 0);
	assert_int_equal(parse("6,1,2,;no flags; but a semicolon\n", buffer, &record), 0);
	assert_string_equal(record.message, "no flags; but a semicolon");
	assert_int_equal(parse("6,1,2,+,caller=C3;old\n", buffer, &record), 0);
	assert_true(record.fragment);
	assert_string_equal(record.caller, "C3");
}

static void test_escapes(void **state)
{
	static const struct {
		const char *text, *message;
		size_t len;
	} rows[] = {
		{"6,1,2,-;two\\x0alines\n", "two\nlines", 9},
		{"6,1,2,-;\\xc3\\xa4\n", "\xc3\xa4", 2},
		{"6,1,2,-;\\x00\n", "\0", 1},
		{"6,1,2,-;\\x\n", "\\x", 2},
		{"6,1,2,-;\\x4\n", "\\x4", 3},
		{"6,1,2,-;\\xg1\\X41\n", "\\xg1\\X41", 8},
		{"6,1,2,-;\\x5cx41\n", "\\x41", 4}, /* once only */
	};
	char buffer[RNA_KMSG_RECORD_MAX + 1];
	struct rna_kmsg_record record;

	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(rows); i++) {
		assert_int_equal(parse(rows[i].text, buffer, &record), 0);
		assert_int_equal(record.len, rows[i].len);
		assert_memory_equal(record.message, rows[i].message, rows[i].len + 1);
	}
}

static void test_texts_for_people(void **state)
{
	char text[16];

	(void)state;
	assert_int_equal(rna_kmsg_escape("a\\b\n\x7f", 5, text, sizeof(text)), 11);
	assert_string_equal(text, "a\\b\\x0a\\x7f");
	assert_int_equal(rna_kmsg_escape("0123456789ab\n", 13, text, sizeof(text)), 12);
	assert_string_equal(text, "0123456789ab");
	assert_int_equal(rna_kmsg_escape("0123456789abcdef", 16, text, sizeof(text)), 15);
	assert_string_equal(text, "0123456789abcde");
}

static void test_what_is_written_can_be_read(void **state)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	char buffer[RNA_KMSG_RECORD_MAX + 1], message[] = "\\x41 \n\xc3;";
	struct rna_kmsg_record record = {
		.sequence = 7,
		.time = 8,
		.facility = 3,
		.level = 5,
		.fragment = true,
		.caller = "T1",
		.message = message,
		.len = sizeof(message), /* with its NUL */
		.device = "+pci:0000:3b:00.0",
	};

	(void)state;
	rna_kmsg_write(&record, &text);
	assert_string_equal(text.data, "29,7,8,c,caller=T1;\\x5cx41 \\x0a\\xc3;\\x00\n"
				       " DEVICE=+pci:0000:3b:00.0\n");
	assert_int_equal(parse(text.data, buffer, &record), 0);
	assert_int_equal(record.facility, 3);
	assert_int_equal(record.level, 5);
	assert_int_equal(record.len, sizeof(message));
	assert_memory_equal(record.message, message, sizeof(message));
	assert_string_equal(record.device, "+pci:0000:3b:00.0");
}

/* -- The device -------------------------------------------------------------------------------- */

ssize_t __real_read(int fd, void *buffer, size_t size);
ssize_t __wrap_read(int fd, void *buffer, size_t size);

/* What the next calls of read() do: a text is returned, a number is an error. */
struct answer {
	const char *text;
	int error;
};

static const struct answer *answers;
static unsigned reads;

ssize_t __wrap_read(int fd, void *buffer, size_t size)
{
	if (!answers)
		return __real_read(fd, buffer, size);
	reads++;
	if (answers->text) {
		assert_in_range(strlen(answers->text), 0, size);
		memcpy(buffer, answers->text, strlen(answers->text));
		return (ssize_t)strlen((answers++)->text);
	}
	errno = answers->error;
	answers += answers->error != EAGAIN && answers->error != EIO;
	return -1;
}

struct taken {
	unsigned count;
	uint64_t last;
	unsigned most; /* 0: any number */
};

static bool take(void *userdata, struct rna_kmsg_record *record)
{
	struct taken *taken = userdata;

	taken->count++;
	taken->last = record->sequence;
	return taken->count != taken->most;
}

/* Reads what no file is. */
static int drain(const struct answer *script, uint64_t most, struct taken *taken,
		 struct rna_kmsg_drained *drained)
{
	int ends[2], status;

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, ends), 0);
	answers = script;
	reads = 0;
	status = rna_kmsg_drain(ends[0], most, take, taken, drained);
	answers = NULL;
	(void)close(ends[0]);
	(void)close(ends[1]);
	return status;
}

static void test_the_device(void **state)
{
	static const struct answer script[] = {
		{"6,10,1,-;a\n", 0},    {NULL, EPIPE},  /* 11 to 19 were overwritten */
		{"6,20,1,-;b\n", 0},    {NULL, EINVAL}, /* 21 is too long */
		{NULL, EINTR},          {"6,22,1,-;c\n DEVICE=n3\n", 0},
		{"what is this?\n", 0}, {NULL, EAGAIN},
	};
	struct rna_kmsg_drained drained;
	struct taken taken = {0};

	(void)state;
	assert_int_equal(drain(script, 100, &taken, &drained), 0);
	assert_int_equal(taken.count, 3);
	assert_int_equal(taken.last, 22);
	assert_int_equal(drained.records, 3);
	assert_int_equal(drained.malformed, 2);
	assert_int_equal(drained.overwritten, 1);
	assert_false(drained.limited);
}

static void test_a_failing_device(void **state)
{
	static const struct answer script[] = {{"6,10,1,-;a\n", 0}, {NULL, EIO}};
	struct rna_kmsg_drained drained;
	struct taken taken = {0};

	(void)state;
	assert_int_equal(drain(script, 100, &taken, &drained), -EIO);
	assert_int_equal(taken.count, 1);
}

/* Whatever the device says all the time, a run ends. */
static void test_limits(void **state)
{
	static const struct answer records[] = {{"6,1,1,-;a\n", 0},
						{"6,2,1,-;a\n", 0},
						{"6,3,1,-;a\n", 0},
						{NULL, EAGAIN}};
	static const struct answer wraps[] = {
		{NULL, EPIPE}, {NULL, EPIPE}, {NULL, EINVAL}, {NULL, EINVAL}, {NULL, EAGAIN}};
	static const struct answer signals[] = {{NULL, EINTR}, {NULL, EINTR}, {NULL, EINTR},
						{NULL, EINTR}, {NULL, EINTR}, {NULL, EINTR},
						{NULL, EINTR}, {NULL, EINTR}, {NULL, EINTR},
						{NULL, EINTR}, {NULL, EINTR}, {NULL, EINTR},
						{NULL, EINTR}, {NULL, EINTR}, {NULL, EINTR},
						{NULL, EINTR}, {NULL, EINTR}, {NULL, EINTR},
						{NULL, EAGAIN}};
	struct rna_kmsg_drained drained;
	struct taken taken = {0};

	(void)state;
	assert_int_equal(drain(records, 2, &taken, &drained), 0);
	assert_int_equal(taken.count, 2);
	assert_true(drained.limited);
	assert_int_equal(drain(wraps, 3, &taken, &drained), 0);
	assert_int_equal(reads, 3);
	assert_true(drained.limited);
	assert_int_equal(drain(signals, 3, &taken, &drained), -EINTR);
	taken = (struct taken){.most = 1};
	assert_int_equal(drain(records, 3, &taken, &drained), 0);
	assert_int_equal(taken.count, 1);
	assert_true(drained.limited);
}

/* -- Files ------------------------------------------------------------------------------------- */

static void append(const struct tree *tree, const char *text)
{
	char path[128];
	FILE *file;

	(void)snprintf(path, sizeof(path), "%s/%s", tree->path, RNA_KMSG_PATH);
	file = fopen(path, "a");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static unsigned drain_more(int fd, struct rna_kmsg_drained *drained)
{
	struct taken taken = {0};

	assert_int_equal(rna_kmsg_drain(fd, 100000, take, &taken, drained), 0);
	return taken.count;
}

static void test_a_file_that_grows(void **state)
{
	RNA_CLEANUP(tree_deinit) struct tree tree;
	struct rna_kmsg_drained drained;
	int fd;

	(void)state;
	tree_init(&tree);
	tree_write(&tree, RNA_KMSG_PATH, "");
	fd = rna_kmsg_open(tree.root);
	assert_true(fd >= 0);
	assert_int_equal(drain_more(fd, &drained), 0);
	append(&tree, "6,1,1,-;a\n DEVICE=n1\n6,2,1,-;b\n6,3,1,-;c");
	assert_int_equal(drain_more(fd, &drained), 2);
	assert_int_equal(drain_more(fd, &drained), 0);
	append(&tree, "c\nnothing\n6,4,1,-;d\n");
	assert_int_equal(drain_more(fd, &drained), 2);
	assert_int_equal(drained.malformed, 1);
	append(&tree, "6,5,1,-;e\n");
	assert_int_equal(rna_kmsg_skip(fd), 0);
	assert_int_equal(drain_more(fd, &drained), 0);
	(void)close(fd);
}

/* Records at all places of a block; some are too long, and one fills several blocks. */
static void test_a_large_file(void **state)
{
	enum { RECORDS = 5000, HUGE = 300000 };
	RNA_CLEANUP(tree_deinit) struct tree tree;
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	struct rna_kmsg_drained drained;
	unsigned wanted = 0;
	int fd;

	(void)state;
	tree_init(&tree);
	for (unsigned i = 0; i < RECORDS; i++) {
		unsigned len = i == 2500 ? HUGE : i % 1000 == 999 ? RNA_KMSG_RECORD_MAX : i % 97;

		rna_strbuf_printf(&text, "6,%u,1,-;", i);
		for (unsigned j = 0; j < len; j++)
			rna_strbuf_add_char(&text, 'x');
		rna_strbuf_puts(&text, i % 3 == 0 ? "\n DEVICE=n1\n" : "\n");
		wanted += len < 1000;
	}
	tree_write(&tree, RNA_KMSG_PATH, text.data);
	fd = rna_kmsg_open(tree.root);
	assert_int_equal(drain_more(fd, &drained), wanted);
	assert_true(drained.malformed >= RECORDS - wanted);
	assert_false(drained.limited);
	(void)close(fd);
}

static void test_a_limited_file(void **state)
{
	RNA_CLEANUP(tree_deinit) struct tree tree;
	struct rna_kmsg_drained drained;
	struct taken taken = {0};
	int fd;

	(void)state;
	tree_init(&tree);
	tree_write(&tree, RNA_KMSG_PATH, "6,1,1,-;a\n6,2,1,-;b\n6,3,1,-;c\n");
	fd = rna_kmsg_open(tree.root);
	assert_int_equal(rna_kmsg_drain(fd, 2, take, &taken, &drained), 0);
	assert_int_equal(taken.last, 2);
	assert_true(drained.limited);
	assert_int_equal(rna_kmsg_drain(fd, 2, take, &taken, &drained), 0);
	assert_int_equal(taken.last, 3);
	assert_false(drained.limited);
	(void)close(fd);
}

/* Of a recording nothing but files is opened; a directory stands for what could not be read. */
static void test_what_is_no_file(void **state)
{
	RNA_CLEANUP(tree_deinit) struct tree tree;

	(void)state;
	tree_init(&tree);
	assert_int_equal(rna_kmsg_open(tree.root), -ENOENT);
	tree_fifo(&tree, RNA_KMSG_PATH);
	assert_int_equal(rna_kmsg_open(tree.root), -EACCES);
	tree_remove(&tree, RNA_KMSG_PATH);
	tree_mkdir(&tree, RNA_KMSG_PATH);
	assert_int_equal(rna_kmsg_open(tree.root), -EACCES);
	tree_remove(&tree, RNA_KMSG_PATH);
	tree_link(&tree, RNA_KMSG_PATH, "/dev/null");
	assert_int_equal(rna_kmsg_open(tree.root), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_record),
		cmocka_unit_test(test_cut_records),
		cmocka_unit_test(test_records_that_are_none),
		cmocka_unit_test(test_fields_of_the_prefix),
		cmocka_unit_test(test_escapes),
		cmocka_unit_test(test_texts_for_people),
		cmocka_unit_test(test_what_is_written_can_be_read),
		cmocka_unit_test(test_the_device),
		cmocka_unit_test(test_a_failing_device),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_a_file_that_grows),
		cmocka_unit_test(test_a_large_file),
		cmocka_unit_test(test_a_limited_file),
		cmocka_unit_test(test_what_is_no_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
