// SPDX-License-Identifier: Apache-2.0
/* Parses the files of readiness: of NVIDIA's driver, of systemd units, and of the kernel. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "rna/base/parse.h"

#include "readiness_sources.h"

enum { UNIT_TEXT_MAX = 32 * 1024 };

/* -- NVIDIA ------------------------------------------------------------------------------------ */

/* "550.54.15": digits and points, at least one point. */
static bool is_version(const char *word, size_t len)
{
	size_t span = strspn(word, "0123456789.");

	return span == len && isdigit((unsigned char)*word) && memchr(word, '.', len);
}

/*
 * "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64 550.54.15 Release Build ..."; without
 * "Open" the modules are proprietary.
 */
void rna_parse_nvidia_version(const char *text, struct rna_arena *arena, struct rna_gpu_driver *ret)
{
	size_t line = strcspn(text, "\n");
	const char *kind = strstr(text, "Kernel Module");

	if (!kind || kind > text + line)
		return;
	ret->open = rna_value_ok(
		memmem(text, line, "Open Kernel Module", sizeof("Open Kernel Module") - 1) != NULL);
	for (const char *word = kind; word < text + line; word += strspn(word, " ")) {
		size_t len = strcspn(word, " \n");

		if (is_version(word, len)) {
			ret->version = rna_arena_printf(arena, "%.*s", (int)len, word);
			return;
		}
		word += len;
	}
}

/* The number after key in text; absent: none. */
static struct rna_value number_behind(const char *text, const char *key)
{
	const char *found = text ? strstr(text, key) : NULL;
	uint64_t number = 0;
	size_t digits;

	if (!found)
		return (struct rna_value){0};
	found += strlen(key);
	digits = strspn(found, "0123456789");
	if (digits == 0 || digits > 10)
		return (struct rna_value){0};
	for (size_t i = 0; i < digits; i++)
		number = number * 10 + (uint64_t)(found[i] - '0');
	return rna_value_ok(number);
}

/*
 * PeerMappingOverride is one of the RegistryDwords: if there are others but not this one, it is 0.
 */
void rna_parse_nvidia_params(const char *text, struct rna_gpu_driver *ret)
{
	const char *words = strstr(text, "RegistryDwords:");

	ret->stream_memops = number_behind(text, "EnableStreamMemOPs: ");
	if (words)
		ret->peer_mapping_override = number_behind(words, "PeerMappingOverride=");
	if (words && !rna_value_is_known(ret->peer_mapping_override))
		ret->peer_mapping_override = rna_value_ok(0);
}

/* -- Units of systemd -------------------------------------------------------------------------- */

const char *const rna_readiness_units[] = {
	"containerd.service", "crio.service",        "docker.service",     "k3s.service",
	"k3s-agent.service",  "rke2-server.service", "rke2-agent.service", NULL,
};

/* A file in an earlier directory hides files of the same name in later ones. */
static const char *const unit_directories[] = {
	"etc/systemd/system",
	"run/systemd/system",
	"usr/lib/systemd/system",
	"lib/systemd/system",
};

int rna_parse_limit(const char *text, uint64_t *ret)
{
	static const char suffixes[] = "KMGT";
	size_t digits = strspn(text, "0123456789"), len = strcspn(text, ":");
	uint64_t number = 0;
	const char *suffix;

	if (len == strlen("infinity") && strncmp(text, "infinity", len) == 0) {
		*ret = RNA_MEMLOCK_INFINITY;
		return 0;
	}
	if (digits == 0 || digits > 19 || len > digits + 1)
		return -EBADMSG;
	for (size_t i = 0; i < digits; i++)
		number = number * 10 + (uint64_t)(text[i] - '0');
	suffix = len > digits ? strchr(suffixes, text[digits]) : NULL;
	if (len > digits && !suffix)
		return -EBADMSG;
	if (suffix &&
	    __builtin_mul_overflow(number, UINT64_C(1024) << 10 * (suffix - suffixes), &number))
		return -EBADMSG;
	*ret = number;
	return 0;
}

/* The last assignment in a file overrides earlier files; an empty value resets it. */
static void take_unit(char *text, struct rna_value *ret)
{
	static const char key[] = "LimitMEMLOCK=";
	char *rest = NULL;

	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		uint64_t limit;

		line += strspn(line, " \t");
		if (strncmp(line, key, sizeof(key) - 1) != 0)
			continue;
		line += sizeof(key) - 1;
		line[strcspn(line, " \t\r")] = '\0';
		*ret = (struct rna_value){0};
		if (*line)
			*ret = rna_parse_limit(line, &limit) == 0 ? rna_value_ok(limit)
								  : rna_value_unreadable();
	}
}

/* 0, or the negative errno of the read. */
static int read_unit(const struct rna_root *root, const char *path, char *text,
		     struct rna_value *ret)
{
	ssize_t len = path ? rna_root_read(root, path, text, UNIT_TEXT_MAX) : -ENOMEM;

	if (len < 0)
		return (int)len;
	take_unit(text, ret);
	return 0;
}

static bool is_hidden(const struct rna_root *root, struct rna_arena *arena, const char *unit,
		      const char *name, size_t directory)
{
	for (size_t i = 0; i < directory; i++) {
		const char *path =
			rna_arena_printf(arena, "%s/%s.d/%s", unit_directories[i], unit, name);

		if (path && rna_root_exists(root, path))
			return true;
	}
	return false;
}

/* Drop-ins are applied in the order of their names, whatever their directory; the last one wins. */
static int read_drop_ins(const struct rna_root *root, const char *unit, struct rna_arena *arena,
			 char *text, struct rna_value *ret)
{
	const char *last = "";

	for (size_t d = 0; d < RNA_ARRAY_SIZE(unit_directories); d++) {
		const char *directory =
			rna_arena_printf(arena, "%s/%s.d", unit_directories[d], unit);
		char **names = NULL;
		ssize_t count = directory ? rna_root_list(root, directory, arena, &names) : -ENOMEM;

		if (count == -ENOMEM)
			return -ENOMEM;
		for (ssize_t i = 0; i < count; i++) {
			struct rna_value own = {0};
			size_t len = strlen(names[i]);

			if (len < 6 || strcmp(names[i] + len - 5, ".conf") != 0 ||
			    strcmp(names[i], last) < 0 || is_hidden(root, arena, unit, names[i], d))
				continue;
			if (read_unit(root, rna_arena_printf(arena, "%s/%s", directory, names[i]),
				      text, &own) == 0 &&
			    own.state != RNA_VALUE_ABSENT) {
				*ret = own;
				last = names[i];
			}
		}
	}
	return 0;
}

int rna_read_memlock(const struct rna_root *root, const char *unit, struct rna_arena *arena,
		     struct rna_value *ret)
{
	RNA_FREE char *text = malloc(UNIT_TEXT_MAX); /* too large to keep between units */
	int status = -ENOENT;

	*ret = (struct rna_value){0};
	if (!text)
		return -ENOMEM;
	for (size_t d = 0; d < RNA_ARRAY_SIZE(unit_directories) && status == -ENOENT; d++)
		status =
			read_unit(root, rna_arena_printf(arena, "%s/%s", unit_directories[d], unit),
				  text, ret);
	if (status == -ENOENT || status == -ENOMEM)
		return status;
	if (status < 0) /* the file exists, but its content is unknown */
		*ret = rna_value_unreadable();
	return read_drop_ins(root, unit, arena, text, ret);
}

/* -- The kernel -------------------------------------------------------------------------------- */

/* The check of RCCL before it uses dma-buf. */
void rna_read_kernel_p2p(const struct rna_root *root, const char *kernel, struct rna_arena *arena,
			 struct rna_gpu_driver *ret)
{
	static const char *const wanted[] = {"CONFIG_DMABUF_MOVE_NOTIFY=y", "CONFIG_PCI_P2PDMA=y"};
	const char *path = kernel ? rna_arena_printf(arena, "boot/config-%s", kernel) : NULL;
	RNA_CLOSE int fd = path ? rna_root_openat(root, path, O_RDONLY | O_NONBLOCK) : -1;
	RNA_FCLOSE FILE *file = fd < 0 ? NULL : fdopen(fd, "re");
	bool found[RNA_ARRAY_SIZE(wanted)] = {false};
	RNA_FREE char *line = NULL;
	size_t size = 0;

	if (!file)
		return;
	fd = -1;
	while (getline(&line, &size, file) > 0)
		for (size_t i = 0; i < RNA_ARRAY_SIZE(wanted); i++)
			found[i] |= strncmp(line, wanted[i], strlen(wanted[i])) == 0;
	ret->missing_option = NULL;
	for (size_t i = RNA_ARRAY_SIZE(wanted); i-- > 0;)
		ret->missing_option = found[i] ? ret->missing_option : wanted[i];
	ret->peer_to_peer = rna_value_ok(!ret->missing_option);
}

/*
 * Names are readable by all users; the file is hidden by ProtectKernelTunables= of systemd, as one
 * that cannot be opened or is empty. "T" is a function that other modules see, "t" another one.
 */
struct rna_value rna_read_kernel_symbol(const struct rna_root *root, const char *name)
{
	RNA_CLOSE int fd = rna_root_openat(root, "proc/kallsyms", O_RDONLY | O_NONBLOCK);
	RNA_FCLOSE FILE *file = fd < 0 ? NULL : fdopen(fd, "re");
	RNA_FREE char *line = NULL;
	size_t size = 0, lines = 0;

	if (!file)
		return fd == -ENOENT ? rna_value_ok(0) : rna_value_unreadable();
	fd = -1;
	for (; getline(&line, &size, file) > 0; lines++) {
		const char *found = strstr(line, name);

		if (found && found - line > 2 && strchr("tT", found[-2]) && found[-1] == ' ')
			return rna_value_ok(1);
	}
	return lines > 0 ? rna_value_ok(0) : rna_value_unreadable();
}
