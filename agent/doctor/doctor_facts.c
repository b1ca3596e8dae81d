// SPDX-License-Identifier: Apache-2.0
#include "doctor_facts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "rna/collector.h"

#include "loop/seccomp_filter.h"

/* PROC_USER_INIT_INO of include/linux/proc_ns.h, Linux 6.1 */
#define FIRST_USER_NAMESPACE "user:[4026531837]"

enum { TEXT_MAX = 16 * 1024 };

struct run {
	const struct rna_root *root;
	struct rna_arena *arena;
	struct rna_doctor_facts *facts;
	bool no_memory;
	char text[TEXT_MAX];
};

/* value: NULL: not known. */
static void add(struct run *run, const char *name, const char *value)
{
	struct rna_doctor_facts *facts = run->facts;

	if (facts->count < RNA_DOCTOR_FACTS_MAX)
		facts->items[facts->count++] = (struct rna_doctor_fact){
			name, value ? rna_arena_keep(run->arena, value, &run->no_memory) : NULL};
}

static void add_text(struct run *run, const char *name, const struct rna_strbuf *value)
{
	run->no_memory |= !rna_strbuf_ok(value);
	add(run, name, value->data);
}

/* The text of a file in run->text; NULL: unreadable. */
static const char *read_file(struct run *run, const char *path)
{
	return rna_root_read(run->root, path, run->text, sizeof(run->text)) < 0 ? NULL : run->text;
}

static const char *read_link(struct run *run, const char *path)
{
	return rna_root_readlink(run->root, path, run->text, sizeof(run->text)) < 0 ? NULL
										    : run->text;
}

/* -- Rights ------------------------------------------------------------------------------------ */

/* In the order of their numbers: include/uapi/linux/capability.h, Linux 5.9 and later. */
static const char *const capabilities[] = {
	"CAP_CHOWN",
	"CAP_DAC_OVERRIDE",
	"CAP_DAC_READ_SEARCH",
	"CAP_FOWNER",
	"CAP_FSETID",
	"CAP_KILL",
	"CAP_SETGID",
	"CAP_SETUID",
	"CAP_SETPCAP",
	"CAP_LINUX_IMMUTABLE",
	"CAP_NET_BIND_SERVICE",
	"CAP_NET_BROADCAST",
	"CAP_NET_ADMIN",
	"CAP_NET_RAW",
	"CAP_IPC_LOCK",
	"CAP_IPC_OWNER",
	"CAP_SYS_MODULE",
	"CAP_SYS_RAWIO",
	"CAP_SYS_CHROOT",
	"CAP_SYS_PTRACE",
	"CAP_SYS_PACCT",
	"CAP_SYS_ADMIN",
	"CAP_SYS_BOOT",
	"CAP_SYS_NICE",
	"CAP_SYS_RESOURCE",
	"CAP_SYS_TIME",
	"CAP_SYS_TTY_CONFIG",
	"CAP_MKNOD",
	"CAP_LEASE",
	"CAP_AUDIT_WRITE",
	"CAP_AUDIT_CONTROL",
	"CAP_SETFCAP",
	"CAP_MAC_OVERRIDE",
	"CAP_MAC_ADMIN",
	"CAP_SYSLOG",
	"CAP_WAKE_ALARM",
	"CAP_BLOCK_SUSPEND",
	"CAP_AUDIT_READ",
	"CAP_PERFMON",
	"CAP_BPF",
	"CAP_CHECKPOINT_RESTORE",
};

static void write_names(uint64_t set, struct rna_strbuf *out)
{
	const char *between = "";

	for (size_t i = 0; i < RNA_ARRAY_SIZE(capabilities); i++) {
		if (!(set >> i & 1))
			continue;
		rna_strbuf_printf(out, "%s%s", between, capabilities[i]);
		between = ", ";
	}
}

/* Root has all, but for some that a container or a unit takes away. */
void rna_doctor_write_capabilities(uint64_t set, struct rna_strbuf *out)
{
	enum { FEW = 8 };
	const uint64_t known = (UINT64_C(1) << RNA_ARRAY_SIZE(capabilities)) - 1;
	const uint64_t missing = known & ~set;

	if (missing == 0 || (set & known) == 0) {
		rna_strbuf_puts(out, missing == 0 ? "all" : "none");
		return;
	}
	if (__builtin_popcountll(missing) <= FEW)
		rna_strbuf_puts(out, "all but ");
	write_names(__builtin_popcountll(missing) <= FEW ? missing : set, out);
}

/* What follows key in text, up to the end of the line; NULL: it is not there. */
static const char *find_line(const char *text, const char *key)
{
	const char *found = text ? strstr(text, key) : NULL;

	return found ? found + strlen(key) + strspn(found + strlen(key), " \t") : NULL;
}

static void add_user(struct run *run)
{
	enum { GROUPS_MAX = 64 };
	RNA_STRBUF struct rna_strbuf user = RNA_STRBUF_INIT;
	gid_t groups[GROUPS_MAX];
	int count = getgroups(GROUPS_MAX, groups);

	rna_strbuf_printf(&user, "%ju, group %ju", (uintmax_t)geteuid(), (uintmax_t)getegid());
	for (int i = 0; i < count; i++)
		if (groups[i] != getegid())
			rna_strbuf_printf(&user, ", %ju", (uintmax_t)groups[i]);
	add_text(run, "user", &user);
}

static void add_rights(struct run *run)
{
	RNA_STRBUF struct rna_strbuf effective = RNA_STRBUF_INIT;
	const char *status = read_file(run, "proc/self/status");
	const char *set = find_line(status, "CapEff:");
	const char *privileges = find_line(status, "NoNewPrivs:");

	if (set)
		rna_doctor_write_capabilities(strtoull(set, NULL, 16), &effective);
	if (set && privileges && *privileges == '1')
		rna_strbuf_puts(&effective, "; no_new_privs");
	add_text(run, "capabilities", &effective);
}

/* -- Namespaces -------------------------------------------------------------------------------- */

/* status: 1: that of the node, 0: another one, negative errno: not known. */
static const char *of_node(int status)
{
	if (status < 0)
		return NULL;
	return status > 0 ? "that of the node" : "its own, not that of the node";
}

static int is_first_user_namespace(struct run *run)
{
	const char *target = read_link(run, "proc/self/ns/user");

	return target ? strcmp(target, FIRST_USER_NAMESPACE) == 0 : -ENOENT;
}

/*
 * Files of /proc/PID/net need no right and have a number of their own in each network namespace,
 * whereas the link /proc/1/ns/net takes CAP_SYS_PTRACE (get_proc_task_net() in fs/proc/proc_net.c,
 * Linux 6.1). It tells something only where process 1 is that of the node.
 */
static const char *network_of_node(struct run *run)
{
	struct stat own, first;
	RNA_CLOSE int own_fd = -1;
	RNA_CLOSE int first_fd = -1;

	if (rna_is_first_pid_namespace(run->root) != 1)
		return NULL;
	own_fd = rna_root_openat(run->root, "proc/self/net/dev", O_RDONLY);
	first_fd = rna_root_openat(run->root, "proc/1/net/dev", O_RDONLY);
	if (own_fd < 0 || first_fd < 0 || fstat(own_fd, &own) < 0 || fstat(first_fd, &first) < 0)
		return NULL;
	return own.st_ino == first.st_ino ? "that of process 1" : "another than that of process 1";
}

static void add_namespaces(struct run *run)
{
	add(run, "pid namespace", of_node(rna_is_first_pid_namespace(run->root)));
	add(run, "user namespace", of_node(is_first_user_namespace(run)));
	add(run, "network namespace", network_of_node(run));
}

/* -- The system -------------------------------------------------------------------------------- */

const char *rna_doctor_cgroup_version(const char *text)
{
	bool old = false, new = false;

	for (const char *line = text; *line; line += *line == '\n') {
		/* "0::/path" is version 2; version 1 has other numbers */
		if (strncmp(line, "0::", strlen("0::")) == 0)
			new = true;
		else if (*line != '\n')
			old = true;
		line += strcspn(line, "\n");
	}
	if (old)
		return new ? "v1 and v2" : "v1";
	return new ? "v2" : NULL;
}

static void add_groups(struct run *run)
{
	const char *text = read_file(run, "proc/self/cgroup");
	const char *version = text ? rna_doctor_cgroup_version(text) : NULL;

	add(run, "control groups", text && !version ? "none" : version);
}

/* The agent writes nothing there. */
static void add_sysfs(struct run *run)
{
	struct statvfs sysfs;
	RNA_CLOSE int fd = rna_root_openat(run->root, "sys", O_RDONLY | O_DIRECTORY);

	if (fd < 0 || fstatvfs(fd, &sysfs) < 0)
		add(run, "/sys", NULL);
	else
		add(run, "/sys",
		    sysfs.f_flag & ST_RDONLY ? "read-only, which is enough" : "writable");
}

/* SELinux and AppArmor: what is on, and what this process is to them. */
static void add_security_module(struct run *run)
{
	RNA_STRBUF struct rna_strbuf value = RNA_STRBUF_INIT;
	const char *text = read_file(run, "sys/fs/selinux/enforce");

	if (text)
		rna_strbuf_printf(&value, "SELinux %s", *text == '1' ? "enforcing" : "permissive");
	text = read_file(run, "sys/module/apparmor/parameters/enabled");
	if (text && *text == 'Y')
		rna_strbuf_printf(&value, "%sAppArmor", value.len > 0 ? ", " : "");
	text = value.len > 0 ? read_file(run, "proc/self/attr/current") : NULL;
	if (text && *text)
		rna_strbuf_printf(&value, ": %s", text);
	if (value.len == 0)
		rna_strbuf_puts(&value, "neither SELinux nor AppArmor is visible");
	add_text(run, "security module", &value);
}

/* sd_notify(3) does nothing without NOTIFY_SOCKET, and the log goes to standard error. */
static void add_manager(struct run *run)
{
	if (getenv("NOTIFY_SOCKET"))
		add(run, "service manager", "gets state and watchdog by NOTIFY_SOCKET");
	else
		add(run, "service manager",
		    "gets no state and no watchdog: NOTIFY_SOCKET is not set");
}

int rna_doctor_read_facts(const struct rna_root *root, struct rna_arena *arena,
			  struct rna_doctor_facts *ret)
{
	struct run run = {.root = root, .arena = arena, .facts = ret};

	*ret = (struct rna_doctor_facts){0};
	add(&run, "kernel", read_file(&run, "proc/sys/kernel/osrelease"));
	if (rna_root_is_live(root)) {
		add_user(&run);
		add_rights(&run);
		add_namespaces(&run);
		add_groups(&run);
		add_sysfs(&run);
		add_security_module(&run);
		add(&run, "system call filter", rna_seccomp_state());
		add_manager(&run);
	}
	return run.no_memory ? -ENOMEM : 0;
}
