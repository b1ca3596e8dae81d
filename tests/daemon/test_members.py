# SPDX-License-Identifier: Apache-2.0
"""Members of probes by DNS: from dnsmasq, a server that is used on many networks.

It listens on a loopback address of its own; resolv.conf names that in the agent's mount namespace.
"""
import http.server
import json
import os
import random
import shutil
import subprocess
import tempfile
import threading
import unittest

import agent as agent_module
from agent import Agent, wait
from lines import long

SERVER = shutil.which("dnsmasq") or "/usr/sbin/dnsmasq"
RESOLV = 'mount --bind "$0" /etc/resolv.conf && exec "$@"'


class Dns:
    """In a with statement. hosts: lines of a hosts file; services: (name, target, port)."""

    def __init__(self, hosts=(), services=()):
        self.directory = tempfile.mkdtemp(prefix="rna-dns-")
        self.address = f"127.53.{random.randrange(1, 255)}.{random.randrange(1, 255)}"
        self.write("hosts", hosts)
        self.write("services", [f"srv-host={name},{target},{port}" for name, target, port in services])
        self.write("resolv.conf", [f"nameserver {self.address}", "search example.test",
                                   "options timeout:1 attempts:1"])
        self.process = None

    def write(self, name, lines):
        with open(f"{self.directory}/{name}", "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")

    @property
    def resolv_conf(self):
        return f"{self.directory}/resolv.conf"

    def start(self):
        self.process = subprocess.Popen(
            [SERVER, "--keep-in-foreground", f"--conf-file={self.directory}/services", "--no-resolv",
             "--no-hosts", f"--addn-hosts={self.directory}/hosts", "--bind-interfaces",
             f"--listen-address={self.address}", "--user=root", "--pid-file", "--local-ttl=1",
             "--log-facility=/dev/null", "--local=/test/"])

    def stop(self):
        if self.process:
            self.process.terminate()
            self.process.wait()
        self.process = None

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()
        shutil.rmtree(self.directory)


class DnsAgent(Agent):
    def __init__(self, dns, place):
        super().__init__()
        self.place = place
        self.wrapper = ("unshare", "-m", "sh", "-c", RESOLV, dns.resolv_conf)

    def write_config(self, poll=None, extra=""):
        secret = f"{self.directory}/secret"
        with open(os.open(secret, os.O_CREAT | os.O_WRONLY, 0o600), "w", encoding="utf-8") as file:
            file.write("0123456789abcdef" * 4)
        probe = {"enabled": True, "secret_file": secret, "members_dns": self.place}
        super().write_config(poll, f"probe: {json.dumps(probe)}\nselftest: {{enabled: false}}\n{extra}")

    def probe(self, *options):
        return subprocess.run([agent_module.binary, "probe", *options, "--config", self.config],
                              capture_output=True, text=True, timeout=agent_module.PATIENCE,
                              check=False)

    def members(self):
        return json.loads(self.get("/api/v1/probes").text)["members"]

    def wait_members(self, count):
        wait(f"{count} members", lambda: self.members()["members"] == count)


def may_mount():
    return subprocess.run(["unshare", "-m", "true"], check=False,
                          stderr=subprocess.DEVNULL).returncode == 0


@unittest.skipUnless(os.path.exists(SERVER), "no dnsmasq")
@unittest.skipUnless(may_mount(), "no right to make mount namespaces")
class Members(unittest.TestCase):
    def check(self, place, count, **records):
        with Dns(**records) as dns, DnsAgent(dns, place) as agent:
            agent.wait_members(count)
            members = agent.members()
            self.assertEqual((members["source"], members["name"]), ("dns", place))
            self.assertIn("read", members)
            self.assertNotIn("error", members)
            self.assertEqual(agent.metric("rdma_probe_members"), count)

    def test_four_thousand_addresses(self):
        """As many as a message holds; the first answer, by UDP, is cut."""
        self.check("agents.example.test:9400", 4000,
                   hosts=[f"10.9.{i // 250}.{i % 250 + 1} agents.example.test" for i in range(4000)])

    def test_two_thousand_addresses_of_ipv6(self):
        """By a search domain."""
        self.check("agents", 2000,
                   hosts=[f"fd00::{i + 1:x} agents.example.test" for i in range(2000)])

    def test_five_hundred_services(self):
        self.check("_http._tcp.agents.example.test", 500,
                   services=[("_http._tcp.agents.example.test", f"node{i}.example.test", 9400)
                             for i in range(500)])

    def test_command(self):
        """No port of a recorded machine is probed: nothing is known."""
        with Dns(["10.9.0.1 agents.test"]) as dns, DnsAgent(dns, "agents.test") as agent:
            agent.wait_members(1)
            for option in (), ("--wide",):
                done = agent.probe(*option)
                self.assertEqual((done.returncode, done.stderr), (3, ""))
                self.assertRegex(done.stdout, "^Probes (run|do not run: [^.]+)\\. ")
                self.assertIn("\nMembers: 1 (dns agents.test), read ", done.stdout)
            done = agent.probe("--json")
            self.assertEqual((done.returncode, done.stderr), (3, ""))
            self.assertEqual(json.loads(done.stdout)["result"], "unknown")

    def test_a_name_that_does_not_exist(self):
        with Dns() as dns, DnsAgent(dns, "nothing.test") as agent:
            wait("the error", lambda: agent.members().get("error"))
            self.assertEqual(agent.members()["error"], "nothing.test: DNS has no A or AAAA records")
            self.assertNotIn("read", agent.members())
            self.assertIn("probe.members_dns: nothing.test: DNS has no A or AAAA records",
                          agent.log())

    @long
    def test_the_last_list_is_kept(self):
        hosts = [f"10.9.0.{i + 1} agents.test" for i in range(100)]
        with Dns(hosts) as dns, DnsAgent(dns, "agents.test") as agent:
            agent.wait_members(100)
            read = agent.members()["read"]
            dns.stop()
            error = wait("the error", lambda: agent.members().get("error"))
            self.assertIn("no DNS server answered", error)
            self.assertEqual(agent.members()["members"], 100)
            self.assertEqual(agent.members()["read"], read)
            dns.write("hosts", hosts[:50])
            dns.start()
            agent.wait_members(50)
            self.assertNotIn("error", agent.members())
            self.assertNotEqual(agent.members()["read"], read)
            log = agent.log()
            self.assertEqual(log.count("no DNS server answered"), 1)
            self.assertEqual(log.count("the list of members can be read again"), 1)


class Peer(http.server.ThreadingHTTPServer):
    """An agent that counts how often it is asked for its ports, of which it has none."""

    def __init__(self):
        self.asked = 0
        super().__init__(("127.0.0.1", 0), PeerReply)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()


class PeerReply(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.asked += self.path == "/api/v1/probe"
        body = json.dumps({"version": 2, "node": "n2", "group": "", "key_check": "0123abcd",
                           "state": "running", "why": "", "ports": []}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class FileAgent(DnsAgent):
    """Of this node, with a list of members and a memory."""

    def __init__(self, peer):
        Agent.__init__(self)
        self.list, self.state = f"{self.directory}/members.json", f"{self.directory}/state"
        with open(self.list, "w", encoding="utf-8") as file:
            json.dump([{"targets": [f"127.0.0.1:{peer.server_port}"], "labels": {"node": "n2"}}],
                      file)
        os.mkdir(self.state, 0o700)

    def write_config(self, poll=None, extra=""):
        self.place = ""
        super().write_config(poll, extra)
        with open(self.config, encoding="utf-8") as file:
            text = file.read()
        text = text.replace('"members_dns": ""', f'"members_file": "{self.list}"')
        text = text.replace('state: {directory: ""}', f"state: {{directory: {self.state}}}")
        with open(self.config, "w", encoding="utf-8") as file:
            file.write(text)


def kept_peers(path):
    if not os.path.exists(path):
        return None
    with open(path, encoding="utf-8") as file:
        return json.load(file)["peers"]


class Memory(unittest.TestCase):
    def test_peers_are_asked_after_a_restart_without_a_list(self):
        with Peer() as peer, FileAgent(peer) as agent:
            agent.wait_members(1)
            wait("a question", lambda: peer.asked)
            path = f"{agent.state}/probes.json"
            wait("it is kept", lambda: kept_peers(path) == [
                {"name": "n2", "origin": f"http://127.0.0.1:{peer.server_port}"}])
            agent.stop()
            os.unlink(agent.list)
            before = peer.asked
            agent.start()
            wait("a question without a list", lambda: peer.asked > before)
            wait("the error", lambda: agent.members().get("error"))
