# SPDX-License-Identifier: Apache-2.0
"""Checks of every document, for check-docs.py: links lead to existing files and headings; paths of
the source that it names exist; the agent has the metrics and settings that it names; lines have at
most 100 columns; and the README at the root stays a tour, since each fact has one place, in the
folder that it is about."""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
CHART = ROOT / "helm/rdma-node-agent"  # whose values have names like settings
FOLDERS = ("agent", "collectors", "exporter", "helm", "include", "systemd", "tests")
WIDTH = 100
TOUR = 300  # lines of the README at the root

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


def documents():
    """Every document, those of the root first."""
    found = sorted(ROOT.glob("*.md"))
    for folder in FOLDERS:
        found += sorted((ROOT / folder).rglob("*.md"))
    return found


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
