// SPDX-License-Identifier: Apache-2.0
/*
 * The renderer: metrics are written once per view and format and compressed once, both when the
 * first client wants them; after that a scrape costs a reference.
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
	struct libdeflate_compressor *compressor;         /* made at the first use */
	const struct rna_view *view;                      /* that bodies are of */
	struct rna_body *bodies[RNA_EXPOSITION_COUNT][2]; /* [format][gzip] */
	size_t expected;                                  /* size of the last text */
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

void rna_renderer_forget_view(struct rna_renderer *renderer)
{
	for (size_t format = 0; format < RNA_EXPOSITION_COUNT; format++)
		for (size_t gzip = 0; gzip < 2; gzip++)
			renderer->bodies[format][gzip] =
				rna_body_unref(renderer->bodies[format][gzip]);
	renderer->view = rna_view_unref(renderer->view);
}

struct rna_renderer *rna_renderer_free(struct rna_renderer *renderer)
{
	if (!renderer)
		return NULL;
	rna_renderer_forget_view(renderer);
	(void)rna_label_store_free(renderer->labels);
	(void)rna_families_free(renderer->families);
	libdeflate_free_compressor(renderer->compressor); /* accepts NULL */
	free(renderer);
	return NULL;
}

/* GIDs and jobs only if a setting asks for their series. */
static int set_subjects(struct rna_subjects *subjects, const struct rna_view *view)
{
	int status = rna_subjects_set(subjects, view);

	if (status == 0 && view->metrics.gid_info)
		status = rna_subjects_add_gids(subjects);
	if (status == 0 && view->metrics.all_jobs)
		status = rna_subjects_add_jobs(subjects);
	return status;
}

static int render(struct rna_renderer *renderer, enum rna_exposition format, struct rna_body **ret)
{
	RNA_SUBJECTS struct rna_subjects subjects = RNA_SUBJECTS_INIT;
	RNA_CLEANUP(rna_walk_deinit) struct rna_walk walk = RNA_WALK_INIT;
	RNA_STRBUF struct rna_strbuf out = RNA_STRBUF_INIT;
	const struct rna_families *families = renderer->families;
	struct rna_writer writer = RNA_WRITER(&out, format, families->arena);
	bool all = renderer->view->metrics.node_exporter_names;
	size_t count = all ? families->count : families->own_count;

	if (set_subjects(&subjects, renderer->view) < 0)
		return -ENOMEM;
	if (rna_label_store_apply(renderer->labels, &subjects) < 0)
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

/*
 * The plain text goes when it is packed: it has megabytes on a large node, and who wants it packed
 * wants it so each time.
 */
static int make_body(struct rna_renderer *renderer, enum rna_exposition format, bool gzip)
{
	struct rna_body **bodies = renderer->bodies[format];

	if (!bodies[0] && render(renderer, format, &bodies[0]) < 0)
		return -ENOMEM;
	if (!gzip)
		return 0;
	if (rna_renderer_pack(renderer, bodies[0], &bodies[1]) < 0)
		return -ENOMEM;
	bodies[0] = rna_body_unref(bodies[0]);
	return 0;
}

int rna_renderer_metrics(struct rna_renderer *renderer, const struct rna_view *view,
			 enum rna_exposition format, bool gzip, struct rna_body **ret)
{
	struct rna_body **body = &renderer->bodies[format][gzip];

	if (view != renderer->view) {
		rna_renderer_forget_view(renderer);
		renderer->view = rna_view_ref(view);
	}
	if (!*body && make_body(renderer, format, gzip) < 0)
		return -ENOMEM;
	*ret = rna_body_ref(*body);
	return 0;
}
