#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""In a guest: numbered UDP packets, and what of their IP header arrives at either end.

  ping.py serve                     answers packets, with what arrived in front
  ping.py ADDRESS [NAME=VALUE...]   sends; prints JSON: the numbers that were answered, in order of
                                    arrival, [DSCP, ECN, hop limit] there and back, and the shortest round trip

count=20 size=64 (of the payload) tos=0 sources=1 (source ports, in turn) interval=0.01
"""
import json
import select
import socket
import struct
import sys
import time

PORT = 4791 + 1000
IP_RECVTTL = 12  # of Linux; Python has no name for it
HEADER = struct.Struct("!I3B")


def open_socket(port=0):
    one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    one.bind(("0.0.0.0", port))
    one.setsockopt(socket.SOL_IP, socket.IP_RECVTOS, 1)
    one.setsockopt(socket.SOL_IP, IP_RECVTTL, 1)
    return one


def receive(one):
    """Content, what the IP header says, and the sender."""
    content, extra, _, sender = one.recvmsg(65536, 256)
    tos = ttl = 0
    for level, kind, value in extra:
        if (level, kind) == (socket.SOL_IP, socket.IP_TOS):
            tos = value[0]
        if (level, kind) == (socket.SOL_IP, socket.IP_TTL):
            ttl = value[0]
    return content, (tos >> 2, tos & 3, ttl), sender


def serve():
    one = open_socket(PORT)
    while True:
        content, header, sender = receive(one)
        number = HEADER.unpack_from(content)[0]
        one.sendto(HEADER.pack(number, *header) + content[HEADER.size:], sender)


def send(address, count=20, size=64, tos=0, sources=1, interval=0.01):
    ends = [open_socket() for _ in range(sources)]
    for end in ends:
        end.setsockopt(socket.SOL_IP, socket.IP_TOS, tos)
    sent, order, seen, fastest = {}, [], {}, None
    next_time, number = time.monotonic(), 0
    deadline = None
    while deadline is None or (time.monotonic() < deadline and len(order) < count):
        if number < count and time.monotonic() >= next_time:
            sent[number] = time.monotonic()
            ends[number % sources].sendto(HEADER.pack(number, 0, 0, 0).ljust(size, b"."), (address, PORT))
            number += 1
            next_time += interval
            if number == count:
                deadline = time.monotonic() + 2
        for end in select.select(ends, [], [], 0.005)[0]:
            content, back, _ = receive(end)
            which, *there = HEADER.unpack_from(content)
            took = time.monotonic() - sent[which]
            fastest = min(took, fastest or took)
            order.append(which)
            seen[which] = (there, list(back))
    print(json.dumps({"order": order, "there": [seen[n][0] for n in sorted(seen)],
                      "back": [seen[n][1] for n in sorted(seen)],
                      "fastest": fastest}))


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve()
    pairs = dict(word.split("=", 1) for word in sys.argv[2:])
    send(sys.argv[1], **{name: float(value) if name == "interval" else int(value)
                         for name, value in pairs.items()})
