#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check-pages.py BINARY - the man pages and the completion that the agent writes.

man(1) must format the pages without a warning, and what is on the screen afterwards must name every
row of the tables that they are written from. The completion is tried out in a bash.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

WIDTH = "100"


def describe(binary, topic):
    return subprocess.run([binary, "describe", topic], check=True, text=True,
                          stdout=subprocess.PIPE).stdout


def first_column(binary, topic):
    """The names in the first column of a Markdown table, without operands."""
    return [row.split("|")[1].strip().strip("`").split(" ")[0]
            for row in describe(binary, topic).splitlines()[2:]]


def options(binary):
    """All options of all commands, as help shows them."""
    texts = [subprocess.run([binary, "help", name], check=True, text=True,
                            stdout=subprocess.PIPE).stdout
             for name in first_column(binary, "commands")]
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


def check_page(binary, topic, names):
    """Yields what is wrong with a page that has to name all of names."""
    text, warnings = show(describe(binary, topic))
    if warnings:
        yield f"describe {topic}: {warnings}"
    for name in names:
        if not re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", text):
            yield f"describe {topic}: does not name {name}"


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


def check_completion(binary):
    """Yields each line whose completion is not what it should be."""
    script = describe(binary, "bash-completion")
    with tempfile.TemporaryDirectory() as directory:
        os.mkdir(f"{directory}/a_directory")
        with open(f"{directory}/a b.yaml", "w", encoding="utf-8"):
            pass
        for words, expected in COMPLETIONS.items():
            if expected == "commands":
                expected = first_column(binary, "commands")
            offered = complete(script, words, directory)
            if sorted(offered) != sorted(expected):
                yield f"completion of {' '.join(words)!r}: {offered}, should be {expected}"


def check_pages(binary):
    if not shutil.which("man"):
        print("man pages are not checked: there is no man")
        return
    yield from check_page(binary, "man", first_column(binary, "commands") + options(binary))
    yield from check_page(binary, "man-config", first_column(binary, "settings"))


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    binary = os.path.abspath(sys.argv[1])
    problems = [*check_pages(binary), *check_completion(binary)]
    print("\n".join(problems) if problems else "man pages and completion: ok")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
