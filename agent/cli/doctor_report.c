// SPDX-License-Identifier: Apache-2.0
#include "doctor_report.h"

#include <string.h>

#include "rna/base/json_document.h"

enum { WIDTH = 100, STATE_WIDTH = 8, NAME_WIDTH = 18 };

size_t rna_doctor_count(const struct rna_doctor *doctor, enum rna_need_state state)
{
	return RNA_COUNT(i, doctor->count, doctor->results[i].state == state);
}

/* -- Text -------------------------------------------------------------------------------------- */

/* Words of text in lines of at most WIDTH columns, from column indent on, where the first begins.
 */
static void write_wrapped(const char *text, size_t indent, struct rna_strbuf *out)
{
	size_t column = indent;

	while (*text) {
		size_t len = strcspn(text, " ");

		if (column > indent && column + 1 + len > WIDTH) {
			rna_strbuf_printf(out, "\n%*s", (int)indent, "");
			column = indent;
		} else if (column > indent) {
			rna_strbuf_add_char(out, ' ');
			column++;
		}
		rna_strbuf_add(out, text, len);
		column += len;
		text += len;
		text += strspn(text, " ");
	}
	rna_strbuf_add_char(out, '\n');
}

static void write_facts(const struct rna_doctor *doctor, struct rna_strbuf *out)
{
	if (doctor->recording)
		rna_strbuf_printf(out, "Recording %s: only files are looked at\n",
				  doctor->recording);
	else
		rna_strbuf_puts(out, "This process\n");
	RNA_EACH (fact, doctor->facts.items, doctor->facts.count) {
		rna_strbuf_printf(out, "  %-*s  ", NAME_WIDTH, fact->name);
		write_wrapped(fact->value ? fact->value : "not known", NAME_WIDTH + 4, out);
	}
}

static void write_line(const char *head, const char *text, struct rna_strbuf *out)
{
	rna_strbuf_printf(out, "%*s%s", STATE_WIDTH + 2, "", head);
	write_wrapped(text, STATE_WIDTH + 2 + strlen(head), out);
}

/* What is lost, by the uses that are on, and what helps. */
static void write_loss(const struct rna_doctor *doctor, const struct rna_need *need,
		       struct rna_strbuf *out)
{
	const char *remedy = rna_need_remedy(need);

	for (const struct rna_need_use *use = need->uses; use->by; use++) {
		RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;

		rna_strbuf_printf(&text, "%s (%s)", use->lost, use->by);
		if (rna_need_use_is_on(use, doctor->settings) && rna_strbuf_ok(&text))
			write_line("lost:  ", text.data, out);
	}
	if (need->profile)
		write_line("unit:  profile ", need->profile, out);
	if (need->values)
		write_line("chart: ", need->values, out);
	if (remedy)
		write_line("", remedy, out);
}

static void write_result(const struct rna_doctor *doctor, const struct rna_need_result *result,
			 struct rna_strbuf *out)
{
	rna_strbuf_printf(out, "%-*s  %-*s  ", STATE_WIDTH, rna_need_state_name(result->state),
			  NAME_WIDTH, result->need->name);
	write_wrapped(result->text, STATE_WIDTH + NAME_WIDTH + 4, out);
	if (result->state == RNA_NEED_LOST || result->state == RNA_NEED_OPTIONAL)
		write_loss(doctor, result->need, out);
}

static void write_summary(const struct rna_doctor *doctor, struct rna_strbuf *out)
{
	size_t lost = rna_doctor_count(doctor, RNA_NEED_LOST);
	size_t unknown = rna_doctor_count(doctor, RNA_NEED_UNKNOWN);

	if (lost == 0 && unknown == 0)
		rna_strbuf_puts(out, "Nothing that the configuration needs is lost.\n");
	if (lost > 0)
		rna_strbuf_printf(out, "Lost: %zu of %zu.\n", lost, doctor->count);
	if (unknown > 0)
		rna_strbuf_printf(out, "Not tried: %zu of %zu.\n", unknown, doctor->count);
}

void rna_doctor_write_text(const struct rna_doctor *doctor, struct rna_strbuf *out)
{
	write_facts(doctor, out);
	rna_strbuf_add_char(out, '\n');
	for (size_t i = 0; i < doctor->count; i++)
		write_result(doctor, &doctor->results[i], out);
	rna_strbuf_add_char(out, '\n');
	write_summary(doctor, out);
}

/* -- JSON -------------------------------------------------------------------------------------- */

static json_t *make_facts(struct rna_json_writer *writer, const struct rna_doctor_facts *facts)
{
	json_t *ret = json_object();

	RNA_EACH (fact, facts->items, facts->count) {
		char key[NAME_WIDTH + 1];

		(void)snprintf(key, sizeof(key), "%s", *fact->name == '/' ? "sysfs" : fact->name);
		for (char *at = key; *at; at++)
			*at = *at == ' ' ? '_' : *at;
		rna_json_set(writer, ret, key,
			     fact->value ? json_string(fact->value) : json_null());
	}
	return ret;
}

static json_t *make_uses(struct rna_json_writer *writer, const struct rna_doctor *doctor,
			 const struct rna_need *need)
{
	json_t *uses = json_array();

	for (const struct rna_need_use *use = need->uses; use->by; use++)
		rna_json_append(writer, uses,
				json_pack("{s:s, s:b, s:s}", "by", use->by, "on",
					  rna_need_use_is_on(use, doctor->settings), "lost",
					  use->lost));
	return uses;
}

void rna_doctor_write_json(const struct rna_doctor *doctor, struct rna_strbuf *out)
{
	struct rna_json_writer writer = {0};
	json_t *needs = json_array();
	json_t *all;

	RNA_EACH (result, doctor->results, doctor->count) {
		const struct rna_need *need = result->need;

		rna_json_append(&writer, needs,
				json_pack("{s:s, s:s, s:s, s:s, s:o, s:s?, s:s?, s:s?}", "name",
					  need->name, "state", rna_need_state_name(result->state),
					  "tried", need->tried, "text", result->text, "uses",
					  make_uses(&writer, doctor, need), "profile",
					  need->profile, "values", need->values, "remedy",
					  rna_need_remedy(need)));
	}
	all = json_pack("{s:s?, s:o, s:o, s:i, s:i}", "recording", doctor->recording, "process",
			make_facts(&writer, &doctor->facts), "needs", needs, "lost",
			(int)rna_doctor_count(doctor, RNA_NEED_LOST), "unknown",
			(int)rna_doctor_count(doctor, RNA_NEED_UNKNOWN));
	rna_json_write(&writer, all, 1, out);
}
