/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cleanup attributes. A local variable that owns something carries one; the last lines of its
 * function hand it over with RNA_TAKE().
 */
#pragma once

#include <dirent.h>
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
