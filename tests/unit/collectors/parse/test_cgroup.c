// SPDX-License-Identifier: Apache-2.0
/* parse/cgroup: groups as kubelets, container runtimes, slurmstepd and systemd name them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "rna/base/cleanup.h"

#include "parse/cgroup.h"

#define UID  "0a1b2c3d-0000-4000-8000-00000000beef"
#define UID_ "0a1b2c3d_0000_4000_8000_00000000beef" /* in a slice, where a dash is a level */
#define HASH "0123456789abcdef0123456789abcdef"
#define ID   HASH HASH
#define ID_2 "ff" HASH "23456789abcdef0123456789abcdef"

static const struct {
	const char *text;
	struct rna_cgroup_owner owner;
} rows[] = {
	/* the kubelet with the systemd driver: containerd, CRI-O with crun, Docker */
	{"0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" UID_
	 ".slice/cri-containerd-" ID ".scope",
	 {.pod = UID, .container = ID}},
	{"0::/kubepods.slice/kubepods-pod" UID_ ".slice/crio-" ID ".scope/container",
	 {.pod = UID, .container = ID}},
	{"0::/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" HASH
	 ".slice/docker-" ID ".scope",
	 {.pod = HASH, .container = ID}},
	/* below another group: kind, and a reader in a cgroup namespace of its own */
	{"0::/system.slice/docker-" ID_2 ".scope/kubelet.slice/kubelet-kubepods.slice/"
	 "kubelet-kubepods-pod" UID_ ".slice/cri-containerd-" ID ".scope",
	 {.pod = UID, .container = ID}},
	{"0::/../../kubepods-pod" UID_ ".slice/cri-containerd-" ID ".scope",
	 {.pod = UID, .container = ID}},
	/* with the cgroupfs driver, and what containerd makes of a slice without SystemdCgroup */
	{"0::/kubepods/burstable/pod" UID "/" ID, {.pod = UID, .container = ID}},
	{"11:memory:/kubepods/pod" UID "/" ID "\n1:name=systemd:/kubepods/pod" UID "/" ID "\n0::/",
	 {.pod = UID, .container = ID}},
	{"0::/system.slice/containerd.service/kubepods-burstable-pod" UID_
	 ".slice:cri-containerd:" ID,
	 {.pod = UID, .container = ID}},
	/* without Kubernetes */
	{"0::/system.slice/docker-" ID ".scope", {.container = ID}},
	{"4:memory:/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" UID_
	 ".slice/cri-containerd-" ID ".scope\n1:name=systemd:/kubepods.slice/"
	 "kubepods-burstable.slice/kubepods-burstable-pod" UID_ ".slice/cri-containerd-" ID
	 ".scope",
	 {.pod = UID, .container = ID}},
	{"1:name=systemd:/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" UID_
	 ".slice/crio-" ID ".scope",
	 {.pod = UID, .container = ID}},
	{"3:cpuset:/machine.slice/libpod-" ID ".scope\n1:name=systemd:/machine.slice/libpod-" ID
	 ".scope",
	 {.container = ID}},
	{"9:blkio:/docker/" ID "\n0::/system.slice/containerd.service", {.container = ID}},
	{"0::/machine.slice/libpod-" ID ".scope/container", {.container = ID}},
	/* Slurm: cgroup v2, with several daemons on the node, and v1 */
	{"0::/system.slice/slurmstepd.scope/job_4711/step_0/user/task_0", {.job = "4711"}},
	{"0::/system.slice/node7_slurmstepd.scope/job_12/step_batch/user/task_special",
	 {.job = "12"}},
	{"8:memory:/slurm/uid_1000/job_4711/step_0/task_0\n"
	 "1:name=systemd:/system.slice/slurmd.service",
	 {.job = "4711"}},
	{"8:freezer:/slurm_node7/uid_1000/job_4711/step_extern", {.job = "4711"}},
	/* slurmd in a pod */
	{"0::/kubepods.slice/kubepods-pod" UID_ ".slice/cri-containerd-" ID
	 ".scope/system.slice/slurmstepd.scope/job_5/step_0/user/task_0",
	 {.pod = UID, .container = ID, .job = "5"}},
	/* groups that a user, or a tenant in a pod, can make */
	{"0::/user.slice/user-1000.slice/user@1000.service/kubepods.slice/kubepods-pod" UID_
	 ".slice/cri-containerd-" ID ".scope",
	 {.unit = "cri-containerd-" ID ".scope"}},
	{"0::/user.slice/user-1000.slice/user@1000.service/slurmstepd.scope/job_4711",
	 {.unit = "slurmstepd.scope"}},
	{"0::/kubepods.slice/kubepods-pod" UID_ ".slice/cri-containerd-" ID
	 ".scope/kubepods.slice/kubepods-pod" HASH ".slice/cri-containerd-" ID_2 ".scope",
	 {.pod = UID, .container = ID}},
	/* systemd */
	{"0::/system.slice/nvmet.service", {.unit = "nvmet.service"}},
	{"0::/user.slice/user-1000.slice/session-3.scope", {.unit = "session-3.scope"}},
	{"0::/user.slice/user-1000.slice/user@1000.service/app.slice/bench.service",
	 {.unit = "bench.service"}},
	{"0::/system.slice/system-dbus\\x2d:1.3\\x2dorg.x.slice/dbus-:1.3-org.x@0.service",
	 {.unit = "dbus-:1.3-org.x@0.service"}},
	{"5:memory:/system.slice/other.service\n1:name=systemd:/system.slice/own.service",
	 {.unit = "own.service"}},
	/* none of them */
	{"0::/", {0}},
	{"0::/init.scope/", {.unit = "init.scope"}},
	{"", {0}},
	{"no line of this kind", {0}},
	{"0:/", {0}},
	{"0::/a/job_4711", {0}}, /* not below Slurm */
	/* a job has a number, of digits or letters */
	{"0::/system.slice/slurmstepd.scope/job_", {.unit = "slurmstepd.scope"}},
	{"0::/system.slice/slurmstepd.scope/job_1;rm", {.unit = "slurmstepd.scope"}},
	{"0::/kubepods/podless/" HASH, {0}},
	{"0::/kubepods-pod.slice/pod.slice/-.slice/pod/.slice/.scope", {0}},
	{"0::/" ID "0", {0}},
};

static void expect(const char *text, const char *name, const char *found, const char *wanted)
{
	if ((!found) != (!wanted) || (found && strcmp(found, wanted) != 0))
		fail_msg("%s: %s is %s, not %s", text, name, found ? found : "none",
			 wanted ? wanted : "none");
}

static void test_owners(void **state)
{
	(void)state;
	for (size_t i = 0; i < RNA_ARRAY_SIZE(rows); i++) {
		RNA_FREE char *text = strdup(rows[i].text);
		struct rna_cgroup_owner owner;

		assert_non_null(text);
		rna_cgroup_read(text, &owner);
		expect(rows[i].text, "pod", owner.pod, rows[i].owner.pod);
		expect(rows[i].text, "container", owner.container, rows[i].owner.container);
		expect(rows[i].text, "job", owner.job, rows[i].owner.job);
		expect(rows[i].text, "unit", owner.unit, rows[i].owner.unit);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_owners)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
