# SPDX-License-Identifier: Apache-2.0
"""How each number is taken.

CPU time is that of the process, which other work on the machine hardly affects. It affects wall
time a lot, so the best or the median is used. The two servers are measured in alternation, never at
the same time, except in minute(). Every function returns {key of goals.ROWS: number}.
"""
import contextlib
import gzip
import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass

from servers import Agent, DefaultAgent, Floor, NodeExporter, QuietAgent


LIVE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "live.py")


@dataclass
class Effort:
    """How much is done, in rounds, seconds and scrapes."""

    rounds: int = 3
    cold_seconds: int = 4
    starts: int = 7
    hot_seconds: float = 0.3
    scrapes: int = 1000
    more_scrapes: int = 10000
    growth_seconds: int = 30
    load_seconds: int = 2
    idle_seconds: int = 4
    hang_scrapes: int = 30
    minute_seconds: int = 120


QUICK = Effort(cold_seconds=3, starts=5, hot_seconds=0.2, scrapes=300, more_scrapes=2000,
               growth_seconds=3, load_seconds=1, idle_seconds=2, hang_scrapes=20, minute_seconds=30)

# What shows over many polls only takes its time, so it is measured with few devices and with many,
# of whom one poll takes nearly as long as the shortest period: 300 polls and 60.
GROWTH_POLL = {8: {"state": "100ms", "counters": "100ms", "hw_counters": "100ms"},
               512: {"state": "500ms", "counters": "500ms", "hw_counters": "500ms"}}


def milli(seconds):
    return seconds * 1e3


def timed_scrape(connection):
    start = time.perf_counter()
    connection.scrape()
    return time.perf_counter() - start


def paced(count, period, action):
    """Does it every so many seconds; returns what it returned and how long all of it took."""
    start, results = time.monotonic(), []
    for index in range(count):
        results.append(action())
        time.sleep(max(0, start + (index + 1) * period - time.monotonic()))
    return results, time.monotonic() - start


def cold(server, effort):
    """All CPU of a second with one poll and one scrape; in between the caches grow cold."""
    with server.connect() as connection:
        connection.scrape()
        time.sleep(1.5)  # what a start leaves behind is over
        before = server.cpu_seconds()
        walls, seconds = paced(effort.cold_seconds, 1, lambda: timed_scrape(connection))
        used = server.cpu_seconds() - before
    return {"cold_cpu": milli(used / seconds), "wall": milli(statistics.median(walls)),
            "wall_max": milli(max(walls))}


def hot(server, effort):
    """Scrape after scrape of what does not change."""
    result = {}
    for key, packed in (("hot_plain", False), ("hot_gzip", True)):
        count = 0
        with server.connect() as connection:
            connection.scrape(packed)
            before, end = server.cpu_seconds(), time.monotonic() + effort.hot_seconds
            while time.monotonic() < end:
                connection.scrape(packed)
                count += 1
            result[key] = milli((server.cpu_seconds() - before) / count)
    return result


def body(server, _effort):
    with server.connect() as connection:
        packed = connection.scrape()[1]
    text = gzip.decompress(packed)
    return {"series": sum(not line.startswith(b"#") for line in text.splitlines()),
            "body": len(packed), "plain_body": len(text)}


def throughput(server, effort):
    """wrk with eight connections; answers that are no answers count against it."""
    text = subprocess.run(["wrk", "-t1", "-c8", f"-d{effort.load_seconds}s", "--timeout", "10s",
                           f"http://127.0.0.1:{server.port}/metrics"], check=True,
                          stdout=subprocess.PIPE, text=True).stdout
    if "Non-2xx" in text:
        return {"throughput": 0}
    return {"throughput": float(re.search(r"Requests/sec:\s*([\d.]+)", text)[1])}


def memory(server, effort):
    """node_exporter gets as many scrapes as fit into ten seconds; it needs fewer to settle."""
    end = time.monotonic() + 10
    with server.connect() as connection:
        for _ in range(effort.scrapes):
            connection.scrape()
            if time.monotonic() > end and server.name != "agent":
                break
    return {"rss": server.memory("Rss") / 1e3, "rss_anon": server.memory("Anonymous") / 1e3}


def growth(server, effort):
    """Scrapes and polls side by side, from where both have taken the memory that they need.

    Each poll needs as much as there is, since the view before is served until the new one is
    complete; the heap finds room for that in the first ones, of which the rarer come after 10 s.
    """
    def scrape(count):
        with server.connect() as connection:
            for _ in range(count):
                connection.scrape()

    paced(12, 1, lambda: scrape(effort.scrapes // 12))
    before = server.memory("Rss")
    paced(100, effort.growth_seconds / 100, lambda: scrape(effort.more_scrapes // 100))
    return {"rss_growth": server.memory("Rss") - before}


@contextlib.contextmanager
def counted_calls(server):
    """System calls of all threads meanwhile, in what is yielded, a list of {name: count}.

    Left out are calls that only pass the time: under strace Go's scheduler makes many of them.
    """
    with tempfile.NamedTemporaryFile() as table:
        strace = subprocess.Popen(["strace", "-f", "-c", "-o", table.name, "-p",
                                   str(server.process.pid)], stderr=subprocess.PIPE)
        strace.stderr.readline()  # "attached"
        time.sleep(0.3)
        calls = {}
        yield calls
        strace.send_signal(signal.SIGINT)
        strace.wait()
        for line in table.read().decode().splitlines():
            cells = line.split()
            if len(cells) >= 5 and cells[3].isdigit() and cells[-1] != "total":
                calls[cells[-1]] = int(cells[3])
        for name in ("nanosleep", "futex", "restart_syscall", "epoll_pwait"):
            calls.pop(name, None)


def scrape_calls(server, _effort, scrapes=5):
    with server.connect() as connection:
        connection.scrape()
        with counted_calls(server) as calls:
            for _ in range(scrapes):
                connection.scrape()
    return {"scrape_calls": sum(calls.values()) / scrapes}


def poll_calls(server, effort, files):
    """Every polled file is one pread(): that counts polls also where strace slows them down."""
    time.sleep(1.5)
    with counted_calls(server) as calls:
        time.sleep(effort.idle_seconds)
    per_file = sum(calls.values()) / calls["pread64"]
    return {"poll_calls": per_file * files, "file_calls": per_file}


def idle(server, effort):
    time.sleep(1)
    cpu, wakeups = server.cpu_seconds(), server.wakeups()
    time.sleep(effort.idle_seconds)
    minutes = effort.idle_seconds / 60
    return {"idle_cpu": milli(server.cpu_seconds() - cpu) / minutes,
            "idle_wakeups": (server.wakeups() - wakeups) / minutes}


def descriptors(server, _effort):
    return {"descriptors": server.descriptors()}


def hang(server, effort):
    """A device hangs from the start on. Who reads while it is scraped never answers."""
    with server.connect() as connection:
        walls, _ = paced(effort.hang_scrapes, 0.1, lambda: timed_scrape(connection))
    return {"hang_wall": milli(statistics.median(walls)), "hang_wall_max": milli(max(walls))}


def of(server, effort, *measures):
    """Starts the server and takes the measures one after the other."""
    result = {}
    with server:
        for measure in measures:
            result.update(measure(server, effort))
    return result


def medians(results):
    return {key: statistics.median([result[key] for result in results]) for key in results[0]}


def in_turns(tree, effort):
    """What is measured of both, the one after the other in each round."""
    rounds = {Agent: [], NodeExporter: []}
    starts = live(tree, "starts", effort.starts, f"{Agent.binary}=DefaultAgent",
                  f"{NodeExporter.binary}=NodeExporter")
    starts = json.loads(starts.communicate()[0])
    for _ in range(effort.rounds):
        for server, quiet in ((Agent, QuietAgent), (NodeExporter, NodeExporter)):
            rounds[server].append({**of(server(tree.root, tree.directory), effort, cold),
                                   **of(quiet(tree.root, tree.directory), effort, hot)})
    return {server.name: {**started, **medians(rounds[server])}
            for server, started in zip(rounds, starts)}


def all_of(tree, effort):
    """{server's name: {key: number}} for one tree. The last measure breaks a device."""
    results = in_turns(tree, effort)
    agent, other = results["agent"], results["node_exporter"]

    def add(server, *measures):
        results[server.name].update(of(server, effort, *measures))

    add(DefaultAgent(tree.root, tree.directory), memory, throughput, body, descriptors)
    add(NodeExporter(tree.root, tree.directory), memory, throughput, body, descriptors, idle,
        scrape_calls)
    add(QuietAgent(tree.root, tree.directory), idle, scrape_calls)
    files = tree.polled_files()
    add(Agent(tree.root, tree.directory), lambda server, _: poll_calls(server, effort, files))
    if tree.devices in GROWTH_POLL:
        add(Agent(tree.root, tree.directory, **GROWTH_POLL[tree.devices]), growth)
    agent["cold_ratio"] = other["cold_cpu"] / agent["cold_cpu"]
    tree.hang()
    agent.update(of(Agent(tree.root, tree.directory), effort, hang))
    return results


def live(tree, *arguments):
    """live.py, in namespaces of its own."""
    return subprocess.Popen(["unshare", "--mount", "--net", sys.executable, LIVE, tree.root,
                             tree.directory, *map(str, arguments)], stdout=subprocess.PIPE,
                            text=True)


def begin_minute(trees, effort, newest):
    """What Prometheus makes of an agent as it is by default, all servers of all nodes side by side:
    they sleep nearly all of the time. newest: the newest node_exporter, or None."""
    kinds = [f"{Agent.binary}=DefaultAgent", f"{NodeExporter.binary}=NodeExporter",
             f"{Floor.binary}=Floor"]
    kinds += [f"{newest}=NodeExporter"] if newest else []
    return [(tree, live(tree, effort.minute_seconds, *kinds)) for tree in trees]


def end_minute(nodes):
    """Waits for it. {devices: {server's name: {...}, "threads": {name: milliseconds}}}"""
    results = {}
    for tree, node in nodes:
        measured = json.loads(node.communicate()[0])
        agent, other, floor, *rest = measured["servers"]
        results[tree.devices] = {
            "agent": {"minute": agent, "minute_share": agent / other,
                      "minute_floor": agent / floor},
            "node_exporter": {"minute": other}, "floor": {"minute": floor},
            "threads": measured["threads"],
        }
        if rest:
            results[tree.devices]["agent"]["minute_newest"] = agent / rest[0]
            results[tree.devices]["newest"] = {"minute": rest[0]}
    return results


def collectors(trees):
    """{devices: {collector: milliseconds of one run}}, all nodes side by side."""
    nodes = [(tree, live(tree, "collectors", Agent.binary)) for tree in trees]
    return {tree.devices: json.loads(node.communicate()[0]) for tree, node in nodes}


def missing_tools():
    return [tool for tool in ("wrk", "strace", NodeExporter.binary) if not shutil.which(tool)]
