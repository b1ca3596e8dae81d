/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The secret that the agents of a group share, and the key made of it.
 * Source: the file that probe.secret_file names. Thread: any.
 */
#pragma once

#include "rna/base/error.h"
#include "rna/prober.h"

struct rna_probe_secret {
	uint8_t key[RNA_PROBER_KEY_SIZE];
	char check[RNA_PROBER_CHECK_SIZE]; /* "": there is no key */
};

/*
 * path: "": none is set, which is an error. 0, or negative errno with error, which names the file;
 * then there is no key.
 */
int rna_probe_secret_read(struct rna_probe_secret *secret, const char *path,
			  struct rna_error *error);

void rna_probe_secret_clear(struct rna_probe_secret *secret);
