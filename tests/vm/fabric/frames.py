# SPDX-License-Identifier: Apache-2.0
"""Ethernet frames as switches see them: which flow they belong to, and what switches change.

A switch may change the DSCP, the ECN bits and the hop limit of a RoCE v2 packet: the checksum over
its content (ICRC) leaves them out, as well as the checksums of IP and UDP (rxe_icrc_hdr() in
drivers/infiniband/sw/rxe/rxe_icrc.c of Linux 6.1). All else changes the ICRC, see with_payload().
"""
import random
import struct
import zlib

ETHERNET = 14
IPV4_SIZE, IPV6_SIZE, UDP_SIZE, BTH_SIZE, DETH_SIZE, ICRC_SIZE = 20, 40, 8, 12, 8, 4
IPV4, IPV6 = 0x0800, 0x86DD
UDP = 17
ROCE_PORT = 4791
UD_SEND_ONLY = 0x64  # opcode of datagrams without immediate data
CONGESTION = 3  # both ECN bits


def kind(frame):
    """IPV4 (without options, which RoCE does not have), IPV6, or None for all others."""
    ether_type = int.from_bytes(frame[12:14], "big")
    if ether_type == IPV4 and len(frame) >= ETHERNET + IPV4_SIZE and frame[ETHERNET] == 0x45:
        return IPV4
    if ether_type == IPV6 and len(frame) >= ETHERNET + IPV6_SIZE:
        return IPV6
    return None


def transport(frame):
    """Number of the protocol above IP, and where its header begins."""
    if kind(frame) == IPV4:
        return frame[ETHERNET + 9], ETHERNET + IPV4_SIZE
    if kind(frame) == IPV6:
        return frame[ETHERNET + 6], ETHERNET + IPV6_SIZE
    return None, 0


def is_roce(frame):
    protocol, start = transport(frame)
    return protocol == UDP and frame[start + 2:start + 4] == ROCE_PORT.to_bytes(2, "big")


def is_datagram(frame):
    """Whether it is a UD packet of RoCE."""
    return is_roce(frame) and frame[transport(frame)[1] + UDP_SIZE] == UD_SEND_ONLY


def flow(frame):
    """What ECMP makes its choice by: the five-tuple, or the addresses of what is not IP."""
    protocol, start = transport(frame)
    if protocol is None:
        return frame[:12]
    addresses = frame[ETHERNET + 12:start] if kind(frame) == IPV4 else frame[ETHERNET + 8:start]
    return bytes([protocol]) + addresses + frame[start:start + 4]


# --- what switches change -------------------------------------------------------------------------

def traffic_class(frame):
    """DSCP and ECN as one byte; None without an IP header."""
    if kind(frame) == IPV4:
        return frame[ETHERNET + 1]
    if kind(frame) == IPV6:
        return (frame[ETHERNET] & 15) << 4 | frame[ETHERNET + 1] >> 4
    return None


def hop_limit(frame):
    return frame[ETHERNET + (8 if kind(frame) == IPV4 else 7)]


def ipv4_checksum(header):
    total = sum(struct.unpack(f"!{len(header) // 2}H", header))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return total ^ 0xFFFF


def with_header(frame, byte, hops):
    """The frame with another traffic class and hop limit."""
    changed = bytearray(frame)
    if kind(frame) == IPV4:
        changed[ETHERNET + 1] = byte
        changed[ETHERNET + 8] = hops
        header = ETHERNET + IPV4_SIZE
        changed[ETHERNET + 10:ETHERNET + 12] = b"\0\0"
        checksum = ipv4_checksum(bytes(changed[ETHERNET:header]))
        changed[ETHERNET + 10:ETHERNET + 12] = checksum.to_bytes(2, "big")
    else:
        changed[ETHERNET] = 0x60 | byte >> 4
        changed[ETHERNET + 1] = (byte & 15) << 4 | changed[ETHERNET + 1] & 15
        changed[ETHERNET + 7] = hops
    return bytes(changed)


def with_dscp(frame, dscp):
    if kind(frame) is None:
        return frame
    return with_header(frame, dscp << 2 | traffic_class(frame) & 3, hop_limit(frame))


def with_congestion(frame):
    """Marked, if its sender can take marks: others are left alone (RFC 3168, section 5)."""
    if kind(frame) is None or traffic_class(frame) & 3 == 0:
        return frame
    return with_header(frame, traffic_class(frame) | CONGESTION, hop_limit(frame))


def with_fewer_hops(frame, hops):
    """The frame after more hops; None if it does not live that long."""
    if kind(frame) is None:
        return frame
    left = hop_limit(frame) - hops
    return with_header(frame, traffic_class(frame), left) if left > 0 else None


# --- what strangers send --------------------------------------------------------------------------

def icrc(frame):
    """The ICRC of a RoCE v2 frame without its last four bytes: CRC-32 of Ethernet over eight bytes of
    0xff, which stand for the header that InfiniBand would have here, and over all from the IP header
    on, where fields that change on the way count as ones."""
    start = transport(frame)[1]
    masked = bytearray(frame[ETHERNET:])
    if kind(frame) == IPV4:
        masked[1] = masked[8] = 0xFF
        masked[10:12] = b"\xff\xff"
    else:
        masked[0] |= 0x0F
        masked[1:4] = b"\xff\xff\xff"
        masked[7] = 0xFF
    udp = start - ETHERNET
    masked[udp + 6:udp + 8] = b"\xff\xff"
    masked[udp + UDP_SIZE + 4] = 0xFF
    return zlib.crc32(b"\xff" * 8 + masked).to_bytes(4, "little")


def payload(frame):
    """That of a UD packet."""
    return frame[transport(frame)[1] + UDP_SIZE + BTH_SIZE + DETH_SIZE:-ICRC_SIZE]


def has_right_icrc(frame):
    return icrc(frame[:-ICRC_SIZE]) == frame[-ICRC_SIZE:]


def with_payload(frame, content):
    """A UD packet with another payload of the same size, which an HCA accepts."""
    if len(content) != len(payload(frame)):
        raise ValueError("a payload of another size")
    headers = frame[:transport(frame)[1] + UDP_SIZE + BTH_SIZE + DETH_SIZE]
    return headers + content + icrc(headers + content)


def garbled(frame, number, way):
    """A packet that is none of its sender's: way is "random" for noise, or "flip" for one changed bit
    in the last byte of a payload that is right otherwise."""
    content = payload(frame)
    if way == "random":
        return with_payload(frame, random.Random(number).randbytes(len(content)))
    return with_payload(frame, content[:-1] + bytes([content[-1] ^ 1]))
