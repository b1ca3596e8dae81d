# SPDX-License-Identifier: Apache-2.0
"""Control characters, which a terminal would obey: no output has one, although texts of others do."""
import re

# C0 but tab and line end, DEL, C1, and what changes the order in which a line is read (UAX #9).
CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def find_control(text):
    """The first one with what is in front of it; None: the text has none."""
    found = CONTROLS.search(text)
    return found and f"U+{ord(found[0]):04X} behind {text[:found.start()][-60:]!r}"


def escape_controls(text):
    """Of JSON."""
    return CONTROLS.sub(lambda control: f"\\u{ord(control[0]):04x}", text)
