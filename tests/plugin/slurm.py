# SPDX-License-Identifier: Apache-2.0
"""A Slurm of one node on loopback: munged, slurmctld and slurmd, as the user who runs the tests."""
import getpass
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile

from agent import PATIENCE, free_port, wait
from nodes import SHIPPED

PROGRAMS = ("munged", "slurmctld", "slurmd", "scontrol", "sbatch")
PATH = f"/usr/sbin:/usr/bin:/sbin:/bin:{os.environ.get('PATH', '')}"
NODE = "node1"
# What is not of interest here, or would need rights, cgroups or a database.
PLAIN = """
AuthType=auth/munge
CredType=cred/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/linear
SwitchType=switch/none
MpiDefault=none
ReturnToService=1
SchedulerParameters=batch_sched_delay=0
"""


def missing():
    """The programs that are not installed."""
    return [name for name in PROGRAMS if not shutil.which(name, path=PATH)]


class Slurm:
    """with Slurm(check, HealthCheckProgram=True) as slurm: check is the command of the script."""

    def __init__(self, check, health=False, prolog=False):
        self.directory = tempfile.mkdtemp(prefix="rna-slurm-")
        self.processes, self.runs = [], f"{self.directory}/runs"
        self.config = f"{self.directory}/slurm.conf"
        self.environment = {**os.environ, "PATH": PATH, "SLURM_CONF": self.config}
        self.write_script(check)
        self.write_config(health, prolog)

    def path(self, name):
        return f"{self.directory}/{name}"

    def write_script(self, check):
        """What a site would write to set the environment. It counts its runs."""
        with open(self.path("health"), "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\nexport SLURM_CONF={self.config} RDMA_CHECK='{' '.join(check)}' "
                       f"RDMA_PATIENCE=50 RDMA_BOOT_TIME=0\nsh {SHIPPED}/slurm-health\nstatus=$?\n"
                       f"echo run >>{self.runs}\nexit $status\n")
        os.chmod(self.path("health"), 0o755)

    def write_config(self, health, prolog):
        for name in "state", "spool":
            os.mkdir(self.path(name))
        user, host = getpass.getuser(), socket.gethostname().split(".")[0]
        lines = [PLAIN, "ClusterName=rdma", f"SlurmctldHost={host}(127.0.0.1)",
                 f"SlurmctldPort={free_port()}", f"SlurmdPort={free_port()}", f"SlurmUser={user}",
                 f"SlurmdUser={user}", f"AuthInfo=socket={self.path('munge')}",
                 f"StateSaveLocation={self.path('state')}", f"SlurmdSpoolDir={self.path('spool')}",
                 f"NodeName={NODE} NodeHostname={host} NodeAddr=127.0.0.1 State=UNKNOWN",
                 f"PartitionName=all Nodes={NODE} Default=YES State=UP"]
        lines += [f"{name}PidFile={self.path(name)}.pid" for name in ("Slurmctld", "Slurmd")]
        lines += [f"{name}LogFile={self.path(name)}.log" for name in ("Slurmctld", "Slurmd")]
        if health:
            lines += [f"HealthCheckProgram={self.path('health')}", "HealthCheckInterval=1"]
        if prolog:
            lines += [f"Prolog={self.path('health')}"]
        with open(self.config, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")

    def start(self, *command):
        with open(self.path("output"), "ab") as output:
            self.processes.append(subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output,
                                                   stderr=output, env=self.environment))

    def __enter__(self):
        os.chmod(self.directory, 0o755)
        with open(self.path("key"), "wb") as file:
            os.fchmod(file.fileno(), 0o400)
            file.write(os.urandom(1024))
        try:
            self.start("munged", "--foreground", "--force", f"--key-file={self.path('key')}",
                       f"--socket={self.path('munge')}", f"--pid-file={self.path('munged.pid')}",
                       f"--log-file={self.path('munged.log')}", f"--seed-file={self.path('seed')}")
            wait("munge", lambda: os.path.exists(self.path("munge")))
            self.start("slurmctld", "-D", "-c", "-f", self.config)
            wait("slurmctld", lambda: self.ask("ping").returncode == 0)
            self.start("slurmd", "-D", "-f", self.config)
            wait(f"slurmd: {self.logs()}", lambda: "IDLE" in self.state() or "DRAIN" in self.state())
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, *_):
        for process in reversed(self.processes):
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        shutil.rmtree(self.directory, ignore_errors=True)

    def logs(self):
        text = ""
        for name in "output", "Slurmctld.log", "Slurmd.log":
            if os.path.exists(self.path(name)):
                with open(self.path(name), encoding="utf-8", errors="replace") as file:
                    text += f"{name}: {file.read()[-2000:]}\n"
        return text

    # -- What an administrator does ---------------------------------------------------------------

    def run(self, *command):
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              stdin=subprocess.DEVNULL, env=self.environment, timeout=PATIENCE,
                              check=False)

    def ask(self, *arguments):
        return self.run("scontrol", *arguments)

    def do(self, *arguments):
        done = self.ask(*arguments)
        assert done.returncode == 0, f"{arguments}: {done.stderr}"

    def update(self, **fields):
        self.do("update", f"NodeName={NODE}", *(f"{name}={text}" for name, text in fields.items()))

    def field(self, name):
        match = re.search(rf"^ *{name}=(.*)$", self.ask("show", "node", NODE).stdout, re.M)
        return match[1] if match else ""

    def state(self):
        return self.field("State").split(" ")[0]

    def reason(self):
        """Without the user and the time that Slurm adds."""
        return self.field("Reason").split(" [")[0]

    def is_drained(self):
        return "DRAIN" in self.state()

    def count_runs(self):
        if not os.path.exists(self.runs):
            return 0
        with open(self.runs, encoding="utf-8") as file:
            return len(file.readlines())

    def wait_runs(self, count):
        """Waits until so many runs of the script have begun and ended."""
        end = self.count_runs() + count + 1  # one may have begun before
        wait("runs of the health check", lambda: self.count_runs() >= end)
