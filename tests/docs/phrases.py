#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""phrases.py - finds phrases that are hard to understand, and prints what to write instead.

phrases.txt has the phrases. Checked are documents as a whole, and comments and strings of sources:
C, Python, shell, YAML, templates. Left out are generated files, recordings, and ALLOWED, which has
the few places where a phrase is right: a quotation, or a term of another project.
"""
import io
import pathlib
import re
import subprocess
import sys
import tokenize

ROOT = pathlib.Path(__file__).resolve().parents[2]
TABLE = ROOT / "tests/docs/phrases.txt"
C_TEXT = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"', re.S)
# Between the words of a phrase: the end of a line, with the marks of a comment or of a string.
BETWEEN = r"(?:\s|\"\s*\n\s*\"|\n\s*(?:\*|//|#)+)+"
LEFT_OUT = re.compile(r"tests/machines/[^/]+/|tests/fuzz/corpus/|tests/docs/phrases\.|LICENSE|"
                      r"helm/rdma-node-agent/README\.md|tests/chart/expected/|debian/copyright|"
                      r".*\.(?:png|json|svg|prom|labels|nccl|env)$")
# A path, and a regular expression for what is allowed there.
ALLOWED = (
    ("tests/compat/trees.py", "somebody"),  # names of files
    ("tests/daemon/test_odd.py", "nobody"),  # the user
    ("tests/daemon/test_web.py", "nobody"),  # the name of a login
    ("tests/vm/suite-selftest", "nobody"),  # the user
)

# What must be found, and what must not: (name, text, number of phrases).
SAMPLES = (
    ("page.md", "The node is told what it is.", 1),
    ("file.c", "/* what the node\n * is\n * told */", 1),
    ("file.c", 'say("the node is "\n    "told");', 1),
    ("file.c", "int nobody = somebody();", 0),
    ("file.py", "# Nobody waits.\nnobody = 1\n", 1),
    ("file.yaml", "# two of them are told apart\n", 0),
)


def phrases():
    """Yields (compiled phrase, what to write instead)."""
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            phrase, instead = line.split("\t")
            yield re.compile(r"\b" + phrase.replace(" ", BETWEEN), re.I), instead


def files():
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, text=True,
                            stdout=subprocess.PIPE).stdout.splitlines()
    for name in listed:
        if not LEFT_OUT.match(name) and (ROOT / name).is_file():
            yield name


def blank(text):
    """The same lines, without content."""
    return re.sub(r"[^\n]", " ", text)


def only_matches(pattern, text):
    """The text with everything outside of matches blanked."""
    kept, end = [], 0
    for match in pattern.finditer(text):
        kept += [blank(text[end:match.start()]), match[0]]
        end = match.end()
    return "".join(kept) + blank(text[end:])


def python_text(text):
    """Comments and strings of Python, each in its line."""
    lines = [""] * (text.count("\n") + 2)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in (tokenize.COMMENT, tokenize.STRING):
            for number, line in enumerate(token.string.split("\n")):
                lines[token.start[0] - 1 + number] += f" {line}"
    return "\n".join(lines)


def prose(name, text):
    """The comments and strings of a source, the whole text of a document."""
    if name.endswith((".c", ".h")):
        return only_matches(C_TEXT, text)
    if name.endswith(".py") or text.startswith("#!/usr/bin/env python3") or \
            text.startswith("#!/usr/bin/python3"):
        return python_text(text)
    return text


def is_allowed(name, found):
    return any(name == path and re.search(pattern, found) for path, pattern in ALLOWED)


def search(table, name, text):
    """Yields each phrase in a file, with its place and what to write instead."""
    text = prose(name, text)
    for phrase, instead in table:
        for match in phrase.finditer(text):
            found = " ".join(re.sub(r'["*/#]', " ", match[0]).split())
            if not is_allowed(name, found):
                line = text.count("\n", 0, match.start()) + 1
                yield f'{name}:{line}: "{found}": write {instead}'


def problems():
    """Yields the phrases of all files, and samples that are not searched as they should be."""
    table = list(phrases())
    for name, text, expected in SAMPLES:
        found = len(list(search(table, name, text)))
        if found != expected:
            yield f"sample {text!r}: {found} phrases, expected {expected}"
    for name in files():
        try:
            text = (ROOT / name).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        yield from search(table, name, text)


def main():
    found = sorted(problems())
    print(*found, sep="\n", end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
