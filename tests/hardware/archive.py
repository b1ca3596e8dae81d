# SPDX-License-Identifier: Apache-2.0
"""The archive: a recording of the node, the outputs of the tools and the rows, all disguised."""
import io
import os
import platform
import re
import tarfile

from tools import NotTried

TOP = "rdma-proof"
VERSIONS = (("ibstat", "-V"), ("rdma", "-V"), ("ethtool", "--version"), ("dcb", "-V"),
            ("lspci", "--version"), ("lstopo-no-graphics", "--version"),
            ("ib_write_bw", "--version"), ("mlxlink", "--version"), ("ofed_info", "-s"))


def table(rows):
    """Tab-separated, with a heading."""
    lines = ["verdict\ttool\tobject\tname\ttool says\tagent says"]
    for row in rows:
        columns = row.verdict, row.tool, row.thing, row.name, row.theirs, row.ours
        lines.append("\t".join(map(str, columns)))
    return "\n".join(lines) + "\n"


def line_of(command):
    """Programs by their names: where they are may tell of whom they are."""
    return " ".join([os.path.basename(command[0]), *map(str, command[1:])])


def commands(runs):
    """All that ran, in order."""
    return "".join(f"{run.seconds:.3f} s, {run.outcome()}: {line_of(run.command)}\n"
                   for run in runs)


def outputs(runs):
    """{file: what one command wrote}"""
    found = {}
    for number, run in enumerate(runs):
        if (run.output or run.errors) and not os.path.isabs(run.command[0]):  # the agent's are apart
            name = re.sub(r"[^\w.-]+", "_", line_of(run.command))[:100]
            found[f"tools/{number:04d}-{name}"] = run.output + run.errors
    return found


def versions(proof):
    lines = [f"Linux {platform.release()} {platform.machine()}",
             f"Python {platform.python_version()}",
             proof.tools.read("/etc/os-release") or ""]
    for command in (("rdma-node-agent", "--version"), *VERSIONS):
        program = proof.binary if command[0] == "rdma-node-agent" else command[0]
        try:
            text = proof.tools.run(program, *command[1:])
        except NotTried as error:
            text = str(error)
        lines.append(f"{command[0]}: {text.strip().splitlines()[0] if text.strip() else 'nothing'}")
    return "\n".join(lines) + "\n"


def plain(member):
    """Without the user and the times of this node."""
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    member.mtime = 0
    return member


def write(path, recording, disguise, texts):
    with tarfile.open(path, "w:gz") as tar:
        tar.add(recording, f"{TOP}/recording", filter=plain)
        for name, text in texts.items():
            data = disguise.text(text).encode()
            member = plain(tarfile.TarInfo(f"{TOP}/{disguise.text(name)}"))
            member.size, member.mode = len(data), 0o644
            tar.addfile(member, io.BytesIO(data))
