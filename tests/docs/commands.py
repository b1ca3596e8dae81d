# SPDX-License-Identifier: Apache-2.0
"""Command lines and sample outputs in documents, for check-docs.py.

Each command line in a code block of a document is looked at: those of the program run on a recorded
machine if they only read, and have a command and options that exist otherwise; scripts and files of
the repository exist, suites of ./check as well, and helm's --set names a value.

    <!-- output: MACHINE -->
    a code block with "$ COMMAND" and what it prints on that machine; a last line "..." leaves out
    the rest
    <!-- /output -->
"""
import os
import pathlib
import re
import shlex
import subprocess
import tempfile

import yaml

import pages

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = "rdma-node-agent"
BLOCK = re.compile(r"^ *```(sh|console|)\n(.*?)^ *```$", re.M | re.S)
OUTPUT = re.compile(r"(<!-- output: (\S+) -->\n\n```\n)(.*?)(```\n\n<!-- /output -->)", re.S)
OPERATORS = set("();<>|&\n")
# What stands before a command.
BEFORE = {"sudo", "exec", "if", "then", "do", "!", "time"}
# Commands that read a recording and change nothing, and the machine.
READS = {"check", "collect", "describe", "env", "help", "kube", "nccl", "status", "topology", "version"}
MACHINE = "roce-8rail-gpu"
WITHOUT_ROOT = {"describe", "help", "version"}
SOURCES = re.compile(r"^(agent|collectors|debian|exporter|helm|include|systemd|tests|\.ci)/[\w./-]+$")
FEWEST = 100  # commands that all documents have; with fewer this check is blind


def simple_commands(text):
    """The commands in a code block, each as its words."""
    lexer = shlex.shlex(text.replace("\\\n", " "), posix=True, punctuation_chars="();<>|&\n")
    lexer.whitespace, lexer.whitespace_split = " \t\r", True
    words = []
    for token in [*lexer, "\n"]:
        if set(token) <= OPERATORS and token:
            if words:
                yield words
            words = []
        else:
            words.append(token)


def without_prefix(words):
    """What is run in the end: behind sudo, settings of the environment, or a pod's "--"."""
    if "--" in words and words[0] in ("kubectl", "systemd-run"):
        words = words[words.index("--") + 1:]
    while words and (words[0] in BEFORE or re.match(r"^\w+=", words[0])):
        words = words[1:]
    return words


def command_lines(path):
    """Yields the commands of a document with a part of its text for messages."""
    for kind, text in BLOCK.findall(path.read_text(encoding="utf-8")):
        if kind != "sh":
            text = "\n".join(line[2:] for line in text.splitlines() if line.startswith("$ "))
        try:
            found = list(simple_commands(text))
        except ValueError as error:
            found = []
            yield [], f"{error} in {text.splitlines()[:1]}"
        for words in map(without_prefix, found):
            if words:
                yield words, " ".join(words)


class Machines:
    """Recorded machines, unpacked when first asked for; and the program on one of them."""

    def __init__(self, binary, directory):
        self.binary, self.directory = binary, pathlib.Path(directory)

    def root(self, name):
        place = self.directory / name
        if not place.exists():
            subprocess.run([ROOT / "tests/machines/unpack", name, place], check=True)
        return place

    def shell(self, command, name):
        """What a command line prints where the program reads this machine."""
        folder = self.directory / f"bin-{name}"
        folder.mkdir(exist_ok=True)
        script = folder / PROGRAM
        script.write_text(f'#!/bin/sh\nexec {self.binary} "$@" --root {self.root(name)}\n',
                          encoding="utf-8")
        script.chmod(0o755)
        return subprocess.run(["bash", "-c", command], text=True, check=False, encoding="utf-8",
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60,
                              env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}).stdout

    def run(self, words):
        """The program with these words: status, and what it says."""
        root = [] if words[0] in WITHOUT_ROOT or "--root" in words else ["--root", self.root(MACHINE)]
        done = subprocess.run([self.binary, *words, *root], text=True, check=False, timeout=60,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        return done.returncode, done.stderr


# -- Sample outputs -------------------------------------------------------------------------------

def sample(machines, machine, block):
    """The block as it has to be: as many lines of each output as it shows."""
    lines = []
    for part in re.split(r"^(?=\$ )", block, flags=re.M)[1:]:
        command, *shown = part.splitlines()
        said = machines.shell(command.removeprefix("$ "), machine).splitlines()
        if shown and shown[-1] == "...":
            said = [*said[:len(shown) - 1], "..."]
        lines += [command, *said]
    return "".join(f"{line}\n" for line in lines)


def with_outputs(binary, text):
    """A document with its sample outputs as they have to be."""
    with tempfile.TemporaryDirectory() as directory:
        machines = Machines(binary, directory)
        return OUTPUT.sub(lambda match: match[1] + sample(machines, match[2], match[3]) + match[4], text)


# -- Command lines --------------------------------------------------------------------------------

class Checker:
    def __init__(self, binary, commands, settings, directory):
        self.machines, self.commands, self.settings = Machines(binary, directory), commands, settings
        self.values = yaml.safe_load((ROOT / "helm/rdma-node-agent/values.yaml").read_text(encoding="utf-8"))
        self.suites = set(re.findall(r"^\t(\S+) +(?:default|all|named) ",
                                     (ROOT / "check").read_text(encoding="utf-8"), re.M))
        self.helps = {}

    def help(self, command):
        if command not in self.helps:
            self.helps[command] = subprocess.run([self.machines.binary, "help", command], text=True,
                                                 check=True, stdout=subprocess.PIPE).stdout
        return self.helps[command]

    def program(self, words):
        command = next((word for word in words if not word.startswith("-")), "help")
        if command not in self.commands:
            if re.match(r"^[A-Z]+$", command):  # "rdma-node-agent COMMAND --help"
                return
            yield f"there is no command {command}"
            return
        for word in words:
            option = re.match(r"^(--[a-z-]+)", word)
            if option and option[1] not in ("--help", "--root", "--config") and (
                    not re.search(rf"{option[1]}(?![a-z-])", self.help(command))):
                yield f"{command} has no option {option[1]}"
        elsewhere = any(re.search(r"[A-Z]{3}|\$|^/|--(help|nodes|url|pid|pod)\b", word) for word in words)
        if command in READS and not elsewhere and "apply" not in words and "cleanup" not in words:
            status, said = self.machines.run(words)
            if status == 2 and command != "check" or f"{PROGRAM}: " in said:
                yield f"status {status}: {said}"

    def helm(self, words):
        for option, text in zip(words, words[1:]):
            key = text.partition("=")[0].split(".")
            name = ".".join(key[1:])
            if option == "--set" and (key[0] not in self.values or (
                    key[0] == "config" and name not in self.settings)):
                yield f"there is no value {text}"
            if option == "--values" and not (ROOT / text).exists():
                yield f"there is no file {text}"

    def problems(self, words):
        if os.path.basename(words[0]) == PROGRAM:
            yield from self.program(words[1:])
        elif words[0] == "helm":
            yield from self.helm(words)
        elif words[0] == "./check":
            yield from (f"there is no suite {word}" for word in words[1:]
                        if not word.startswith("-") and word not in self.suites)
        for word in words:
            if SOURCES.match(word) and not (ROOT / word).exists():
                yield f"there is no {word}"


def problems(binary, commands, settings):
    """Yields what is wrong with the command lines of all documents."""
    count = 0
    with tempfile.TemporaryDirectory() as directory:
        checker = Checker(binary, commands, settings, directory)
        for path in pages.documents():
            for words, line in command_lines(path):
                count += 1
                yield from (f"{path.relative_to(ROOT)}: {line}: {text}"
                            for text in (checker.problems(words) if words else ["cannot be read"]))
    if count < FEWEST:
        yield f"only {count} commands in documents were found, of {FEWEST}"
