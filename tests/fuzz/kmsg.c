// SPDX-License-Identifier: Apache-2.0
/* Records of the kernel's log: one, and a file of them. */
#include "parse/kmsg.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "rna/model/log_match.h"

#include "fuzz.h"

static bool is_inside(const char *text, const char *record, size_t len)
{
	return text >= record && text + strlen(text) <= record + len;
}

/* Whatever a record has, it is the same when it is written and read again. */
static void want_same_again(const struct rna_kmsg_record *record)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	struct rna_kmsg_record again;

	rna_kmsg_write(record, &text);
	FUZZ_WANT(rna_strbuf_ok(&text));
	FUZZ_WANT(rna_kmsg_parse(text.data, text.len, &again) == 0);
	FUZZ_WANT(again.sequence == record->sequence && again.time == record->time);
	FUZZ_WANT(again.facility == record->facility && again.level == record->level);
	FUZZ_WANT(again.fragment == record->fragment && !again.caller == !record->caller);
	FUZZ_WANT(again.len == record->len && !again.device == !record->device);
	FUZZ_WANT(memcmp(again.message, record->message, record->len) == 0);
}

static bool take(void *userdata, struct rna_kmsg_record *record)
{
	struct rna_log_pending *pending = userdata;
	struct rna_log_match match;
	char text[RNA_LOG_TEXT_MAX + 1];

	FUZZ_WANT(record->len <= RNA_KMSG_RECORD_MAX && record->message[record->len] == '\0');
	FUZZ_WANT(rna_kmsg_escape(record->message, record->len, text, sizeof(text)) ==
		  strlen(text));
	if (rna_log_match(rna_log_matcher(), pending, record->message, record->len, record->device,
			  &match))
		FUZZ_WANT(match.pattern);
	return true;
}

static void want_records(const uint8_t *data, size_t size)
{
	RNA_CLOSE int fd = open(fuzz_file(data, size), O_RDONLY | O_CLOEXEC);
	struct rna_log_pending pending = {0};
	struct rna_kmsg_drained drained, again;

	FUZZ_WANT(fd >= 0);
	FUZZ_WANT(rna_kmsg_drain(fd, UINT64_MAX, take, &pending, &drained) == 0);
	FUZZ_WANT(drained.records + drained.malformed <= size);
	FUZZ_WANT(rna_kmsg_drain(fd, UINT64_MAX, take, &pending, &again) == 0);
	FUZZ_WANT(again.records + again.malformed == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	RNA_FREE char *text = fuzz_text(data, size);
	struct rna_kmsg_record record;
	int status = rna_kmsg_parse(text, size, &record);

	FUZZ_WANT(status == 0 || status == -EBADMSG);
	if (status == 0) {
		FUZZ_WANT(is_inside(record.message, text, size));
		FUZZ_WANT(!record.device || is_inside(record.device, text, size));
		want_same_again(&record);
	}
	want_records(data, size);
	return 0;
}
