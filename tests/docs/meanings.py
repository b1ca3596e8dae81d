# SPDX-License-Identifier: Apache-2.0
"""Counters of several drivers that mean the same, for check-docs.py: makes the recording rules of the
chart's files/records.yaml and the tables of exporter/meanings.md from what the agent says of its table
(agent/rules/meanings.c).
"""
import itertools
import re
import textwrap

WINDOW = "5m"


class Meaning:
    """The rows of one meaning: name, kind, sentence, why it is no finding; and its ways."""

    def __init__(self, rows):
        self.name, self.kind, self.counts, self.normal = rows[0][:4]
        self.name = self.name.strip("`")
        self.ways = [row[4:] for row in rows]  # drivers, counters, rate, source, note

    def record(self):
        kind = "ratio_" if self.kind == "ratio" else ""
        return "" if self.kind == "base" else f"rdma:{self.name}:{kind}rate{WINDOW}"

    def counters(self, driver):
        return [way[1] for way in self.ways if driver in way[0].split(", ") and way[1]]


def meanings(text):
    """text: the table of the command describe."""
    rows = [[cell.strip() for cell in row.strip("|").split("|")] for row in text.splitlines()[2:]]
    return [Meaning(list(of)) for _, of in itertools.groupby(rows, lambda row: row[0])]


def drivers(listed):
    return list(dict.fromkeys(driver for meaning in listed for way in meaning.ways
                              for driver in way[0].split(", ")))


# -- Recording rules -------------------------------------------------------------------------------


def broken_up(text):
    """The lines of an expression, at most 100 characters wide with what stands before them."""
    return textwrap.wrap(text, 86, subsequent_indent="  ", break_long_words=False)


def rule(meaning):
    yield from textwrap.wrap(meaning.counts, 100, initial_indent="      # ",
                             subsequent_indent="      # ")
    yield f"      - record: {meaning.record()}"
    yield "        expr: |"
    rates = dict.fromkeys(way[2] for way in meaning.ways if way[2])
    for i, rate in enumerate(rates):
        yield from ["          or"] if i else []
        yield from (f"          {line}" for line in broken_up(rate))


def rules(text):
    return "".join(f"{line}\n" for meaning in meanings(text) if meaning.record()
                   for line in rule(meaning))


# -- Tables ----------------------------------------------------------------------------------------


def row(*cells):
    return "| " + " | ".join(cells) + " |\n"


def head(*cells):
    return row(*cells) + "|" + "---|" * len(cells) + "\n"


def summary(listed):
    names = drivers(listed)
    yield head("Meaning", *names)
    for meaning in listed:
        yield row(f"`{meaning.name}`",
                  *("yes" if meaning.counters(driver) else "" for driver in names))


def section(meaning):
    record = f"Recorded as `{meaning.record()}`. " if meaning.record() else ""
    finding = f"No finding: {meaning.normal}." if meaning.normal else "It has a threshold."
    yield f"\n## {meaning.name}\n\n"
    yield from (f"{line}\n" for line in textwrap.wrap(
        f"{meaning.counts} {record}{finding}", 100, break_on_hyphens=False))
    yield "\n" + head("Driver", "Counters", "Source", "Difference, or reason")
    for way in meaning.ways:
        yield row(way[0], way[1], way[3], way[4])


def table(text):
    listed = meanings(text)
    return "".join([*summary(listed), *(line for meaning in listed for line in section(meaning))])


# -- Problems --------------------------------------------------------------------------------------


def problems(text, families):
    """Yields families of the rates that the agent does not have."""
    for family in sorted(set(re.findall(r"rate\((\w+)\[", text)) - families):
        yield f"meanings.c: {family}: no such family"
