#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""live.py TREE DIRECTORY SECONDS BINARY=KIND...: CPU a minute in the default rhythm, as JSON.

live.py TREE DIRECTORY collectors BINARY: CPU of one run of each collector

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
RUNS = 3
SETTLED = 8  # seconds, after which all that a start leads to is over


def stand_in(tree):
    """Mounts the tree's files, and makes its interfaces."""
    subprocess.run(["mount", "--make-rprivate", "/"], check=True)
    names = os.listdir(f"{tree}/sys/class/net")
    batch = "".join(f"link add {name} type bridge\nlink set {name} up\n" for name in names)
    subprocess.run(["ip", "-batch", "-"], input=f"link set lo up\n{batch}", text=True, check=True)
    for place in PLACES:
        subprocess.run(["mount", "--bind", f"{tree}/sys/{place}", f"/sys/{place}"], check=True)


def used_since(server, before):
    """{name: seconds of CPU} of the threads that there are: others have ended with what they used."""
    used = {}
    for thread, seconds in server.threads().items():
        used[thread[0]] = used.get(thread[0], 0) + seconds - before.get(thread, 0)
    return used


def start(stack, directory, arguments):
    """In places of this process: another one may use the directory at the same time."""
    for number, argument in enumerate(arguments):
        binary, _, kind = argument.rpartition("=")
        place = os.path.join(directory, f"live-{os.getpid()}-{number}")
        os.makedirs(place, exist_ok=True)
        server = getattr(servers, kind)("/", place)
        server.binary = binary
        yield stack.enter_context(server)


def minute(directory, seconds, arguments):
    """Of each server, the milliseconds of CPU in a minute; of the first one, also by thread."""
    with contextlib.ExitStack() as stack:
        started = list(start(stack, directory, arguments))
        connections = [stack.enter_context(server.connect()) for server in started]
        begin = time.monotonic()
        for turn in range(2 + seconds // PERIOD):
            time.sleep(max(0, begin + turn * PERIOD - time.monotonic()))
            for connection in connections:
                connection.scrape()
            if turn == 1:
                used = [server.cpu_seconds() for server in started]
                threads = started[0].threads()
        scale = 1e3 * 60 / seconds
        return {"servers": [(server.cpu_seconds() - before) * scale
                            for server, before in zip(started, used)],
                "threads": {name: seconds * scale
                            for name, seconds in used_since(started[0], threads).items()}}


def starts(directory, times, arguments):
    """Of each server, milliseconds from exec to the first full answer, and of CPU until then: the
    fastest of some, in turns, for other work on the machine only slows them."""
    found = [[] for _ in arguments]
    for _ in range(times):
        for seen, argument in zip(found, arguments):
            with contextlib.ExitStack() as stack:
                server = next(start(stack, directory, [argument]))
                seen.append((server.start_seconds * 1e3, server.cpu_seconds() * 1e3))
    return [{"start": min(wall for wall, _ in seen), "start_cpu": min(cpu for _, cpu in seen)}
            for seen in found]


def collectors(directory, binary):
    """Of each collector, the milliseconds of a lane's CPU in one run, of all devices, after others
    have run. Without events, because what they tell of would not be polled."""
    quiet = dict.fromkeys(servers.COLLECTORS, "1h")
    result = {}
    for name in servers.COLLECTORS:
        server = servers.DefaultAgent("/", directory)
        server.binary, server.poll = binary, {**quiet, name: "1s"}
        server.more["watch"] = {"events": False}
        with server:
            time.sleep(SETTLED)
            before = server.threads()
            time.sleep(RUNS)
            result[name] = used_since(server, before)["rna-lane"] * 1e3 / RUNS
    return result


def main(tree, directory, what, *arguments):
    stand_in(tree)
    if what == "collectors":
        print(json.dumps(collectors(directory, *arguments)))
    elif what == "starts":
        print(json.dumps(starts(directory, int(arguments[0]), arguments[1:])))
    else:
        print(json.dumps(minute(directory, int(what), arguments)))


if __name__ == "__main__":
    main(*sys.argv[1:])
