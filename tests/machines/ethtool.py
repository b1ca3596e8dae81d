# SPDX-License-Identifier: Apache-2.0
"""Answers of ethtool netlink, made from facts: the bytes that a kernel would send for them.

Numbers are those of linux/ethtool_netlink.h. Facts are words NAME=VALUE; one that is left out is an
attribute that the driver does not have.
"""
import struct

FAMILY, VERSION, NESTED = 21, 1, 0x8000
# FEC modes as bits of link modes.
FEC = {"off": 49, "rs": 50, "baser": 51, "llrs": 74}
STATES = ("autoneg", "link-training-failure", "link-logical-mismatch", "bad-signal-integrity",
          "no-cable", "cable-issue", "eeprom-issue", "calibration-failure",
          "power-budget-exceeded", "overheat", "module")
# Of "stats": group and number in it.
STANDARD = {"symbol_errors": (0, 0), "fcs_errors": (1, 4), "alignment_errors": (1, 5),
            "transmit_errors": (1, 10), "receive_errors": (1, 13), "length_errors": (1, 19),
            "too_long_errors": (1, 21), "unsupported_frames": (2, 2), "undersize_frames": (3, 0),
            "fragments": (3, 2), "jabbers": (3, 3)}


def attribute(number, data):
    length = 4 + len(data)
    return struct.pack("=HH", length, number) + data + b"\0" * (-length % 4)


def u8(number, value):
    return attribute(number, struct.pack("=B", int(value)))


def u32(number, value):
    return attribute(number, struct.pack("=I", int(value)))


def u64s(number, text):
    """An array: numbers with commas between them."""
    return attribute(number, b"".join(struct.pack("=Q", int(n)) for n in text.split(",") if n))


def nest(number, *attributes):
    return attribute(number | NESTED, b"".join(attributes))


def bitset(number, bits):
    words = [0, 0, 0]
    for bit in bits:
        words[bit // 32] |= 1 << bit % 32
    value = struct.pack("=3I", *words)
    return nest(number, u32(2, 96), attribute(4, value), attribute(5, value))


def linkstate(facts):
    if "link" in facts:
        yield u8(2, facts["link"])
    if "state" in facts:
        yield u8(5, STATES.index(facts["state"]))
    if "substate" in facts:
        yield u8(6, facts["substate"])
    if "downs" in facts:
        yield u32(7, facts["downs"])


def linkmodes(facts):
    """Speed in Mb/s, as the kernel has it; "unknown" while there is no link."""
    if "autoneg" in facts:
        yield u8(2, facts["autoneg"])
    if "speed" in facts:
        yield u32(5, 0xffffffff if facts["speed"] == "unknown" else facts["speed"])
    if "duplex" in facts:
        yield u8(6, {"half": 0, "full": 1, "unknown": 0xff}[facts["duplex"]])
    if "lanes" in facts:
        yield u32(9, facts["lanes"])


def fec(facts):
    if "modes" in facts:
        yield bitset(2, [FEC[mode] for mode in facts["modes"].split(",")])
    if "auto" in facts:
        yield u8(3, facts["auto"])
    if "active" in facts:
        yield u32(4, FEC[facts["active"]])
    names = "corrected", "uncorrectable", "corrected_bits"
    if facts.keys() & set((*names, "bins")):
        yield nest(5, *[u64s(2 + i, facts.get(name, "")) for i, name in enumerate(names)],
                   *(bins(facts["bins"]) if "bins" in facts else ()))


def bins(text):
    """The histogram of "fec": LOW[-HIGH]:BLOCKS[/LANE/LANE...] for each bin, commas between them."""
    for item in text.split(","):
        errors, blocks = item.split(":")
        low, _, high = errors.partition("-")
        blocks, *lanes = blocks.split("/")
        # As nla_put_uint(): 32 bits if they suffice.
        value = attribute(4, struct.pack("=I" if int(blocks) < 1 << 32 else "=Q", int(blocks)))
        per_lane = [u64s(5, ",".join(lanes))] if lanes else []
        yield nest(5, u32(2, low), u32(3, high or low), value, *per_lane)


def pause(facts):
    for number, name in enumerate(("autoneg", "rx", "tx"), 2):
        if name in facts:
            yield u8(number, facts[name])
    counts = [u64s(number, facts[name])
              for number, name in ((2, "tx_frames"), (3, "rx_frames")) if name in facts]
    if counts:
        yield nest(5, *counts)


def stats(facts):
    for group in range(4):
        counts = [nest(4, u64s(STANDARD[name][1], value))
                  for name, value in facts.items() if STANDARD[name][0] == group]
        if counts:
            yield nest(4, u32(2, group), u32(3, 17 + group), *counts)


# File of a recording: the message of the reply, and what makes its attributes.
ANSWERS = {"linkstate": (6, linkstate), "linkmodes": (4, linkmodes), "fec": (30, fec),
           "pause": (22, pause), "stats": (33, stats)}


def answer(place, name, text):
    """The message in hexadecimal digits."""
    if name not in ANSWERS:
        raise SystemExit(f"{place}: ethtool has no '{name}'; there are {', '.join(ANSWERS)}")
    command, make = ANSWERS[name]
    try:
        facts = dict(word.split("=", 1) for word in text.split())
        attributes = b"".join(make(facts))
    except (ValueError, KeyError, struct.error) as error:
        raise SystemExit(f"{place}: {name} cannot be made of '{text}': {error}") from error
    head = struct.pack("=IHHII", 20 + len(attributes), FAMILY, 0, 1, 1)
    return (head + struct.pack("=BBH", command, VERSION, 0) + attributes).hex()
