/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Profiles: what a node must have. A file has several, each with the nodes that it is for (match).
 *
 * A number that a profile does not demand is absent, a text NULL, a list empty. Everything lies in
 * the arena of its struct rna_profiles and is const once it has been read. profiles.md describes
 * the format, profile_rows.c is the table of its keys.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rna/base/arena.h"
#include "rna/base/schema.h"
#include "rna/base/strbuf.h"
#include "rna/model/device.h"
#include "rna/model/value.h"

enum {
	RNA_PROFILE_VERSION = 1,
	RNA_PROFILE_BYTES_MAX = 256 * 1024, /* of a file */
	RNA_PROFILES_MAX = 256,             /* in a file */
	RNA_PROFILE_DEVICES_MAX = 64,       /* entries of a profile: bits of a uint64_t */
	RNA_PROFILE_TEXT_MAX = 128,         /* characters of a glob */
};

/*
 * A model of NIC or GPU: a PCI vendor and device, "15b3:1021". "MT4129" is the same: mlx5 makes it
 * from the PCI device, hca_type_show() in drivers/infiniband/hw/mlx5/main.c, Linux 5.0 and later.
 * Any other text (vendor_id 0) is a glob of hca_type, for devices with an RDMA device only.
 */
struct rna_profile_model {
	const char *text; /* NULL: none is demanded */
	uint32_t vendor_id;
	uint32_t device_id;
};

struct rna_profile_list {
	size_t count;
	const void *items;
};

/* So many functions of that model, or at least so many. */
struct rna_profile_nics {
	struct rna_profile_model model;
	uint64_t count;
	bool at_least;
};

/* The nodes that a profile is for: all that is given must hold. */
struct rna_profile_match {
	const char *vendor; /* globs of DMI sys_vendor, product_name and board_name */
	const char *product;
	const char *board;
	const char *asset_tag; /* of DMI chassis_asset_tag */
	struct rna_value gpus;
	struct rna_profile_list gpu_models; /* struct rna_profile_model: every GPU is one of them */
	struct rna_profile_list nics;       /* struct rna_profile_nics */
	const char *label;                  /* of the Kubernetes Node: "KEY" or "KEY=VALUE" */
};

struct rna_profile_node {
	struct rna_value gpus;
	struct rna_value gpus_per_nic;   /* of each NIC that serves GPUs */
	struct rna_profile_list modules; /* const char *: "a" or "a|b": one of them is loaded */
	struct rna_profile_list rails;   /* const char *: PCI addresses of NICs, by rail */
	struct rna_value acs;            /* 1: ACS redirects on the paths of NICs, 0: nowhere */
	struct rna_value iommu;   /* 1: it translates the addresses of NICs or GPUs, 0: of none */
	const char *cpu_governor; /* glob of the frequency governor of all CPUs */
};

/* What the physical functions must be that have this model and name. */
struct rna_profile_device {
	struct rna_profile_model model;
	const char *name;   /* glob of device, interface or PCI address; NULL: any */
	const char *called; /* glob of the RDMA device's name; NULL: any */
	struct rna_value count;
	struct rna_value ports_up;
	struct rna_value link_layer; /* enum rna_link_layer */
	struct rna_value rate;       /* bytes per second */
	struct rna_value lanes;
	struct rna_value pcie_generation;
	struct rna_value pcie_lanes;
	struct rna_value mtu; /* active MTU of RDMA */
	struct rna_value netdev_mtu;
	const char *firmware;          /* "28.39.1002" or ">= 28.39.1002" */
	struct rna_profile_list pkeys; /* uint16_t, with the membership bit */
	struct rna_value lid;          /* 1: each active InfiniBand port has one */
	struct rna_value virtual_functions;
	struct rna_value max_read_request; /* bytes */
	const char *driver_version;        /* as firmware */
	/* const char *: globs, one of which fits what the module of each port states */
	struct rna_profile_list module_vendors;
	struct rna_profile_list module_part_numbers;
};

struct rna_profile {
	const char *name;
	size_t line;        /* in its file */
	bool draft;         /* made of a node: what only some sites demand is written as comments */
	const char *source; /* the document that it rests on; NULL: none is named */
	struct rna_profile_match match;
	struct rna_profile_node node;
	size_t device_count;
	const struct rna_profile_device *devices;
};

struct rna_profiles {
	struct rna_arena *arena; /* owns this struct and all that it points to */
	const char *path;        /* of the file, or "shipped" */
	size_t count;
	const struct rna_profile *items;
};

/*
 * Reads a file, or a text in memory that errors call name. 0, or negative errno with error:
 * "FILE:LINE: ..." and what is allowed; rest (may be NULL) has further mistakes. Waits for the
 * disk.
 */
int rna_profiles_read(const char *path, struct rna_profiles **ret, struct rna_mistakes *rest,
		      struct rna_error *error);
int rna_profiles_parse(const char *name, const char *text, size_t len, struct rna_profiles **ret,
		       struct rna_mistakes *rest, struct rna_error *error);
struct rna_profiles *rna_profiles_free(struct rna_profiles *profiles); /* accepts NULL */
RNA_DEFINE_CLEANUP(struct rna_profiles, rna_profiles_free)

/*
 * The profiles that the program contains: shipped/ in this folder. 0, or negative errno with error.
 */
int rna_profiles_shipped(struct rna_profiles **ret, struct rna_error *error);

/* The files of shipped/, made at build time by embed.py; a NULL name ends the list. */
struct rna_profile_text {
	const char *name, *text;
	size_t len;
};
extern const struct rna_profile_text rna_profile_texts[];

/* Writes a profile as a file of its own; a test reads it again. */
void rna_profile_write(const struct rna_profile *profile, struct rna_strbuf *out);

/* Is text a model, and which? Texts of ret are those of text. */
bool rna_profile_model_parse(const char *text, struct rna_profile_model *ret);
/* hca_type: NULL: unknown */
bool rna_profile_model_fits(const struct rna_profile_model *model, uint32_t vendor_id,
			    uint32_t device_id, const char *hca_type);

/* Does that version satisfy "VERSION" or ">= VERSION"? */
bool rna_profile_version_fits(const char *wanted, const char *version);
