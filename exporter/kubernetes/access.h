/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the API server is and who we are to it: from the pod's service account, or a kubeconfig.
 * It is read for every round of requests and once more when the server does not accept it, and not
 * kept in between: so a rotated token, certificate or CA is never missed.
 */
#pragma once

#include "rna/base/arena.h"
#include "rna/kubernetes.h"

#define RNA_SERVICE_ACCOUNT "/var/run/secrets/kubernetes.io/serviceaccount"

struct rna_kube_access {
	const char *server;      /* "https://10.96.0.1:443", without a slash at its end */
	const char *authorities; /* PEM; NULL: those that the system trusts */
	const char *token;       /* NULL: none */
	const char *certificate; /* PEM; NULL: none */
	const char *key;
};

/*
 * A number that is another one when other credentials are there, or the files can be read again.
 */
uint64_t rna_kube_access_stamp(const struct rna_kubernetes_options *options);

/* All in arena. 0, or negative errno with error, which names the file and what to do. */
int rna_kube_access_read(const struct rna_kubernetes_options *options, struct rna_arena *arena,
			 struct rna_kube_access *ret, struct rna_error *error);
