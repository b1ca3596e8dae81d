/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory of a module: which ranges to read, and how to parse them. Pure functions of the bytes,
 * which module.c reads.
 */
#pragma once

#include "rna/model/module.h"

#include "backend/ethtool.h"

/* Parts of the memory, 128 bytes each; offsets in the upper half of a page start at 128. */
enum rna_module_place {
	RNA_MODULE_PLACE_LOWER,
	RNA_MODULE_PLACE_PAGE_00,
	RNA_MODULE_PLACE_PAGE_01,
	RNA_MODULE_PLACE_PAGE_02,
	RNA_MODULE_PLACE_PAGE_03,
	RNA_MODULE_PLACE_PAGE_11,
	RNA_MODULE_PLACE_DIAGNOSTICS, /* of SFP: a separate memory at I2C address 0x51 */
	RNA_MODULE_PLACE_COUNT,
};

/* The bytes read so far. Zeroed: none. */
struct rna_module_memory {
	uint8_t bytes[RNA_MODULE_PLACE_COUNT][128];
	bool known[RNA_MODULE_PLACE_COUNT][128];
};

enum rna_module_kind {
	RNA_MODULE_KIND_UNKNOWN,
	RNA_MODULE_KIND_SFF_8636,
	RNA_MODULE_KIND_SFF_8472,
	RNA_MODULE_KIND_CMIS,
};

/* One range, read by one request. */
struct rna_module_range {
	enum rna_module_kind kind; /* UNKNOWN: the first range, which has the kind */
	const char *name;          /* name of the file in a recording */
	enum rna_module_place place;
	uint8_t offset; /* as in ethtool: from 128 in the upper half */
	uint8_t length;
	bool monitors; /* only if rna_module_has_monitors() */
	bool serial;   /* only on demand */
};

extern const struct rna_module_range rna_module_ranges[];
extern const size_t rna_module_range_count;

/* Page and I2C address of a place for ethtool. */
uint8_t rna_module_page(enum rna_module_place place);
uint8_t rna_module_address(enum rna_module_place place);

/* Stores the bytes of an answer to MODULE_EEPROM_GET for that range. 0 or -EBADMSG. */
int rna_module_take(struct rna_bytes message, const struct rna_ethtool_question *question,
		    const struct rna_module_range *range, struct rna_module_memory *memory);

enum rna_module_kind rna_module_kind(const struct rna_module_memory *memory);

/* Does the module have measurements? Passive cables and modules with only one page do not. */
bool rna_module_has_monitors(const struct rna_module_memory *memory);

/* Parses the memory read so far; strings are in arena. 0 or -ENOMEM. */
int rna_module_read(const struct rna_module_memory *memory, struct rna_arena *arena,
		    struct rna_port_module *ret);
