# SPDX-License-Identifier: Apache-2.0
"""Nodes in each state, and the command on them."""
import contextlib
import glob
import os
import subprocess
import tempfile
import time

import agent as agent_module
from agent import PATIENCE, TESTS

SHIPPED = f"{TESTS}/../systemd/schedulers"
PORT = "sys/class/infiniband/mlx5_3/ports/1"
EXPECTED = "expected.yaml"  # a configuration, in the root of a node
FORMATS = ("nagios", "slurm", "nhc", "npd", "json")


def unpack(machine, root):
    subprocess.run([f"{TESTS}/machines/unpack", machine, root], check=True)


def write(root, name, text):
    with open(f"{root}/{name}", "w", encoding="utf-8") as file:
        file.write(f"{text}\n")


def break_port(root):
    """What takes the node from its users: a port that is expected to be up (node(), or settings)."""
    write(root, f"{PORT}/state", "1: DOWN")


def heal_port(root):
    write(root, f"{PORT}/state", "4: ACTIVE")


@contextlib.contextmanager
def node(state):
    """The root of a node whose check is ok, warning, critical or unknown."""
    with tempfile.TemporaryDirectory(prefix="rna-plugin-") as root:
        unpack("roce-troubles" if state == "warning" else "hgx-h100-ib", root)
        if state != "warning":
            write(root, EXPECTED, 'expect: {up: ["mlx5_3/1"]}')
        if state == "critical":
            break_port(root)
        if state == "unknown":
            forget_states(root)
        yield root


def state_files(root):
    """Those of the ports, by their own paths."""
    return sorted({os.path.realpath(path)
                   for path in glob.glob(f"{root}/sys/class/infiniband/*/ports/*/state")})


def forget_states(root):
    """No state of a port can be read."""
    for path in state_files(root):
        with open(path, "w", encoding="utf-8") as file:
            file.write("garbage\n")


def command(form, *arguments):
    """Has time on a busy machine, unless arguments say otherwise."""
    return [agent_module.binary, "check", f"--format={form}", "--deadline", f"{PATIENCE // 2}s",
            *arguments, *expecting(arguments)]


def expecting(arguments):
    """The configuration of a node that is the root."""
    root = arguments[arguments.index("--root") + 1] if "--root" in arguments else ""
    config = f"{root}/{EXPECTED}"
    return ["--config", config] if root and os.path.exists(config) else []


def check(*arguments):
    """(exit code, standard output, seconds)"""
    start = time.monotonic()
    done = subprocess.run([agent_module.binary, "check", *arguments], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=PATIENCE, check=False)
    return done.returncode, done.stdout, time.monotonic() - start
