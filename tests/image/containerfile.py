# SPDX-License-Identifier: Apache-2.0
"""Follows a Containerfile without a registry: each stage is a Debian that mmdebstrap made, in a
folder, and RUN runs in it with chroot. It supports the instructions that ours uses and rejects
others."""
import json
import os
import re
import shlex
import shutil
import subprocess

RELEASE = "bookworm"
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
IN_ROOT = "mount -t proc proc proc && mount --rbind /dev dev && exec chroot \"$@\""


class Mistake(Exception):
    """An instruction that cannot be followed."""


class Image:
    """The file system of a stage, and what it says of how to run it."""

    def __init__(self, root):
        self.root, self.user, self.labels = root, "0:0", {}
        self.entrypoint, self.command = [], []

    def inside(self, path):
        return os.path.join(self.root, path.lstrip("/"))

    def start(self, command, user=None, **options):
        """A process in it, which sees /proc and /dev; its mounts end with it."""
        environment = {"PATH": PATH, "HOME": "/", "DEBIAN_FRONTEND": "noninteractive"}
        return subprocess.Popen(
            ["unshare", "--mount", "sh", "-c", IN_ROOT, "sh", f"--userspec={user or self.user}", ".",
             *command], cwd=self.root, env=environment, **options)

    def run(self, command, user=None):
        """What it printed; Mistake when it fails."""
        process = self.start(command, user, text=True, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT)
        output = process.communicate()[0]
        if process.returncode:
            raise Mistake(f"{shlex.join(command)}: status {process.returncode}\n{output}")
        return output


def instructions(text):
    """(word, rest) of each instruction."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    joined = "\n".join(lines).replace("\\\n", " ")
    return [tuple(line.split(None, 1)) for line in joined.splitlines() if line.strip()]


def copy(source, target):
    """A file or the content of a folder, as COPY does it."""
    if os.path.isdir(source):
        shutil.copytree(source, target, symlinks=True, dirs_exist_ok=True)
    else:
        os.makedirs(target if target.endswith("/") else os.path.dirname(target), exist_ok=True)
        shutil.copy(source, target)


class Builder:
    """Makes the images of all stages, in the order of the file."""

    def __init__(self, base, context, directory):
        self.base, self.context, self.directory = base, context, directory
        self.stages, self.image, self.arguments = {}, None, {}

    def begin(self, rest):
        """FROM ${DEBIAN} [AS name]: any of Debian's images is what mmdebstrap makes."""
        source, name = re.fullmatch(r"(\S+)(?: AS (\S+))?", rest).groups()
        source = re.sub(r"\$\{(\w+)\}", lambda match: self.arguments[match[1]], source)
        if not re.fullmatch(r"(.*/)?debian:12-slim", source):
            raise Mistake(f"FROM {source}: only Debian 12 can be made here")
        name = name or f"stage-{len(self.stages)}"
        root = os.path.join(self.directory, name)
        os.mkdir(root)
        subprocess.run(["tar", "-xf", self.base, "-C", root, "--exclude=./dev/*"], check=True)
        self.image = self.stages[name] = Image(root)

    def copy(self, rest):
        *sources, target = rest.split()
        origin = re.fullmatch(r"--from=(\S+)", sources[0])
        for source in sources[1:] if origin else sources:
            path = (self.stages[origin[1]].inside(source) if origin
                    else os.path.join(self.context, source))
            copy(path, self.image.inside(target))

    def follow(self, word, rest):
        if word == "ARG":
            self.arguments.update([rest.split("=", 1)])
        elif word == "FROM":
            self.begin(rest)
        elif word == "RUN":
            self.image.run(["/bin/sh", "-c", rest], user="0:0")
        elif word == "COPY":
            self.copy(rest)
        elif word == "LABEL":
            self.image.labels.update(part.split("=", 1) for part in shlex.split(rest))
        elif word == "USER":
            self.image.user = rest
        elif word == "ENTRYPOINT":
            self.image.entrypoint = json.loads(rest)
        elif word == "CMD":
            self.image.command = json.loads(rest)
        elif word != "EXPOSE":  # which says something to people only
            raise Mistake(f"{word}: not known here")

    def build(self, path):
        """The image of the last stage."""
        with open(path, encoding="utf-8") as file:
            for word, rest in instructions(file.read()):
                self.follow(word, rest.strip())
        return self.image


def make_base(path):
    subprocess.run(["mmdebstrap", "--quiet", "--variant=minbase", RELEASE, path], check=True)
