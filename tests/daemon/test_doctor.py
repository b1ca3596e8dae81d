# SPDX-License-Identifier: Apache-2.0
"""doctor: what this machine allows, with rights that it gives and takes away.

Each need has a case in which it is there and one in which it is lost; those of devices are in
tests/vm/suite-doctor. A case that this machine cannot show is skipped.
"""
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest

import agent as agent_module
from agent import PATIENCE, TESTS
from test_package import can_mount

PLAIN = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--bounding-set=-all"]
REFUSE = os.path.join(TESTS, "vm", "refuse")

# With a mount namespace: SCRIPT, and then the command.
APART = ["unshare", "-m", "sh", "-ec"]


def works(*command):
    return shutil.which(command[0]) and \
        subprocess.run([*command, "true"], capture_output=True, check=False).returncode == 0


def apart(script):
    return [*APART, f'{script}\nexec "$@"', "sh"]


@unittest.skipUnless(os.geteuid() == 0 and can_mount(), "takes root and a mount namespace")
class Doctor(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix="rna-doctor-")
        self.addCleanup(shutil.rmtree, self.directory)
        os.chmod(self.directory, 0o755)
        # a user without rights may not look into a checkout below /root
        self.binary = shutil.copy(agent_module.binary, self.directory)

    def run_doctor(self, wrapper, settings, *options):
        config = os.path.join(self.directory, "config.yaml")
        with open(config, "w", encoding="utf-8") as file:
            json.dump(settings, file)
        return subprocess.run([*wrapper, self.binary, "doctor", "--config", config, *options],
                              capture_output=True, text=True, timeout=PATIENCE, check=False)

    def examine(self, wrapper=(), settings=None):
        """({need: its row}, the document)"""
        done = self.run_doctor(wrapper, settings or {}, "--json")
        self.assertEqual(done.stderr, "")
        document = json.loads(done.stdout)
        needs = {need["name"]: need for need in document["needs"]}
        bad = [name for name, need in needs.items() if need["state"] in ("lost", "unknown")]
        self.assertEqual(done.returncode, 1 if bad else 0)
        self.assertEqual(document["lost"] + document["unknown"], len(bad))
        return needs, document

    def expect(self, state, name, wrapper=(), settings=None):
        needs, _ = self.examine(wrapper, settings)
        self.assertEqual(needs[name]["state"], state, needs[name])
        return needs[name]

    # -- Sockets, and rights to them ---------------------------------------------------------------

    def test_sockets(self):
        needs, _ = self.examine()
        without, _ = self.examine([REFUSE, "socket", "--"])
        for name in ("events", "ethtool", "transceivers"):
            self.assertEqual(needs[name]["state"], "ok", needs[name])
            self.assertEqual(without[name]["state"], "lost", without[name])
            self.assertIn("Operation not permitted", without[name]["text"])

    def test_transceivers_take_a_capability(self):
        self.assertIn("Operation not permitted", self.expect("lost", "transceivers", PLAIN)["text"])
        self.expect("ok", "ethtool", PLAIN)

    def test_a_user_namespace_has_no_rights_to_the_network_of_the_node(self):
        if not works("unshare", "-U", "-r"):
            self.skipTest("no user namespace to be had")
        needs, document = self.examine(["unshare", "-U", "-r"])
        self.assertEqual(document["process"]["capabilities"], "all")
        self.assertEqual(document["process"]["user_namespace"], "its own, not that of the node")
        self.assertEqual(needs["transceivers"]["state"], "lost")

    def test_lldpd_that_hangs_costs_its_row_only(self):
        path = "/run/lldpd.socket"
        if os.path.exists(path) or not os.path.exists(self.liblldpctl()):
            self.skipTest("lldpd runs here, or its library is missing")
        needs, _ = self.examine()
        self.assertEqual(needs["lldpd"]["state"], "unused")
        server = socket.socket(socket.AF_UNIX)
        self.addCleanup(os.unlink, path)
        self.addCleanup(server.close)
        server.bind(path)
        server.listen()
        needs, _ = self.examine(settings={"poll": {"deadline": "300ms", "handover": "100ms"}})
        self.assertEqual(needs["lldpd"]["state"], "unknown")
        self.assertEqual(needs["lldpd"]["text"], "no answer within 300 ms")
        self.assertEqual(needs["seccomp"]["state"], "ok")
        os.chmod(path, 0o600)
        self.expect("lost", "lldpd", PLAIN)

    @staticmethod
    def liblldpctl():
        found = subprocess.run(["ldconfig", "-p"], capture_output=True, text=True, check=False)
        return next((line.split()[-1] for line in found.stdout.splitlines()
                     if "liblldpctl.so.4 " in line), "/nowhere")

    # -- The log, and other processes --------------------------------------------------------------

    def test_kernel_log(self):
        self.expect("lost", "kernel-log", PLAIN)
        self.expect("unused", "kernel-log", PLAIN, {"kernel_log": {"source": "off"}})
        if not os.path.exists("/dev/kmsg"):
            self.skipTest("no /dev/kmsg here")
        self.expect("ok", "kernel-log")
        lost = self.expect("lost", "kernel-log", PLAIN, {"kernel_log": {"source": "kmsg"}})
        self.assertNotIn("journal", lost["text"])

    def test_users(self):
        settings = {"metrics": {"users": True}}
        self.expect("unused", "users", ["unshare", "-p", "-f", "--mount-proc"])
        self.expect("lost", "users", ["unshare", "-p", "-f", "--mount-proc"], settings)
        _, document = self.examine()
        if document["process"]["pid_namespace"] != "that of the node":
            self.skipTest("the PID namespace is not that of the node")
        self.expect("ok", "users", settings=settings)

    def test_namespaces(self):
        settings = {"follow": {"enabled": True}}
        self.expect("unused", "namespaces", PLAIN)
        # zombies of its own user have no namespace that it could read
        zombies = [sys.executable, "-c", """if True:
            import os, sys
            for _ in range(200):
                os.fork() or os._exit(0)
            os.execvp(sys.argv[1], sys.argv[1:])
            """]
        lost = self.expect("lost", "namespaces", [*PLAIN, *zombies], settings)
        _, document = self.examine()
        if document["process"]["pid_namespace"] != "that of the node":
            self.skipTest("the PID namespace is not that of the node")
        self.assertIn("are closed to it", lost["text"])
        self.expect("ok", "namespaces", settings=settings)

    def test_names_of_pods(self):
        settings = {"metrics": {"users": True}}
        logs = apart("mount -t tmpfs none /var/log; mkdir /var/log/containers")
        closed = apart("mount -t tmpfs none /var/log; mkdir -m 700 /var/log/containers")
        self.expect("ok", "pod-names", logs, settings)
        self.expect("lost", "pod-names", [*closed, *PLAIN], settings)
        self.expect("unused", "pod-names", apart("mount -t tmpfs none /var/log"), settings)

    def test_pod_resources(self):
        place = "/var/lib/kubelet/device-plugins"
        script = f"mount -t tmpfs none /var/lib; mkdir -p {place};" \
            f'echo "{{}}" >{place}/kubelet_internal_checkpoint;' \
            f"chmod 600 {place}/kubelet_internal_checkpoint"
        self.expect("ok", "pod-resources", apart(script))
        self.expect("optional", "pod-resources", [*apart(script), *PLAIN])
        self.expect("unused", "pod-resources", apart("mount -t tmpfs none /var/lib"))

    # -- What the agent takes for itself -----------------------------------------------------------

    def test_locked_memory(self):
        if not works("prlimit", "--memlock=65536"):
            self.skipTest("no prlimit")
        if agent_module.Agent.is_sanitized():
            self.skipTest("with a sanitizer, mlock() does nothing and succeeds")
        little = ["prlimit", "--memlock=65536"]
        self.expect("ok", "locked-memory", little)
        self.expect("lost", "locked-memory", [*little, *PLAIN])
        self.expect("unused", "locked-memory", [*little, *PLAIN], {"selftest": {"enabled": False}})
        probe = {"enabled": True, "members_dns": "agents.example", "secret_file": "/etc/hostname"}
        self.expect("lost", "locked-memory", [*little, *PLAIN],
                    {"selftest": {"enabled": False}, "probe": probe})
        self.expect("ok", "locked-memory", ["prlimit", "--memlock=65536:8388608", *PLAIN])

    def test_directories(self):
        state, run = f"{self.directory}/state", f"{self.directory}/run"
        settings = {"state": {"directory": state}, "control": {"socket": f"{run}/control.sock"}}
        for name in ("state-directory", "control-socket"):
            with self.subTest(name):  # one that can be made, and one that cannot
                self.expect("ok", name, settings=settings)
                lost = self.expect("lost", name, PLAIN, settings)
                self.assertIn("does not exist and cannot be made", lost["text"])
        self.assertEqual(sorted(os.listdir(self.directory)), ["config.yaml", "rdma-node-agent"])
        for path in (state, run):
            os.mkdir(path, 0o700)
            os.chown(path, 65534, 65534)
        needs, _ = self.examine(PLAIN, settings)
        read_only, _ = self.examine(
            [*apart(f"mount --bind {self.directory} {self.directory};"
                    f"mount -o remount,bind,ro {self.directory}"), *PLAIN], settings)
        for name in ("state-directory", "control-socket"):
            self.assertEqual(needs[name]["state"], "ok")
            self.assertEqual(read_only[name]["state"], "lost")
            self.assertIn("Read-only file system", read_only[name]["text"])
        needs, _ = self.examine(PLAIN, {"state": {"directory": ""}, "control": {"socket": ""}})
        self.assertEqual(needs["state-directory"]["state"], "unused")
        self.assertEqual(needs["control-socket"]["state"], "unused")

    def test_secret_of_probes(self):
        secret = f"{self.directory}/secret"
        settings = {"probe": {"enabled": True, "members_dns": "agents.example",
                              "secret_file": secret}}
        self.expect("unused", "probe-secret")
        lost = self.expect("lost", "probe-secret", settings=settings)
        self.assertIn(f"{secret}: cannot open: No such file or directory", lost["text"])
        with open(secret, "w", encoding="utf-8") as file:
            file.write("0123456789abcdef" * 4 + "\n")
        for mode, text in ((0o604, "chmod o="), (0o600, "Permission denied")):
            os.chmod(secret, mode)
            lost = self.expect("lost", "probe-secret", PLAIN, settings)
            self.assertIn(text, lost["text"])
        self.expect("ok", "probe-secret", settings=settings)
        with open(secret, "w", encoding="utf-8") as file:
            file.write("a secret that a person has typed: not good enough\n")
        lost = self.expect("lost", "probe-secret", settings=settings)
        self.assertIn("openssl rand -hex 32", lost["text"])

    def test_leaves_of_probes(self):
        probe = {"enabled": True, "members_dns": "agents.example", "secret_file": "/etc/hostname"}
        self.expect("unused", "probe-leaf")
        lost = self.expect("lost", "probe-leaf", apart("mount -t tmpfs none /run"),
                           {"probe": probe})
        self.assertIn("neither probe.leaf, InfiniBand, lldpd, a label of the Node nor a list",
                      lost["text"])
        found = self.expect("ok", "probe-leaf", settings={"probe": {**probe, "leaf": ["a=b"]}})
        self.assertIn("probe.leaf names those of 1 devices", found["text"])
        found = self.expect("ok", "probe-leaf", settings={
            "probe": probe, "kubernetes": {"backend": "api", "node_name": "n1"}})
        self.assertIn("the Node's label fabric.topograph.run/tier-0 names them", found["text"])

    def test_priority_of_probes(self):
        probe = {"enabled": True, "members_dns": "agents.example", "secret_file": "/etc/hostname"}
        plain = ["prlimit", "--rtprio=0", "--nice=0", *PLAIN]
        self.expect("unused", "probe-priority", plain)
        none = self.expect("optional", "probe-priority", plain, {"probe": probe})
        self.assertIn("neither real time nor a nice value of -10 is allowed", none["text"])
        self.assertEqual(none["profile"], "priority")

    def test_kubernetes(self):
        settings = {"kubernetes": {"backend": "both", "nfd_directory": self.directory,
                                   "kubeconfig": f"{self.directory}/kubeconfig"}}
        needs, _ = self.examine(settings=settings)
        self.assertEqual(needs["api-access"]["state"], "lost")
        self.assertEqual(needs["feature-directory"]["state"], "ok")
        with open(f"{self.directory}/kubeconfig", "w", encoding="utf-8") as file:
            json.dump({"current-context": "a", "contexts": [
                {"name": "a", "context": {"cluster": "b", "user": "c"}}],
                       "clusters": [{"name": "b", "cluster": {"server": "https://127.0.0.1:1"}}],
                       "users": [{"name": "c", "user": {"token": "t"}}]}, file)
        lost = self.expect("lost", "api-access", settings=settings)
        self.assertIn("the name of this Node is not known", lost["text"])
        settings["kubernetes"]["node_name"] = "node17"
        self.expect("ok", "api-access", settings=settings)
        os.chmod(f"{self.directory}/kubeconfig", 0o600)
        self.assertIn("Permission denied",
                      self.expect("lost", "api-access", PLAIN, settings)["text"])
        self.expect("lost", "feature-directory", PLAIN, settings)

    def test_seccomp(self):
        self.expect("ok", "seccomp")
        inherited = self.expect("ok", "seccomp", [REFUSE, "mbind", "--"])
        self.assertIn("is in force", inherited["text"])
        refused = [REFUSE, "seccomp", "prctl", "--"]
        self.expect("lost", "seccomp", refused, {"security": {"seccomp": "on"}})
        self.expect("ok", "seccomp", settings={"security": {"seccomp": "off"}})

    # -- Facts -------------------------------------------------------------------------------------

    def test_facts(self):
        _, document = self.examine()
        self.assertEqual(document["process"]["kernel"], os.uname().release)
        self.assertTrue(document["process"]["user"].startswith("0, group 0"))
        _, document = self.examine(PLAIN)
        self.assertEqual(document["process"]["user"], "65534, group 65534")
        self.assertEqual(document["process"]["capabilities"], "none")

    def test_network_namespace(self):
        _, document = self.examine()
        if document["process"]["network_namespace"] != "that of process 1":
            self.skipTest("it is not known here, or another one")
        _, document = self.examine(["unshare", "-n"])
        self.assertEqual(document["process"]["network_namespace"], "another than that of process 1")

    def test_sysfs(self):
        _, document = self.examine(apart("mount -o remount,bind,ro /sys"))
        self.assertEqual(document["process"]["sysfs"], "read-only, which is enough")

    def test_no_control_groups(self):
        """A kernel without them has no such file; /proc is that of the mount namespace."""
        empty = apart("mount -t tmpfs none /mnt; : >/mnt/none; mount --bind /mnt/none /proc/$$/cgroup")
        _, document = self.examine(empty)
        self.assertEqual(document["process"]["control_groups"], "none")

    def test_notify(self):
        _, document = self.examine()
        self.assertIn("NOTIFY_SOCKET is not set", document["process"]["service_manager"])

    # -- The table ---------------------------------------------------------------------------------

    def test_what_grants_it_exists(self):
        project = os.path.dirname(TESTS)
        profiles = [name.removesuffix(".conf")
                    for name in os.listdir(f"{project}/systemd/profiles")]
        with open(f"{project}/helm/rdma-node-agent/values.yaml", encoding="utf-8") as file:
            values = re.findall(r"(?m)^(\w+):", file.read())
        needs, _ = self.examine()
        for name, need in needs.items():
            for profile in re.findall(r"[\w-]+", need["profile"] or ""):
                self.assertIn(profile, [*profiles, "or"], name)
            for value in re.findall(r"(\w+)[.\w]*", need["values"] or ""):
                self.assertIn(value, [*values, "and", "or"], name)

    # -- The report --------------------------------------------------------------------------------

    def test_text(self):
        done = self.run_doctor(PLAIN, {})
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r"(?m)^lost      transceivers        .*Operation not permitted$")
        self.assertRegex(done.stdout, r"(?m)^          unit:  profile ethtool$")
        self.assertRegex(done.stdout, r"(?m)^Lost: \d+ of \d+\.$")
        self.assertEqual([line for line in done.stdout.splitlines() if len(line) > 100], [])

    def test_nothing_is_lost(self):
        """On a machine whose devices are excluded from the needs: only they are."""
        done = self.run_doctor((), {})
        lost = [line.split()[1] for line in done.stdout.splitlines() if line.startswith("lost ")]
        self.assertEqual(lost, [] if os.path.isdir("/sys/class/infiniband") else ["devices"])

    def test_invalid_configuration(self):
        self.assertEqual(self.run_doctor((), {"selftest": {"enabled": 7}}).returncode, 2)
