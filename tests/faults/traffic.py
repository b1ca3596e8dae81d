# SPDX-License-Identifier: Apache-2.0
"""The load on a running agent: scrapes, reloads, requests to its control socket, a port that flaps
and a device that disappears and returns; and its answers without faults, the reference for later
ones."""
import collections
import gzip
import http.client
import itertools
import json
import os
import signal
import socket
import threading
import time
import xml.etree.ElementTree

import judge
from formats import Invalid, parse_openmetrics
from routes import DOCUMENTS

OPENMETRICS = {"Accept": "application/openmetrics-text; version=1.0.0"}
PACKED = {"Accept-Encoding": "gzip"}
ANSWER = 60  # seconds; who takes longer hangs
GOOD, UNAVAILABLE = 200, range(500, 600)
PACKET_MAX = 65536

REQUESTS = [(path, headers, parse) for path, parse in DOCUMENTS.items() for headers in (PACKED, {})]
SCRAPES = [("/metrics", {**OPENMETRICS, **PACKED}, parse_openmetrics), ("/metrics", {}, str),
           ("/metrics", OPENMETRICS, parse_openmetrics), ("/metrics", PACKED, str)]
QUESTIONS = b"quiesce\ntimeout=1s\n", b"resume\n", b"selftest\n", b"nonsense\n"


class Watchdog:
    """Listens as systemd does: how long was the longest pause in which the loop did not turn?"""

    def __init__(self, seconds):
        self.socket, self.last, self.longest = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM), 0, 0
        self.socket.bind("")  # the kernel finds a name
        self.environment = {"NOTIFY_SOCKET": "@" + self.socket.getsockname()[1:].decode(),
                            "WATCHDOG_USEC": str(seconds * 1_000_000)}
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        while True:
            if b"WATCHDOG=1" in self.socket.recv(PACKET_MAX):
                now = time.monotonic()
                self.longest = max(self.longest, now - (self.last or now))
                self.last = now


class Truth:
    """Which samples there were in peace, and with which values; those of a family that shared
    matches have no value of their own."""

    def __init__(self, restless, shared=None):
        self.restless, self.shared, self.scrapes = restless, shared, 0
        self.values = collections.defaultdict(lambda: collections.defaultdict(set))
        self.times = collections.Counter()

    def of_the_others(self, text):
        """Without those of the device that is not left in peace."""
        return {(family, labels): "any" if self.shared and self.shared.fullmatch(family) else value
                for (family, labels), value in judge.samples(text).items()
                if self.restless not in {part for _, value in labels for part in value.split("/")}}

    def learn(self, text):
        self.scrapes += 1
        for (family, labels), value in self.of_the_others(text).items():
            self.values[family][labels].add(value)
            self.times[family, labels] += 1

    def wrong(self, text):
        for (family, labels), value in self.of_the_others(text).items():
            known = self.values.get(family, {})
            like = known.get(labels) or set().union(*(values for more, values in known.items()
                                                      if labels <= more))
            if family not in judge.COUNTS and value not in like:
                yield f"{family}{dict(labels)} is {value}, and was {sorted(like) or 'not there'}"

    def missing(self, text):
        now = self.of_the_others(text)
        return [f"{family}{dict(labels)}" for (family, labels), times in self.times.items()
                if times == self.scrapes and (family, labels) not in now]


class Traffic:
    """Goes on until it is stopped. problems: (when, what). answers: how many of which kind."""

    def __init__(self, agent, truth, learns):
        self.agent, self.truth, self.learns, self.problems = agent, truth, learns, []
        self.answers, self.over = collections.Counter(), threading.Event()
        self.threads = [threading.Thread(target=self.repeat, args=(step, pause)) for step, pause in (
            (self.read(), 0), (self.ask(), 0.02), (self.reload(), 0.05), (self.flap(), 0.1))]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        for thread in self.threads:
            thread.join()

    def complain(self, text):
        self.problems.append((time.monotonic(), text))

    def repeat(self, steps, pause):
        while not self.over.is_set():
            try:
                next(steps)
            except ProcessLookupError:
                return  # the caller that waits for the process reports it
            except Exception as error:  # pylint: disable=broad-except
                self.complain(f"{type(error).__name__}: {error}")
                return
            self.over.wait(pause)
        steps.close()

    # -- reading ---------------------------------------------------------------------------------

    def read(self):
        for pair in itertools.cycle(zip(itertools.cycle(SCRAPES), REQUESTS)):
            for path, headers, parse in pair:
                kind = self.get(path, headers, parse)
                self.answers[kind] += 1
                yield

    def get(self, path, headers, parse):
        try:
            reply = self.agent.get(path, headers, timeout=ANSWER)
        except TimeoutError:
            self.complain(f"{path}: no answer in {ANSWER} s")
            return "hangs"
        except (OSError, http.client.HTTPException):
            return "closed"  # before the end, and that is plain to see
        if reply.status in UNAVAILABLE:
            return str(reply.status)
        if reply.status != GOOD:
            self.complain(f"{path}: {reply.status}")
            return "bad"
        return self.judge(path, reply, parse)

    def judge(self, path, reply, parse):
        body = reply.body
        try:
            if reply.headers.get("content-encoding") == "gzip":
                body = gzip.decompress(body)
            parse(body.decode())
        except (Invalid, ValueError, EOFError, OSError, xml.etree.ElementTree.ParseError) as error:
            self.complain(f"{path}: {error}: {body[-200:]!r}")
            return "bad"
        if path != "/metrics":
            return "good"
        if self.learns:
            self.truth.learn(body.decode())
        wrong = list(self.truth.wrong(body.decode()))
        for text in wrong[:3]:
            self.complain(text)
        return "bad" if wrong else "good"

    # -- asking and changing -----------------------------------------------------------------------

    def ask(self):
        """Whatever is asked has an end: an exit code, or a closed connection."""
        for question in itertools.cycle(QUESTIONS):
            with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as sock:
                sock.settimeout(ANSWER)
                try:
                    sock.connect(self.agent.control)
                    sock.sendall(question)
                    while sock.recv(PACKET_MAX)[:1] not in (b"x", b""):
                        pass
                except TimeoutError:
                    self.complain(f"{question!r}: no answer in {ANSWER} s")
                except OSError:
                    pass  # it was closed
            yield

    def reload(self):
        """And what it writes is whole at any time."""
        memory = f"{self.agent.state}/memory.json"
        for level in itertools.cycle(("info", "warning")):
            self.agent.write_config(extra=f"log: {{level: {level}}}\n")
            self.agent.process.send_signal(signal.SIGHUP)
            yield
            if os.path.exists(memory):
                with open(memory, encoding="utf-8") as file:
                    json.load(file)
            yield

    def flap(self):
        """A port goes down and up; its device goes and comes."""
        if not self.truth.restless:
            while True:
                yield
        link = self.agent.path(f"sys/class/infiniband/{self.truth.restless}")
        target = os.readlink(link)
        state = os.path.join(os.path.realpath(link), "ports/1/state")
        with open(state, encoding="utf-8") as file:
            first = file.read()
        try:
            while True:
                for text in "1: DOWN\n", first:
                    with open(state, "w", encoding="utf-8") as file:
                        file.write(text)
                    yield
                    yield
                os.unlink(link)
                yield
                yield
                os.symlink(target, link)
                yield
                yield
        finally:
            if not os.path.lexists(link):
                os.symlink(target, link)
            with open(state, "w", encoding="utf-8") as file:
                file.write(first)
