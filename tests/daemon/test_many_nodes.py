# SPDX-License-Identifier: Apache-2.0
"""check --nodes: the agents of many nodes, whatever they answer."""
import json
import re
import shutil
import socket
import subprocess
import tempfile
import unittest

import agent as agent_module
from agent import BUSY, EMULATED, PATIENCE, TESTS, Agent, free_port, wait
from double_agents import SILENT, TIME, DoubleAgents, address, fresh, reply
from pki import bcrypt
from test_members import RESOLV, Dns
from test_web import TlsAgent, basic

OK, WARNING, CRITICAL, UNKNOWN = range(4)
MACHINES = {"ok": "switch-management", "warning": "roce-troubles", "critical": "hgx-h100-lost"}
FLEET = 2000


def check(*arguments, wrapper=()):
    done = subprocess.run([*wrapper, agent_module.binary, "check", *arguments], capture_output=True,
                          text=True, timeout=PATIENCE, check=False)
    return done.returncode, done.stdout, done.stderr


def check_patiently(*arguments):
    """Again while the machine is too busy for the seconds that an agent has."""
    def in_time():
        done = check(*arguments)
        return None if re.search("timed out|time-out", done[1]) else done

    return wait("answers", in_time)


class Nodes(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix="rna-nodes-")
        self.addCleanup(shutil.rmtree, self.directory)

    def file(self, name, text):
        path = f"{self.directory}/{name}"
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def list(self, members):
        """members: (node, host:port), or with a dictionary of labels."""
        return self.file("nodes.json", json.dumps(
            [{"targets": [target], "labels": {"node": node, **(labels[0] if labels else {})}}
             for node, target, *labels in members]))

    def record(self, machine):
        """What an agent on that machine answers."""
        root = f"{self.directory}/{machine}"
        subprocess.run([f"{TESTS}/machines/unpack", machine, root], check=True)
        return check("--json", "--root", root)[1].encode()

    def nodes(self, out):
        return {node["node"]: node for node in json.loads(out)}


class RealAgents(Nodes):
    @unittest.skipIf(EMULATED, "an emulated handshake exceeds the time limit of the command")
    def test_a_line_for_each(self):
        """Plain HTTP, TLS with a login, and an agent that is not there."""
        login = {"basic_auth_users": {"alice": bcrypt("secret")}}
        with Agent(MACHINES["ok"], BUSY) as good, \
                Agent(MACHINES["warning"], BUSY) as bad, \
                TlsAgent(web=login, ready=False, machine=MACHINES["ok"], poll=BUSY) as closed:
            closed.login = basic("alice", "secret")
            wait("the agent", closed.is_ready)
            wait("findings", lambda: json.loads(bad.get("/api/v1/findings").text)["findings"])
            nodes = self.list([("good", f"127.0.0.1:{good.port}"), ("bad", f"127.0.0.1:{bad.port}"),
                               ("closed", f"127.0.0.1:{closed.port}", {"__scheme__": "https"}),
                               ("gone", f"127.0.0.1:{free_port()}")])
            code, out, err = check_patiently("--nodes", nodes)
            self.assertEqual((code, err), (UNKNOWN, ""))
            self.assertRegex(out, r"\nunknown +gone +- +- +http://127.0.0.1:\d+: .*connect")
            self.assertRegex(out, r"\nunknown +closed +- +- +https://127.0.0.1:\d+: .*see --ca-file")
            self.assertRegex(out, r"\nwarning +bad +0 +\d+ +mlx5_")
            self.assertRegex(out, r"\nok +good +0 +0 +3 of 3 ports up\n")
            self.assertTrue(out.endswith("\n4 nodes: 0 critical, 2 unknown, 1 warning, 1 ok\n"), out)
            options = ("--ca-file", closed.ca.certificate, "--user", "alice", "--password-file",
                       self.file("password", "secret\n"))
            code, out, err = check_patiently("--json", "--nodes", nodes, *options)
            self.assertEqual((code, err), (UNKNOWN, ""))
            self.assertEqual({name: node["state"] for name, node in self.nodes(out).items()},
                             {"gone": "unknown", "bad": "warning", "good": "ok", "closed": "ok"})
            alone = json.loads(check("--json", "--url", f"http://127.0.0.1:{bad.port}")[1])
            self.assertEqual(self.nodes(out)["bad"]["counts"], alone["counts"])
            self.assertEqual(self.nodes(out)["bad"]["headline"], alone["findings"][0]["text"])

    def test_a_name_in_dns(self):
        with Agent(MACHINES["ok"], BUSY) as agent, \
                Dns(hosts=["127.0.0.1 agents.example.test"],
                    services=[("_http._tcp.agents.example.test", "node-1.example.test", 1)]) as dns:
            wrapper = "unshare", "-m", "sh", "-c", RESOLV, dns.resolv_conf
            code, out, err = check("--nodes", f"dns:agents:{agent.port}", wrapper=wrapper)
            self.assertEqual((code, err), (OK, ""))
            self.assertRegex(out, r"\nok +127\.0\.0\.1 +0 +0 +3 of 3 ports up\n1 node: ")
            code, out, err = check("--nodes", "dns:missing.example.test", wrapper=wrapper)
            self.assertEqual(code, UNKNOWN)
            self.assertTrue(out.startswith("RDMA UNKNOWN - missing.example.test: DNS has no "), out)

    def test_a_name_server_that_is_silent(self):
        dns = Dns()
        self.addCleanup(shutil.rmtree, dns.directory)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent:
            silent.bind((dns.address, 53))
            wrapper = "unshare", "-m", "sh", "-c", RESOLV, dns.resolv_conf
            code, out, _ = check("--nodes", "dns:agents", "--deadline=300ms", wrapper=wrapper)
            self.assertEqual((code, out.split("\n")[0]), (
                UNKNOWN, "RDMA UNKNOWN - agents: no list of nodes came in time"))
            listed = self.list([("n1", "n1.example.test:1")])
            code, out, _ = check("--nodes", listed, "--deadline=300ms", wrapper=wrapper)
            self.assertEqual(code, UNKNOWN)
            self.assertRegex(out, "\nunknown +n1 +- +- +http://n1.example.test:1: Resolving timed out")


class Claims(Nodes):
    """What may answer in the place of an agent."""

    def test_answers_of_no_use(self):
        good = self.record(MACHINES["ok"])
        claim = {"rule": "r", "severity": "critical", "text": "\x1b[2J\nok  n1 " + "x" * 5000,
                 "remedy": ""}
        forged = json.dumps({"node": "n1", "time": "", "findings": [claim]}, indent=1).encode()
        answers = {
            "n1": good,
            "n2": forged,
            "n3": [reply(b"\x1b[31m<html>", "text/html")],
            "n4": [reply(b'{"findings": ')],
            "n5": [reply(b" " * (3 << 20))],
            "n6": [reply(b"not found\n", "text/plain", "404 Not Found")],
            "n7": [b"SSH-2.0-OpenSSH_9.2\r\n"],
            "n8": [reply(good.replace(TIME.search(good)[0], b'"time": "2001-01-01T00:00:00Z"'))],
            "n9": [reply(fresh(good))[:-100]],
        }
        with DoubleAgents(lambda host: answers[f"n{host.rsplit('.', 1)[1]}"]) as agents:
            listed = self.list((name, f"{address(i)}:{agents.port}") for i, name in enumerate(answers))
            code, out, err = check_patiently("--nodes", listed)
            json_out = check_patiently("--json", "--nodes", listed)[1]
        self.assertEqual((code, err), (CRITICAL, ""))
        self.assertNotIn("\x1b", out + json_out)
        lines = out.splitlines()
        self.assertEqual([line.split()[:2] for line in lines[1:-1]],
                         [["critical", "n2"], *(["unknown", f"n{i}"] for i in range(3, 10)),
                          ["ok", "n1"]])
        self.assertLess(max(map(len, lines)), 600)
        nodes = self.nodes(json_out)
        for name, words in (("n3", "the reply is of type text/html"), ("n4", "cannot read the reply"),
                            ("n5", "the reply has more than 2048 KiB"), ("n6", "HTTP status 404"),
                            ("n7", "HTTP/0.9"), ("n8", "s old, by the clock of this machine"),
                            ("n9", "")):
            self.assertIn(words, nodes[name]["error"], name)
            self.assertNotIn("counts", nodes[name])
        self.assertTrue(all("/api/v1/findings" in request for request in agents.requests))

    def test_no_list(self):
        for text, words in (("[]", "there is no node in it"), ("{", ""), ("[{}]", "list of targets")):
            path = self.file("list.json", text)
            code, out, err = check("--nodes", path)
            self.assertEqual(code, UNKNOWN)
            self.assertTrue(out.startswith(f"RDMA UNKNOWN - {path}"), out)
            self.assertIn(words, err)
        code, out, _ = check("--json", "--nodes", "/nowhere")
        self.assertEqual((code, json.loads(out)["state"]), (UNKNOWN, "unknown"))


class Fleets(Nodes):
    def documents(self):
        return {state: self.record(machine) for state, machine in MACHINES.items()}

    def test_a_large_fleet(self):
        """No node is skipped, whether it answers or not."""
        documents = self.documents()
        states = {address(i): "critical" if i % 500 == 7 else "unknown" if i % 100 == 3
                  else "warning" if i % 10 == 1 else "ok" for i in range(FLEET)}
        with DoubleAgents(lambda host: documents.get(states[host], SILENT)) as agents:
            listed = self.list((host, f"{host}:{agents.port}") for host in states)
            code, out, err = check("--nodes", listed)
        self.assertEqual((code, err), (CRITICAL, ""))
        lines = [line.split()[:2] for line in out.splitlines()[1:-1]]
        self.assertEqual(len(lines), FLEET)
        self.assertEqual({host for _, host in lines}, set(states))
        order = ["critical", "unknown", "warning", "ok"]
        self.assertEqual(sorted(lines, key=lambda line: order.index(line[0])), lines)
        # on a machine that is too busy an agent that answers may count as silent
        wrong = [line for line in lines if line[0] != states[line[1]] and line[0] != "unknown"]
        self.assertEqual(wrong, [])
        self.assertRegex(out.splitlines()[-1], rf"^{FLEET} nodes: \d+ critical, ")

    def test_a_deadline(self):
        """It is that of the whole run, and each node has its share of it."""
        with DoubleAgents(lambda host: SILENT) as agents:
            listed = self.list((address(i), f"{address(i)}:{agents.port}") for i in range(FLEET))
            code, out, err = check("--nodes", listed, "--deadline=1s", "--json")
        self.assertEqual((code, err), (UNKNOWN, ""))
        nodes = self.nodes(out)
        self.assertEqual(len(nodes), FLEET)
        for node in nodes.values():
            self.assertRegex(node["error"], "timed out|time-?out|not asked before the deadline")
