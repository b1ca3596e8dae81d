// SPDX-License-Identifier: Apache-2.0
/* Answers of ethtool netlink, each taken for an answer to every question. */
#include "backend/ethtool.h"

#include <errno.h>

#include "fuzz.h"

/* In their order, each number of errors in one of them. */
static void check_bins(const struct rna_ethtool_fec_counts *fec)
{
	FUZZ_WANT(fec->bin_count <= RNA_ETHERNET_FEC_BINS);
	for (size_t i = 0; i < fec->bin_count; i++) {
		FUZZ_WANT(fec->bins[i].low <= fec->bins[i].high);
		FUZZ_WANT(i == 0 || fec->bins[i - 1].high < fec->bins[i].low);
		FUZZ_WANT(fec->bins[i].lane_count <= RNA_ETHERNET_FEC_LANES);
	}
}

static void read_all(struct rna_bytes message)
{
	struct rna_ethernet_link link = {0};
	struct rna_ethernet_mode mode = {0};
	struct rna_ethernet_fec fec = {0};
	struct rna_ethtool_fec_counts fec_counts = {0};
	struct rna_ethernet_pause pause = {0};
	struct rna_ethtool_pause_counts pause_counts = {0};
	struct rna_ethtool_standard_counts counts = {0};

	(void)rna_ethtool_read_link(message, &link);
	(void)rna_ethtool_read_mode(message, &mode);
	(void)rna_ethtool_read_fec(message, &fec, &fec_counts);
	check_bins(&fec_counts);
	(void)rna_ethtool_read_pause(message, &pause, &pause_counts);
	(void)rna_ethtool_read_standard(message, &counts);
}

/* Nothing can be taken away twice: what is anonymous stays as it is, and is a whole message. */
static void anonymize(struct rna_bytes message, const struct rna_ethtool_question *question)
{
	RNA_FREE uint8_t *first = malloc(message.len + 1), *second = malloc(message.len + 1);
	ssize_t len;

	FUZZ_WANT(first && second);
	len = rna_ethtool_anonymize(message, question, first);
	if (len < 0)
		return;
	FUZZ_WANT((size_t)len <= message.len);
	FUZZ_WANT(rna_ethtool_anonymize((struct rna_bytes){first, (size_t)len}, question, second) ==
		  len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct rna_ethtool_question *const questions[] = {
		&rna_ethtool_link_question,     &rna_ethtool_mode_question,
		&rna_ethtool_fec_question,      &rna_ethtool_pause_question,
		&rna_ethtool_standard_question,
	};
	const struct rna_bytes message = {data, size};

	read_all(message);
	for (size_t i = 0; i < RNA_ARRAY_SIZE(questions); i++) {
		struct rna_bytes content;

		anonymize(message, questions[i]);
		for (int type = 1; type <= 8; type++)
			if (rna_ethtool_find(message, questions[i], type, &content) == 0)
				FUZZ_WANT(content.data >= data &&
					  content.data + content.len <= data + size);
	}
	return 0;
}
