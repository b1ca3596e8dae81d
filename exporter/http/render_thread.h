/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The thread that renders: what a large node has to say takes tens of milliseconds to write and to
 * pack, which the loop has not. It does one order at a time.
 * Thread: the loop's.
 */
#pragma once

#include "rna/exporter.h"

enum rna_render_kind {
	RNA_RENDER_METRICS,
	RNA_RENDER_DOCUMENT,
	RNA_RENDER_RUNBOOK,
};

struct rna_render_order {
	enum rna_render_kind kind;
	const struct rna_view *view;
	bool gzip;
	enum rna_exposition format;                                         /* of metrics */
	void (*write)(const struct rna_view *view, struct rna_strbuf *out); /* of a document */
	size_t runbook;                                                     /* number */
	size_t number;                                                      /* the caller's own */
};

struct rna_render_thread;

/* 0 or negative errno. */
int rna_render_thread_new(struct rna_render_thread **ret);
/* Waits for what is under way. Accepts and returns NULL. */
struct rna_render_thread *rna_render_thread_free(struct rna_render_thread *thread);
RNA_DEFINE_CLEANUP(struct rna_render_thread, rna_render_thread_free)

/* Readable when rna_render_thread_take() has something. */
int rna_render_thread_fd(const struct rna_render_thread *thread);

/* False: it has an order already, or a result that was not taken. It has a reference to the view.
 */
bool rna_render_thread_start(struct rna_render_thread *thread,
			     const struct rna_render_order *order);

/*
 * True: *ret is the order that is done, with a reference to the view for the caller, and *ret_body
 * is a reference to what it gave; NULL: there was no memory.
 */
bool rna_render_thread_take(struct rna_render_thread *thread, struct rna_render_order *ret,
			    struct rna_body **ret_body);
