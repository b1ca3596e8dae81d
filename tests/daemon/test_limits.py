# SPDX-License-Identifier: Apache-2.0
"""HTTP at its limits: crowds that come and go at once, and what is answered afterwards."""
import collections
import concurrent.futures
import contextlib
import ctypes
import dataclasses
import functools
import http.client
import itertools
import json
import multiprocessing
import os
import re
import select
import signal
import socket
import ssl
import statistics
import struct
import subprocess
import sys
import time
import unittest

from agent import BUSY, EMULATED, PATIENCE, QUIET, TESTS, Agent, namespaces, stretched, wait
from lines import alone, long
from pki import Authority, bcrypt
from test_hostile import memory_bytes, open_files
from test_web import basic

sys.path.insert(0, os.path.join(TESTS, "bench"))
import trees  # noqa: E402

LIMIT = 64  # connections
SHARED = LIMIT - 3 * (LIMIT // 16)  # of these
UNSENT = 128 * 1024  # bytes that a socket of the agent holds at most
SLOW = 0.1  # seconds, of an answer
PROMPT = 2  # seconds; measured are some milliseconds
HALF = b"GET /metrics HTTP/1.1\r\nHost: x\r\nX-Half: "
UNREAD = 50 * b"GET /api/v1/snapshot HTTP/1.1\r\nHost: x\r\n\r\n"  # more than sockets hold
WHOLE = b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"
HALF_HELLO = b"\x16\x03\x01\x3f\xff\x01\0\x3f\xfb\x03\x03"  # of a long ClientHello
PROBE = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
PATHS = ("/metrics", "/api/v1/snapshot", "/", "/api/v1/topology", "/api/v1/topology.svg", "/api/v1/findings")
FORMS = ("", "Accept-Encoding: gzip\r\n", "Accept: application/openmetrics-text; version=1.0.0\r\n",
         "Accept: application/openmetrics-text; version=1.0.0\r\nAccept-Encoding: gzip\r\n")
NO_TCP_INFO = "QEMU passes no TCP_INFO, by which the agent counts bytes"
DROPS = "rdma_agent_http_connections_dropped_total"
CLONE_NEWNET = 0x40000000
NETWORK = """\
link set lo up
route add local 198.51.100.0/24 dev lo
address add 2001:db8::1/64 dev lo nodad
""" + "".join(f"address add 2001:db8:{subnet}::{host}/64 dev lo nodad\n"
              for subnet in range(1, 9) for host in (1, 2))


class Network:
    """Sockets of the network namespace of a process."""

    def __init__(self, pid):
        self.pool = concurrent.futures.ThreadPoolExecutor(1, initializer=self.enter, initargs=(pid,))

    @staticmethod
    def enter(pid):
        with open(f"/proc/{pid}/ns/net", "rb") as file:
            if ctypes.CDLL(None, use_errno=True).setns(file.fileno(), CLONE_NEWNET) < 0:
                raise OSError(ctypes.get_errno(), "setns")

    def socket(self, family=socket.AF_INET):
        return self.pool.submit(socket.socket, family).result()


class Crowded(Agent):
    """An agent in a network of its own, where clients have many addresses. Its own are 198.51.100.1
    and 2001:db8::1, and its other way in is an abstract unix socket."""

    wrapper = ("unshare", "-n", "sh", "-c", f"ip -batch - <<'END' && exec \"$@\"\n{NETWORK}END\n", "sh")

    def __init__(self, machine="no-stack", tls=False, **http_settings):
        super().__init__(machine, poll=dict(QUIET), http_settings={
            "max_connections": LIMIT, **http_settings})
        self.unix = f"\0rna-limits-{self.port}"
        self.http_settings["listen"] = [f":{self.port}", f"unix:@{self.unix[1:]}",
                                        f"unix:{self.directory}/http.sock"]
        self.context, self.login, self.web = None, {}, {}
        if tls:
            self.use_tls()

    def use_web(self, **part):
        """A part of the web configuration, beside those that it has."""
        self.web.update(part)
        self.http_settings["web_config_file"] = f"{self.directory}/web.yml"
        with open(f"{self.directory}/web.yml", "w", encoding="utf-8") as file:
            json.dump(self.web, file)

    def use_logins(self, users, **options):
        self.login = basic(*next(iter(users.items())))
        self.use_web(basic_auth_users={name: bcrypt(word, **options) for name, word in users.items()})

    def use_tls(self):
        authority = Authority(self.directory)
        authority.sign("server")
        self.use_web(tls_server_config={"cert_file": "server.pem", "key_file": "server.key"})
        self.context = ssl.create_default_context(cafile=authority.certificate)
        self.context.check_hostname = False

    def start(self, **popen):
        super().start(**popen)
        ours = os.readlink("/proc/self/ns/net")
        wait("the network", lambda: os.readlink(self.proc("ns/net")) != ours)
        self.network = Network(self.process.pid)

    def client(self, source="198.51.100.2", buffer=0):
        """A connection from an address, or "unix"; without TLS. buffer: bytes that it receives unread."""
        if source == "unix":
            sock, target = self.network.socket(socket.AF_UNIX), self.unix
        elif ":" in source:
            sock, target = self.network.socket(socket.AF_INET6), ("2001:db8::1", self.port)
            sock.bind((source, 0))
        else:
            local = source.startswith("127.")
            sock, target = self.network.socket(), ("127.0.0.1" if local else "198.51.100.1", self.port)
            sock.bind((source, 0))
        sock.settimeout(PATIENCE)
        if buffer:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        try:
            sock.connect(target)
        except OSError:
            sock.close()
            raise
        return sock

    def meet(self, source, **options):
        """The same with TLS, if the agent has it, as clients in Go do it: without Nagle's algorithm."""
        sock = self.client(source, **options)
        if not self.context:
            return sock
        try:
            if source != "unix":
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return self.context.wrap_socket(sock)
        except OSError:
            sock.close()
            raise

    def open(self, timeout=PATIENCE, source="127.0.0.1"):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        connection.sock = self.meet(source)
        connection.sock.settimeout(timeout)
        return connection

    def request(self, method, path, headers=None, **options):
        return super().request(method, path, {**self.login, **(headers or {})}, **options)

    def scrape(self, source="127.0.0.1", path="/metrics"):
        """The status, None if the connection was closed without one."""
        try:
            with contextlib.closing(self.open(source=source)) as connection:
                connection.request("GET", path, headers=self.login)
                response = connection.getresponse()
                response.read()
                return response.status
        except (ConnectionError, http.client.HTTPException, ssl.SSLError):
            return None

    def drops(self):
        """{reason: how many connections, if any}."""
        return {dict(labels)["reason"]: number for (name, labels), number in self.metrics().items()
                if name == DROPS and number}

    @contextlib.contextmanager
    def frozen(self):
        """What happens here, the agent sees at once."""
        self.process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self.process.send_signal(signal.SIGCONT)


def documents(login=b""):
    """Requests, without an end: each document in each form. login: a line of the header."""
    for path, form in itertools.cycle(itertools.product(PATHS, FORMS)):
        yield f"GET {path} HTTP/1.1\r\nHost: x\r\n{form}".encode() + login + b"\r\n"


def reset(sock):
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    sock.close()


def ignoring_errors(call, *arguments):
    with contextlib.suppress(OSError):  # those without a slot were closed
        call(*arguments)


STRANGERS = [f"198.51.100.{host}" for host in range(2, 10)]
SINGLES = [f"198.51.100.{host}" for host in range(100, 100 + LIMIT)]
NEIGHBOURS = [f"2001:db8:{subnet}::1" for subnet in range(1, 9)]
# What each of a crowd sends, and how it goes.
CROWDS = {
    "half a request, closed": (HALF, socket.socket.close),
    "half a request, reset": (HALF, reset),
    "half a request, half-closed": (HALF, lambda sock: sock.shutdown(socket.SHUT_WR)),
    "nothing, closed": (b"", socket.socket.close),
    "pipelined, closed": (20 * WHOLE, socket.socket.close),
    "pipelined, reset": (20 * WHOLE, reset),
    "garbage, half-closed": (b"\x16\x03\x01\0\0", lambda sock: sock.shutdown(socket.SHUT_WR)),
}


@unittest.skipUnless(namespaces(), "needs network namespaces and ip")
class Crowds(unittest.TestCase):
    """More clients than the limit come at once and go at once. The next one is answered."""

    def crowd(self, agent, sources, data, leave):
        with contextlib.ExitStack() as stack:
            socks = []
            for index in range(2 * LIMIT):
                with contextlib.suppress(OSError):
                    socks.append(stack.enter_context(agent.client(sources[index % len(sources)])))
            for sock in socks:
                ignoring_errors(sock.sendall, data)
            self.assertEqual(agent.scrape(path="/healthz"), 200)  # beside the crowd
            with agent.frozen():
                for sock in socks:
                    ignoring_errors(leave, sock)

    def assert_answered(self, agent, what):
        for source in ("127.0.0.1", "198.51.100.2", "2001:db8:1::1", "unix"):
            started = time.monotonic()
            self.assertEqual(agent.scrape(source), 200, f"{what}, {source}")
            self.slowest = max(self.slowest, time.monotonic() - started)
        self.assertLess(self.slowest, stretched(PROMPT), what)

    def check(self, sources, **options):
        self.slowest = 0
        with Crowded(**options) as agent:
            for name, (data, leave) in CROWDS.items():
                for _ in range(3):
                    self.crowd(agent, sources, data, leave)
                    self.assert_answered(agent, name)
        print(f"     slowest answer {self.slowest * 1000:.0f} ms")

    def test_two_addresses(self):
        self.check(STRANGERS[:2])

    def test_many_addresses(self):
        self.check(STRANGERS)

    def test_ipv6(self):
        self.check(NEIGHBOURS)

    def test_a_burst_fits_into_the_queue(self):
        """What does not is dropped by the kernel, and comes again after a second."""
        with open("/proc/sys/net/core/somaxconn", encoding="ascii") as file:
            count = min(512, int(file.read()))
        with Crowded() as agent, contextlib.ExitStack() as stack:
            with agent.frozen():
                for index in range(count):
                    stack.enter_context(agent.client(STRANGERS[index % len(STRANGERS)]))
            self.assertEqual(agent.scrape(path="/healthz"), 200)

    def test_unix(self):
        self.check(["unix"])

    def test_tls(self):
        self.check(STRANGERS, tls=True)


@unittest.skipUnless(namespaces(), "needs network namespaces and ip")
class Shares(unittest.TestCase):
    """How many connections an address gets."""

    def come(self, agent, stack, sources, data=HALF):
        """A client of each, once all were accepted."""
        socks = []
        for source in sources:
            with contextlib.suppress(ConnectionError):  # it is sent away at once
                socks.append(stack.enter_context(agent.client(source)))
        for sock in socks:
            ignoring_errors(sock.sendall, data)
        self.assertEqual(agent.scrape(path="/healthz"), 200)
        return socks

    def held(self, socks):
        return sum(not is_closed(sock) for sock in socks)

    def test_a_quarter_for_an_address(self):
        with Crowded() as agent, contextlib.ExitStack() as stack:
            for source in ("198.51.100.2", "198.51.100.3"):
                self.assertEqual(self.held(self.come(agent, stack, LIMIT * [source])), LIMIT // 4, source)

    def test_a_network_of_ipv6_is_one_address(self):
        with Crowded() as agent, contextlib.ExitStack() as stack:
            socks = self.come(agent, stack, LIMIT // 4 * ["2001:db8:1::1", "2001:db8:1::2"])
            self.assertEqual(self.held(socks), LIMIT // 4)

    def test_what_is_kept_free(self):
        """For probes from the node, for scrapers that are known, and for private sockets. A reply to the
        only connection of an address does not give way."""
        with Crowded("many-ports", reply_timeout="1h") as agent, contextlib.ExitStack() as stack:
            for _ in range(2):
                self.assertEqual(agent.scrape("198.51.100.99"), 200)
            self.assertEqual(self.held(self.come(agent, stack, SINGLES, UNREAD)), SHARED)
            self.assertIsNone(agent.scrape("198.51.100.98"))
            for _ in range(3):
                self.assertEqual(agent.scrape("198.51.100.99"), 200)
                self.assertEqual(agent.scrape("127.0.0.1", "/healthz"), 200)
                self.assertEqual(agent.scrape("198.51.100.1", "/readyz"), 200)  # the node's own

    def test_the_address_with_most_connections_gives_way(self):
        """Whatever they do, to any other address."""
        for data in (HALF, UNREAD, WHOLE):
            with Crowded("many-ports", request_timeout="1h", reply_timeout="1h") as agent, \
                    contextlib.ExitStack() as stack:
                self.come(agent, stack, 8 * STRANGERS, data)
                for source in ("198.51.100.98", "198.51.100.97", "2001:db8:1::1"):
                    self.assertEqual(agent.scrape(source), 200, data)

    def test_the_oldest_of_an_address_gives_way(self):
        """To another from the same address, for example behind a proxy."""
        for data in (HALF, UNREAD, WHOLE):
            with Crowded("many-ports", request_timeout="1h", reply_timeout="1h") as agent, \
                    contextlib.ExitStack() as stack:
                for source in ("198.51.100.2", "127.0.0.1", "unix"):
                    crowd = [stack.enter_context(agent.client(source)) for _ in range(LIMIT // 4)]
                    for sock in crowd:
                        sock.sendall(data)
                    wait("replies", lambda crowd=crowd, data=data: data == HALF or all(map(is_readable, crowd)))
                    self.assertEqual(agent.scrape(source), 200, f"{source} {data}")
                    wait("one to be closed", lambda crowd=crowd: any(map(is_ended, crowd)))
                    self.assertEqual(sum(map(is_ended, crowd)), 1, f"{source} {data}")


# What each of a flood sends: it never ends its request, or never reads a reply.
FLOODS = {
    "requests without an end": [b"G", b"\r\n", HALF],
    "replies that are not read": [UNREAD],
    "both": [b"G", UNREAD, b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n", b"\r\n", UNREAD, b""],
}


@unittest.skipUnless(namespaces(), "needs network namespaces and ip")
class Floods(unittest.TestCase):
    """Connections that come without an end are only in the way of their own address."""

    SETTINGS = {"request_timeout": "1h", "reply_timeout": "1h", "idle_timeout": "1h"}

    def flood(self, agent, stack, kind, sources, count):
        for number in range(count):
            sock = stack.enter_context(agent.client(sources[number % len(sources)]))
            ignoring_errors(sock.sendall, FLOODS[kind][number % len(FLOODS[kind])])

    def test_probes_of_the_node(self):
        """Whatever came before one and comes behind it, from all addresses of the node."""
        node = ["127.0.0.1", "198.51.100.1", "2001:db8::1"]
        for kind in FLOODS:
            with Crowded("many-ports", **self.SETTINGS) as agent, contextlib.ExitStack() as stack:
                for source in 4 * node:
                    with agent.frozen():
                        self.flood(agent, stack, kind, node, LIMIT)
                        probe = stack.enter_context(agent.client(source))
                        probe.sendall(PROBE)
                        self.flood(agent, stack, kind, node, LIMIT)
                    self.assertTrue(probe.recv(4096).startswith(b"HTTP/1.1 200 "), f"{kind} {source}")

    def test_a_handshake_has_the_time_of_a_share(self):
        with Crowded("many-ports", tls=True, **self.SETTINGS) as agent, contextlib.ExitStack() as stack:
            for kind in FLOODS:
                self.flood(agent, stack, kind, ["127.0.0.1"], LIMIT)
                probe = stack.enter_context(agent.client("127.0.0.1"))
                self.flood(agent, stack, kind, ["127.0.0.1"], LIMIT // 16)
                probe = stack.enter_context(agent.context.wrap_socket(probe))
                self.flood(agent, stack, kind, ["127.0.0.1"], LIMIT // 16)
                probe.sendall(PROBE)
                self.assertTrue(probe.recv(4096).startswith(b"HTTP/1.1 200 "), kind)

    def test_logins_that_wait(self):
        """As many passwords as an address may have connections are hashed, one after the other."""
        agent = Crowded(**self.SETTINGS)
        agent.use_logins({"alice": "secret"}, cost=12)
        with agent, contextlib.ExitStack() as stack:
            for number in range(LIMIT // 4):
                sock = stack.enter_context(agent.client("127.0.0.1"))
                sock.sendall(WHOLE[:-2] + authorization(f"user{number}", "wrong") + b"\r\n")
            self.assertEqual(agent.scrape(path="/healthz"), 200)
            self.assertEqual(agent.scrape("198.51.100.2", path="/healthz"), 200)

    def test_slow_clients_of_other_addresses(self):
        """They stay, whatever the flood does."""
        sender, reader = "198.51.100.98", "2001:db8:1::1"
        for kind in FLOODS:
            with Crowded("many-ports", **self.SETTINGS) as agent, contextlib.ExitStack() as stack:
                sock, slow = (stack.enter_context(agent.client(source)) for source in (sender, reader))
                sock.sendall(HALF)
                slow.sendall(UNREAD)
                for source in STRANGERS[:3] + ["127.0.0.1"]:
                    self.flood(agent, stack, kind, [source], LIMIT)
                sock.sendall(b"\r\n\r\n")
                self.assertTrue(sock.recv(4096).startswith(b"HTTP/1.1 200 "), kind)
                self.assertFalse(is_ended(slow), kind)
                self.assertTrue(slow.recv(4096), kind)


@unittest.skipUnless(namespaces(), "needs network namespaces and ip")
@unittest.skipIf(EMULATED, "an agent in QEMU is no measure")
@alone
class Rates(unittest.TestCase):
    """A user of the node opens many connections a second; probes, two a second, are answered."""

    KEPT, TRICKLE = 200, 0.02  # sockets; seconds between two bytes of one
    BURST = 0.02  # seconds; what a user who is late makes up for
    PROBES = 28 if os.environ.get("RNA_CHECK_ALL") else 7
    LATE = 0.005  # seconds without a processor, which excuse a probe

    @classmethod
    def flood(cls, agent, rate, pieces, byte, count):
        """In a process of its own, as a user without rights. count: a shared number."""
        Network.enter(agent.process.pid)
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
        kept, due, trickled = collections.deque(maxlen=cls.KEPT), time.monotonic(), 0
        while True:
            now = time.monotonic()
            due = max(due, now - cls.BURST)
            while due < now:
                kept.append(socket.socket())  # one that falls out is closed
                kept[-1].setblocking(False)
                kept[-1].connect_ex(("127.0.0.1", agent.port))
                ignoring_errors(kept[-1].send, pieces[count.value % len(pieces)])
                count.value += 1
                due += 1 / rate
            if byte and now - trickled > cls.TRICKLE:
                trickled = now
                for sock in kept:
                    ignoring_errors(sock.send, byte)
            time.sleep(max(0, due - time.monotonic()))  # the pace of the user

    @contextlib.contextmanager
    def flooded(self, agent, rate, *what):
        """What it yields says how many connections a second there were."""
        context = multiprocessing.get_context("fork")
        count = context.Value("q", 0, lock=False)
        process = context.Process(target=self.flood, args=(agent, rate, *what, count))
        process.start()
        try:
            wait("the flood", lambda: count.value > rate / 2)
            first, started = count.value, time.monotonic()
            yield lambda: (count.value - first) / (time.monotonic() - started)
        finally:
            process.kill()
            process.join()

    def probe(self, agent):
        """The status, how long it took, and whether another process was in the way."""
        statuses = []
        answer = timed(agent, lambda: statuses.append(agent.scrape(path="/healthz")))
        return statuses[0], answer, max(answer.delayed, answer.client_delayed) > self.LATE

    def check(self, rate, floods, **options):
        slowest = rate
        for kind, what in floods.items():
            with Crowded("many-ports", max_connections=256, **options) as agent, \
                    self.flooded(agent, rate, *what) as reached:
                probes = []
                while len(probes) < self.PROBES:
                    due = time.monotonic() + 0.5
                    probes.append(self.probe(agent))
                    time.sleep(max(0, due - time.monotonic()))
                slowest = min(slowest, reached())
            print(f"     {kind}: {sum(status == 200 for status, *_ in probes)} of {len(probes)} answered, "
                  f"{sum(late for *_, late in probes)} of them late; {told([answer for _, answer, _ in probes])}")
            self.assertEqual([status for status, _, late in probes if status != 200 and not late], [], kind)
        if slowest < 0.8 * rate:
            self.skipTest(f"beside all else this machine opens {slowest:.0f} connections a second")

    def test_plain(self):
        self.check(1000, {kind: (pieces, b"x") for kind, pieces in FLOODS.items()})

    def test_tls(self):
        """A handshake takes half a millisecond and more, so that a crowd has to be smaller."""
        self.check(250, {"half of a handshake": ([HALF_HELLO], b"\0"),
                         "handshakes without an end": ([client_hello()], b"")}, tls=True)


@unittest.skipUnless(namespaces(), "needs network namespaces and ip")
class Deadlines(unittest.TestCase):
    """A byte now and then keeps no connection."""

    SETTINGS = {"request_timeout": "1s", "reply_timeout": "1s", "idle_timeout": "1h"}

    def trickle(self, sock, data):
        """Sends bytes until the connection is closed."""
        for byte in itertools.islice(itertools.cycle(data), PATIENCE * 10):
            if is_closed(sock):
                return
            ignoring_errors(sock.sendall, bytes([byte]))
            time.sleep(0.1)  # the pace of the client; the agent decides when it ends
        self.fail("the connection is still open")

    def test_a_request(self):
        with Crowded(**self.SETTINGS) as agent:
            for source in ("198.51.100.2", "2001:db8:1::1", "unix"):
                for data in (HALF, b"GET /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n"):
                    with agent.client(source) as sock:
                        sock.sendall(data)
                        self.trickle(sock, b"x")

    def test_nothing_at_all(self):
        with Crowded(**self.SETTINGS) as agent, agent.client() as sock:
            self.assertEqual(sock.recv(1), b"")

    @unittest.skipIf(EMULATED, NO_TCP_INFO)
    def test_a_later_request(self):
        """While a connection that is just idle stays."""
        with Crowded(**self.SETTINGS) as agent, agent.client() as idle:
            for sock in (idle, agent.client()):
                sock.sendall(b"HEAD /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
                self.assertTrue(sock.recv(4096).endswith(b"\r\n\r\n"))
            with sock:
                self.trickle(sock, HALF)
            idle.sendall(b"HEAD /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
            self.assertTrue(idle.recv(4096).startswith(b"HTTP/1.1 200 "))

    def test_a_later_request_on_a_unix_socket(self):
        """Where the kernel does not count bytes, so that the idle time counts too."""
        with Crowded(**{**self.SETTINGS, "idle_timeout": "1s"}) as agent, agent.client("unix") as sock:
            sock.sendall(b"HEAD /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
            self.assertTrue(sock.recv(4096).endswith(b"\r\n\r\n"))
            self.trickle(sock, HALF)

    def test_a_handshake(self):
        with Crowded(tls=True, **self.SETTINGS) as agent, agent.client() as sock:
            sock.sendall(HALF_HELLO)
            self.trickle(sock, b"\0")
            self.assertEqual(agent.scrape(), 200)

    def test_a_reply(self):
        for tls in (False, True):
            with Crowded("many-ports", tls=tls, **self.SETTINGS) as agent, agent.client() as sock:
                if tls:
                    sock = self.enterContext(agent.context.wrap_socket(sock))
                sock.sendall(UNREAD)
                wait("the end", lambda sock=sock: is_ended(sock) or not sock.recv(1))
                self.assertEqual(agent.scrape(), 200)


@unittest.skipUnless(namespaces(), "needs network namespaces and ip")
class Drops(unittest.TestCase):
    """Connections that the agent ended are counted, by reason. Without memory for one (failed) is not
    tested."""

    def start(self, **http_settings):
        """Of this agent, a view comes all the time."""
        agent = Crowded("many-ports", **http_settings)
        agent.poll = {**QUIET, "state": "200ms"}
        return self.enterContext(agent)

    def come(self, agent, sources, count, data):
        """All at once: so many clients from each of the addresses."""
        with agent.frozen():
            socks = [self.enterContext(agent.client(source)) for _ in range(count) for source in sources]
            for sock in socks:
                sock.sendall(data)
        return socks

    def assert_counted(self, agent, **expected):
        agent.wait_snapshots(2)
        self.assertEqual(agent.drops(), expected)

    def test_deadlines(self):
        agent = self.start(request_timeout="1s", reply_timeout="1s")
        for data in (HALF, UNREAD):
            sock, = self.come(agent, STRANGERS[:1], 1, data)
            wait("the end", lambda sock=sock: is_ended(sock))
        self.assert_counted(agent, request_timeout=1, reply_timeout=1)

    def test_the_share_of_an_address(self):
        agent = self.start(reply_timeout="1h")
        self.come(agent, STRANGERS[:1], LIMIT // 2, UNREAD)
        self.assert_counted(agent, address_limit=LIMIT // 4)

    def test_all_slots(self):
        agent = self.start(reply_timeout="1h")
        self.come(agent, SINGLES, 1, UNREAD)
        self.assert_counted(agent, full=LIMIT - SHARED)

    def test_one_that_gives_way(self):
        agent = self.start(request_timeout="1h")
        self.come(agent, STRANGERS[:4], SHARED // 4, HALF)
        self.assertEqual(agent.drops(), {})
        self.assertEqual(agent.scrape(STRANGERS[4]), 200)
        self.assert_counted(agent, made_room=1)

    def test_clients_that_go(self):
        """They were not ended by the agent."""
        agent = self.start(request_timeout="1h")
        for sock in self.come(agent, STRANGERS[:1], LIMIT // 4, HALF):
            sock.close()
        self.assertEqual(agent.scrape(STRANGERS[0]), 200)
        self.assert_counted(agent)

    def test_a_reload_that_keeps_http(self):
        agent = self.start(request_timeout="1s")
        sock, = self.come(agent, STRANGERS[:1], 1, HALF)
        wait("the end", lambda: is_ended(sock))
        agent.hang_up()
        self.assert_counted(agent, request_timeout=1)


class Large(Crowded):
    """A node with so many devices, of which a view comes as soon as the test makes news."""

    POLL = {**QUIET, "state": "200ms"}

    def __init__(self, devices, **http_settings):
        super().__init__(None, **http_settings)
        self.root, self.poll = trees.Tree(f"{self.directory}/tree", devices).root, self.POLL
        self.states = itertools.cycle(("1: DOWN", "4: ACTIVE"))

    def make_news(self):
        with open(f"{self.root}/sys/class/infiniband/mlx5_0/ports/1/state", "w",
                  encoding="ascii") as file:
            file.write(f"{next(self.states)}\n")

    def next_view(self):
        first = self.snapshots()
        self.make_news()
        wait("another view", lambda: self.snapshots() != first)

    def snapshots(self):
        text = self.request("GET", "/metrics").text
        return re.search(r"^rdma_agent_snapshots_total(?:{.*})? (.*)$", text, re.M)[1]

    def ask_slowly(self, buffer=4096):
        """A connection with a reply of which nothing is read."""
        sock = self.client(buffer=buffer)
        sock.sendall(b"GET /api/v1/snapshot HTTP/1.1\r\nHost: x\r\n\r\n")
        return sock


@unittest.skipUnless(namespaces(), "needs network namespaces and ip")
@alone
class OldViews(unittest.TestCase):
    """Clients that do not read keep bodies of old views: so many, and then the slowest are cut."""

    DEVICES, CLIENTS, MAX = 60, 24, 2 << 20

    @unittest.skipIf(EMULATED, NO_TCP_INFO)
    def test_bodies_are_limited(self):
        with Large(self.DEVICES, max_connections=256, reply_timeout="1h",
                   max_old_bytes=self.MAX) as agent, contextlib.ExitStack() as stack:
            size = len(agent.get("/api/v1/snapshot").body)
            self.assertGreater(size, 2 * UNSENT)  # sockets do not hold it
            agent.next_view()
            memory, steady = memory_bytes(agent), stack.enter_context(agent.ask_slowly(1 << 16))
            socks = []
            for _ in range(self.CLIENTS):
                agent.next_view()
                socks.append(stack.enter_context(agent.ask_slowly()))
                time.sleep(1)  # what the kernel takes at once is no rate then
                steady.recv(1 << 14)  # slow, but faster than the others
            agent.next_view()
            agent.next_view()
            kept = sum(not is_ended(sock) for sock in socks)
            grown = memory_bytes(agent) - memory
            print(f"     {size // 1024} KiB each, {kept} of {self.CLIENTS} kept, {grown // 1024} kB more")
            self.assertIn(kept, range(1, self.MAX // size + 1))
            self.assertFalse(is_ended(steady))
            dropped = {"max_old_bytes": self.CLIENTS - kept}
            wait(f"{dropped} in a document of its own view", lambda: agent.drops() == dropped)
            if not agent.is_sanitized():  # where freed memory is kept on purpose
                self.assertLess(grown, self.MAX + 8 * size)
            self.assertEqual(agent.scrape("198.51.100.3"), 200)

    def test_a_body_is_counted_once(self):
        """Many clients of one view hold one body."""
        with Large(self.DEVICES, max_connections=256, reply_timeout="1h",
                   max_old_bytes=self.MAX) as agent, contextlib.ExitStack() as stack:
            size = len(agent.get("/api/v1/snapshot").body)
            self.assertGreater(self.CLIENTS * size, 2 * self.MAX)
            with agent.frozen():
                socks = [stack.enter_context(agent.ask_slowly()) for _ in range(self.CLIENTS)]
            agent.next_view()
            agent.next_view()
            # frozen, they were served at once, of one view or of two
            self.assertEqual(sum(map(is_ended, socks)), 0)


@dataclasses.dataclass
class Answer:
    """How long a client waited, and what for, in seconds: until then the loop of the agent ran, and
    waited for a processor; the client waited for one."""

    wall: float
    ran: float
    delayed: float
    client_delayed: float


def timed(agent, scrape):
    def read():
        times = []
        for path in (agent.proc("schedstat"), "/proc/thread-self/schedstat"):
            with open(path, encoding="ascii") as file:
                times += [int(word) / 1e9 for word in file.read().split()[:2]]
        return [time.monotonic(), times[0], times[1], times[3]]

    before = read()
    scrape()
    return Answer(*(after - then for after, then in zip(read(), before)))


def told(answers):
    def share(part):
        return sorted(answer.wall for answer in answers)[int(part * (len(answers) - 1))] * 1000

    slow = [answer for answer in answers if answer.wall > SLOW]
    worst = max(answers, key=lambda answer: answer.wall)
    return (f"{len(answers)} answers, median {share(0.5):.1f} ms, 99 % in {share(0.99):.1f} ms, slowest "
            f"{worst.wall * 1000:.0f} ms (the agent ran for {worst.ran * 1000:.0f} ms and waited "
            f"{worst.delayed * 1000:.0f} ms for a processor, the client {worst.client_delayed * 1000:.0f} ms), "
            f"{len(slow)} over {SLOW * 1000:.0f} ms, {sum(a.ran > SLOW for a in slow)} of them by the agent")


@dataclasses.dataclass
class Sample:
    """What an agent uses: bytes of its own, of sockets, and the most of its control group; descriptors."""

    time: float
    own: int
    sockets: int
    peak: int
    files: int
    connections: int

    def __str__(self):
        return (f"{self.own / (1 << 20):.1f} MiB, sockets {self.sockets / (1 << 20):.1f} MiB, peak with pages of "
                f"files {self.peak / (1 << 20):.1f} MiB, {self.files} descriptors, {self.connections} connections")


class MemoryGroup:
    """A control group with a limit of memory, of version 2, or of version 1 together with the limit of
    socket buffers, which version 2 counts as memory. Raises OSError where none can be made."""

    ROOT = "/sys/fs/cgroup"

    def __init__(self, limit):
        with open("/proc/self/cgroup", encoding="ascii") as file:
            ours = dict(line.strip().split(":", 2)[1:] for line in file)
        self.v2 = "memory" not in ours
        # in version 2 a group with processes has no groups with controllers: a sister of ours
        parent = os.path.dirname(self.ROOT + ours[""]) if self.v2 else f"{self.ROOT}/memory{ours['memory']}"
        self.path = f"{parent}/rna-test-{os.getpid()}"
        os.mkdir(self.path)
        try:
            for name in ("memory.max",) if self.v2 else ("memory.limit_in_bytes", "memory.kmem.tcp.limit_in_bytes"):
                with open(f"{self.path}/{name}", "w", encoding="ascii") as file:
                    file.write(str(limit))
        except OSError:
            os.rmdir(self.path)
            raise

    def take(self, agent):
        """One that is not started yet."""
        agent.wrapper = ("sh", "-c", f'echo $$ > {self.path}/cgroup.procs && exec "$@"', "sh", *agent.wrapper)

    def read(self, name):
        with open(f"{self.path}/{name}", encoding="ascii") as file:
            return file.read()

    def peak(self):
        """Bytes, with pages of files, which the kernel takes back when it needs memory."""
        if self.v2:
            return int(self.read("memory.peak"))
        return sum(int(self.read(f"memory.{kind}max_usage_in_bytes")) for kind in ("", "kmem.tcp."))

    def used(self):
        """Bytes that the kernel cannot take back: (of processes, of sockets)."""
        stat = dict(line.split() for line in self.read("memory.stat").splitlines())
        if self.v2:
            return int(stat["anon"]), int(stat["sock"])
        return int(stat["rss"]), int(self.read("memory.kmem.tcp.usage_in_bytes"))

    def kills(self):
        events = dict(line.split() for line in
                      self.read("memory.events" if self.v2 else "memory.oom_control").splitlines())
        return int(events["oom_kill"])

    def remove(self):
        wait("an empty group", lambda: not self.read("cgroup.procs"))
        os.rmdir(self.path)


@unittest.skipUnless(namespaces(), "needs network namespaces and ip")
@alone
@long
class MemoryLimit(unittest.TestCase):
    """Slow readers of every document, of which each view has new ones. The long form is the chart's
    memory limit, 256 readers, and documents of 4 MB."""

    if os.environ.get("RNA_CHECK_ALL"):
        LIMIT, MAX_OLD, DEVICES, READERS, VIEWS = 128 << 20, 16 << 20, 512, 256, 40
    else:
        LIMIT, MAX_OLD, DEVICES, READERS, VIEWS = 40 << 20, 2 << 20, 32, 128, 8

    def start(self):
        try:
            group = MemoryGroup(self.LIMIT)
        except OSError as error:
            self.skipTest(f"no memory control group: {error}")
        self.addCleanup(group.remove)
        agent = Large(self.DEVICES, max_connections=2 * self.READERS, reply_timeout="1h", max_old_bytes=self.MAX_OLD)
        group.take(agent)
        return group, self.enterContext(agent)

    def come(self, agent, stack, requests):
        """Readers, each of the next document."""
        for source in STRANGERS + NEIGHBOURS:
            for _ in range(self.READERS // len(STRANGERS + NEIGHBOURS)):
                with contextlib.suppress(OSError):
                    sock = stack.enter_context(agent.client(source, buffer=4096))
                    sock.sendall(next(requests))

    @unittest.skipIf(EMULATED, NO_TCP_INFO)
    def test_slow_readers(self):
        if Large.is_sanitized():
            self.skipTest("sanitizers need more memory")
        group, agent = self.start()
        requests, crowd, used, answers = documents(), contextlib.ExitStack(), (0, 0), []
        with contextlib.ExitStack() as stack:
            stack.enter_context(crowd)
            for _ in range(2):  # then it is a scraper that is known
                self.assertEqual(agent.scrape("198.51.100.99"), 200)
            for view in range(self.VIEWS):
                if view % 4 == 0:
                    crowd.close()  # most were cut
                self.come(agent, crowd, requests)
                answers.append(timed(agent, lambda: self.assertEqual(agent.scrape("198.51.100.99"), 200)))
                used = max(used, group.used(), key=sum)
                agent.next_view()
            size = len(agent.get("/api/v1/snapshot").body)
            drops = agent.drops()
        print(f"     {self.DEVICES} devices, {size // 1024} KiB, limit {self.LIMIT >> 20} MiB: {used[0] >> 20} MiB used, {used[1] >> 20} MiB by sockets, "
              f"{group.peak() >> 20} MiB with pages of files; dropped: {drops}\n     {told(answers)}")
        self.assertEqual(group.kills(), 0)
        self.assertLess(sum(used), self.LIMIT)
        self.assertGreater(drops["max_old_bytes"], 0)


def dribble(socks):
    """A byte of each now and then, for half a second."""
    for _ in range(10):
        for sock in socks:
            ignoring_errors(sock.send, b"x")
        time.sleep(0.05)


def read_all(socks):
    """What comes within half a second of silence."""
    while readable := select.select(socks, [], [], 0.5)[0]:
        for sock in readable:
            try:
                over = not sock.recv(1 << 16)
            except OSError:
                over = True
            if over:
                socks.remove(sock)


def each(leave):
    def act(socks):
        for sock in socks:
            ignoring_errors(leave, sock)

    return act


@unittest.skipUnless(namespaces(), "needs network namespaces and ip")
@alone
class Soak(unittest.TestCase):
    """A scrape and a probe each second, while readers that are slow take all connections, and others
    come beside them: bursts, slow senders, clients that read, wrong logins, users of the node. All in
    the memory of the chart. It takes 10 seconds, or RNA_SOAK_SECONDS: 2100 for the long form."""

    SECONDS = int(os.environ.get("RNA_SOAK_SECONDS", "10"))
    MEMORY, CONNECTIONS, LINES = 128 << 20, 256, 10
    DEVICES = 64 if SECONDS >= 60 else 8

    @contextlib.contextmanager
    def crowds(self, agent, until):
        """Processes, so that they do not delay the scraper's interpreter. It yields how many connections
        each of them has made."""
        context = multiprocessing.get_context("fork")
        works = [self.hold, self.node, self.strangers, self.strangers]
        counts = context.Array("q", len(works), lock=False)
        processes = [context.Process(target=self.crowd, args=(agent, until, work, number, counts))
                     for number, work in enumerate(works)]
        for process in processes:
            process.start()
        try:
            yield counts
            for process in processes:
                process.join()
                self.assertEqual(process.exitcode, 0, "a crowd")
        finally:
            for process in processes:
                process.kill()
                process.join()

    @staticmethod
    def crowd(agent, until, work, number, counts):
        agent.network = Network(agent.process.pid)  # a thread does not survive fork()
        for made in work(agent, number):
            counts[number] += made
            if time.monotonic() > until:
                return

    @classmethod
    def hold(cls, agent, _):
        """Connections of which nothing is read, as many as the agent serves; what it ends comes again."""
        requests, socks = documents(authorization("alice", "secret")), {}
        while True:
            for place, source in enumerate(cls.CONNECTIONS // 16 * SINGLES[:16]):
                if place in socks and not is_ended(socks[place]):
                    continue
                with contextlib.suppress(OSError):
                    socks[place] = agent.meet(source, buffer=4096)
                    socks[place].sendall(next(requests))
                yield 1
            time.sleep(0.1)
            yield 0

    @classmethod
    def strangers(cls, agent, number):
        return cls.come_and_go(agent, [f"198.51.100.{10 * number + host}" for host in range(5)] * 16)

    @classmethod
    def node(cls, agent, _):
        """At a pace that leaves time for a probe."""
        for made in cls.come_and_go(agent, 16 * ["127.0.0.1"]):
            yield made
            time.sleep(0.01)

    @staticmethod
    def come_and_go(agent, sources):
        """Crowds of each kind, one after the other; with TLS, each second one does a handshake."""
        login, requests = authorization("alice", "secret"), documents(authorization("alice", "secret"))
        wrong = b"".join(WHOLE[:-2] + authorization("alice", f"wrong{i}") + b"\r\n" for i in range(3))
        crowds = [*((data, each(leave)) for data, leave in CROWDS.values()), (wrong, each(socket.socket.close)),
                  (50 * (WHOLE[:-2] + login + b"\r\n"), each(reset)), (HALF, dribble), (b"\r\n", dribble),
                  (None, read_all), (None, dribble)]
        for number in itertools.count():
            data, act = crowds[number % len(crowds)]
            meet = agent.meet if number // len(crowds) % 2 else agent.client
            with contextlib.ExitStack() as stack:
                socks = []
                for source in sources:
                    with contextlib.suppress(OSError):
                        socks.append(stack.enter_context(meet(source)))
                        socks[-1].sendall(data or next(requests))
                    yield 1
                act(socks)

    def sample(self, agent, group):
        """What the agent uses now."""
        with open(agent.proc("net/tcp6"), encoding="ascii") as file:  # it listens there for both
            ours = [line.split()[3] for line in file if line.split()[1].endswith(f":{agent.port:04X}")]
        used = group.used() if group else (memory_bytes(agent), 0)
        return Sample(time.monotonic(), *used, group.peak() if group else 0, open_files(agent), ours.count("01"))

    def run_for(self, agent, group, counts, until):
        """What was asked, and what the agent used meanwhile. A probe that the kernel holds up between its
        connection and its request gives way to the crowd of the node, as any connection without one: a
        kubelet waits for the next ones."""
        asked, samples = {("198.51.100.99", "/metrics"): [], ("127.0.0.1", "/healthz"): []}, []
        lost = {path: [] for _, path in asked}
        while time.monotonic() < until:
            due = time.monotonic() + 1
            for (source, path), answers in asked.items():
                answers.append(timed(agent, lambda: lost[path].append(agent.scrape(source, path) != 200)))
            samples.append(self.sample(agent, group))
            agent.make_news()
            time.sleep(max(0, due - time.monotonic()))
        for (_, path), answers in asked.items():
            print(f"     {path}: {told(answers)}; {sum(lost[path])} lost")
        for sample in samples[:-1:-(-len(samples) // self.LINES)] + samples[-1:]:
            print(f"     after {sample.time - samples[0].time:.0f} s: {sample}")
        print(f"     {sum(counts)} connections, {statistics.median(s.connections for s in samples)} at a time (median)")
        self.assertEqual(sum(lost["/metrics"]), 0)
        probes = lost["/healthz"]
        self.assertFalse(any(map(all, zip(probes, probes[1:]))), "two probes in a row are lost")
        self.assertLess(sum(probes), 1 + len(probes) / 100)
        return [answer for answers in asked.values() for answer in answers], samples

    def find_group(self):
        """None: there is none to be had, or the agent needs more memory."""
        if Crowded.is_sanitized():
            return None
        try:
            group = MemoryGroup(self.MEMORY)
        except OSError as error:
            print(f"     no memory control group: {error}")
            return None
        self.addCleanup(group.remove)
        return group

    def check(self, tls):
        agent = Large(self.DEVICES, max_connections=self.CONNECTIONS, request_timeout="2s", reply_timeout="10s")
        agent.use_logins({"alice": "secret"})
        if tls:
            agent.use_tls()
        group = self.find_group()
        if group:
            group.take(agent)
        with agent:
            for _ in range(2):  # then it is a scraper that is known
                self.assertEqual(agent.scrape("198.51.100.99"), 200)
            files, until = open_files(agent), time.monotonic() + self.SECONDS
            with self.crowds(agent, until) as counts:
                answers, samples = self.run_for(agent, group, counts, until)
            wait("connections to end", lambda: open_files(agent) <= files + 4)
            wait("wrong logins from the node to be forgotten", lambda: agent.scrape("127.0.0.1") == 200)
            print(f"     dropped: {agent.drops()}; out of memory: {group.kills() if group else 0}")
        self.assertEqual(group.kills() if group else 0, 0)
        self.assertLess(max(answer.wall for answer in answers), stretched(PROMPT))
        if not agent.is_sanitized() and not EMULATED:  # slow; these keep freed memory, or translated code
            # in a queue for a processor, what comes meanwhile is served as well
            self.assertLess(max((answer.ran for answer in answers if answer.delayed < answer.ran), default=0), SLOW)
            self.assertLess(max(sample.own + sample.sockets for sample in samples), self.MEMORY)

    def test_plain(self):
        self.check(tls=False)

    def test_tls(self):
        self.check(tls=True)


class Watchdog:
    """The agent's service manager, as far as the watchdog goes."""

    SECONDS = 2

    def __init__(self, stack):
        self.name = f"\0rna-notify-{os.getpid()}-{id(self)}"
        self.sock = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
        self.sock.bind(self.name)
        self.environment = {"NOTIFY_SOCKET": "@" + self.name[1:],
                            "WATCHDOG_USEC": str(self.SECONDS * 1_000_000)}

    def wait_fed(self, count):
        """Waits until the agent has fed it so many times more."""
        self.sock.settimeout(PATIENCE)
        while count > 0:
            count -= b"WATCHDOG=1" in self.sock.recv(4096)

    def would_end_it(self):
        """Is it not fed for so long that systemd ends the agent?"""
        self.sock.settimeout(stretched(self.SECONDS))
        with contextlib.suppress(TimeoutError):
            while b"WATCHDOG=1" not in self.sock.recv(4096):
                pass
            return False
        return True


# Takes a descriptor out of an epoll set of a process: PID, that of the set, the one in it.
FORGET = """
import ctypes, os, select, sys
pid, *numbers = map(int, sys.argv[1:])
process = os.pidfd_open(pid)
epoll, fd = (ctypes.CDLL(None).syscall(438, process, number, 0) for number in numbers)  # pidfd_getfd
if min(epoll, fd) < 0:
    sys.exit("pidfd_getfd")
epoll = os.dup2(epoll, 1000)
os.dup2(fd, numbers[1])
select.epoll.fromfd(epoll).unregister(numbers[1])
"""


class Deaf(unittest.TestCase):
    """A defect of HTTP ends the agent, because its watchdog is not fed any more. Limits do not."""

    def descriptors(self, agent, kind):
        paths = {}
        for fd in os.listdir(agent.proc("fd")):
            with contextlib.suppress(FileNotFoundError):  # closed meanwhile
                paths[fd] = os.readlink(agent.proc(f"fd/{fd}"))
        return {fd for fd, path in paths.items() if kind in path}

    def watched(self, agent, epoll):
        with open(agent.proc(f"fdinfo/{epoll}"), encoding="utf-8") as file:
            return set(re.findall(r"tfd:\s*(\d+)", file.read()))

    def start(self, stack, **settings):
        watchdog = Watchdog(stack)
        agent = Agent("no-stack", poll=dict(QUIET), http_settings=settings)
        agent.start = functools.partial(agent.start, env={**os.environ, **watchdog.environment})
        return stack.enter_context(agent), watchdog

    def forget(self, agent, epoll, fd):
        subprocess.run([sys.executable, "-c", FORGET, str(agent.process.pid), epoll, fd], check=True)

    def loop_of(self, agent):
        """The set of the loop: others are watched by it."""
        sets = self.descriptors(agent, "eventpoll")
        return next(epoll for epoll in sets if self.watched(agent, epoll) & sets)

    def assert_found(self, agent, watchdog):
        wait("what the agent says of it",
             lambda: "HTTP clients are neither accepted nor answered" in agent.log())
        wait("an end of feeding", watchdog.would_end_it)

    def test_a_listening_socket_that_is_forgotten(self):
        """As libmicrohttpd did with it."""
        with contextlib.ExitStack() as stack:
            agent, watchdog = self.start(stack)
            watchdog.wait_fed(8)
            with open(agent.proc("net/tcp"), encoding="utf-8") as file:
                inode = next(line.split()[9] for line in file
                             if line.split()[1].endswith(f":{agent.port:04X}")
                             and line.split()[3] == "0A")
            listening, = self.descriptors(agent, f"socket:[{inode}]")
            self.forget(agent, self.loop_of(agent), listening)
            stack.enter_context(agent.connect())
            self.assert_found(agent, watchdog)

    def test_a_server_that_is_forgotten(self):
        with contextlib.ExitStack() as stack:
            agent, watchdog = self.start(stack)
            watchdog.wait_fed(2)
            loop = self.loop_of(agent)
            for epoll in self.descriptors(agent, "eventpoll") & self.watched(agent, loop):
                self.forget(agent, loop, epoll)
            self.assert_found(agent, watchdog)

    def test_a_crowd_is_no_defect(self):
        with contextlib.ExitStack() as stack:
            agent, watchdog = self.start(stack, max_connections=8)
            for _ in range(3):
                for _ in range(20):
                    with contextlib.suppress(OSError):
                        sock = stack.enter_context(agent.connect())
                        sock.sendall(HALF)
                watchdog.wait_fed(6)
            self.assertNotIn("neither accepted nor answered", agent.log())


def authorization(user, password):
    """The header, as bytes."""
    return f"Authorization: {basic(user, password)['Authorization']}\r\n".encode()


def client_hello():
    """The first message of a client of TLS."""
    into, out = ssl.MemoryBIO(), ssl.MemoryBIO()
    with contextlib.suppress(ssl.SSLWantReadError):
        ssl.create_default_context().wrap_bio(into, out, server_hostname="localhost").do_handshake()
    return out.read()


def is_readable(sock):
    return bool(select.select([sock], [], [], 0)[0])


def is_ended(sock):
    """By the other end, whatever is left to be read here."""
    poll = select.poll()
    poll.register(sock, 0)
    return bool(poll.poll(0))


def is_closed(sock):
    sock.setblocking(False)
    try:
        return sock.recv(1) == b""
    except BlockingIOError:
        return False
    except ConnectionError:
        return True
    finally:
        sock.settimeout(PATIENCE)


if __name__ == "__main__":
    unittest.main()
