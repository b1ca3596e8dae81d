# SPDX-License-Identifier: Apache-2.0
"""Answers of the kernel to DCB_CMD_IEEE_GET, made from facts (net/dcb/dcbnl.c, linux/dcbnl.h)."""
import struct

RTM_GETDCB, IEEE_GET, AF_UNSPEC = 78, 21, 0
IFNAME, IEEE, DCBX = 1, 13, 14
ETS, PFC, APP_TABLE, BUFFER, TRUST_TABLE = 1, 2, 3, 10, 11
APP, DCB_APP = 1, 2
SELECT_DSCP, SELECT_PCP = 5, 255
ALGORITHMS = {"strict": 0, "ets": 2, "vendor": 255}
HOST, IEEE_VERSION = 1, 8
LOSSLESS_MAX = 8  # mlx5


def attribute(number, content):
    text = struct.pack("=HH", 4 + len(content), number) + content
    return text + bytes(-len(text) % 4)


def numbers(settings, key, default="0,0,0,0,0,0,0,0"):
    ret = [int(text) for text in settings.get(key, default).split(",")]
    if len(ret) != 8:
        raise SystemExit(f"{settings['place']}: {key} wants eight numbers")
    return ret


def pfc(settings):
    priorities = settings["pfc"].split(",") if settings["pfc"] != "none" else []
    mask = sum(1 << int(priority) for priority in priorities)
    head = struct.pack("=BBBxHxx", LOSSLESS_MAX, mask, 0, 0)
    return head + struct.pack("=16Q", *numbers(settings, "sent"), *numbers(settings, "received"))


def ets(settings):
    algorithms = settings.get("algorithm", ",".join(["vendor"] * 8)).split(",")
    return struct.pack("=3B8B8B8B8B24x", 0, 8, 0, *numbers(settings, "bandwidth"), *[0] * 8,
                       *[ALGORITHMS[name] for name in algorithms],
                       *numbers(settings, "traffic_class"))


def applications(settings):
    if settings["dscp"] == "default":
        pairs = [(dscp, dscp >> 3) for dscp in range(64)]
    else:
        pairs = [tuple(map(int, pair.split(":"))) for pair in settings["dscp"].split(",") if pair]
    return b"".join(attribute(APP, struct.pack("=BBH", SELECT_DSCP, priority, dscp))
                    for dscp, priority in pairs)


def buffers(settings):
    sizes = numbers(settings, "buffer_bytes")
    return struct.pack("=8B8II", *numbers(settings, "buffer"), *sizes, sum(sizes))


def ieee(settings):
    if "traffic_class" in settings:
        yield attribute(ETS, ets(settings))
    if "pfc" in settings:
        yield attribute(PFC, pfc(settings))
    if "dscp" in settings:
        yield attribute(APP_TABLE, applications(settings))
    if "buffer_bytes" in settings:
        yield attribute(BUFFER, buffers(settings))
    if "trust" in settings:
        chosen = attribute(APP, bytes([SELECT_DSCP])) if settings["trust"] == "dscp" else \
            attribute(DCB_APP, bytes([SELECT_PCP]))
        yield attribute(TRUST_TABLE, chosen)


def answer(netdev, settings):
    """Hex digits, as a recording has them."""
    body = attribute(IFNAME, netdev.encode() + b"\0") + attribute(IEEE, b"".join(ieee(settings)))
    if "dcbx" in settings:
        host = HOST if settings["dcbx"] == "host" else 0
        body += attribute(DCBX, bytes([host | IEEE_VERSION]))
    body = struct.pack("=BBH", AF_UNSPEC, IEEE_GET, 0) + body
    message = struct.pack("=IHHII", 16 + len(body), RTM_GETDCB, 0, 0, 0) + body
    return "\n".join(message[i:i + 32].hex() for i in range(0, len(message), 32))
