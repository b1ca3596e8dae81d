# SPDX-License-Identifier: Apache-2.0
"""The kernel's events of a network interface, heard by a process that does nothing else."""
import os
import select
import signal
import socket
import struct
import time

RTMGRP_LINK, RTM_NEWLINK, IFF_RUNNING = 1, 16, 0x40
RECORD = struct.Struct("=d?")


def observe(netdev, out):
    """Writes the time of each change of IFF_RUNNING."""
    monitor = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE)
    monitor.bind((0, RTMGRP_LINK))
    os.write(out, b"\0")
    index, last = socket.if_nametoindex(netdev), None
    while True:
        data = monitor.recv(65536)
        now = time.monotonic()
        kind, = struct.unpack_from("=4xH", data)
        if kind != RTM_NEWLINK:
            continue
        ifindex, flags = struct.unpack_from("=4xiI", data, 16)
        running = bool(flags & IFF_RUNNING)
        if ifindex == index and running != last:
            last = running
            os.write(out, RECORD.pack(now, running))


class Observer:
    def __init__(self, netdev):
        self.pipe, out = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                observe(netdev, out)
            finally:
                os._exit(1)
        os.close(out)
        os.read(self.pipe, 1)

    def forget(self):
        while select.select([self.pipe], [], [], 0)[0]:
            os.read(self.pipe, RECORD.size)

    def time_of(self, running, patience):
        """When the interface was running, or not, for the first time since forget(), or None."""
        while select.select([self.pipe], [], [], patience)[0]:
            record = os.read(self.pipe, RECORD.size)
            if not record:
                return None
            when, what = RECORD.unpack(record)
            if what == running:
                return when
        return None

    def end(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.pipe)
