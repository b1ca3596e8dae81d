#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""live.py TREE DIRECTORY SECONDS BINARY=KIND...: CPU a minute in the default rhythm, as JSON.

For `unshare --mount --net`: the files of the tree stand in /sys, and each port has an interface of
this kernel, so that the agent finds a live node whose events it can listen to. A bridge stands for
the interface: what it is does not matter, only that it is up. All servers run side by side and are
scraped each 15 s; the first scrapes, of which the agent learns the rhythm, are not measured.
"""
import contextlib
import json
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import servers  # noqa: E402

PERIOD = 15
PLACES = ("class", "devices", "bus")  # /sys itself stays sysfs: that is how the agent knows it


def stand_in(tree):
    """Mounts the tree's files, and makes its interfaces."""
    subprocess.run(["mount", "--make-rprivate", "/"], check=True)
    names = os.listdir(f"{tree}/sys/class/net")
    batch = "".join(f"link add {name} type bridge\nlink set {name} up\n" for name in names)
    subprocess.run(["ip", "-batch", "-"], input=f"link set lo up\n{batch}", text=True, check=True)
    for place in PLACES:
        subprocess.run(["mount", "--bind", f"{tree}/sys/{place}", f"/sys/{place}"], check=True)


def start(stack, directory, arguments):
    for number, argument in enumerate(arguments):
        binary, _, kind = argument.rpartition("=")
        place = os.path.join(directory, f"live-{number}")
        os.makedirs(place, exist_ok=True)
        server = getattr(servers, kind)("/", place)
        server.binary = binary
        yield stack.enter_context(server)


def main(tree, directory, seconds, *arguments):
    stand_in(tree)
    with contextlib.ExitStack() as stack:
        started = list(start(stack, directory, arguments))
        connections = [stack.enter_context(server.connect()) for server in started]
        used, begin = [], time.monotonic()
        for turn in range(2 + int(seconds) // PERIOD):
            time.sleep(max(0, begin + turn * PERIOD - time.monotonic()))
            for connection in connections:
                connection.scrape()
            if turn == 1:
                used = [server.cpu_seconds() for server in started]
        print(json.dumps([(server.cpu_seconds() - before) * 1e3 * 60 / int(seconds)
                          for server, before in zip(started, used)]))


if __name__ == "__main__":
    main(*sys.argv[1:])
