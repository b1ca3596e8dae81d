#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check-pages.py BINARY - the man pages that the agent writes: form and completeness.

man(1) must format them without a warning, and what is on the screen afterwards must name every
row of the tables that they are written from.
"""
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


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    binary = sys.argv[1]
    if not shutil.which("man"):
        print("man pages are not checked: there is no man")
        return 0
    problems = [
        *check_page(binary, "man", first_column(binary, "commands") + options(binary)),
        *check_page(binary, "man-config", first_column(binary, "settings")),
    ]
    print("\n".join(problems) if problems else "man pages: ok")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
