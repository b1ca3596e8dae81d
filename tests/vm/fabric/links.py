# SPDX-License-Identifier: Apache-2.0
"""Links of the fabric, each way on its own: what they count, and what is wrong with them.

  down N       1: no frame passes
  every N      each Nth packet (unicast, IP) is lost; a prime, where senders take turns
  flows N      packets of one in N flows are lost: a broken path within a switch
  flap S       no frame passes for one second of each S
  twice N      each Nth packet arrives twice
  loss RATIO   as many of all frames are lost, at random, from a seed
  mtu BYTES    IP packets above that are lost
  delay S      seconds
  reorder N    each Nth packet arrives 0.1 s late, behind those that follow it
  dscp N       the DSCP is rewritten
  ce RATIO     as many frames of senders that take marks are marked: congestion
  hops N       the hop limit is so much lower
"""
import random
import time
import zlib

import frames

REORDER_DELAY = 0.1
FAULTS = ("down", "every", "flows", "flap", "twice", "loss", "mtu", "delay", "reorder", "dscp", "ce",
          "hops")
FLOW_SHIFT = 8  # bits of the hash that do not choose the spine


class Link:
    """One way of a cable between two switches, or between a NIC and its leaf."""

    def __init__(self, name, seed):
        self.name = name
        self.random = random.Random(f"{seed} {name}")
        self.faults = {}
        self.counts = {}
        self.zero()

    def zero(self):
        self.counts = {"frames": 0, "packets": 0, "roce": 0, "lost": 0}

    def set(self, faults):
        """Zero takes a fault away."""
        for name, value in faults.items():
            if name not in FAULTS:
                raise ValueError(f"no fault {name!r}; there are: {' '.join(FAULTS)}")
            if not isinstance(value, (int, float)) or value < 0:
                raise ValueError(f"{name} {value!r} is not a valid number (0 or more)")
        self.faults.update(faults)
        self.faults = {name: value for name, value in self.faults.items() if value}
        self.passed = 0  # each Nth one counts from now on

    def carry(self, frame):
        """The frame as it leaves the link, or None; and the seconds that it takes."""
        packet = frames.kind(frame) is not None and not frame[0] & 1
        self.counts["frames"] += 1
        self.counts["packets"] += packet
        self.counts["roce"] += frames.is_roce(frame)
        if not self.faults:
            return frame, 0
        self.passed += packet
        if self.loses(frame, packet):
            self.counts["lost"] += 1
            return None, 0
        return self.change(frame), self.delay(packet)

    def is_nth(self, fault, packet):
        return packet and fault in self.faults and self.passed % self.faults[fault] == 0

    def copies(self, packet):
        """How often what passed arrives; to be asked after carry()."""
        return 2 if self.is_nth("twice", packet) else 1

    def loses(self, frame, packet):
        faults = self.faults
        return (faults.get("down")
                or self.is_nth("every", packet)
                or ("flap" in faults and time.monotonic() % faults["flap"] < 1)
                or (packet and "flows" in faults
                    and (zlib.crc32(frames.flow(frame)) >> FLOW_SHIFT) % faults["flows"] == 0)
                or self.random.random() < faults.get("loss", 0)
                or len(frame) - frames.ETHERNET > faults.get("mtu", 1 << 20)
                or ("hops" in faults and frames.with_fewer_hops(frame, faults["hops"]) is None))

    def change(self, frame):
        faults = self.faults
        if "dscp" in faults:
            frame = frames.with_dscp(frame, faults["dscp"])
        if self.random.random() < faults.get("ce", 0):
            frame = frames.with_congestion(frame)
        if "hops" in faults:
            frame = frames.with_fewer_hops(frame, faults["hops"])
        return frame

    def delay(self, packet):
        late = REORDER_DELAY if self.is_nth("reorder", packet) else 0
        return self.faults.get("delay", 0) + late
