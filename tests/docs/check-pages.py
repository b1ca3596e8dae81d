#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check-pages.py BINARY - the man pages and the completion, made from the agent's tables.

man(1) must format the pages without a warning, and the text on the screen must name every row of
the tables that they are made from. The completion is tried out in a bash.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
TEMPLATES = ROOT / "agent/cli/documents"
ROUTES = ROOT / "exporter/http/routes.c"
WIDTH = "100"


def output(*words, **more):
    return subprocess.run(words, check=True, text=True, stdout=subprocess.PIPE, **more).stdout


def fill(name, tables):
    """A page or the completion, as the build makes it."""
    return output(TEMPLATES / "fill.py", TEMPLATES / f"{name}.in", "-", input=tables)


def names(tables, topic, key):
    return [row[key] for row in json.loads(tables)[topic]]


def options(binary, commands):
    """All options of all commands, as help shows them."""
    texts = [output(binary, "help", command) for command in commands]
    return sorted({option for text in texts for option in re.findall(r"^  (--[a-z-]+)", text, re.M)})


def show(page):
    """What man makes of a page, and what it warns of."""
    with tempfile.NamedTemporaryFile("w", suffix=".8", encoding="utf-8") as file:
        file.write(page)
        file.flush()
        done = subprocess.run(["man", "--warnings", "-E", "UTF-8", "-Tutf8", "-P", "cat", "-l",
                               file.name], text=True, encoding="utf-8", capture_output=True,
                              env={"MANWIDTH": WIDTH, "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"},
                              check=False)
    text = re.sub(r"\x1b\[[0-9;]*m|.\x08", "", done.stdout)
    return text, done.stderr + ("" if done.returncode == 0 else f"man: status {done.returncode}")


def check_page(page, tables, wanted):
    """Yields what is wrong with a page that has to name all of wanted."""
    text, warnings = show(fill(page, tables))
    if warnings:
        yield f"{page}: {warnings}"
    for name in wanted:
        if not re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", text):
            yield f"{page}: does not name {name}"


# What stands on the line, the last word being completed -> what is offered.
COMPLETIONS = {
    ("co",): ["collect"],
    ("rec",): ["record"],
    ("",): "commands",
    ("zzz",): [],
    ("--k",): [],
    ("record", "--k"): ["--keep-identity"],
    ("collect", "--f"): ["--format"],
    ("run", "--f"): [],
    ("collect", "--format", ""): ["prometheus", "openmetrics", "json"],
    ("collect", "--format", "=", "j"): ["json"],
    ("collect", "--format", "="): ["prometheus", "openmetrics", "json"],
    ("--root", "/", "st"): ["status"],
    ("--root", "=", "/", "st"): ["status"],
    ("--root", "collect", "st"): ["status"],
    ("help", "des"): ["describe"],
    ("describe", "set"): ["settings"],
    ("version", ""): [],
    ("check-config", "a"): ["a b.yaml", "a_directory"],
    ("--config", "a"): ["a b.yaml", "a_directory"],
    ("--config", "=", "a"): ["a b.yaml", "a_directory"],
    ("topology", "--format", ""): ["text", "json", "dot", "svg"],
    ("topology", "--hwloc-xml", "a"): ["a b.yaml", "a_directory"],
    ("record", "a"): ["a_directory"],
    ("status", "--root", "a"): ["a_directory"],
}
TRY_COMPLETION = """
eval "$COMPLETION"
COMP_WORDS=(rdma-node-agent "$@") COMP_CWORD=$#
_rdma_node_agent
printf '%s\\n' "${COMPREPLY[@]}"
"""


def complete(script, words, directory):
    """What the completion offers for the last of words."""
    done = subprocess.run(["bash", "--norc", "-u", "-c", TRY_COMPLETION, "bash", *words], text=True,
                          env={"COMPLETION": script, "PATH": "/usr/bin:/bin"}, cwd=directory,
                          capture_output=True, check=False)
    if done.returncode or done.stderr:
        return [f"status {done.returncode}: {done.stderr}"]
    return [line for line in done.stdout.splitlines() if line]


def check_completion(tables):
    """Yields each line whose completion is not what it should be."""
    script = fill("rdma-node-agent.bash", tables)
    with tempfile.TemporaryDirectory() as directory:
        os.mkdir(f"{directory}/a_directory")
        with open(f"{directory}/a b.yaml", "w", encoding="utf-8"):
            pass
        for words, expected in COMPLETIONS.items():
            if expected == "commands":
                expected = names(tables, "commands", "name")
            offered = complete(script, words, directory)
            if sorted(offered) != sorted(expected):
                yield f"completion of {' '.join(words)!r}: {offered}, should be {expected}"


def check_pages(binary, tables):
    if not shutil.which("man"):
        print("man pages are not checked: there is no man")
        return
    commands = names(tables, "commands", "name")
    endpoints = re.findall(r'^\t\{"(/[^"]*)"', ROUTES.read_text(encoding="utf-8"), re.M)
    yield from check_page("rdma-node-agent.8", tables,
                          commands + options(binary, commands) + endpoints)
    yield from check_page("rdma-node-agent.yaml.5", tables, names(tables, "settings", "setting"))


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    binary = os.path.abspath(sys.argv[1])
    tables = output(binary, "describe", "json")
    problems = [*check_pages(binary, tables), *check_completion(tables)]
    print("\n".join(problems) if problems else "man pages and completion: ok")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
