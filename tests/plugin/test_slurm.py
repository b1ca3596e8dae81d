# SPDX-License-Identifier: Apache-2.0
"""The shipped script as HealthCheckProgram and as Prolog of a real Slurm."""
import os
import subprocess
import tempfile
import unittest

import slurm
from agent import Agent, wait
from nodes import SHIPPED, break_port, command, heal_port, node
from slurm import NODE, Slurm

OURS = "rdma-node-agent: CRITICAL: mlx5_3/1: "
# A node of a machine of ours; its agent is asked by HTTP.
SETTINGS = ('health: {hold_down: ["*=0s"]}\ncontrol: {socket: ""}\n'
            'expect: {up: ["mlx5_3/1"]}\n')


@unittest.skipIf(slurm.missing(), f"not installed: {' '.join(slurm.missing())}")
class RealSlurm(unittest.TestCase):
    def test_drains_and_resumes(self):
        """By the findings of a running agent, which appear and go."""
        with Agent("hgx-h100-ib") as agent:
            agent.write_config(extra=SETTINGS)
            agent.hang_up()
            wait("the new settings", lambda: "configuration reloaded" in agent.log())
            with Slurm(command("slurm", "--config", agent.config), health=True) as cluster:
                cluster.wait_runs(1)
                self.assertEqual(cluster.state(), "IDLE")
                break_port(agent.root)
                wait("the drain", cluster.is_drained)
                self.assertTrue(cluster.reason().startswith(OURS), cluster.reason())
                heal_port(agent.root)
                wait("the resume", lambda: cluster.state() == "IDLE")

    def test_without_an_agent(self):
        """The script looks by itself, and drains before the first job could start."""
        with node("critical") as root:
            with Slurm(command("slurm", "--root", root), health=True) as cluster:
                wait("the drain", cluster.is_drained)
                self.assertTrue(cluster.reason().startswith(OURS), cluster.reason())
                heal_port(root)
                wait("the resume", lambda: cluster.state() == "IDLE")

    def test_a_drain_of_an_administrator(self):
        with node("ok") as root:
            with Slurm(command("slurm", "--root", root), health=True) as cluster:
                cluster.update(State="DRAIN", Reason="disk sdb")
                cluster.wait_runs(1)
                self.assertEqual((cluster.is_drained(), cluster.reason()), (True, "disk sdb"))
                break_port(root)
                cluster.wait_runs(1)
                self.assertEqual((cluster.is_drained(), cluster.reason()), (True, "disk sdb"))
                cluster.update(State="RESUME")
                wait("the drain by the script",
                     lambda: cluster.is_drained() and cluster.reason().startswith(OURS))
                cluster.update(State="DRAIN", Reason="replace the cable")
                heal_port(root)
                cluster.wait_runs(1)
                self.assertEqual((cluster.is_drained(), cluster.reason()),
                                 (True, "replace the cable"))

    def test_unknown_changes_nothing(self):
        with node("unknown") as root:
            with Slurm(command("slurm", "--root", root), health=True) as cluster:
                cluster.wait_runs(1)
                self.assertEqual(cluster.state(), "IDLE")
                cluster.update(State="DRAIN", Reason=f"{OURS}down")
                cluster.wait_runs(1)
                self.assertEqual((cluster.is_drained(), cluster.reason()), (True, f"{OURS}down"))

    def test_prolog(self):
        """A job on a broken node is requeued; the reason is ours and not "Prolog error"."""
        with node("critical") as root:
            with Slurm(command("slurm", "--root", root), prolog=True) as cluster:
                self.assertEqual(cluster.state(), "IDLE")
                first = self.submit(cluster, "first")
                wait("the drain", cluster.is_drained)
                wait("the job's return to the queue",
                     lambda: "JobState=PENDING" in cluster.ask("show", "job", first).stdout)
                self.assertTrue(cluster.reason().startswith(OURS), cluster.reason())
                self.assertNotIn("ran", self.read(cluster.path("first")))
                heal_port(root)
                subprocess.run([cluster.path("health")], check=True,
                               env={**cluster.environment, "SLURMD_NODENAME": NODE})
                self.assertFalse(cluster.is_drained())
                self.submit(cluster, "second")  # the first one is held, and then delayed by Slurm
                wait("the second job", lambda: "ran\n" in self.read(cluster.path("second")))

    def submit(self, cluster, name):
        """The number of a job that writes to a file of that name."""
        job = cluster.run("sbatch", "--parsable", f"--output={cluster.path(name)}", "--wrap=echo ran")
        self.assertEqual(job.returncode, 0, job.stderr)
        return job.stdout.strip()

    def read(self, path):
        """Slurm may have written there that the Prolog failed."""
        if not os.path.exists(path):
            return ""
        with open(path, encoding="utf-8") as file:
            return file.read()


class Script(unittest.TestCase):
    """The script with a scontrol that shows a node and notes what is asked of it."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="rna-plugin-")
        self.addCleanup(directory.cleanup)
        self.directory = directory.name

    def write(self, name, text):
        with open(f"{self.directory}/{name}", "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\n{text}\n")
        os.chmod(f"{self.directory}/{name}", 0o755)
        return f"{self.directory}/{name}"

    def run_script(self, line, state, reason=None, code=1, **environment):
        """(exit code, what was asked of scontrol other than to show)"""
        shown = f"NodeName=n1\n   State={state} ThreadsPerCore=1\n"
        if reason:
            shown += f"   Reason={reason} [root@2026-11-23T01:00:00]\n"
        with open(f"{self.directory}/shown", "w", encoding="utf-8") as file:
            file.write(shown)
        with open(f"{self.directory}/line", "w", encoding="utf-8") as file:
            file.write(line)
        scontrol = self.write("scontrol", f'case $1 in show) cat {self.directory}/shown ;;\n'
                                          f'*) printf "%s\\n" "$@" >>{self.directory}/asked ;; esac')
        check = self.write("check", f"cat {self.directory}/line\n"
                                    f"grep -q CRITICAL {self.directory}/line && exit {code}\nexit 0")
        done = subprocess.run(["sh", f"{SHIPPED}/slurm-health"], check=False, timeout=100,
                              env={"PATH": os.environ["PATH"], "RDMA_CHECK": check,
                                   "RDMA_SCONTROL": scontrol, "SLURMD_NODENAME": "n1",
                                   "RDMA_BOOT_TIME": "0", **environment})
        asked = f"{self.directory}/asked"
        if not os.path.exists(asked):
            return done.returncode, []
        with open(asked, encoding="utf-8") as file:
            lines = file.read().splitlines()
        os.unlink(asked)
        return done.returncode, lines

    def test_whom_it_touches(self):
        broken, fine = f"{OURS}down $(id) `id` 50%", "rdma-node-agent: OK: 8 of 8 ports up"
        warned = "rdma-node-agent: WARNING: mlx5_3/1: slow"
        unknown = "rdma-node-agent: UNKNOWN: no agent"
        drain = ["update", "NodeName=n1", "State=DRAIN", f"Reason={broken}"]
        resume = ["update", "NodeName=n1", "State=RESUME"]
        for line, state, reason, expected in (
                (broken, "IDLE", None, drain),
                (broken, "ALLOCATED", None, drain),
                (broken, "DOWN*", "Not responding", drain),
                (broken, "DOWN", "bad disk", []),
                (broken, "IDLE+REBOOT_REQUESTED", "new firmware", []),
                (broken, "IDLE", "bad disk", drain),  # resumed; Slurm 24.11 keeps the reason
                (broken, "IDLE+DRAIN", "bad disk", []),
                (broken, "IDLE+DRAIN", "NHC: check_fs", []),
                (broken, "IDLE+DRAIN", None, []),
                (broken, "IDLE+FAIL", None, []),
                (broken, "IDLE+DRAIN", broken, []),  # that is done
                (broken, "IDLE+DRAIN", f"{OURS}another", drain),
                (broken, "IDLE", broken, drain),  # of an earlier drain
                (fine, "IDLE", None, []),
                (fine, "IDLE+DRAIN", f"{OURS}down", resume),
                (fine, "DOWN+DRAIN", f"{OURS}down", resume),
                (warned, "MIXED+DRAIN", f"{OURS}down", resume),
                (fine, "IDLE+DRAIN", "bad disk", []),
                (fine, "IDLE+DRAIN", "see rdma-node-agent: down", []),
                (fine, "IDLE", f"{OURS}down", []),
                (unknown, "IDLE", None, []),
                (unknown, "IDLE+DRAIN", f"{OURS}down", []),
                ("", "IDLE+DRAIN", f"{OURS}down", []),
                ("no such command", "IDLE", None, [])):
            with self.subTest(line=line, state=state, reason=reason):
                self.assertEqual(self.run_script(line, state, reason), (0, expected))

    def test_prolog(self):
        broken = f"{OURS}down"
        self.assertEqual(self.run_script(broken, "IDLE", SLURM_JOB_ID="7"),
                         (1, ["update", "NodeName=n1", "State=DRAIN", f"Reason={broken}"]))
        self.assertEqual(self.run_script(broken, "IDLE+DRAIN", "bad disk", SLURM_JOB_ID="7"), (1, []))
        for line in "rdma-node-agent: OK: fine", "rdma-node-agent: UNKNOWN: no agent", "":
            self.assertEqual(self.run_script(line, "IDLE+DRAIN", broken, SLURM_JOB_ID="7"), (0, []))

    def test_a_cause_elsewhere_drains_nothing(self):
        line = f"{OURS}no subnet manager has configured the port"
        self.assertEqual(self.run_script(line, "IDLE", code=0), (0, []))
        self.assertEqual(self.run_script(line, "IDLE+DRAIN", f"{OURS}down", code=0),
                         (0, ["update", "NodeName=n1", "State=RESUME"]))

    def test_after_boot(self):
        """Ports that are coming up are no findings yet, so a node without findings may be broken."""
        fine, reason = "rdma-node-agent: OK: 8 of 8 ports up", f"{OURS}down"
        self.assertEqual(self.run_script(fine, "IDLE+DRAIN", reason, RDMA_BOOT_TIME="999999999"),
                         (0, []))
        self.assertEqual(self.run_script(reason, "IDLE", RDMA_BOOT_TIME="999999999")[1][2],
                         "State=DRAIN")

    def test_a_slurmctld_that_does_not_answer(self):
        hangs = self.write("hangs", "exec sleep 1000")
        for line in "rdma-node-agent: OK: fine", f"{OURS}down":
            check = self.write("check", f"echo {line!r}\nexit {int('CRITICAL' in line)}")
            done = subprocess.run(["sh", f"{SHIPPED}/slurm-health"], check=False, timeout=100,
                                  env={"PATH": os.environ["PATH"], "RDMA_CHECK": check,
                                       "RDMA_SCONTROL": hangs, "RDMA_PATIENCE": "1"})
            self.assertEqual(done.returncode, 0)
