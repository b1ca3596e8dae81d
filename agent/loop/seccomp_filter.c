// SPDX-License-Identifier: Apache-2.0
#include "seccomp_filter.h"

#include <errno.h>
#include <string.h>

#include "rna/base/cleanup.h"
#include "rna/base/file.h"

#include "agent_config.h"

#if HAVE_SECCOMP
#include <seccomp.h>

#endif

enum { STATUS_MAX = 16 * 1024 };

static bool installed;

/* proc(5); a kernel without filters has no such line. */
static bool has_filter(void)
{
	RNA_STRBUF struct rna_strbuf text = RNA_STRBUF_INIT;
	struct rna_error error;

	return rna_file_read("/proc/self/status", STATUS_MAX, &text, &error) == 0 && text.data &&
	       strstr(text.data, "\nSeccomp:\t2\n");
}

const char *rna_seccomp_state(void)
{
	if (installed)
		return "own";
	return has_filter() ? "inherited" : "none";
}

#if HAVE_SECCOMP

static void release(scmp_filter_ctx *filter)
{
	if (*filter)
		seccomp_release(*filter);
}

/* Names that this architecture, or this libseccomp, does not have cannot be called by number
 * either. */
static int add(scmp_filter_ctx filter, uint32_t action, const char *const *names)
{
	for (; *names; names++) {
		int number = seccomp_syscall_resolve_name(*names);
		int ret = number < 0 ? 0 : seccomp_rule_add(filter, action, number, 0);

		if (ret < 0)
			return ret;
	}
	return 0;
}

/* LeakSanitizer stops the threads of its process by it, to look for pointers. */
static int allow_sanitizer(scmp_filter_ctx filter)
{
#if RNA_SANITIZED
	static const char *const needed[] = {"ptrace", NULL};

	return add(filter, SCMP_ACT_ALLOW, needed);
#else
	(void)filter;
	return 0;
#endif
}

static int load(void)
{
	RNA_CLEANUP(release) scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(ENOSYS));
	int ret;

	if (!filter)
		return -ENOMEM;
	/* An older kernel walks the rules at each call; the tree is for that one. */
	(void)seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	(void)seccomp_attr_set(filter, SCMP_FLTATR_CTL_LOG, 1);
	(void)seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
	ret = seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1);
	if (ret >= 0)
		ret = add(filter, SCMP_ACT_ALLOW, rna_seccomp_allowed);
	if (ret >= 0)
		ret = add(filter, SCMP_ACT_ERRNO(EPERM), rna_seccomp_refused);
	if (ret >= 0)
		ret = allow_sanitizer(filter);
	if (ret >= 0)
		ret = add(filter, SCMP_ACT_KILL_PROCESS, rna_seccomp_hostile);
	return ret < 0 ? ret : seccomp_load(filter);
}

bool rna_seccomp_confine_prober(void)
{
	static const char *const *const lists[] = {rna_seccomp_refused, rna_seccomp_hostile,
						   rna_seccomp_prober_refused};
	RNA_CLEANUP(release) scmp_filter_ctx filter = NULL;
	int ret;

	(void)seccomp_api_set(1); /* by prctl(2): an inherited filter refuses seccomp(2) */
	filter = seccomp_init(SCMP_ACT_ALLOW);
	ret = filter ? 0 : -ENOMEM;
	for (size_t i = 0; ret == 0 && i < RNA_ARRAY_SIZE(lists); i++)
		ret = add(filter, SCMP_ACT_ERRNO(EPERM), lists[i]);
	return ret == 0 && seccomp_load(filter) == 0;
}

#else

bool rna_seccomp_confine_prober(void)
{
	return false;
}

static int load(void)
{
	return -EOPNOTSUPP;
}

#endif

bool rna_seccomp_is_wanted(enum rna_seccomp_mode mode)
{
	switch (mode) {
	case RNA_SECCOMP_ON:
		return true;
	case RNA_SECCOMP_AUTO:
		return HAVE_SECCOMP && !has_filter();
	default:
		return false;
	}
}

int rna_seccomp_install(struct rna_error *error)
{
	int ret = load();

	if (ret < 0)
		return rna_error_set(error, ret, "security.seccomp: cannot filter system calls%s",
				     HAVE_SECCOMP ? "" : ", this program has no libseccomp");
	installed = true;
	return 0;
}
