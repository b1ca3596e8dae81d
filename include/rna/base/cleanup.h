/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cleanup attributes. A local variable that owns something carries one; the last lines of its
 * function hand it over with RNA_TAKE(). And what else C lacks: sizes of arrays, and searches.
 */
#pragma once

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define RNA_CLEANUP(fn) __attribute__((cleanup(fn)))

/* Returns the pointer and sets the variable to NULL, so that its cleanup does nothing. */
#define RNA_TAKE(p)                                                                                \
	({                                                                                         \
		__typeof__(p) rna_taken_ = (p);                                                    \
		(p) = NULL;                                                                        \
		rna_taken_;                                                                        \
	})

#define RNA_ARRAY_SIZE(a)     (sizeof(a) / sizeof((a)[0]))
#define RNA_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))

/* For each address of an element. The body does not assign it; items of no count are not read. */
#define RNA_EACH(item, items, count)                                                               \
	for (const __typeof__((items)[0]) *item = (count) > 0 ? (items) : NULL,                    \
					  *rna_end_##item = item ? item + (count) : NULL;          \
	     item < rna_end_##item; item++)

/* Searches by an index, whose name the caller gives and uses in the condition. */
#define RNA_ANY(index, count, ...)                                                                 \
	({                                                                                         \
		bool rna_any_ = false;                                                             \
                                                                                                   \
		for (size_t index = 0; !rna_any_ && index < (count); index++)                      \
			rna_any_ = (__VA_ARGS__);                                                  \
		rna_any_;                                                                          \
	})

#define RNA_ALL(index, count, ...) (!RNA_ANY(index, count, !(__VA_ARGS__)))

#define RNA_COUNT(index, count, ...)                                                               \
	({                                                                                         \
		size_t rna_count_ = 0;                                                             \
                                                                                                   \
		for (size_t index = 0; index < (count); index++)                                   \
			rna_count_ += (__VA_ARGS__) ? 1 : 0;                                       \
		rna_count_;                                                                        \
	})

/* The address of the first, or NULL. */
#define RNA_FIND(index, items, count, ...)                                                         \
	({                                                                                         \
		__typeof__((items)[0]) *rna_found_ = NULL;                                         \
                                                                                                   \
		for (size_t index = 0; !rna_found_ && index < (count); index++)                    \
			rna_found_ = (__VA_ARGS__) ? &(items)[index] : NULL;                       \
		rna_found_;                                                                        \
	})

/* Our free functions return NULL; the attribute needs a function of the variable's address. */
#define RNA_DEFINE_CLEANUP(type, free_fn)                                                          \
	static inline void free_fn##_p(type **p)                                                   \
	{                                                                                          \
		*p = free_fn(*p);                                                                  \
	}

static inline void rna_free_p(void *p)
{
	free(*(void **)p);
}

static inline void rna_close_p(const int *fd)
{
	if (*fd >= 0)
		(void)close(*fd); /* read-only descriptors: nothing to lose */
}

static inline void rna_closedir_p(DIR **dir)
{
	if (*dir)
		(void)closedir(*dir);
}

static inline void rna_fclose_p(FILE **file)
{
	if (*file)
		(void)fclose(*file);
}

#define RNA_FREE     RNA_CLEANUP(rna_free_p)
#define RNA_CLOSE    RNA_CLEANUP(rna_close_p)
#define RNA_CLOSEDIR RNA_CLEANUP(rna_closedir_p)
#define RNA_FCLOSE   RNA_CLEANUP(rna_fclose_p)
