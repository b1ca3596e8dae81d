/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Remedies with the names of a node filled in. The remedy of a rule is a template:
 *
 *	{device}     mlx5_0                 else DEVICE
 *	{port}       1                      else PORT
 *	{object}     mlx5_0/1, or mlx5_0    else DEVICE/PORT
 *	{pci}        0000:3b:00.0           else PCI-ADDRESS
 *	{netdev}     enp59s0f0np0           else INTERFACE
 *	{interface}  the bond that {netdev} is a member of, or {netdev} itself
 *
 * The words in capitals stand in documents, and where a name is not known.
 */
#pragma once

#include "rna/base/strbuf.h"

struct rna_remedy_names {
	const char *device; /* NULL, in all of these: not known */
	unsigned port;      /* 0: not known */
	const char *pci_address;
	const char *netdev;
	const char *interface;
};

/* names: NULL if nothing is known. */
void rna_remedy_write(const char *remedy, const struct rna_remedy_names *names,
		      struct rna_strbuf *out);
