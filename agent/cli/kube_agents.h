/* SPDX-License-Identifier: Apache-2.0 */
/* The action agents of the command kube. */
#pragma once

#include "rna/base/error.h"
#include "rna/base/strbuf.h"
#include "rna/kubernetes.h"

/*
 * Asks all agents behind service, "NAMESPACE/NAME", and writes a line for each that is not ready or
 * has no metrics, and one about all. Waits for some seconds if there are none yet. enum rna_exit,
 * or negative errno with error if they cannot be listed.
 */
int rna_kube_check_agents(const struct rna_kubernetes_options *options, const char *service,
			  struct rna_strbuf *out, struct rna_error *error);
