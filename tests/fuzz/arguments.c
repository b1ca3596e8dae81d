// SPDX-License-Identifier: Apache-2.0
/* The command line; each line of the input is a word of it. */
#include "cli/options.h"

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	RNA_FREE char *text = fuzz_text(data, size);
	char *rest = text, *words[100] = {(char[]){"rdma-node-agent"}};
	struct rna_arguments arguments = {0};
	struct rna_error error = {0};
	int count = 1, status;

	while (count < (int)RNA_ARRAY_SIZE(words) - 1 && (words[count] = fuzz_line(&rest)))
		count++;
	words[count] = NULL;
	status = rna_arguments_parse(count, words, &arguments, &error);
	fuzz_want_error(status, &error);
	FUZZ_WANT(arguments.word_count <= RNA_WORDS_MAX);
	return 0;
}
