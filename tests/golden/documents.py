# SPDX-License-Identifier: Apache-2.0
"""The normal form of JSON in expectations: "~" replaces values that change from run to run; members
of an object and short elements of a list share lines. Order and values are those of the document."""
import json

from plain import escape_controls

WIDTH = 190
SHORT = 60  # characters of an element that shares its line


def masked(value, volatile, volatile_unless_zero, path=""):
    """value with "~" for the members at these paths, which have no indices: devices.ports.state."""
    if isinstance(value, list):
        return [masked(element, volatile, volatile_unless_zero, path) for element in value]
    if path in volatile or (path in volatile_unless_zero and value):
        return "~"
    if not isinstance(value, dict):
        return value
    return {key: masked(member, volatile, volatile_unless_zero, f"{path}.{key}" if path else key)
            for key, member in value.items()}


def one_line(value):
    return escape_controls(json.dumps(value, ensure_ascii=False))


def members(value):
    """Yields what stands in front of each member or element, and the member."""
    if isinstance(value, dict):
        yield from ((one_line(key) + ": ", member) for key, member in value.items())
    else:
        yield from (("", element) for element in value)


def render(value, width, key="", indent=0):
    """The lines of key and value."""
    whole = " " * indent + key + one_line(value)
    if len(whole) <= width or not isinstance(value, (dict, list)) or not value:
        return [whole]
    brackets = "{}" if isinstance(value, dict) else "[]"
    lines, last = [" " * indent + key + brackets[0]], len(value) - 1
    joins = False  # may the next member stand in the same line?
    for i, (name, member) in enumerate(members(value)):
        found = render(member, width, name, indent + 1)
        found[-1] += "," if i < last else ""
        is_short = len(found) == 1 and (isinstance(value, dict) or len(found[0]) - indent <= SHORT)
        if is_short and joins and len(lines[-1]) + len(found[0]) - indent <= width:
            lines[-1] += found[0][indent:]
        else:
            lines += found
        joins = is_short
    return lines + [" " * indent + brackets[1]]


def compact(document, width=WIDTH):
    return "\n".join(render(document, width)) + "\n"


def spread(text):
    """One value a line, which a difference is easier to read in."""
    return escape_controls(json.dumps(json.loads(text), indent=1, ensure_ascii=False))
