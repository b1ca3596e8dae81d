// SPDX-License-Identifier: Apache-2.0
/* PCI configuration space: two lists of capabilities, PCI Express Base Specification 7.5.1, 7.6. */
#include "pci_config.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "rna/base/cleanup.h"

enum {
	VENDOR = 0x00, /* all ones: the function does not respond */
	STATUS = 0x06,
	STATUS_CAPABILITIES = 0x10,
	FIRST_CAPABILITY = 0x34,
	HEADER_END = 0x40,  /* end of what unprivileged processes may read */
	EXTENDED = 0x100,   /* start of extended capabilities */
	SPACE_END = 0x1000, /* end of configuration space */
	ID_EXPRESS = 0x10,
	ID_ACS = 0x0d,
	EXPRESS_FLAGS = 0x02,
	EXPRESS_DEVICE_CONTROL = 0x08,
	CONTROL_RELAXED_ORDERING = 0x10, /* Enable Relaxed Ordering, 7.5.3.4 */
	ACS_CONTROL = 0x06,
	ACS_REQUEST_REDIRECT = 0x04,
	ACS_COMPLETION_REDIRECT = 0x08,
	ACS_DIRECT_TRANSLATED = 0x40,
	HOPS_MAX = 48, /* number of capabilities that fit; a longer list is a loop */
	EXTENDED_HOPS_MAX = (SPACE_END - EXTENDED) / 8,
};

/* Reads size bytes at offset, little-endian. False: not present or not permitted. */
static bool read_register(int fd, unsigned offset, size_t size, uint32_t *ret)
{
	uint8_t bytes[4];

	if (pread(fd, bytes, size, offset) != (ssize_t)size)
		return false;
	*ret = 0;
	for (size_t i = 0; i < size; i++)
		*ret |= (uint32_t)bytes[i] << (8 * i);
	return true;
}

/* Offset of the PCI Express capability; 0: none visible. */
static unsigned find_express(int fd)
{
	uint32_t status, entry;

	if (!read_register(fd, STATUS, 2, &status) || !(status & STATUS_CAPABILITIES) ||
	    !read_register(fd, FIRST_CAPABILITY, 1, &entry))
		return 0;
	for (unsigned i = 0; i < HOPS_MAX && entry >= 0x40; i++) {
		unsigned offset = entry & 0xfc;

		if (!read_register(fd, offset, 2, &entry))
			return 0;
		if ((entry & 0xff) == ID_EXPRESS)
			return offset;
		entry >>= 8;
	}
	return 0;
}

static unsigned find_acs(int fd)
{
	unsigned offset = EXTENDED;
	uint32_t header;

	for (unsigned i = 0; i < EXTENDED_HOPS_MAX && offset >= EXTENDED; i++) {
		if (!read_register(fd, offset, 4, &header) || header == 0 || header == UINT32_MAX)
			return 0;
		if ((header & 0xffff) == ID_ACS)
			return offset;
		offset = header >> 20 & 0xffc;
	}
	return 0;
}

static void read_express(int fd, unsigned express, struct rna_pci_config *ret)
{
	uint32_t flags, control;

	if (read_register(fd, express + EXPRESS_FLAGS, 2, &flags))
		ret->type = flags >> 4 & 0xf;
	if (!read_register(fd, express + EXPRESS_DEVICE_CONTROL, 2, &control))
		return;
	ret->relaxed_ordering = rna_value_ok((control & CONTROL_RELAXED_ORDERING) != 0);
	control = control >> 12 & 7;
	if (control <= 5) /* 128 to 4096 bytes; higher codes are reserved */
		ret->max_read_request = rna_value_ok(UINT64_C(128) << control);
}

static int open_config(const struct rna_root *root, const char *directory)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/config", directory) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	return rna_root_openat(root, path, O_RDONLY | O_NONBLOCK);
}

enum rna_pci_role rna_pci_port_role(int type, bool has_link, enum rna_pci_role above)
{
	switch (type) {
	case RNA_PCI_PORT_ROOT:
		return RNA_PCI_ROOT_PORT;
	case RNA_PCI_PORT_UPSTREAM:
		return RNA_PCI_UPSTREAM;
	case RNA_PCI_PORT_DOWNSTREAM:
		return RNA_PCI_DOWNSTREAM;
	case RNA_PCI_PORT_UNKNOWN:
		break;
	default: /* bridges between PCI Express and PCI */
		return RNA_PCI_BRIDGE;
	}
	if (!has_link)
		return RNA_PCI_BRIDGE;
	switch (above) {
	case RNA_PCI_HOST_BRIDGE:
		return RNA_PCI_ROOT_PORT;
	case RNA_PCI_ROOT_PORT:
	case RNA_PCI_DOWNSTREAM:
		return RNA_PCI_UPSTREAM;
	case RNA_PCI_UPSTREAM:
		return RNA_PCI_DOWNSTREAM;
	default:
		return RNA_PCI_BRIDGE;
	}
}

/*
 * Direct Translated P2P lets requests with translated addresses pass in spite of Request Redirect
 * (7.7.8.3). The kernel does not set it by itself (pci_std_enable_acs(), 6.12): a host of virtual
 * machines has it where devices translate by ATS (compute_acs() in kernel-boot/rdma_topo of
 * rdma-core, 691953d8d, "1x111x1").
 */
static bool redirects(uint32_t control)
{
	return (control & (ACS_REQUEST_REDIRECT | ACS_COMPLETION_REDIRECT)) &&
	       !(control & ACS_DIRECT_TRANSLATED);
}

int rna_pci_config_read(const struct rna_root *root, const char *directory,
			struct rna_pci_config *ret)
{
	RNA_CLOSE int fd = open_config(root, directory);
	unsigned express, acs;
	uint32_t vendor, control;

	*ret = (struct rna_pci_config){.type = RNA_PCI_PORT_UNKNOWN};
	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	if (!read_register(fd, VENDOR, 2, &vendor))
		return 0;
	ret->silent = vendor == 0xffff;
	if (ret->silent)
		return -EIO;
	express = find_express(fd);
	if (express == 0)
		return 0;
	read_express(fd, express, ret);
	acs = find_acs(fd);
	if (acs > 0 && read_register(fd, acs + ACS_CONTROL, 2, &control))
		ret->acs_redirect = rna_value_ok(redirects(control));
	return 0;
}

/* The inverse of the decoding in read_express(). */
static uint8_t read_request_code(struct rna_value bytes)
{
	uint8_t code = 0;

	while (code < 5 && UINT64_C(128) << code < bytes.number)
		code++;
	return code;
}

ssize_t rna_pci_config_excerpt(const struct rna_root *root, const char *directory,
			       uint8_t ret[RNA_PCI_CONFIG_EXCERPT])
{
	enum { EXPRESS = HEADER_END };
	RNA_CLOSE int fd = open_config(root, directory);
	struct rna_pci_config config;

	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	/* Ignore the error: a function that does not respond has only the header. */
	(void)rna_pci_config_read(root, directory, &config);
	memset(ret, 0, RNA_PCI_CONFIG_EXCERPT);
	if (pread(fd, ret, HEADER_END, 0) != HEADER_END)
		return 0;
	if (config.type == RNA_PCI_PORT_UNKNOWN)
		return HEADER_END;
	ret[STATUS] |= STATUS_CAPABILITIES;
	ret[FIRST_CAPABILITY] = EXPRESS;
	ret[EXPRESS] = ID_EXPRESS;
	ret[EXPRESS + EXPRESS_FLAGS] = (uint8_t)(config.type << 4);
	if (config.relaxed_ordering.number)
		ret[EXPRESS + EXPRESS_DEVICE_CONTROL] = CONTROL_RELAXED_ORDERING;
	ret[EXPRESS + EXPRESS_DEVICE_CONTROL + 1] =
		(uint8_t)(read_request_code(config.max_read_request) << 4);
	if (!rna_value_is_known(config.acs_redirect))
		return EXTENDED;
	ret[EXTENDED] = ID_ACS;
	ret[EXTENDED + ACS_CONTROL] = config.acs_redirect.number ? ACS_REQUEST_REDIRECT : 0;
	return RNA_PCI_CONFIG_EXCERPT;
}
