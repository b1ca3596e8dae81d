# SPDX-License-Identifier: Apache-2.0
"""Counters of several drivers that mean the same, for check-docs.py: makes the recording rules of the
chart's files/records.yaml and the tables of exporter/meanings.md from agent/core/model/meanings.yaml,
and compares that file with the table of counters and with the families of the agent.
"""
import pathlib
import re
import textwrap

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = ROOT / "agent/core/model/meanings.yaml"
COUNTERS = ROOT / "agent/core/model/counter_table.c"
DRIVERS = ("mlx5", "bnxt_re", "irdma", "efa", "ionic", "hns", "erdma", "mana")
KEYS = {"name", "counts", "of", "none", "ratio"}
WAY_KEYS = {"drivers", "families", "files", "over", "or", "source", "note"}
WINDOW = "5m"


def meanings():
    return yaml.safe_load(DATA.read_text(encoding="utf-8"))["meanings"]


def record(meaning):
    return f"rdma:{meaning['name']}:{'ratio_' if meaning.get('ratio') else ''}rate{WINDOW}"


# -- Recording rules -------------------------------------------------------------------------------


def expression(meaning, way):
    rates = " + ".join(f"rate({family}[{WINDOW}])" for family in way["families"])
    if "or" in way:
        rates += f" or rate({way['or']}[{WINDOW}])"
    if "over" in way:
        operator = "max" if meaning.get("ratio") else "sum"
        return f"{operator} without ({', '.join(way['over'])}) ({rates})"
    return rates


def broken_up(text):
    """The lines of an expression, at most 100 characters wide with what stands before them."""
    return textwrap.wrap(text, 86, subsequent_indent="  ", break_long_words=False)


def rule(meaning):
    yield from textwrap.wrap(meaning["counts"], 100, initial_indent="      # ",
                             subsequent_indent="      # ")
    yield f"      - record: {record(meaning)}"
    yield "        expr: |"
    for i, way in enumerate(meaning["of"]):
        yield from ["          or"] if i else []
        yield from (f"          {line}" for line in broken_up(expression(meaning, way)))


def rules():
    return "".join(f"{line}\n" for meaning in meanings() for line in rule(meaning))


# -- Tables ----------------------------------------------------------------------------------------


def row(*cells):
    return "| " + " | ".join(cells) + " |\n"


def head(*cells):
    return row(*cells) + "|" + "---|" * len(cells) + "\n"


def counters(way):
    names = way.get("files") or [*way["families"], *([way["or"]] if "or" in way else [])]
    return " + ".join(f"`{name}`" for name in names)


def known_by(meaning, driver):
    """What a driver has for a meaning, without repetitions, newest names first."""
    ways = [counters(way) for way in meaning["of"] if driver in way["drivers"]]
    return list(dict.fromkeys(ways))


def summary():
    yield head("Recorded as", *DRIVERS)
    for meaning in meanings():
        yield row(f"`{record(meaning)}`",
                  *("yes" if known_by(meaning, driver) else "" for driver in DRIVERS))


def section(meaning):
    yield f"\n## {meaning['name']}\n\n"
    yield from (f"{line}\n" for line in textwrap.wrap(
        f"`{record(meaning)}`: {meaning['counts']}", 100, break_on_hyphens=False))
    yield "\n" + head("Driver", "Counters", "Source", "Difference, or reason")
    for way in meaning["of"]:
        yield row(", ".join(way["drivers"]), counters(way), way["source"], way.get("note", ""))
    for driver, reason in meaning["none"].items():
        yield row(driver, "", "", reason)


def table():
    return "".join([*summary(), *(text for meaning in meanings() for text in section(meaning))])


# -- Problems --------------------------------------------------------------------------------------


def of_way(way, families, files):
    for key in set(way) ^ (WAY_KEYS & set(way)) | {"drivers", "families", "source"} - set(way):
        yield f"{key}: missing or unknown"
    for family in [*way["families"], *([way["or"]] if "or" in way else [])]:
        if family not in families:
            yield f"{family}: no such family"
    for driver in set(way["drivers"]) - set(DRIVERS):
        yield f"{driver}: no such driver"
    if "files" not in way:
        return
    if len(way["files"]) != len(way["families"]):
        yield f"{way['files']}: wants one for each family"
    for name, family in zip(way["files"], way["families"]):
        metric = re.sub("^rdma_(port|device)_(.*)_total$", r"\2", family)
        if (name, metric) not in files:
            yield f"{name}: counter_table.c does not call it {metric}"


def of_meaning(meaning, families, files):
    for key in set(meaning) - KEYS:
        yield f"{key}: unknown"
    having = {driver for way in meaning["of"] for driver in way["drivers"]}
    for driver in sorted(having & set(meaning["none"])):
        yield f"{driver}: has it, and a reason for its absence"
    for driver in sorted(set(DRIVERS) - having - set(meaning["none"])):
        yield f"{driver}: neither has it, nor a reason for its absence"
    for way in meaning["of"]:
        yield from of_way(way, families, files)


def problems(families):
    """Yields what is wrong with the file; families: those of the agent."""
    text = COUNTERS.read_text(encoding="utf-8")
    files = set(re.findall(r'"([^"\n]+)", "(\w+)"', text))
    for meaning in meanings():
        for problem in of_meaning(meaning, families, files):
            yield f"{DATA.name}: {meaning['name']}: {problem}"
