// SPDX-License-Identifier: Apache-2.0
/* The files of events: what was read can be written, and says the same again. */
#include "memory/history.h"

#include <string.h>

#include "fuzz.h"

static void write_all(struct rna_history *history, struct rna_strbuf *out)
{
	rna_strbuf_puts(out, rna_history_header);
	history->written = 0;
	rna_history_write(history, out);
	FUZZ_WANT(rna_strbuf_ok(out));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	RNA_CLEANUP(rna_history_deinit) struct rna_history history = {.room = 4096, .all = true};
	RNA_CLEANUP(rna_history_deinit) struct rna_history again = {.room = 4096, .all = true};
	RNA_STRBUF struct rna_strbuf first = RNA_STRBUF_INIT, second = RNA_STRBUF_INIT;
	struct rna_error error = {0};
	int status = rna_history_read(&history, (const char *)data, size, &error);

	fuzz_want_error(status, &error);
	FUZZ_WANT(status == 0 || history.count == 0);
	for (size_t i = 1; i < history.count; i++)
		FUZZ_WANT(rna_history_at(&history, i)->sequence >
			  rna_history_at(&history, i - 1)->sequence);
	write_all(&history, &first);
	FUZZ_WANT(rna_history_read(&again, first.data, first.len, &error) == 0);
	FUZZ_WANT(again.count == history.count && again.lines == history.count);
	write_all(&again, &second);
	FUZZ_WANT(strcmp(first.data, second.data) == 0);
	return 0;
}
