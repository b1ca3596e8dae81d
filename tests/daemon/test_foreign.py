# SPDX-License-Identifier: Apache-2.0
"""Texts of others: servers that commands ask, agents that Prometheus scrapes, and devices. None of
them gets a control character to a terminal, or makes a command take much memory."""
import contextlib
import gzip
import json
import os
import pty
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.parse

import agent as agent_module
from agent import PATIENCE, QUIET, Agent
from plain import CONTROLS, find_control
from routes import ROUTES
from test_mesh import BLAMED, UNKNOWN, served, vector

# Clears the screen, sets the title and colours, rings, and turns the line around; begins a new line.
EVIL = "evil\x1b[2J\x1b]0;x\x07\b\r\x9b31m\x9d0;x\x9c\x85\u202e\u2066\nFORGED\x7f"
RAW = EVIL.encode() + b"\x9b2J\xff\0\xe2\x80"
ALL = "".join(chr(code) for code in range(0x2070) if code and CONTROLS.match(chr(code)))

JSON, TEXT = "application/json", "text/plain; charset=utf-8"
ERASED = "\r\x1b[K"  # progress


def run(*arguments, **options):
    return subprocess.run([agent_module.binary, *arguments], capture_output=True, timeout=PATIENCE,
                          check=False, **options)


class Plain(unittest.TestCase):
    def assert_plain(self, *texts):
        for text in texts:
            text = text if isinstance(text, str) else text.decode()  # strictly
            self.assertIsNone(find_control(text), repr(text))

    def assert_command(self, *arguments, code=0, shown="evil"):
        """Both streams, of which one shows the text without what controls a terminal."""
        done = run(*arguments)
        self.assertEqual(done.returncode, code, done)
        self.assert_plain(done.stdout, done.stderr)
        both = (done.stdout + done.stderr).decode()
        self.assertIn(shown, both)
        self.assertIn("\ufffd", both)
        return done.stdout.decode()


def findings(text):
    finding = {"rule": f"rule{text}", "severity": "critical", "device": text, "port": 1, "text": text,
               "remedy": text, "runbook": text, "silenced": False}
    return {"time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "findings": [finding],
            "inventory": {"devices": 1, "missing": 0, "ports": 1, "up": 1, "unread": 0, "expected": 1}}


class Replies(Plain):
    """A server in the place of another agent."""

    @staticmethod
    def answer(path, _):
        bodies = {"/api/v1/events": {"events": [EVIL]}, "/api/v1/findings": findings(EVIL + ALL),
                  "/api/v1/probes": {"result": "ok", "more": EVIL}}
        if path not in bodies:
            return 200, TEXT, RAW
        # as others would write it: only what JSON does not allow is escaped
        return 200, JSON, json.dumps(bodies[path], ensure_ascii=False).encode()

    def setUp(self):
        stack = contextlib.ExitStack()
        self.addCleanup(stack.close)
        self.url = f"http://127.0.0.1:{stack.enter_context(served(self.answer))}"

    def test_tables(self):
        for words in ("events",), ("probe",), ("probe", "--wide"):
            out = self.assert_command(*words, "--url", self.url)
            self.assertIn("\nFORGED", out)  # a table has lines

    def test_json(self):
        for command, code in ("events", 0), ("probe", 0), ("check", 2):
            json.loads(self.assert_command(command, "--json", "--url", self.url, code=code))

    def test_findings(self):
        """Text, remedy and runbook are one line each."""
        for form, code in ("nagios", 2), ("slurm", 1), ("nhc", 1), ("npd", 1):
            out = self.assert_command("check", f"--format={form}", "--url", self.url, code=code)
            self.assertEqual(len(out.split("\n")), 5 if form == "nagios" else 2, out)
            self.assertNotIn("\nFORGED", out)

    def test_errors(self):
        for code, kind in (500, TEXT), (404, TEXT), (302, TEXT), (200, "text/\x1b[2J\x9b"):
            with served(lambda *_, reply=(code, kind, RAW): reply) as port:
                for command, failure in ("events", 1), ("probe", 3), ("check", 3):
                    done = run(command, "--url", f"http://127.0.0.1:{port}")
                    self.assertEqual(done.returncode, failure, done)
                    self.assert_plain(done.stdout, done.stderr)
        with served(lambda *_: (200, JSON, RAW)) as port:
            done = run("check", "--url", f"http://127.0.0.1:{port}")
            self.assertEqual(done.returncode, 3)
            self.assert_plain(done.stdout, done.stderr)


class Scraped(Plain):
    """A server in the place of Prometheus, and with it the labels of any pod."""

    NODES = 6

    def answers(self, path, _):
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(path).query)["query"][0]
        found = re.search(r"rdma_probe_\w+", query)[0]
        samples = {
            "rdma_probe_port_info": lambda: [({**self.port(node), "leaf": f"leaf{EVIL}", "rail": "0",
                                               "group": EVIL, "member": f"m{node}{EVIL}"}, 1)
                                             for node in range(self.NODES)],
            "rdma_probe_port_pairs": lambda: [
                ({**self.port(node), "result": result}, self.count(node, result))
                for node in range(self.NODES) for result in ("losing", "answering")],
            "rdma_probe_pair_lost_ratio": lambda: [
                ({**self.port(node), "peer": f"m{peer}{EVIL}", "peer_port": f"d{EVIL}/1{EVIL}",
                  "peer_leaf": f"leaf{EVIL}", "scope": "leaf", "sign": "silent"}, 1)
                for node in range(self.NODES) for peer in self.peers(node) if self.loses(node, peer)],
            "rdma_probe_sent_total": lambda: [({**self.port(node), "scope": "leaf"}, 400)
                                              for node in range(self.NODES)],
            "rdma_probe_lost_total": lambda: [({**self.port(node), "scope": "leaf"},
                                               100 * self.count(node, "losing"))
                                              for node in range(self.NODES)],
            "rdma_probe_members": lambda: [({"job": EVIL}, self.NODES)],
        }.get(found if "timestamp" not in query else "", list)()
        return 200, JSON, vector(samples)

    @staticmethod
    def port(node):
        return {"job": EVIL, "instance": f"n{node}{EVIL}", "device": f"d{EVIL}", "port": f"1{EVIL}"}

    def peers(self, node):
        return [(node + distance) % self.NODES for distance in (1, 2, 3, 4)]

    def count(self, node, result):
        losing = sum(self.loses(node, peer) for peer in self.peers(node))
        return losing if result == "losing" else len(self.peers(node)) - losing

    @staticmethod
    def loses(node, peer):
        return 2 in (node, peer) or (node, peer) == (0, 1)

    def test_labels(self):
        with served(self.answers) as port:
            url = f"http://127.0.0.1:{port}"
            out = self.assert_command("mesh", "--prometheus", url, code=BLAMED)
            self.assertIn("1 part is to blame", out)
            self.assertIn("1 pair loses that no part explains", out)
            self.assertNotIn("\nFORGED", out)
            answer = json.loads(self.assert_command("mesh", "--prometheus", url, "--json",
                                                    code=BLAMED))
            verdict, = answer["fleets"][0]["verdicts"]
            self.assertEqual(verdict["node"], "m2" + re.sub(r"[\n\r]", "\ufffd",
                                                            CONTROLS.sub("\ufffd", EVIL)))

    def test_errors(self):
        for code, kind, body in (
                (422, JSON, json.dumps({"status": "error", "error": EVIL}).encode()),
                (200, JSON, json.dumps({"status": "error", "error": EVIL}).encode()),
                (200, JSON, b'{"data":{"result":[' + RAW), (200, JSON, RAW), (500, TEXT, RAW),
                (200, "text/\x1b[2J\x9b", RAW)):
            with served(lambda *_, reply=(code, kind, body): reply) as port:
                done = run("mesh", "--prometheus", f"http://127.0.0.1:{port}")
                self.assertEqual((done.returncode, done.stdout), (UNKNOWN, b""))
                self.assert_plain(done.stderr)


class Control(Plain):
    """A process in the place of the agent of this node, at its control socket."""

    def ask(self, *arguments, packets):
        """What the command writes on its stdout, and on a terminal as its stderr."""
        with tempfile.TemporaryDirectory(prefix="rna-foreign-") as directory, \
                socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listening:
            with open(f"{directory}/agent.yaml", "w", encoding="utf-8") as file:
                json.dump({"control": {"socket": f"{directory}/control"}}, file)
            listening.bind(f"{directory}/control")
            listening.listen()
            thread = threading.Thread(target=self.serve, args=(listening, packets))
            thread.start()
            terminal, other_end = pty.openpty()
            try:
                done = subprocess.run(
                    [agent_module.binary, *arguments, "--config", f"{directory}/agent.yaml"],
                    stdout=subprocess.PIPE, stderr=other_end, timeout=PATIENCE, check=False)
            finally:
                os.close(other_end)
                thread.join()
            shown = b""
            with contextlib.suppress(OSError):  # the other end is closed
                while piece := os.read(terminal, 65536):
                    shown += piece
            os.close(terminal)
            return done.returncode, done.stdout.decode(), shown.decode().replace("\r\n", "\n")

    @staticmethod
    def serve(listening, packets):
        connection, _ = listening.accept()
        with connection:
            connection.recv(65536)
            for packet in packets:
                connection.send(packet)

    def test_packets(self):
        for words in ("selftest",), ("probe", "bandwidth", "node7"), ("quiesce",):
            code, out, shown = self.ask(*words, packets=[b"p" + RAW, b"o" + RAW, b"x0"])
            self.assertEqual(code, 0)
            self.assertIn("evil\ufffd", out)
            self.assertIn(f"{ERASED}evil\ufffd", shown)
            self.assertTrue(shown.endswith(ERASED), shown)
            self.assert_plain(out, shown.replace(ERASED, ""))
            code, out, shown = self.ask(*words, packets=[b"e" + RAW.replace(b"\0", b""), b"x3"])
            self.assertEqual((code, out), (3 if words[0] != "quiesce" else 1, ""))
            self.assertIn("evil\ufffd", shown)
            self.assert_plain(shown.replace(ERASED, ""))

    def test_a_character_in_two_packets(self):
        text = "größe".encode()
        code, out, _ = self.ask("selftest", packets=[b"o" + text[:3], b"o" + text[3:], b"x0"])
        self.assertEqual((code, out), (0, "größe"))


class Devices(Plain):
    """A machine whose firmware has chosen its texts for it."""

    PATHS = (*ROUTES, "/runbooks/%1b%c2%9b", "/%1b%c2%9b%e2%80%ae")

    def test_replies(self):
        with Agent("strange-strings", poll=QUIET) as agent:
            for path in self.PATHS:
                self.assert_plain(agent.get(path).text)
            self.assertIn("28.39\ufffd\ufffd[31m", agent.get("/metrics").text)
            self.assertIn("28.39\ufffd\ufffd[31m", agent.get("/").text)
            self.assertIn("28.39\\u0001\\u001B[31m\\u007F", agent.get("/api/v1/snapshot").text)
            self.assertIn("28.39\\u009B31m", agent.get("/api/v1/snapshot").text)
            for words in (["topology", "--format=dot"], ["topology", "--format=svg"], ["status", "--json"],
                          ["status", "--color=always"], ["topology", "--color=always"]):
                done = run(*words, "--root", agent.root, "--config", agent.config)
                self.assertEqual(done.returncode, 0, done)
                self.assertEqual(b"\x1b[" in done.stdout, "--color=always" in words)
                self.assert_plain(re.sub(r"\x1b\[[0-9;]*m", "", done.stdout.decode()), done.stderr)
        self.assert_plain(agent.log())


# Of the command alone: a process knows the largest of its children, which begin as large as itself.
MEASURE = """import resource, subprocess, sys
done = subprocess.run(sys.argv[1:], capture_output=True, text=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024, done.returncode, done.stderr)"""


class Memory(unittest.TestCase):
    """Answers that are small on the wire: millions of values, of which each has two bytes."""

    MOST = 160  # MiB
    BEGIN = b'{"status":"success","data":{"resultType":"vector","result":['

    def refused(self, body, words):
        packed = gzip.compress(body, 1)
        with served(lambda *_: (200, JSON, packed, {"Content-Encoding": "gzip"})) as port:
            url = f"http://127.0.0.1:{port}"
            size, code, error = subprocess.run(
                [sys.executable, "-c", MEASURE, agent_module.binary, "mesh", "--prometheus", url],
                capture_output=True, text=True, timeout=PATIENCE, check=True).stdout.split(" ", 2)
        self.assertEqual((int(code), error.strip()), (UNKNOWN, f"error: {url}: the answer: {words}"))
        if not Agent.is_sanitized():
            self.assertLess(int(size), self.MOST)

    def test_objects(self):
        objects = b",".join([b"{}"] * 3_900_000)  # 11 KiB as gzip, 890 MiB as a tree
        self.refused(self.BEGIN + objects, "a sample has no labels or no value")
        long = "an element of the list has more than 64 KiB"
        self.refused(self.BEGIN + b'{"metric":{},"value":[' + objects, long)
        self.refused(self.BEGIN + b'{"metric":{"a":[' + objects, long)
        self.refused(b'{"status":"success","x":[' + objects,
                     "what is beside the list has more than 64 KiB")

    def test_keys(self):
        keys = b",".join(b'"%06x":1' % number for number in range(1_000_000))
        self.refused(self.BEGIN + b'{"metric":{' + keys, "an element of the list has more than 64 KiB")
        keys = b",".join(b'"%x":{}' % number for number in range(6000))
        self.refused(self.BEGIN + b'{"metric":{' + keys + b"}},",
                     "line 1: takes more than 1024 KiB of memory")

    def test_levels(self):
        self.refused(self.BEGIN + b"[" * 9 + b"]" * 9 + b"]",
                     "line 1: more than 8 levels of lists and objects")
        self.refused(b"[" * 60_000_000, "what is beside the list has more than 64 KiB")

    def test_samples(self):
        sample = b'{"metric":{"job":"a"},"value":[1,"1"]}'
        self.refused(self.BEGIN + b",".join([sample] * 700_000),
                     "its ports and pairs take more than 64 MiB of memory; choose fewer by --job")


if __name__ == "__main__":
    unittest.main()
