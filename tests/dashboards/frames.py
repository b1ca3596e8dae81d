# SPDX-License-Identifier: Apache-2.0
"""What Grafana makes of answers before it shows them: units, and the transformations of tables."""
import math
import time

SCALES = {"Bps": ("B/s", 1000), "bps": ("b/s", 1000), "bytes": ("B", 1024), "cps": ("c/s", 1000),
          "reqps": ("req/s", 1000)}


def show(value, unit, decimals=None):
    """A number as Grafana writes it in this unit."""
    if not math.isfinite(value):
        return str(value)
    if unit == "dateTimeFromNow":
        ago = time.time() - value / 1000
        return f"{duration(ago)} ago" if ago >= 0 else f"in {duration(-ago)}"
    if unit == "s":
        return duration(value)
    if unit == "percentunit":
        return f"{100 * value:.{1 if decimals is None and abs(value) < 0.1 and value else decimals or 0}f}%"
    if unit in SCALES:
        name, base = SCALES[unit]
        power = min(4, int(math.log(max(abs(value), 1), base)))
        return f"{number(value / base ** power, decimals)} {['', 'k', 'M', 'G', 'T'][power]}{name}"
    suffix = {"celsius": " °C", "dBm": " dBm", "amp": " A"}.get(unit, "")
    return number(value, decimals) + suffix


def number(value, decimals=None):
    if decimals is not None:
        return f"{value:.{decimals}f}"
    return f"{value:.0f}" if value == round(value) else f"{value:.3g}"


def duration(seconds):
    for name, size in (("day", 86400), ("hour", 3600), ("min", 60), ("s", 1), ("ms", 1e-3), ("µs", 1e-6)):
        if abs(seconds) >= size:
            return f"{seconds / size:.3g} {name}"
    return f"{seconds:.0f} s"


def rows_of(ref, answer, alone):
    value = "Value" if alone else f"Value #{ref}"
    return [{"Time": "now", **labels, value: number_} for labels, number_ in answer]


def merge(frames):
    """Rows that agree in all that both have become one."""
    shared = set.intersection(*({*row} for frame in frames for row in frame)) if all(frames) else {"Time"}
    found = {}
    for row in (row for frame in frames for row in frame):
        key = tuple(sorted((name, row[name]) for name in shared))
        for have in found.setdefault(key, []):
            if all(have[name] == value for name, value in row.items() if name in have):
                have.update(row)
                break
        else:
            found[key].append(dict(row))
    return [row for rows in found.values() for row in rows]


def join(frames, field):
    """Rows of the first frame with what the others have of the same field."""
    others = [{row[field]: row for row in frame} for frame in frames[1:]]
    return [{**{name: value for other in others for name, value in other.get(row[field], {}).items()}, **row}
            for row in frames[0]]


def matrix(rows, options):
    """Rows by one field, columns by another."""
    found, corner = {}, f"{options['rowField']}\\{options['columnField']}"
    for row in rows:
        name = row.get(options["rowField"], "")
        found.setdefault(name, {corner: name})[row[options["columnField"]]] = row[options["valueField"]]
    return list(found.values())


def organize(rows, options):
    renamed, order = options.get("renameByName", {}), options.get("indexByName", {})
    found = []
    for row in rows:
        names = sorted((name for name in row if not options.get("excludeByName", {}).get(name)),
                       key=lambda name: order.get(name, 999))
        found.append({renamed.get(name, name): row[name] for name in names})
    return found


def columns_of(rows, transformations):
    """All that a row has, in the order that is wanted."""
    found, order = dict.fromkeys(name for row in rows for name in row), {}
    for one in transformations:
        for name, index in one["options"].get("indexByName", {}).items():
            order[one["options"].get("renameByName", {}).get(name, name)] = index
    return sorted(found, key=lambda name: order.get(name, 99))


def table_of(answers, transformations, sort):
    """(names of columns, rows) of [(ref, [(labels, value)])]."""
    frames = [rows_of(ref, answer, len(answers) == 1) for ref, answer in answers]
    for one in transformations:
        options = one["options"]
        if one["id"] == "merge":
            frames = [merge(frames)]
        elif one["id"] == "joinByField":
            frames = [join(frames, options["byField"])]
        elif one["id"] == "groupingToMatrix":
            frames = [matrix(frame, options) for frame in frames]
        elif one["id"] == "sortBy":
            frames = [sorted(frame, key=lambda row: str(row.get(options["sort"][0]["field"], "")))
                      for frame in frames]
        elif one["id"] == "filterFieldsByName":
            names = options["include"]["names"]
            frames = [[{name: row[name] for name in names if name in row} for row in frame]
                      for frame in frames]
        elif one["id"] == "organize":
            frames = [organize(frame, options) for frame in frames]
    rows = frames[0]
    for one in reversed(sort):
        rows = sorted(rows, key=lambda row: (isinstance(row.get(one["displayName"]), str),
                                             row.get(one["displayName"], -1)),
                      reverse=one.get("desc", False))
    return columns_of(rows, transformations), rows
