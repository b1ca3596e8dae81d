// SPDX-License-Identifier: Apache-2.0
#include "ask_mad.h"

#include <errno.h>
#include <string.h>

#include "rna/model/counter.h"

#include "parse/reader.h"

#include "mad.h"

bool rna_ask_is_possible(const struct rna_collect_input *in, unsigned port)
{
	return in->device->function != RNA_FUNCTION_SWITCH_MANAGEMENT &&
	       in->backends->mad->serves(in->root, in->device, port);
}

/* May the port be queried now? 0, or during a pause the last error, which is counted again. */
static int begin(const struct rna_collect_input *in, unsigned port)
{
	return rna_ask_is_possible(in, port) ? rna_reader_may_ask(in->reader) : -ENOENT;
}

static void account(int status, struct rna_part *part)
{
	bool normal = status == -ENOENT || status == -ENETDOWN || status == -EOPNOTSUPP;

	if (status < 0 && !normal)
		rna_part_count_error(part, status);
}

int rna_ask_port_info(const struct rna_collect_input *in, unsigned port, struct rna_part *part,
		      struct rna_mad_port *ret)
{
	int status = begin(in, port);

	if (status == 0) {
		status = in->backends->mad->query_port(in->root, in->device, port, ret);
		rna_reader_was_asked(in->reader, status);
	}
	account(status, part);
	return status;
}

int rna_ask_fabric(const struct rna_collect_input *in, unsigned port, unsigned topics,
		   struct rna_part *part, struct rna_mad_fabric *ret)
{
	int status = begin(in, port);

	if (status == 0) {
		status = in->backends->mad->query_fabric(in->root, in->device, port, topics, ret);
		rna_reader_was_asked(in->reader, status);
	}
	account(status, part);
	return status;
}

int rna_ask_counters(const struct rna_collect_input *in, unsigned port, struct rna_part *part,
		     struct rna_mad_counters *ret)
{
	int status = begin(in, port);

	if (status == 0) {
		status = in->backends->mad->query_counters(in->root, in->device, port, ret);
		/* -ENETDOWN is an answer: the port is not ACTIVE. */
		rna_reader_was_asked(in->reader, status == -ENETDOWN ? 0 : status);
	}
	account(status, part);
	return status;
}

int rna_ask_add_counters(struct rna_reader *reader, unsigned tag)
{
	struct rna_mad_counters names;
	int source = rna_reader_add_source(reader, tag);
	int ret = source;

	rna_mad_init_counters(&names);
	for (size_t i = 0; ret >= 0 && i < RNA_MAD_COUNTERS; i++) {
		const char *file = names.items[i].file;

		ret = rna_reader_add_file(reader, (unsigned)source, file,
					  rna_counter_find(RNA_PLACE_PORT_COUNTERS, file));
	}
	return ret < 0 ? ret : 0;
}

const struct rna_value *rna_ask_find(const struct rna_mad_counters *answer, const char *file)
{
	for (size_t i = 0; answer && i < RNA_MAD_COUNTERS; i++)
		if (strcmp(answer->items[i].file, file) == 0)
			return &answer->items[i].value;
	return NULL;
}
