// SPDX-License-Identifier: Apache-2.0
#include "pci.h"

#include "rna/cleanup.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
	DOMAIN_DIGITS_MIN = 4,
	DOMAIN_DIGITS_MAX = 8, /* 32 bits */
	VPD_MAX = 4096,        /* bytes looked at; that of an HCA has some hundred */
};

/* Behind the domain: ":3b:00.0". */
static bool is_bus_device_function(const char *text)
{
	static const char pattern[] = ":xx:xx.7";

	for (size_t i = 0; i < sizeof(pattern) - 1; i++) {
		bool fits = pattern[i] == 'x'   ? isxdigit((unsigned char)text[i])
			    : pattern[i] == '7' ? text[i] >= '0' && text[i] <= '7'
						: text[i] == pattern[i];

		if (!fits)
			return false;
	}
	return true;
}

bool rna_pci_is_address(const char *text, size_t len)
{
	static const size_t behind_domain = sizeof(":3b:00.0") - 1;
	size_t domain = len > behind_domain ? len - behind_domain : 0;

	if (domain < DOMAIN_DIGITS_MIN || domain > DOMAIN_DIGITS_MAX)
		return false;
	for (size_t i = 0; i < domain; i++)
		if (!isxdigit((unsigned char)text[i]))
			return false;
	return is_bus_device_function(text + domain);
}

const char *rna_pci_find_last(const char *path, size_t *ret_len)
{
	const char *last = NULL;

	while (*path) {
		size_t len = strcspn(path, "/");

		if (rna_pci_is_address(path, len)) {
			last = path;
			*ret_len = len;
		}
		path += len;
		path += strspn(path, "/");
	}
	return last;
}

int rna_pci_find_directory(const struct rna_root *root, const char *sysfs_path,
			   struct rna_arena *arena, char **ret)
{
	const char *path = sysfs_path, *address;
	size_t len;

	address = rna_pci_find_last(path, &len);
	if (!address) {
		const char *link = rna_arena_printf(arena, "%s/device", sysfs_path);

		if (!link)
			return -ENOMEM;
		path = rna_root_realpath(root, link, arena, NULL);
		address = path ? rna_pci_find_last(path, &len) : NULL;
	}
	if (!address)
		return -ENOENT;
	*ret = rna_arena_printf(arena, "%.*s", (int)(address + len - path), path);
	return *ret ? 0 : -ENOMEM;
}

bool rna_pci_is_switch_management(const struct rna_root *root, const char *directory)
{
	static const char mark[] = RNA_PCI_SWITCH_MANAGEMENT_MARK;
	RNA_CLOSE int fd = -1;
	char path[PATH_MAX], vpd[VPD_MAX];
	ssize_t len;

	if (snprintf(path, sizeof(path), "%s/vpd", directory) >= (int)sizeof(path))
		return false;
	fd = rna_root_openat(root, path, O_RDONLY);
	if (fd < 0)
		return false;
	len = pread(fd, vpd, sizeof(vpd), 0);
	return len > 0 && memmem(vpd, (size_t)len, mark, sizeof(mark) - 1);
}
