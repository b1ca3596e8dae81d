// SPDX-License-Identifier: Apache-2.0
/*
 * The renderer writes metrics and packs documents. It keeps what is the same in each view: the
 * families, labels of devices, and the compressor.
 */
#include <errno.h>
#include <libdeflate.h>

#include "rna/exporter.h"

#include "body.h"
#include "families.h"
#include "labels.h"

/*
 * Level 1 packs this text as tight as zlib's 6 in a quarter of the time; more effort buys some
 * tenth of the size for thrice the time.
 */
enum { COMPRESSION_LEVEL = 1 };

struct rna_renderer {
	struct rna_families *families;
	struct rna_label_store *labels;
	struct libdeflate_compressor *compressor; /* made at the first use */
	size_t expected;                          /* size of the last text */
};

struct rna_renderer *rna_renderer_new(void)
{
	RNA_CLEANUP(rna_renderer_free_p)
	struct rna_renderer *renderer = calloc(1, sizeof(*renderer));

	if (!renderer)
		return NULL;
	renderer->families = rna_families_new();
	if (!renderer->families)
		return NULL;
	renderer->labels = rna_label_store_new();
	if (!renderer->labels)
		return NULL;
	return RNA_TAKE(renderer);
}

struct rna_renderer *rna_renderer_free(struct rna_renderer *renderer)
{
	if (!renderer)
		return NULL;
	(void)rna_label_store_free(renderer->labels);
	(void)rna_families_free(renderer->families);
	libdeflate_free_compressor(renderer->compressor); /* accepts NULL */
	free(renderer);
	return NULL;
}

int rna_renderer_metrics(struct rna_renderer *renderer, const struct rna_view *view,
			 enum rna_exposition format, struct rna_body **ret)
{
	RNA_CLEANUP(rna_walk_deinit) struct rna_walk walk = RNA_WALK_INIT;
	RNA_STRBUF struct rna_strbuf out = RNA_STRBUF_INIT;
	const struct rna_families *families = renderer->families;
	struct rna_writer writer = RNA_WRITER(&out, format, families->arena);
	bool all = view->metrics.node_exporter_names;
	size_t count = all ? families->count : families->own_count;
	RNA_FREE struct rna_subject *memory = NULL;
	struct rna_subjects subjects;

	if (rna_label_store_apply(renderer->labels, view, &subjects, &memory) < 0)
		return -ENOMEM;
	if (rna_walk_start(&walk, &subjects) < 0)
		return -ENOMEM;

	(void)rna_strbuf_reserve(&out, renderer->expected);
	for (size_t i = 0; i < count; i++)
		rna_family_write(&families->items[i], &subjects, &walk, &writer);
	rna_writer_end(&writer);
	renderer->expected = out.len;
	return rna_body_take(&out, ret);
}

int rna_renderer_pack(struct rna_renderer *renderer, const struct rna_body *plain,
		      struct rna_body **ret)
{
	RNA_FREE char *data = NULL;
	size_t size, len;

	if (!renderer->compressor)
		renderer->compressor = libdeflate_alloc_compressor(COMPRESSION_LEVEL);
	if (!renderer->compressor)
		return -ENOMEM;
	size = libdeflate_gzip_compress_bound(renderer->compressor, plain->len);
	data = malloc(size);
	if (!data)
		return -ENOMEM;
	len = libdeflate_gzip_compress(renderer->compressor, plain->data, plain->len, data, size);
	return rna_body_new(RNA_TAKE(data), len, ret);
}
