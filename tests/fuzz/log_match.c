// SPDX-License-Identifier: Apache-2.0
/*
 * Messages of the kernel log: each line is one, in the order of a log. What stands before a tab is
 * the device of its dictionary.
 */
#include "rna/model/log_match.h"

#include <string.h>

#include "fuzz.h"

/* Is the text a word of whole? The name in the dictionary may have blanks, as any RDMA device. */
static void want_piece(const struct rna_text *text, const char *whole, size_t len,
		       const char *device)
{
	bool of_device = device && text->data >= device && text->data <= device + strlen(device);

	if (text->len == 0)
		return;
	FUZZ_WANT(of_device || (text->data >= whole && text->data + text->len <= whole + len));
	FUZZ_WANT(of_device || !memchr(text->data, ' ', text->len));
}

static void try_line(struct rna_log_pending *pending, const char *line, size_t len)
{
	const struct rna_log_matcher *matcher = rna_log_matcher();
	const char *tab = memchr(line, '\t', len), *message = tab ? tab + 1 : line;
	RNA_FREE char *device = tab ? strndup(line, (size_t)(tab - line)) : NULL;
	struct rna_log_match match;

	FUZZ_WANT(matcher && (!tab || device));
	len -= (size_t)(message - line);
	if (rna_log_match(matcher, pending, message, len, device, &match)) {
		FUZZ_WANT(match.pattern >= rna_log_patterns);
		FUZZ_WANT(match.pattern < rna_log_patterns + rna_log_pattern_count);
		want_piece(&match.pci, message, len, device);
		want_piece(&match.netdev, message, len, device);
		want_piece(&match.rdma, message, len, device);
		FUZZ_WANT(match.pattern->object == RNA_LOG_OBJECT_NODE || match.pci.len > 0 ||
			  match.netdev.len > 0 || match.rdma.len > 0);
	}
	FUZZ_WANT(!pending->pattern || pending->pattern->follows);
	FUZZ_WANT(!pending->pattern || pending->lines_left <= RNA_LOG_REPORT_LINES);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rna_log_pending pending = {0};
	const char *text = (const char *)data, *end = text + size;

	while (text < end) {
		const char *feed = memchr(text, '\n', (size_t)(end - text));
		size_t len = (size_t)((feed ? feed : end) - text);

		try_line(&pending, text, len);
		text += len + 1;
	}
	return 0;
}
