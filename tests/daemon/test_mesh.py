# SPDX-License-Identifier: Apache-2.0
"""The command mesh: a real Prometheus scrapes doubles of agents whose fabric has faults, and servers
that are no Prometheus, or none that answers, get their errors."""
import base64
import contextlib
import http.client
import http.server
import json
import subprocess
import tempfile
import threading
import unittest

import agent as agent_module
from agent import PATIENCE, free_port, wait
from prometheus import Prometheus

WELL, UNEXPLAINED, BLAMED, UNKNOWN = range(4)
NODES, RAILS, POD = 24, 2, 6  # nodes; ports of each; nodes of a pod, which has a leaf for each rail
PODS = NODES // POD
PROBES = 60  # of a pair, between two scrapes


def run(*arguments):
    done = subprocess.run([agent_module.binary, "mesh", *arguments], capture_output=True, text=True,
                          timeout=PATIENCE, check=False)
    return done.returncode, done.stdout, done.stderr


class Fabric:
    """What agents of a job export. loss(port, port) is the share that a pair loses; ports are (node,
    rail). Nodes that are away are not scraped."""

    def __init__(self, job, loss, away):
        self.job, self.loss, self.away = job, loss, away
        self.sent, self.lost = {}, {}

    @staticmethod
    def peers(node):
        pod = node // POD * POD
        for distance in 1, 2, 3:
            yield pod + (node + distance) % POD, "leaf"
            yield (node + POD * distance) % NODES, "fabric"

    @staticmethod
    def leaf(node, rail):
        return f"leaf-{node // POD}-{rail}"

    def page(self, node):
        job = f'job="{self.job}"'
        lines = [f"rdma_probe_up{{{job}}} 1", f"rdma_probe_members{{{job}}} {NODES}"]
        for rail in range(RAILS):
            lines += self.port(node, rail)
        return "\n".join(lines) + "\n"

    def port(self, node, rail):
        own = f'job="{self.job}",device="mlx5_{rail}",port="1"'
        count = {"losing": 0, "answering": 0}
        yield (f'rdma_probe_port_info{{{own},rail="{rail}",leaf="{self.leaf(node, rail)}",group="",'
               f'member="m{node:02}"}} 1')
        for peer, scope in self.peers(node):
            share = self.loss((node, rail), (peer, rail))
            key = node, rail, scope
            self.sent[key] = self.sent.get(key, 0) + PROBES
            self.lost[key] = self.lost.get(key, 0) + PROBES * share
            count["losing" if share else "answering"] += 1
            if share:
                yield (f'rdma_probe_pair_lost_ratio{{{own},peer="m{peer:02}",peer_port="mlx5_{rail}/1",'
                       f'peer_leaf="{self.leaf(peer, rail)}",scope="{scope}",'
                       f'sign="{"silent" if share == 1 else "loss"}"}} {share}')
        for result, pairs in count.items():
            if pairs:
                yield f'rdma_probe_port_pairs{{{own},result="{result}"}} {pairs}'
        for scope in "leaf", "fabric":
            for name, counts in ("sent", self.sent), ("lost", self.lost):
                yield f'rdma_probe_{name}_total{{{own},scope="{scope}"}} {counts[node, rail, scope]}'


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        code, kind, body, *headers = self.server.answer(self.path, self.headers)
        with contextlib.suppress(OSError):
            self.send_response(code)
            self.send_header("Content-Type", kind)
            for name, value in [] if not headers else headers[0].items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def served(answer):
    """Yields the port of a server; answer(path, headers) returns status, type, body, and possibly a
    dictionary of further headers."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", free_port()), Handler)
    server.answer = answer
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def vector(samples):
    """What Prometheus answers: of pairs of labels and value."""
    return json.dumps({"status": "success", "data": {"resultType": "vector", "result": [
        {"metric": labels, "value": [1764258000.1, str(value)]} for labels, value in samples]}}).encode()


def dead(*ports):
    return lambda *pair: 1 if set(ports) & set(pair) else 0


class Verdicts(unittest.TestCase):
    """All share a Prometheus; each sets the faults and waits until it has scraped them."""

    @classmethod
    def setUpClass(cls):
        stack = contextlib.ExitStack()
        cls.addClassCleanup(stack.close)
        cls.count, cls.fabric = 0, Fabric("fabric-0", lambda *_: 0, frozenset())
        port = stack.enter_context(served(cls.scrape))
        targets = [{"targets": [f"127.0.0.1:{port}"],
                    "labels": {"instance": f"node{node}:10879", "__metrics_path__": f"/{node}",
                               "pod": f"agent-{node}"}} for node in range(NODES)]
        cls.prometheus = stack.enter_context(Prometheus(
            job={"static_configs": targets, "honor_labels": True}))
        cls.url = f"http://127.0.0.1:{cls.prometheus.port}"

    @classmethod
    def scrape(cls, path, _):
        node = int(path.strip("/"))
        if node in cls.fabric.away:
            return 503, "text/plain", b""
        return 200, "text/plain; version=0.0.4", cls.fabric.page(node).encode()

    @classmethod
    def set(cls, loss, away=frozenset()):
        """A job of its own, so that no counter remembers other faults: after two scrapes of all."""
        cls.count += 1
        cls.fabric = Fabric(f"fabric-{cls.count}", loss, away)
        wait("the scrapes", lambda: cls.scraped("rdma_probe_up") == cls.scraped(
            f'(count_over_time(rdma_probe_up{{job="{cls.fabric.job}"}}[1h]) >= 2)')
            == NODES - len(away))

    @classmethod
    def scraped(cls, series):
        return cls.prometheus.value(f"count({series})") or 0

    def judge(self, *arguments, url=None):
        """The exit status, and the only fleet."""
        code, out, err = run("--prometheus", url or self.url, "--json", *arguments)
        self.assertEqual(err, "")
        answer = json.loads(out)
        self.assertEqual(len(answer["fleets"]), 1, out)
        self.assertEqual(answer["state"], answer["fleets"][0]["state"])
        return code, answer["fleets"][0]

    def verdicts(self):
        code, fleet = self.judge()
        self.assertEqual(code, BLAMED if fleet["verdicts"] else UNEXPLAINED)
        return [(verdict["kind"], *(verdict.get(key) for key in ("node", "port", "leaf")
                                    if verdict.get(key))) for verdict in fleet["verdicts"]]

    def test_nothing_loses(self):
        self.set(lambda *_: 0)
        code, fleet = self.judge("--job", self.fabric.job)
        self.assertEqual((code, fleet["state"], fleet["verdicts"]), (WELL, "well", []))
        self.assertEqual((fleet["nodes"], fleet["ports"], fleet["answering_pairs"]),
                         (NODES, NODES * RAILS, NODES * RAILS * 6))
        self.assertLess(fleet["oldest_scrape_seconds"], PATIENCE)
        code, out, _ = run("--prometheus", self.url, "--job", self.fabric.job)
        self.assertEqual(code, WELL)
        self.assertIn(f"job {self.fabric.job}: no pair loses probes\n", out)
        self.assertIn(f"{NODES} nodes report {NODES * RAILS} ports", out)

    def test_selectors(self):
        self.set(lambda *_: 0)
        for arguments in ("--job", 'no"ne'), ("--group", "none"):
            code, out, err = run("--prometheus", self.url, *arguments)
            self.assertEqual((code, err), (UNKNOWN, ""))
            self.assertIn("Prometheus has no rdma_probe_port_info", out)

    def test_port(self):
        self.set(dead((3, 1)))
        self.assertEqual(self.verdicts(), [("port", "m03", "mlx5_1/1", "leaf-0-1")])
        code, out, _ = run("--prometheus", self.url)
        self.assertEqual(code, BLAMED)
        self.assertIn("port: m03 mlx5_1/1 at leaf leaf-0-1: NIC, cable or port of the leaf\n", out)
        self.assertIn("6 of 6 pairs that it sends through lose", out)

    def test_leaf_and_host(self):
        leaf = [(node, 0) for node in range(POD, 2 * POD)]
        self.set(dead(*leaf, (20, 0), (20, 1)))
        self.assertEqual(sorted(self.verdicts()), [("host", "m20"), ("leaf", "leaf-1-0")])

    def test_uplink(self):
        self.set(lambda a, b: 0.06 if a[1] == 0 and (a[0] // POD == 2) != (b[0] // POD == 2) else 0)
        self.assertEqual(self.verdicts(), [("uplink", "leaf-2-0")])

    def test_spine(self):
        self.set(lambda a, b: 0.12 if a[0] // POD != b[0] // POD else 0)
        self.assertEqual(self.verdicts(), [("spine",)])
        self.assertIn("as one of 17 equal paths", run("--prometheus", self.url)[1])

    def test_path(self):
        self.set(lambda a, b: 0.5 if a[1] == 1 and {a[0] // POD, b[0] // POD} == {0, 3} else 0)
        self.assertEqual(self.verdicts(), [("path", "leaf-0-1")])

    def test_one_pair(self):
        self.set(lambda a, b: 0.5 if (a, b) == ((0, 0), (1, 0)) else 0)
        self.assertEqual(self.verdicts(), [])
        code, out, _ = run("--prometheus", self.url)
        self.assertEqual(code, UNEXPLAINED)
        self.assertIn("m00 mlx5_0/1 to m01 mlx5_0/1: 50 %, loss", out)

    def test_few_nodes(self):
        """Most agents are not scraped: what is well may be all that is seen."""
        self.set(lambda *_: 0, frozenset(range(3, NODES)))
        code, fleet = self.judge()
        self.assertEqual((code, fleet["state"], fleet["nodes_of_job"], fleet["members_of_job"]),
                         (UNKNOWN, "unknown", 3, NODES))
        self.set(dead((10, 0)), frozenset({10}))
        self.assertEqual(self.verdicts(), [("port", "m10", "mlx5_0/1", "leaf-1-0")])

    def test_prefix_and_login(self):
        login = "Basic " + base64.b64encode(b"alice:secret").decode()

        def proxy(path, headers):
            if headers.get("Authorization") not in (login, "Bearer secret"):
                return 401, "text/plain", b"Unauthorized"
            if not path.startswith("/prometheus/api/"):
                return 404, "text/plain", b"page not found"
            connection = http.client.HTTPConnection("127.0.0.1", self.prometheus.port, timeout=60)
            connection.request("GET", path.removeprefix("/prometheus"))
            reply = connection.getresponse()
            return reply.status, reply.headers["Content-Type"], reply.read()

        self.set(dead((3, 1)))
        with served(proxy) as port, tempfile.NamedTemporaryFile("w") as file:
            url = f"http://127.0.0.1:{port}/prometheus/"
            file.write("secret\n")
            file.flush()
            for words in ("--user", "alice", "--password-file", file.name), ("--token-file", file.name):
                code, fleet = self.judge(*words, url=url)
                self.assertEqual((code, fleet["verdicts"][0]["node"]), (BLAMED, "m03"))
            code, out, err = run("--prometheus", url)
            self.assertEqual((code, out), (UNKNOWN, ""))
            self.assertIn("requires a login (HTTP status 401); see --user", err)
            code, out, err = run("--prometheus", f"http://127.0.0.1:{port}", "--token-file", file.name)
            self.assertEqual((code, out), (UNKNOWN, ""))
            self.assertIn("there is no /api/v1/query (HTTP status 404): not a Prometheus", err)


class Mistakes(unittest.TestCase):
    def refused(self, words, code, kind, body):
        with served(lambda *_: (code, kind, body)) as port:
            status, out, err = run("--prometheus", f"http://127.0.0.1:{port}")
            self.assertEqual((status, out), (UNKNOWN, ""), err)
            self.assertIn(f"http://127.0.0.1:{port}: ", err)
            self.assertIn(words, err)

    def test_answers(self):
        kind = "application/json"
        error = {"status": "error", "errorType": "execution", "error": "too many samples"}
        for code in 422, 503, 200:
            self.refused("Prometheus: too many samples", code, kind, json.dumps(error).encode())
        good = {"status": "success", "data": {"resultType": "vector", "result": [
            {"metric": {"job": "rdma"}, "value": [1, "1"]}]}}
        cut = json.dumps(good).encode()[:-20]
        self.refused("the answer: ", 200, kind, cut)
        self.refused("not an answer of Prometheus", 200, kind, b"{}")
        self.refused("the answer: a sample has no labels or no value", 200, kind,
                     json.dumps(good).replace('"value": [1, "1"]', '"value": 3').encode())
        self.refused("not a Prometheus: the reply is of type text/html", 200, "text/html", b"<html>")
        self.refused("HTTP status 500: broken", 500, "text/plain", b"broken")

    def test_too_large(self):
        self.refused("KiB", 200, "application/json", b" " * (129 << 20))

    def test_nobody(self):
        status, out, err = run("--prometheus", f"http://127.0.0.1:{free_port()}")
        self.assertEqual((status, out), (UNKNOWN, ""))
        self.assertIn("http://127.0.0.1", err)

    def test_command_line(self):
        for words, *arguments in (("missing option --prometheus URL",),
                                  ("is not an http:// or https:// URL", "--prometheus", "node:9090"),
                                  ("--user requires --password-file", "--prometheus", "http://n:1",
                                   "--user", "alice"),
                                  ("unexpected option --once", "--prometheus", "http://n:1", "--once")):
            status, out, err = run(*arguments)
            self.assertEqual((status, out), (UNKNOWN, ""))
            self.assertIn(words, err)
