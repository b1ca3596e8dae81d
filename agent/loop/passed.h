/* SPDX-License-Identifier: Apache-2.0 */
/* Sockets that the service manager opened for us (socket activation, systemd.socket(5)). */
#pragma once

#include <stddef.h>

#include "rna/base/error.h"

struct rna_passed {
	size_t count; /* 0: none were passed */
	int *sockets; /* listening, non-blocking */
};

/*
 * Takes what sd_listen_fds(3) finds and clears the environment, so that no child believes the
 * sockets to be its own. To be called once. 0, or negative errno with error for a descriptor that
 * is no listening stream socket.
 */
int rna_passed_take(struct rna_passed *ret, struct rna_error *error);
void rna_passed_close(struct rna_passed *passed); /* idempotent, fine on a zeroed struct */
