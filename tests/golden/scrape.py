# SPDX-License-Identifier: Apache-2.0
"""Scrapes: their normal form, and how one dialect follows from the other.

The normal form has the samples of a scrape in few lines. Samples of a family that differ in device
and port only are one row, in which each object has its value:

    rdma_port_up{device,port} mlx5_0/1=1 mlx5_1/1=0

Labels that the row names without a value are those of its objects; of collectors, the collector is
the object. A row that is too long goes on in lines that begin with blanks. A family whose samples
are in another order than that of its objects has a line for each sample. rows() and samples() are
inverse to each other, so a normal form says as much as the scrape; lines of HELP and TYPE are those
of exporter/metrics.md, which check_heads() asserts.
"""
import itertools
import os
import re

WIDTH = 190
CATALOG = os.path.join(os.path.dirname(__file__), "../../exporter/metrics.md")
# The units of OpenMetrics that names of our families end in, the longer ones first.
UNITS = ("bytes_per_second", "bytes", "seconds", "celsius", "volts", "amperes", "watts", "ratio")
HISTOGRAM = ("_bucket", "_count", "_sum")

QUOTED = r'"(?:[^"\\]|\\.)*"'
LABEL = re.compile(r'([a-z_]+)="((?:[^"\\]|\\.)*)"', re.S)
PAIRS = rf"[a-z_]+={QUOTED}(?:,[a-z_]+={QUOTED})*"
SAMPLE = re.compile(rf"([a-z_0-9]+)(?:\{{({PAIRS})\}})? (\S+)", re.S)
NAMES = rf"[a-z_]+(?:={QUOTED})?(?:,[a-z_]+(?:={QUOTED})?)*"  # some of them without a value
ROW = re.compile(rf"([a-z_0-9]+)\{{({NAMES})\}}( .*)", re.S)
ROW_LABEL = re.compile(rf"([a-z_]+)(={QUOTED})?", re.S)
BARE = re.compile(r"[A-Za-z0-9_.:-]+")
PART = re.compile(rf"{QUOTED}|{BARE.pattern}", re.S)
WORD = re.compile(rf" ((?:{PART.pattern})(?:/(?:{PART.pattern}))*)=([^ ]+)", re.S)


class Malformed(ValueError):
    """A text is not what this module writes, or no scrape."""


def natural(part):
    """A key that sorts parts of objects as the agent does: numbers in a name by their value."""
    return [(0, int(piece), "") if piece.isdigit() else (1, 0, piece)
            for piece in re.split(r"([0-9]+)", unquoted(part)) if piece]


def unquoted(part):
    return part[1:-1] if part[0] == '"' else part


# --- Rows ----------------------------------------------------------------------------------------

def split_sample(line):
    """(name, [(label, escaped value), ...], value)"""
    match = SAMPLE.fullmatch(line)
    if not match:
        raise Malformed(f"no sample: {line!r}")
    return match[1], LABEL.findall(match[2] or ""), match[3]


def object_labels(labels):
    names = [name for name, _ in labels]
    return ("collector",) if "collector" in names else tuple(
        name for name in names if name in ("device", "port"))


def split_labels(labels):
    """(the labels of a row, the parts of an object)"""
    taken = object_labels(labels)
    kept = ",".join(name if name in taken else f'{name}="{value}"' for name, value in labels)
    parts = tuple(value if BARE.fullmatch(value) else f'"{value}"'
                  for name, value in labels if name in taken)
    return kept, parts


def wrap(head, words):
    lines = [head]
    for word in words:
        if len(lines[-1]) + 1 + len(word) > WIDTH and lines[-1].strip():
            lines.append("   ")
        lines[-1] += " " + word
    return lines


def family_rows(name, lines):
    """The rows of a family, each as its lines, or one for each sample where that loses the order."""
    found = {}
    for line in lines:
        _, labels, value = split_sample(line)
        kept, parts = split_labels(labels)
        found.setdefault(kept, []).append((parts, value, line))
    rows = [[row[0][2]] if len(row) == 1 else
            wrap(f"{name}{{{kept}}}", ["/".join(parts) + f"={value}" for parts, value, _ in row])
            for kept, row in found.items()]
    text = list(itertools.chain(*rows))
    return text if family_samples(join(text)) == lines else list(lines)


def rows(lines):
    """Lines of samples as rows."""
    found = []
    for name, group in itertools.groupby(lines, lambda line: split_sample(line)[0]):
        found += family_rows(name, list(group))
    return found


def join(lines):
    """Rows, each in one line."""
    found = []
    for line in lines:
        if line.startswith("    ") and found:
            found[-1] += line[3:]
        else:
            found.append(line)
    return found


def row_samples(line):
    """Yields (parts of the object, its sample)."""
    if SAMPLE.fullmatch(line):
        yield split_labels(split_sample(line)[1])[1], line
        return
    match = ROW.fullmatch(line)
    if not match or WORD.sub("", match[3]):
        raise Malformed(f"no row: {line!r}")
    labels = ROW_LABEL.findall(match[2])
    for word in WORD.finditer(match[3]):
        parts = PART.findall(word[1])
        if len(parts) != sum(not said for _, said in labels):
            raise Malformed(f"no object of {match[2]}: {word[1]}")
        values = iter(map(unquoted, parts))
        pairs = ",".join(name + (said or f'="{next(values)}"') for name, said in labels)
        yield tuple(parts), f"{match[1]}{{{pairs}}} {word[2]}"


def family_samples(joined):
    """The samples of one family's rows, in the order of objects where rows have several."""
    found = [list(row_samples(line)) for line in joined]
    if all(len(row) == 1 for row in found):
        return [sample for row in found for _, sample in row]
    if joined[0].split("}")[0].find("collector") >= 0:
        return [sample for row in found for _, sample in row]
    each = [pair for row in found for pair in row]
    return [sample for _, sample in sorted(each, key=lambda pair: [natural(p) for p in pair[0]])]


def samples(text_lines):
    """What rows() was made from."""
    found = []
    for _, group in itertools.groupby(join(text_lines), lambda row: re.split("[{ ]", row)[0]):
        found += family_samples(list(group))
    return found


# --- Heads: lines of HELP and TYPE ---------------------------------------------------------------

def read_catalog():
    """{family: (type, labels, help)}, in the order of exporter/metrics.md."""
    with open(CATALOG, encoding="utf-8") as file:
        rows_of_table = re.findall(r"^\| `(\w+)` \| (\w+) \| ([^|]*) \| (.*) \|$", file.read(), re.M)
    return {name: (kind, [label for label in labels.strip().split(", ") if label], text)
            for name, kind, labels, text in rows_of_table}


def split_families(text):
    """[(lines of the head, samples)] of a scrape, in its order."""
    if not text.endswith("\n"):
        raise Malformed("the last line has no end")
    families = []
    for is_head, group in itertools.groupby(text.split("\n")[:-1], lambda line: line[:1] == "#"):
        if is_head:
            families.append((list(group), []))
        elif families:
            families[-1][1].extend(group)
        else:
            raise Malformed("samples without a head")
    return families


def expected_head(name, kind, text):
    text = text.replace("\\", "\\\\")
    return [f"# HELP {name} {text}", f"# TYPE {name} {'gauge' if kind == 'info' else kind}"]


def check_heads(text):
    """The heads of a classic scrape are those of the catalog, in its order, each with samples."""
    catalog = read_catalog()
    order = list(catalog)
    last = -1
    for head, lines in split_families(text):
        name = head[0].split(" ")[2]
        if name not in catalog:
            raise Malformed(f"{name} is not in exporter/metrics.md")
        kind, labels, help_text = catalog[name]
        if head != expected_head(name, kind, help_text):
            raise Malformed(f"{name} has another head than exporter/metrics.md says: {head}")
        if order.index(name) <= last or not lines:
            raise Malformed(f"{name} comes too late, or without a sample")
        last = order.index(name)
        check_labels(name, kind, labels, lines)


def check_labels(name, kind, labels, lines):
    allowed = [name + suffix for suffix in HISTOGRAM] if kind == "histogram" else [name]
    labels = labels + ["le"] if kind == "histogram" else labels
    for line in lines:
        said, pairs, _ = split_sample(line)
        said_labels = [label for label, _ in pairs]
        if said not in allowed:
            raise Malformed(f"{said} below the head of {name}")
        if said_labels != [label for label in labels if label in said_labels]:
            raise Malformed(f"{name} has labels {said_labels}, exporter/metrics.md says {labels}")


# --- OpenMetrics ---------------------------------------------------------------------------------

def openmetrics_head(head):
    """The head of a family in OpenMetrics: without the end of its type, escaped, with its unit."""
    _, _, name, text = head[0].split(" ", 3)
    kind = head[1].split(" ")[3]
    if kind == "gauge" and name.endswith("_info") and name != "rdma_finding_info":
        kind = "info"
    family = name.removesuffix({"counter": "_total", "info": "_info"}.get(kind, ""))
    text = text.replace('"', '\\"')
    unit = next((unit for unit in UNITS if family.endswith(f"_{unit}")), None)
    return [f"# HELP {family} {text}", f"# TYPE {family} {kind}"] + (
        [f"# UNIT {family} {unit}"] if unit else [])


def openmetrics(text):
    """A classic scrape in OpenMetrics."""
    lines = [line for head, found in split_families(text) for line in openmetrics_head(head) + found]
    return "\n".join(lines + ["# EOF"]) + "\n"
