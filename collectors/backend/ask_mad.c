// SPDX-License-Identifier: Apache-2.0
#include "ask_mad.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "rna/base/hash.h"
#include "rna/model/counter.h"

#include "parse/reader.h"

#include "mad.h"

bool rna_ask_is_possible(const struct rna_collect_input *in, unsigned port)
{
	return in->device->function != RNA_FUNCTION_SWITCH_MANAGEMENT &&
	       in->backends->mad->serves(in->root, in->device, port);
}

/*
 * What a subnet manager changes when it configures the port, as a hash: never 0. These files cost
 * queries of the driver, not MADs that anyone could reject.
 */
static uint64_t look_of_port(const struct rna_collect_input *in, unsigned port)
{
	static const char *const files[] = {"state", "lid", "sm_lid"};
	uint64_t hash = rna_hash_number(RNA_HASH_INIT, port);

	for (size_t i = 0; i < RNA_ARRAY_SIZE(files); i++) {
		char text[64], path[PATH_MAX];

		(void)snprintf(path, sizeof(path), "%s/ports/%u/%s", in->device->sysfs_path, port,
			       files[i]);
		if (rna_root_read(in->root, path, text, sizeof(text)) > 0)
			hash = rna_hash_text(hash, text);
	}
	return hash | 1;
}

/*
 * May the port be queried now? 0, or during a pause the last error, which is counted again. A port
 * that requires an M_Key is not queried until it has changed: each query without the key raises
 * trap 256 to the subnet manager (IBTA 14.2.4; opensm(8), MKEY CONFIGURATION).
 */
static int begin(const struct rna_collect_input *in, unsigned port)
{
	uint64_t rejected = rna_reader_rejected_look(in->reader);
	int status = -ENOENT;

	if (!in->options.no_mads && rna_ask_is_possible(in, port))
		status = rna_reader_may_ask(in->reader);
	if (status < 0 || rejected == 0)
		return status;
	if (look_of_port(in, port) != rejected)
		return 0;
	rna_reader_was_asked(in->reader, -ENOKEY); /* the next look at the files is later */
	return -ENOKEY;
}

static void end(const struct rna_collect_input *in, unsigned port, int status)
{
	rna_reader_was_asked(in->reader, status);
	rna_reader_set_rejected_look(in->reader, status == -ENOKEY ? look_of_port(in, port) : 0);
}

static void account(int status, struct rna_part *part)
{
	bool normal = status == -ENOENT || status == -ENETDOWN || status == -EOPNOTSUPP ||
		      status == -ENOKEY;

	if (status < 0 && !normal)
		rna_part_count_error(part, status);
}

int rna_ask_port_info(const struct rna_collect_input *in, unsigned port, struct rna_part *part,
		      struct rna_mad_port *ret)
{
	int status = begin(in, port);

	if (status == 0) {
		status = in->backends->mad->query_port(in->root, in->device, port, ret);
		end(in, port, status);
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
		end(in, port, status);
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
		end(in, port, status == -ENETDOWN ? 0 : status);
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
