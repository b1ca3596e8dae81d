/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Remedies: what to do about a finding, at the place where it is read. The remedy of a rule, or of
 * a message of the kernel log, is a template. Names of the place are filled in:
 *
 *	{device}     mlx5_0                 else {pci}, or DEVICE
 *	{port}       1                      else PORT
 *	{object}     mlx5_0/1, or mlx5_0    else DEVICE/PORT
 *	{pci}        0000:3b:00.0           else PCI-ADDRESS
 *	{netdev}     enp59s0f0np0           else INTERFACE
 *	{interface}  the bond that {netdev} is a member of, or {netdev} itself
 *	{where}      mlx5_0/1 (PCI 0000:3b:00.0), or as much of it as is known
 *	{driver}     mlx5_core              else DRIVER
 *
 * The words in capitals stand in documents, and where a name is not known. All other placeholders
 * are phrases, whose text depends on the place: the table in remedy.c has them. A rule that names a
 * tool, a part of the hardware or of the fabric does so by a phrase, or behind {provider}.
 */
#pragma once

#include <stdbool.h>

#include "rna/base/strbuf.h"
#include "rna/model/device.h"
#include "rna/model/driver.h"
#include "rna/model/readiness.h"

/* What is true of a place, one bit each. */
enum rna_remedy_trait {
	RNA_REMEDY_RENTED = 1 << 0,  /* cards, cables and switches are the provider's */
	RNA_REMEDY_CLOUD = 1 << 1,   /* an instance of a cloud, also one without a hypervisor */
	RNA_REMEDY_BOARD = 1 << 2,   /* the NIC is soldered to the board: DGX Spark, BlueField */
	RNA_REMEDY_VIRTUAL = 1 << 3, /* a virtual function, on the host or in a guest */
	RNA_REMEDY_REPRESENTOR = 1 << 5, /* the interface stands for a function, not a cable */
	RNA_REMEDY_BONDED = 1 << 6,      /* the interface is a bond or a member of one */
	RNA_REMEDY_INFINIBAND = 1 << 7,
	RNA_REMEDY_ETHERNET = 1 << 8,
	/* Columns of the driver (rna/model/driver.h). */
	RNA_REMEDY_RECOVERS = 1 << 9,
	RNA_REMEDY_FLASHES = 1 << 10,
	RNA_REMEDY_ACTIVATES = 1 << 11,
	RNA_REMEDY_NVIDIA = 1 << 12,
	RNA_REMEDY_DRIVEN = 1 << 13, /* the driver is known */
};

struct rna_remedy_place {
	unsigned traits;
	const struct rna_driver *driver; /* NULL: not known */
	const char *device;              /* NULL, in all of these: not known */
	unsigned port;                   /* 0: not known */
	const char *pci_address;
	const char *netdev;
	const char *interface;
};

/* The node: what firmware and CPUs say of it. readiness: NULL, nothing is known. */
void rna_remedy_place_set_node(struct rna_remedy_place *place,
			       const struct rna_readiness *readiness);
/* driver: NULL, none is known. */
void rna_remedy_place_set_driver(struct rna_remedy_place *place, const struct rna_driver *driver);
void rna_remedy_place_set_function(struct rna_remedy_place *place, enum rna_function function);
void rna_remedy_place_set_link_layer(struct rna_remedy_place *place,
				     enum rna_link_layer link_layer);

/* place: NULL if nothing is known. */
void rna_remedy_write(const char *remedy, const struct rna_remedy_place *place,
		      struct rna_strbuf *out);

/* For tests: the name of each row of phrases, *at: 0 at first. NULL: no further one. */
const char *rna_remedy_next_phrase(size_t *at);

/* The table of rules, places and remedies for the command describe. */
void rna_remedies_describe(struct rna_strbuf *out);
