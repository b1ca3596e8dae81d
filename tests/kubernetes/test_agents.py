# SPDX-License-Identifier: Apache-2.0
"""kube agents and check --nodes kubernetes: a double of the API server lists the agents of a Service."""
import http.server
import json
import os
import re
import subprocess
import tempfile
import threading

import agent
from agent import Agent, wait
from cluster import DoubleTest, PATIENCE
from plain import find_control

RIGHT = "list endpointslices in rdma"


class Other(http.server.BaseHTTPRequestHandler):
    """What else may listen on the port: for each path a status and a text."""
    answers = {}

    def do_GET(self):
        status, text = self.answers[self.path]
        self.send_response(status)
        self.send_header("Content-Length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_):
        pass


class Listed(DoubleTest):
    def setUp(self):
        super().setUp()
        self.api.rules.add(RIGHT)

    def set_agents(self, port, count=1, name="metrics", **more):
        self.api.set_pods("rdma", "agents", [
            {"address": "127.0.0.1", "node": f"gpu-{i}", **more} for i in range(count)],
            port={"name": name, "port": port, "protocol": "TCP"})

    def command(self, service="rdma/agents", words=("kube", "agents")):
        settings = {"kubernetes": {"kubeconfig": self.kubeconfig}, "state": {"directory": ""},
                    "probe": {"members_kubernetes": service}}
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            json.dump(settings, file)
            file.flush()
            return subprocess.run([agent.binary, *words, "--config", file.name],
                                  env={**os.environ, "NODE_NAME": ""}, check=False,
                                  capture_output=True, text=True, timeout=4 * PATIENCE)


class Agents(Listed):
    def serve(self, ready, metrics):
        handler = type("Answers", (Other,), {"answers": {"/readyz": ready, "/metrics": metrics}})
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        self.addCleanup(lambda: (server.shutdown(), thread.join(), server.server_close()))
        return server.server_port

    def test_all_is_well(self):
        with Agent() as a:
            wait("readiness", a.is_ready)
            self.set_agents(a.port, 3)
            result = self.command()
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(result.stdout, "3 of 3 agents are ready and have metrics\n")

    def test_faults(self):
        info = "x 1\nrdma_agent_build_info{version=\"0\"} 1\n"
        for ready, metrics, words in (
                ((503, "no snapshot\nmore"), (200, info), "not ready (HTTP status 503): no snapshot\n"),
                ((200, "ok"), (500, ""), "/metrics: HTTP status 500"),
                ((200, "ok"), (200, "node_load1 0\n"), "/metrics is not that of an agent"),
                ((200, "ok"), (401, ""), None),
                ((200, "ok"), (200, info), None)):
            self.set_agents(self.serve(ready, metrics), 2)
            result = self.command()
            self.assertEqual(result.returncode, 1 if words else 0, (ready, metrics))
            self.assertEqual(result.stderr, "")
            for node in ("gpu-0", "gpu-1") if words else []:
                self.assertRegex(result.stdout,
                                 rf"{node}: pod agents-[0-9a-f]{{5}}: http://127.0.0.1:[^\n]*"
                                 + re.escape(words))
            self.assertIn(f"{0 if words else 2} of 2 agents", result.stdout)

    def test_hostile_agents(self):
        """What they say shows, and does not control the terminal."""
        evil = "evil\x1b[2J\x1b]0;x\x07\r\x9b31m\u202e\x7f"
        info = "x 1\nrdma_agent_build_info{version=\"0\"} 1\n"
        for ready in (503, evil), (500, f"{evil}\nFORGED"):
            self.set_agents(self.serve(ready, (200, info)))
            result = self.command()
            self.assertEqual((result.returncode, result.stderr), (1, ""))
            self.assertIn("evil\ufffd[2J\ufffd]0;x", result.stdout)
            self.assertIsNone(find_control(result.stdout))
            self.assertNotIn("FORGED", result.stdout)

    def test_nothing_listens(self):
        self.set_agents(agent.free_port())
        result = self.command()
        self.assertEqual(result.returncode, 1)
        self.assertIn("0 of 1 agents", result.stdout)

    def test_https(self):
        """Readiness is what Kubernetes says of it."""
        for ready in (True, False):
            self.set_agents(agent.free_port(), name="https",
                            conditions={"ready": ready, "serving": ready})
            result = self.command()
            self.assertEqual(result.returncode, 0 if ready else 1)
            self.assertEqual("not ready, as Kubernetes sees it" in result.stdout, not ready)
            self.assertNotIn("have metrics", result.stdout)  # they were not asked for
            self.assertIn("1 of them have TLS, and were not asked", result.stdout)

    def test_no_service(self):
        result = self.command("")
        self.assertEqual(result.returncode, 2)
        self.assertIn("probe.members_kubernetes names no Service", result.stderr)

    def test_no_agents(self):
        """A Service that is new has none for a moment; so the command asks again."""
        result = self.command()
        self.assertEqual(result.returncode, 1)
        self.assertIn("no agent behind the Service rdma/agents", result.stderr)
        self.assertGreater(len(self.asked("GET", "/endpointslices")), 1)


class Nodes(Listed):
    """check --nodes kubernetes. A port is that of all endpoints: nothing listens on 127.0.0.2."""

    def check(self, *options, service="rdma/agents"):
        return self.command(service, ("check", "--nodes", "kubernetes", *options))

    def check_in_time(self):
        """None while the machine is too busy for the seconds that an agent has."""
        result = self.check()
        return None if "timed out" in result.stdout else result

    def test_all_is_well(self):
        with Agent("switch-management") as a:
            self.api.set_pods("rdma", "agents", [{"address": "127.0.0.1", "node": "gpu-1"},
                                                 {"address": "127.0.0.2", "node": "gpu-2"}],
                              port={"name": "http", "port": a.port, "protocol": "TCP"})
            result = wait("an answer", self.check_in_time)
        self.assertEqual((result.returncode, result.stderr), (3, ""))
        unknown, well, sums = result.stdout.splitlines()[1:]
        self.assertRegex(unknown, r"^unknown +gpu-2 +- +- +http://127\.0\.0\.2:\d+: .*connect")
        self.assertRegex(well, r"^ok +gpu-1 +0 +0 +3 of 3 ports up$")
        self.assertEqual(sums, "2 nodes: 0 critical, 1 unknown, 0 warning, 1 ok")

    def test_no_agents(self):
        result = self.check("--json")
        self.assertEqual(result.returncode, 3)
        self.assertIn("rdma/agents", json.loads(result.stdout)["error"])

    def test_no_service(self):
        result = self.check(service="")
        self.assertEqual((result.returncode, result.stderr), (
            3, "rdma-node-agent: --nodes=kubernetes: probe.members_kubernetes names no Service\n"))
