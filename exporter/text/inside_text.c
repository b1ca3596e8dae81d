// SPDX-License-Identifier: Apache-2.0
#include "inside_text.h"

#include <inttypes.h>
#include <string.h>

#include "rna/model/readiness.h"

#include "text_table.h"

enum { INDENT = 10 };

static void begin(struct rna_strbuf *out)
{
	rna_strbuf_puts(out, out->len > 0 ? ", " : "");
}

static void write_line(const char *label, struct rna_strbuf *text, size_t width,
		       struct rna_strbuf *out)
{
	out->failed |= text->failed;
	rna_strbuf_printf(out, "%-*s", INDENT, label);
	rna_text_wrap(text->failed ? "" : text->data, INDENT, INDENT, width, out);
	text->len = 0; /* the next line is added from here */
}

static void say_process(const struct rna_inside *inside, struct rna_strbuf *out)
{
	rna_strbuf_printf(out, "%" PRIu32, inside->process);
	if (inside->command)
		rna_strbuf_printf(out, " (%s)", inside->command);
	if (inside->users.count > 0) {
		rna_strbuf_puts(out, " of ");
		rna_users_describe(&inside->users, out);
	}
}

static void say_network(const struct rna_inside *inside, struct rna_strbuf *out)
{
	if (inside->of_node)
		rna_strbuf_puts(out, "the network namespace of the agent");
	else
		rna_strbuf_printf(out, "a network namespace of its own: %" PRIu64,
				  inside->network_namespace);
}

static void say_memlock(const struct rna_inside *inside, struct rna_strbuf *out)
{
	if (inside->may_lock_all)
		rna_strbuf_puts(out, "any amount (CAP_IPC_LOCK)");
	else if (!rna_value_is_known(inside->memlock))
		rna_strbuf_puts(out, "not known");
	else if (inside->memlock.number == RNA_MEMLOCK_INFINITY)
		rna_strbuf_puts(out, "unlimited");
	else
		rna_strbuf_printf(out, "%" PRIu64 " KiB%s", inside->memlock.number >> 10,
				  inside->memlock.number < RNA_MEMLOCK_ENOUGH
					  ? ": too little to register memory for NCCL"
					  : "");
}

/* The files with this access, and whose they are; none: nothing. */
static void say_files(const struct rna_inside *inside, enum rna_inside_access access,
		      struct rna_strbuf *out)
{
	RNA_EACH (file, inside->files, inside->file_count) {
		if (file->access != access)
			continue;
		begin(out);
		rna_strbuf_puts(out, file->name);
		if (file->device)
			rna_strbuf_printf(out, " (%s)", file->device);
	}
}

void rna_write_inside(const struct rna_inside *inside, size_t width, struct rna_strbuf *out)
{
	static const char *const labels[] = {
		[RNA_INSIDE_OPEN] = "files",
		[RNA_INSIDE_CLOSED] = "closed",
		[RNA_INSIDE_MISSING] = "missing",
	};
	static const enum rna_inside_access order[] = {RNA_INSIDE_OPEN, RNA_INSIDE_CLOSED,
						       RNA_INSIDE_MISSING};
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;

	say_process(inside, &text);
	write_line("process", &text, width, out);
	say_network(inside, &text);
	write_line("network", &text, width, out);
	say_memlock(inside, &text);
	write_line("memlock", &text, width, out);
	for (size_t i = 0; i < RNA_ARRAY_SIZE(order); i++) {
		say_files(inside, order[i], &text);
		if (text.len > 0)
			write_line(labels[order[i]], &text, width, out);
	}
	rna_strbuf_puts(out, "\n");
}
