# SPDX-License-Identifier: Apache-2.0
"""Checks of every document, for check-docs.py: links lead to existing files and headings; paths of
the source that it names exist; the agent has the metrics and settings that it names; lines have at
most 100 columns; the README at the root stays a tour, since each fact has one place, in the folder that
it is about. Each page, manual pages included, begins with the question that it answers; and the words
of all pages together, without what is generated and without the changelog, stay below a ceiling."""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
CHART = ROOT / "helm/rdma-node-agent"  # whose values have names like settings
FOLDERS = ("agent", "collectors", "exporter", "helm", "include", "systemd", "tests")
WIDTH = 100
TOUR = 300  # lines of the README at the root
CEILING = 56_000  # words of all pages, written by hand
LARGEST = 8  # pages that are named where there are more words
MANUAL = ("agent/cli/documents/rdma-node-agent.8.in", "agent/cli/documents/rdma-node-agent.yaml.5.in")
HISTORY = "CHANGELOG.md"  # which grows with each version

FENCE = re.compile(r"^ *(```|~~~)")
INLINE_CODE = re.compile(r"(`+).+?\1")
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
HTML_LINK = re.compile(r'<(?:a href|img src)="([^"]+)"')
METRIC = re.compile(r"(?<![\w/.-])rdma_(?:agent|collector|device|finding|gpu|kubernetes|module|netns|"
                    r"node|port|selftest)\w*\*?")
SETTING = re.compile(r"`([a-z]+\.[a-z_]+)`")
# A file or folder of the source in code style; a star stands for anything in a name.
SOURCE_PATH = re.compile(r"`((?:agent|collectors|debian|exporter|helm|include|systemd|tests)/[\w./*-]*)`")
ELSEWHERE = re.compile(r"^[a-z]+:")
# What a program writes: tables of the code, outputs of commands, measurements.
GENERATED = re.compile(r"<!-- (generated|output|measured)\b.*?<!-- /\1 -->\n", re.S)
TITLE = re.compile(r"\A# .+\n\n")
DESCRIPTION = re.compile(r".*^\.SH DESCRIPTION\n", re.S | re.M)
SENTENCE = re.compile(r"[A-Z][^.?!]*\w\)?\?(?=\s)")

# What begins with a question, and what does not: (text, whether).
SAMPLES = (
    ("# Title\n\nWhich page\nis [this](a.md)? That one.\n", True),
    (".TH X 8\n.SH DESCRIPTION\nWhat does it do? This.\n", True),
    ("# Title\n\nThis is a page. What does it say?\n", False),
    ("# Title\n\n## What is it?\n\nA page.\n", False),
    ("# Title\n\n| Question? | Answer |\n", False),
    ("# Title?\n\nA page.\n", False),
)


def documents():
    """Every document, those of the root first."""
    found = sorted(ROOT.glob("*.md"))
    for folder in FOLDERS:
        found += sorted((ROOT / folder).rglob("*.md"))
    return found


def pages():
    """Every document, and the templates of the manual pages."""
    return [*documents(), *(ROOT / name for name in MANUAL)]


def prose(path):
    """The lines of a document with their numbers, without code."""
    inside = False
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if FENCE.match(line):
            inside = not inside
        elif not inside and not line.startswith("    "):
            yield number, line


def anchors(path):
    """What can stand behind the # of a link to a document, made of its headings as GitHub does."""
    seen = {}
    for _, line in prose(path):
        if re.match(r"^#{1,6} ", line):
            title = LINK.sub("", line.lstrip("#").strip()).replace("`", "").lower()
            name = re.sub(r"[^\w\- ]", "", title).replace(" ", "-")
            count = seen[name] = seen.get(name, -1) + 1
            yield name if not count else f"{name}-{count}"


def links(path):
    """The targets within this repository that a document links to, with their lines."""
    for number, line in prose(path):
        text = INLINE_CODE.sub("", line)
        for target in LINK.findall(text) + HTML_LINK.findall(text):
            if not ELSEWHERE.match(target):
                yield number, target


def broken(path):
    """Yields the links of a document that lead nowhere."""
    for number, target in links(path):
        name, _, anchor = target.partition("#")
        place = (path.parent / name).resolve() if name else path
        if not place.is_relative_to(ROOT) or not place.exists():
            yield number, f"{target}: no such file"
        elif anchor and (place.suffix != ".md" or anchor not in anchors(place)):
            yield number, f"{target}: no such heading"


def missing(path):
    """Yields the paths of the source that a document names and that do not exist."""
    for number, line in prose(path):
        for name in SOURCE_PATH.findall(line):
            if not next(ROOT.glob(name.rstrip("/")), None):
                yield number, f"{name}: no such file"


def too_wide(path):
    """Yields lines that are too wide, except those of a single word."""
    for number, line in prose(path):
        table = line.lstrip().startswith("|")
        if len(line) > WIDTH and not table and " " in line.strip().lstrip("-*> "):
            yield number, f"{len(line)} columns, of {WIDTH}"


def strangers(path, families, settings):
    """Yields metrics and settings that a document names and the agent does not have."""
    sections = {key.split(".")[0] for key in settings}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        for name in METRIC.findall(line):
            part = name.rstrip("_*")
            if not any(family == part or (name != part and family.startswith(part))
                       for family in families):
                yield number, f"{name}: no such metric"
        for key in SETTING.findall(line):
            if key.split(".")[0] in sections and key not in settings and path.parent != CHART:
                yield number, f"{key}: no such setting"


def begins_with_question(text):
    """Is the first sentence behind the title, or of DESCRIPTION, a question?"""
    head = TITLE.match(text) or DESCRIPTION.match(text)
    return bool(head and SENTENCE.match(LINK.sub("link", text[head.end():])))


def without_question():
    """Yields the pages that do not begin with one."""
    for text, expected in SAMPLES:
        if begins_with_question(text) != expected:
            yield f"sample {text!r}: begins_with_question() should be {expected}"
    for path in pages():
        if not begins_with_question(path.read_text(encoding="utf-8")):
            yield (f"{path.relative_to(ROOT)}: its first sentence, behind the title, must be the question "
                   "that the page answers")


def words():
    """How many words by hand each page has, the most first: (number, name)."""
    counts = ((len(GENERATED.sub("", path.read_text(encoding="utf-8")).split()),
               str(path.relative_to(ROOT))) for path in pages())
    return sorted((row for row in counts if row[1] != HISTORY), reverse=True)


def too_long(counts, ceiling=CEILING):
    """Yields what is too much for a reader, and where most of it is."""
    total = sum(number for number, _ in counts)
    if total > ceiling:
        largest = ", ".join(f"{name} {number:,}" for number, name in counts[:LARGEST])
        yield (f"all pages have {total:,} words written by hand, {ceiling:,} are allowed: cut what another "
               f"page has, or the code says. The longest are {largest}")


def problems(families, settings):
    """Yields the problems of all documents; families and settings are those of the agent."""
    for path in documents():
        name = path.relative_to(ROOT)
        for number, text in [*broken(path), *missing(path), *too_wide(path),
                             *strangers(path, families, settings)]:
            yield f"{name}:{number}: {text}"
    lines = len((ROOT / "README.md").read_text(encoding="utf-8").splitlines())
    if lines > TOUR:
        yield f"README.md: {lines} lines, of {TOUR}; details belong to the document of their folder"
    yield from without_question()
    yield from too_long(words())
    if not next(too_long([(2, "long.md"), (1, "short.md")], ceiling=2), "").endswith("long.md 2, short.md 1"):
        yield "sample of too many words: too_long() should name the pages"
