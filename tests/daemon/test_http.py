# SPDX-License-Identifier: Apache-2.0
"""HTTP: content and form of the answers, and that no client can delay another."""
import contextlib
import gzip
import json
import os
import re
import time
import unittest

from agent import OPENMETRICS, QUIET, Agent, stretched, wait
from formats import check_classic, parse_openmetrics
from lines import alone
from routes import ROUTES

CLASSIC = "text/plain; version=0.0.4; charset=utf-8"
# What Prometheus 2.42 and 3 send.
PROMETHEUS_2 = ("application/openmetrics-text;version=1.0.0,application/openmetrics-text;"
                "version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1")
PROMETHEUS_3 = ("application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,"
                "application/openmetrics-text;version=0.0.1;q=0.5,"
                "text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,"
                "text/plain;version=0.0.4;q=0.3,*/*;q=0.2")
SLOW = 10  # seconds; no other client waits that long, although such clients would take minutes


class Served(unittest.TestCase):
    """One agent whose view never changes serves all of these."""

    @classmethod
    def setUpClass(cls):
        cls.agent = Agent("hgx-h100-ib", poll=QUIET).__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.agent.__exit__(None, None, None)

    def get(self, path, **headers):
        return self.agent.get(path, {name.replace("_", "-"): v for name, v in headers.items()})

    def test_metrics_classic(self):
        for accept in ("text/plain", "*/*", "text/html", "application/json"):
            reply = self.get("/metrics", Accept=accept)
            self.assertEqual((reply.status, reply.headers["content-type"]), (200, CLASSIC), accept)
        check_classic(self.get("/metrics").text)

    def test_metrics_openmetrics(self):
        for accept in (OPENMETRICS, "application/openmetrics-text", PROMETHEUS_2, PROMETHEUS_3):
            reply = self.get("/metrics", Accept=accept)
            self.assertEqual((reply.status, reply.headers["content-type"]), (200, OPENMETRICS))
        self.assertTrue(reply.text.endswith("# EOF\n"))
        parse_openmetrics(reply.text)

    def test_metrics_vary(self):
        vary = self.get("/metrics").headers["vary"].lower()
        self.assertIn("accept", vary.replace("accept-encoding", "", 1))
        self.assertIn("accept-encoding", vary)

    def test_metrics_same_view_same_bytes(self):
        self.assertEqual(self.get("/metrics").body, self.get("/metrics").body)

    def test_metrics_with_query(self):
        self.assertEqual(self.get("/metrics?name=x").status, 200)

    def test_gzip(self):
        for accept in (CLASSIC, OPENMETRICS):
            plain = self.get("/metrics", Accept=accept)
            packed = self.get("/metrics", Accept=accept, Accept_Encoding="gzip")
            self.assertNotIn("content-encoding", plain.headers)
            self.assertEqual(packed.headers["content-encoding"], "gzip")
            self.assertEqual(packed.headers["content-type"], plain.headers["content-type"])
            self.assertEqual(gzip.decompress(packed.body), plain.body)
            self.assertLess(len(packed.body), len(plain.body) / 4)

    def test_gzip_of_documents(self):
        for path in ("/", "/api/v1/snapshot"):
            packed = self.get(path, Accept_Encoding="gzip")
            plain = self.get(path)
            self.assertEqual(packed.headers["content-encoding"], "gzip", path)
            self.assertNotIn("content-encoding", plain.headers, path)
            for name in ("content-type", "vary"):
                self.assertEqual(packed.headers[name], plain.headers[name], path)
            self.assertEqual(plain.headers["vary"].lower(), "accept-encoding")
            self.assertEqual(gzip.decompress(packed.body), plain.body, path)
            self.assertLess(len(packed.body), len(plain.body) / 4, path)
            self.assertEqual(self.get(path, Accept_Encoding="gzip").body, packed.body, path)

    def test_gzip_refused(self):
        for path in ("/metrics", "/", "/api/v1/snapshot"):
            for encoding in ("gzip;q=0", "identity", "br"):
                reply = self.get(path, Accept_Encoding=encoding)
                self.assertNotIn("content-encoding", reply.headers, f"{path} {encoding}")

    def test_gzip_only_of_what_is_long(self):
        for path in ("/healthz", "/readyz", "/nothing"):
            reply = self.get(path, Accept_Encoding="gzip")
            self.assertNotIn("content-encoding", reply.headers, path)

    def test_head(self):
        for path in (*ROUTES, "/runbooks/RdmaPortDown"):
            head, get = self.agent.request("HEAD", path), self.get(path)
            self.assertEqual((head.status, head.body), (200, b""), path)
            for name in ("content-length", "content-type"):
                self.assertEqual(head.headers[name], get.headers[name], path)

    def test_not_found(self):
        for path in ("/nothing", "/metrics/", "/api", "//metrics", "/../etc/passwd"):
            self.assertEqual(self.get(path).status, 404, path)

    def test_runbooks(self):
        node = os.path.basename(self.agent.root)
        index, page = self.get("/runbooks/"), self.get("/runbooks/RdmaPortDown")
        for reply in index, page:
            self.assertEqual((reply.status, reply.headers["content-type"]),
                             (200, "text/html; charset=utf-8"))
            self.assertEqual(reply.headers["cache-control"], "no-store")
            for never in ("<script", "http://", "javascript:"):
                self.assertNotIn(never, reply.text.lower())
        self.assertIn("<a href=/runbooks/RdmaPortDown>", index.text)
        self.assertIn(f"ssh {node} sudo rdma-node-agent check", page.text)
        packed = self.get("/runbooks/RdmaPortDown", Accept_Encoding="gzip")
        self.assertEqual(gzip.decompress(packed.body), page.body)

    def test_a_nul_ends_no_path(self):
        for target in ("/%00", "/metrics%00", "/metrics%00x", "/%00/metrics", "/healthz%00", "/nothing%00",
                       "/runbooks%00", "/runbooks/RdmaPortDown%00x", "http://node01/metrics%00x",
                       "/healthz?%00", "/healthz?name=x%00y", "/healthz?name=x&%00=y"):
            for method in ("GET", "HEAD", "POST"):
                reply = self.agent.request(method, target)
                self.assertEqual((reply.status, reply.headers.get("connection")), (400, "close"), f"{method} {target}")
            self.assertEqual(self.get(target).text, "bad request: a NUL in the path or the query\n")
        for target in ("/metrics%2500", "/metrics%0", "/healthz%"):
            self.assertEqual(self.get(target).status, 404, target)
        for target in (b"/metrics\0", b"/metrics\0x", b"/\0%00", b"/healthz?\0", b"/healthz?name=\0x"):
            for method in (b"GET", b"HEAD", b"POST"):
                reply = self.exchange(method + b" " + target + b" HTTP/1.1\r\nHost: x\r\n\r\n")
                # libmicrohttpd 1.0 closes the connection
                self.assertTrue(not reply or reply.startswith(b"HTTP/1.1 400 "), target)

    def test_control_characters_of_a_path_go_nowhere(self):
        said = self.agent.log()
        for code in (*range(1, 0x20), 0x7f):
            for path in ("/", "/metrics", "/runbooks/", "/runbooks/RdmaPortDown"):
                reply = self.get(f"{path}%{code:02x}x")
                self.assertEqual(reply.status, 404, f"{path} {code}")
                self.assertIsNone(re.search(r"[^\n -~]", f"{reply.headers}{reply.text}"), f"{path} {code}")
                self.assertEqual(self.get(f"{path}?name=%{code:02x}").status, 200, f"{path} {code}")
        self.assertEqual(self.agent.log(), said)

    def test_runbooks_that_are_none(self):
        for name in ("RdmaNothing", "rdmaportdown", "RdmaPortDown/", "../metrics", "x" * 900):
            reply = self.get(f"/runbooks/{name}")
            self.assertEqual((reply.status, reply.headers["content-type"]),
                             (404, "text/plain; charset=utf-8"), name)
            self.assertIn("\n/runbooks/RdmaPortDown\n", reply.text, name)
        reply = self.get("/runbooks")
        self.assertEqual((reply.status, reply.headers["location"]), (301, "/runbooks/"))

    def test_method_not_allowed(self):
        for method in ("POST", "PUT", "DELETE", "OPTIONS", "PATCH"):
            reply = self.agent.request(method, "/metrics", body=b"x" if method == "POST" else None)
            self.assertEqual((reply.status, reply.headers["allow"]), (405, "GET, HEAD"), method)

    def test_headers_of_every_reply(self):
        """Security headers for browsers, also for paths that do not exist."""
        for method, path in (("GET", "/"), ("GET", "/metrics"), ("GET", "/nothing"),
                             ("GET", "/api/v1/topology.svg"), ("HEAD", "/"), ("POST", "/metrics")):
            headers = self.agent.request(method, path).headers
            for name, value in (("cache-control", "no-store"), ("x-content-type-options", "nosniff"),
                                ("x-frame-options", "deny"), ("referrer-policy", "no-referrer")):
                self.assertEqual(headers[name], value, f"{method} {path}")
            self.assertIn("default-src 'none'", headers["content-security-policy"])

    def test_health_and_readiness(self):
        for path in ("/healthz", "/readyz"):
            self.assertEqual(self.get(path).status, 200)

    def test_status_page(self):
        reply = self.get("/")
        self.assertEqual(reply.headers["content-type"], "text/html; charset=utf-8")
        for name in ("mlx5_0", "mlx5_11", "ibp24s0", "/metrics",
                     f"<h1>{os.path.basename(self.agent.root)} ",
                     f"<title>{os.path.basename(self.agent.root)}: "):
            self.assertIn(name, reply.text)
        for never in ("<script", "http://", "https://", "javascript:"):
            self.assertNotIn(never, reply.text.lower())

    def test_snapshot(self):
        reply = self.get("/api/v1/snapshot")
        self.assertEqual(reply.headers["content-type"], "application/json")
        self.assertEqual(len(json.loads(reply.text)["devices"]), 10)

    def test_absolute_form(self):
        """As proxies send it (RFC 9112, section 3.2.2)."""
        for target in ("http://node01:10879/metrics", "HTTP://[::1]/metrics?name=x", "https://x/metrics"):
            self.assertEqual(self.get(target).body, self.get("/metrics").body, target)
        self.assertEqual(self.get("http://node01").body, self.get("/").body)
        self.assertEqual(self.get("http://node01/nothing").status, 404)

    def test_where_a_request_ends(self):
        """If this is not clear, nothing behind it is taken for the next request."""
        smuggled = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
        for headers in (b"Content-Length: 1\r\nContent-Length: 1", b"Content-Length: 0\r\nContent-Length: 1",
                        b"Content-Length: 5\r\nTransfer-Encoding: chunked",
                        b"Transfer-Encoding: chunked\r\nContent-Length: 5",
                        b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
                        b"Transfer-Encoding: gzip, chunked", b"Transfer-Encoding: identity",
                        b"Content-Length : 5", b"Transfer-Encoding\t: chunked",
                        b"Content-Length: x", b"Content-Length: -1", b"Content-Length: 1, 1"):
            # 501 for a coding that libmicrohttpd 1.0.10 does not know (RFC 9112, section 6.1)
            unknown = b"gzip" in headers or b"identity" in headers
            for method in (b"GET", b"HEAD", b"POST"):
                request = method + b" /metrics HTTP/1.1\r\nHost: x\r\n" + headers + b"\r\n\r\n" + smuggled
                reply = self.exchange(request)
                self.assertRegex(reply, rb"^HTTP/1\.1 (400|501) " if unknown else rb"^HTTP/1\.1 400 ", request)
                self.assertNotIn(b" 200 ", reply, request)

    def test_bodies_of_requests(self):
        for headers in (b"Content-Length: 5\r\n\r\nhello", b"Content-Length: 0\r\n\r\n",
                        b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"):
            request = b"GET /healthz HTTP/1.1\r\nHost: x\r\n" + headers
            reply = self.exchange(request + b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            self.assertEqual(reply.count(b"HTTP/1.1 200 "), 2, request)

    def exchange(self, request):
        """All that comes back until the connection is closed."""
        reply = b""
        with self.agent.connect() as sock:
            sock.sendall(request)
            with contextlib.suppress(ConnectionResetError):
                while piece := sock.recv(65536):
                    reply += piece
        return reply

    def test_keep_alive(self):
        with self.agent.connect() as sock:
            for _ in range(3):
                sock.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
                self.assertTrue(receive_reply(sock).startswith(b"HTTP/1.1 200"))


def receive_reply(sock):
    """One reply with a body of known length."""
    data = b""
    while b"\r\n\r\n" not in data:
        data += sock.recv(4096) or stop_reading(data)
    head, _, body = data.partition(b"\r\n\r\n")
    length = next(int(line.split(b":")[1]) for line in head.split(b"\r\n")
                  if line.lower().startswith(b"content-length"))
    while len(body) < length:
        body += sock.recv(4096) or stop_reading(data)
    return data


def stop_reading(data):
    raise AssertionError(f"the connection was closed after {data!r}")


def answer_to(agent, request):
    """The first line that comes back, b"" when the connection is just closed."""
    with agent.connect() as sock:
        try:
            sock.sendall(request)
        except OSError:
            pass  # it has answered already and closed
        try:
            return sock.recv(4096).split(b"\r\n")[0]
        except ConnectionResetError:
            return b""


class Strange(unittest.TestCase):
    def test_no_control_characters(self):
        """Whatever devices say: browsers and terminals would obey some of them."""
        with Agent("strange-strings", poll=QUIET) as agent:
            for path in ("/", "/api/v1/topology.svg", "/api/v1/events.txt"):
                reply = agent.get(path)
                self.assertEqual(reply.status, 200, path)
                self.assertIsNone(re.search(rb"[\x00-\x08\x0b-\x1f\x7f]", reply.body), path)


class Unfriendly(unittest.TestCase):
    """Clients that are slow, silent, greedy or broken."""

    def assert_fast(self, agent, count=10):
        for _ in range(count):
            start = time.monotonic()
            self.assertEqual(agent.get("/metrics").status, 200)
            self.assertLess(time.monotonic() - start, stretched(SLOW))

    def test_oversized_header(self):
        with Agent("no-stack", http_settings={"max_header_bytes": 8192}) as agent:
            request = b"GET /metrics HTTP/1.1\r\nHost: x\r\nX-Large: " + b"x" * 65536 + b"\r\n\r\n"
            self.assertRegex(answer_to(agent, request), rb"^HTTP/1\.1 4(31|13|00) ")
            self.assert_fast(agent, 1)

    def test_oversized_request_line(self):
        with Agent("no-stack", http_settings={"max_header_bytes": 8192}) as agent:
            request = b"GET /" + b"x" * 65536 + b" HTTP/1.1\r\nHost: x\r\n\r\n"
            self.assertRegex(answer_to(agent, request), rb"^HTTP/1\.1 4(14|31|00|13) ")
            self.assert_fast(agent, 1)

    def test_garbage(self):
        with Agent("no-stack") as agent:
            for garbage in (b"\x00\x01\x02\r\n\r\n", b"GET\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00",
                            b"GET / HTTP/9.9\r\n\r\n", b"GET /metrics HTTP/1.1\r\n\r\n"):
                with agent.connect() as sock:
                    sock.sendall(garbage)
                self.assert_fast(agent, 1)

    @alone
    def test_idle_clients(self):
        with Agent("hgx-h100-ib", http_settings={"max_connections": 512}) as agent, \
                contextlib.ExitStack() as stack:
            for _ in range(100):
                stack.enter_context(agent.connect())
            self.assert_fast(agent)

    @alone
    def test_slow_senders(self):
        """Slowloris: requests that never end."""
        with Agent("hgx-h100-ib") as agent, contextlib.ExitStack() as stack:
            slow = [stack.enter_context(agent.connect()) for _ in range(50)]
            request = b"GET /metrics HTTP/1.1\r\nHost: x\r\nX-Slow: "
            for byte in request:
                for sock in slow:
                    sock.sendall(bytes([byte]))
            self.assert_fast(agent)

    @alone
    def test_slow_receivers(self):
        """Ask for much and read nothing."""
        with Agent("many-ports") as agent, contextlib.ExitStack() as stack:
            for _ in range(50):
                sock = stack.enter_context(agent.connect())
                sock.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n" * 20)
            self.assert_fast(agent)

    def test_silent_client_is_closed(self):
        with Agent("no-stack", http_settings={"idle_timeout": "1s"}) as agent:
            with agent.connect() as sock:
                self.assertEqual(sock.recv(1), b"")

    def test_too_many_clients(self):
        settings = {"max_connections": 8, "idle_timeout": "2s"}
        with Agent("no-stack", http_settings=settings) as agent:
            with contextlib.ExitStack() as stack:
                for _ in range(40):
                    with contextlib.suppress(ConnectionError):  # closed at once
                        stack.enter_context(agent.connect())
            wait("service after the crowd", lambda: can_get(agent))


def can_get(agent):
    try:
        return agent.get("/metrics", timeout=5).status == 200
    except OSError:
        return False
