# SPDX-License-Identifier: Apache-2.0
"""Many hostile clients at once: malformed requests by the hundred thousand, idle connections by the
thousand, and requests that never end."""
import concurrent.futures
import contextlib
import os
import random
import re
import resource
import socket
import time
import unittest

from agent import PATIENCE, QUIET, EMULATED, Agent, stretched, wait
from lines import alone
from pki import bcrypt
from test_web import TlsAgent, WebAgent, basic, cpu_seconds

MALFORMED = 100_000
IDLE = 1000
SLOW = 10  # seconds; no other client waits that long, although such clients would take an hour

SEEDS = [
    b"GET /metrics HTTP/1.1\r\nHost: x\r\nAccept: application/openmetrics-text;version=1.0.0;q=0.5\r\n"
    b"Accept-Encoding: gzip;q=0.5, *;q=0\r\n\r\n",
    b"HEAD / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    b"GET /api/v1/topology.svg?a=%41&b=%zz HTTP/1.0\r\n\r\n",
    b"POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello",
    b"PUT / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    b"GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 18446744073709551615\r\n\r\n",
    b"GET /readyz HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\nx",
    b"GET /metrics HTTP/1.1\r\nHost: x\r\nAuthorization: Basic YWxpY2U6d3Jvbmc=\r\n\r\n",
    b"GET /metrics HTTP/1.1\r\nHost: x\r\nCookie: a=b; c=\"d\"\r\nX-Folded: a\r\n b\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: x\r\n\r\nGET /metrics HTTP/1.1\r\nHost: x\r\n\r\n",
    b"OPTIONS * HTTP/1.1\r\nHost: x\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
]
PIECES = [b"\0", b"\r", b"\n", b"\r\n\r\n", b" ", b"\t", b":", b";", b",", b"=", b"%", b"%00", b"%ff",
          b"/../", b"\x80", b"\xff" * 9, b"-1", b"99999999999999999999", b"0x10", b"a" * 5000,
          b"HTTP/9.9", b"Content-Length: 3\r\n", b"Transfer-Encoding: chunked\r\n", b"ffffffffffffffff\r\n",
          b"Host: y\r\n", b"Authorization: Basic ", b"q=", b"gzip"]


def mutate(chance, request):
    """One request with one to four things wrong with it."""
    request = bytearray(request)
    for _ in range(chance.randint(1, 4)):
        at, end = (chance.randint(0, len(request)) for _ in range(2))
        kind = chance.randrange(6)
        if kind == 0:
            request[at:at] = chance.choice(PIECES)
        elif kind == 1:
            del request[at:at + chance.randint(1, 8)]
        elif kind == 2 and at < len(request):
            request[at] = chance.randrange(256)
        elif kind == 3:
            request[at:at] = request[min(at, end):max(at, end)]
        elif kind == 4:
            del request[at:]
        else:
            other = chance.choice(SEEDS)
            request[at:] = other[chance.randint(0, len(other)):]
    return bytes(request)


def exchange(name, request):
    """What comes back at once for a request of one connection; b"" where the server waits for more."""
    with socket.socket(socket.AF_UNIX) as sock:
        sock.connect(name)  # waits while the queue of the listener is full
        with contextlib.suppress(BrokenPipeError, ConnectionResetError, TimeoutError):
            sock.sendall(request)
            sock.settimeout(0.003)
            return sock.recv(65536)
        return b""


# libmicrohttpd 0.9.77 and newer names the target with its spaces escaped (RFC 9112, section 3.2).
ANSWER = re.compile(rb"HTTP/1\.[01] ((100|200|4\d\d|505|501) |301 .*\r\nLocation: \S*%[0-9A-F]{2})", re.DOTALL)


def memory_bytes(agent):
    """Of its own, without pages of files, of which more are read as time goes by."""
    with open(agent.proc("status"), encoding="utf-8") as file:
        return int(re.search(r"RssAnon:\s*(\d+) kB", file.read())[1]) * 1024


def open_files(agent):
    return len(os.listdir(agent.proc("fd")))


@alone
class Malformed(unittest.TestCase):
    def bombard(self, name, seed, count):
        """How many of count requests got an answer."""
        chance, answered = random.Random(seed), 0
        for _ in range(count):
            request = mutate(chance, chance.choice(SEEDS))
            reply = exchange(name, request)
            if reply and not ANSWER.match(reply):
                raise AssertionError(f"{request!r}: {reply[:200]!r}")
            answered += bool(reply)
        return answered

    def test_malformed(self):
        name = f"rna-hostile-{os.getpid()}"
        agent = WebAgent({"basic_auth_users": {"alice": bcrypt("secret")}})
        agent.http_settings["listen"] = [f"127.0.0.1:{agent.port}", f"unix:@{name}"]
        agent.login = basic("alice", "secret")
        with agent, concurrent.futures.ThreadPoolExecutor(4) as pool:
            files = open_files(agent) + 4  # that are open for a moment
            # what is made once is made now
            concurrent.futures.wait([pool.submit(self.bombard, f"\0{name}", seed, MALFORMED // 80)
                                     for seed in range(9, 17)])
            wait("connections to end", lambda: open_files(agent) <= files)
            memory = memory_bytes(agent)
            shares = [pool.submit(self.bombard, f"\0{name}", seed, MALFORMED // 8)
                      for seed in range(1, 9)]
            while not all(share.done() for share in shares):
                started = time.monotonic()
                self.assertEqual(agent.get("/metrics").status, 200)
                self.assertLess(time.monotonic() - started, stretched(SLOW))
                concurrent.futures.wait(shares, 0.5)
            # most are answered; how many of them so soon that we are still there, the machine decides
            answered = sum(share.result() for share in shares)
            self.assertGreater(answered, MALFORMED // 1000)
            wait("connections to end", lambda: open_files(agent) <= files)
            grown = memory_bytes(agent) - memory
            print(f"     {answered} answered at once; {grown // 1024} kB more")
            if not agent.is_sanitized() and not EMULATED:  # these keep freed memory, or translated code
                self.assertLess(grown, 8 << 20)


@alone
class Idle(unittest.TestCase):
    """A thousand connections cost a little memory each, no CPU, and do not delay other clients."""

    SETTINGS = {"max_connections": 4096, "idle_timeout": "1h", "request_timeout": "1h"}

    def allow_descriptors(self):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if hard < IDLE + 200:
            self.skipTest(f"no more than {hard} descriptors are allowed here")
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))

    def test_thousand_connections(self):
        self.allow_descriptors()
        with Agent("hgx-h100-ib", poll=QUIET, http_settings=self.SETTINGS) as agent, \
                contextlib.ExitStack() as stack:
            memory = memory_bytes(agent)
            socks = [stack.enter_context(agent.connect()) for _ in range(IDLE)]
            for index, sock in enumerate(socks):
                if index % 2:  # half of them are slowloris
                    sock.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\nX-Slow: ")
            before = cpu_seconds(agent)
            for _ in range(20):
                started = time.monotonic()
                self.assertEqual(agent.get("/metrics").status, 200)
                self.assertLess(time.monotonic() - started, stretched(SLOW))
                for sock in socks[1::2]:
                    sock.sendall(b"x")
            self.assertLess(cpu_seconds(agent) - before, 10)
            if not agent.is_sanitized():  # which have memory of their own for each page
                self.assertLess(memory_bytes(agent) - memory, IDLE * 64 * 1024)
            for sock in socks[1::2]:
                sock.sendall(b"\r\n\r\n")
            for sock in socks[1::2]:
                self.assertTrue(sock.recv(65536).startswith(b"HTTP/1.1 200 "))

    def test_thousand_connections_of_tls(self):
        """After their handshake, and one reply for half of them. A hundred without RNA_CHECK_ALL."""
        self.allow_descriptors()
        count = IDLE if os.environ.get("RNA_CHECK_ALL") else IDLE // 10
        with TlsAgent(http_settings=self.SETTINGS) as agent, contextlib.ExitStack() as stack:
            agent.get("/metrics")
            memory, socks = memory_bytes(agent), []
            for index in range(count):
                sock = agent.context.wrap_socket(agent.connect(), server_hostname="127.0.0.1")
                socks.append(stack.enter_context(sock))
                if index % 2:
                    sock.sendall(b"HEAD /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
                    self.assertTrue(sock.recv(65536).startswith(b"HTTP/1.1 200 "))
            before, times = cpu_seconds(agent), []
            for _ in range(20):
                started = time.monotonic()
                self.assertEqual(agent.get("/metrics").status, 200)
                times.append(time.monotonic() - started)
            used, memory = cpu_seconds(agent) - before, memory_bytes(agent) - memory
            print(f"     {count} connections of {memory // count // 1024} KiB; slowest scrape "
                  f"{max(times) * 1000:.0f} ms, {used / 20 * 1000:.0f} ms of CPU for each")
            self.assertLess(max(times), stretched(SLOW))
            self.assertLess(used, 10)
            if not agent.is_sanitized():  # which have memory of their own for each page
                self.assertLess(memory, count * 128 * 1024)
            for sock in socks:
                sock.sendall(b"HEAD /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
                self.assertTrue(sock.recv(65536).startswith(b"HTTP/1.1 200 "))


if __name__ == "__main__":
    unittest.main()
