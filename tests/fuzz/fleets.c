// SPDX-License-Identifier: Apache-2.0
/* Answers of Prometheus to the command mesh, a line each, and what it writes of them. */
#include "mesh/fleets.h"

#include <string.h>

#include "rna/base/characters.h"

#include "cli/mesh_report.h"

#include "fuzz.h"

enum { PIECE = 61 }; /* bytes, so that they divide everything */

static int read_answer(struct rna_fleets_reader *reader, size_t number, const char *text,
		       struct rna_error *error)
{
	size_t len = strlen(text);
	int status = 0;

	rna_fleets_begin(reader, number);
	for (size_t at = 0; status == 0 && at < len; at += PIECE)
		status = rna_fleets_read(reader, text + at, len - at < PIECE ? len - at : PIECE,
					 error);
	return status < 0 ? status : rna_fleets_end(reader, error);
}

/* No text of others leads a terminal astray. */
static void want_plain(const struct rna_fleets *fleets, bool json)
{
	RNA_STRBUF struct rna_strbuf out = RNA_STRBUF_INIT;
	char *rest, *line;

	FUZZ_WANT(rna_mesh_report(fleets, json, &out) >= 0);
	for (rest = out.data; (line = fuzz_line(&rest));)
		FUZZ_WANT(rna_characters_are_plain(line, strlen(line)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	RNA_CLEANUP(rna_fleets_reader_free_p)
	struct rna_fleets_reader *reader = rna_fleets_reader_new();
	RNA_CLEANUP(rna_fleets_deinit) struct rna_fleets fleets = {0};
	RNA_FREE char *text = fuzz_text(data, size);
	char *rest = text;

	FUZZ_WANT(reader);
	for (size_t i = 0; i < rna_fleets_query_count; i++) {
		const char *answer = fuzz_line(&rest);
		struct rna_error error = {0};

		/* the command ends with the first error; a reader copes with more */
		if (answer)
			fuzz_want_error(read_answer(reader, i, answer, &error), &error);
	}
	if (rna_fleets_make(reader, NULL, &fleets) < 0)
		return 0;
	want_plain(&fleets, false);
	want_plain(&fleets, true);
	return 0;
}
