# SPDX-License-Identifier: Apache-2.0
"""HTTP at its limits: crowds that come and go at once, and what is answered afterwards."""
import concurrent.futures
import contextlib
import ctypes
import http.client
import os
import signal
import socket
import ssl
import struct
import time
import unittest

from agent import PATIENCE, QUIET, Agent, namespaces, stretched, wait
from lines import alone
from pki import Authority

LIMIT = 64  # connections
PROMPT = 2  # seconds; measured are some milliseconds
HALF = b"GET /metrics HTTP/1.1\r\nHost: x\r\nX-Half: "
WHOLE = b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"
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
        self.context = None
        if tls:
            self.use_tls()

    def use_tls(self):
        authority = Authority(self.directory)
        authority.sign("server")
        self.http_settings["web_config_file"] = f"{self.directory}/web.yml"
        with open(f"{self.directory}/web.yml", "w", encoding="utf-8") as file:
            file.write("tls_server_config: {cert_file: server.pem, key_file: server.key}\n")
        self.context = ssl.create_default_context(cafile=authority.certificate)
        self.context.check_hostname = False

    def start(self, **popen):
        super().start(**popen)
        ours = os.readlink("/proc/self/ns/net")
        wait("the network", lambda: os.readlink(self.proc("ns/net")) != ours)
        self.network = Network(self.process.pid)

    def client(self, source="198.51.100.2"):
        """A connection from an address, or "unix"; without TLS."""
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
        try:
            sock.connect(target)
        except OSError:
            sock.close()
            raise
        return sock

    def open(self, timeout=PATIENCE, source="127.0.0.1"):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        connection.sock = self.client(source)
        connection.sock.settimeout(timeout)
        if self.context:
            connection.sock = self.context.wrap_socket(connection.sock)
        return connection

    def scrape(self, source="127.0.0.1", path="/metrics"):
        """The status, None if the connection was closed without one."""
        try:
            with contextlib.closing(self.open(source=source)) as connection:
                connection.request("GET", path)
                response = connection.getresponse()
                response.read()
                return response.status
        except (ConnectionError, http.client.HTTPException, ssl.SSLError):
            return None

    @contextlib.contextmanager
    def frozen(self):
        """What happens here, the agent sees at once."""
        self.process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self.process.send_signal(signal.SIGCONT)


def reset(sock):
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    sock.close()


def ignoring_errors(call, *arguments):
    with contextlib.suppress(OSError):  # those without a slot were closed
        call(*arguments)


STRANGERS = [f"198.51.100.{host}" for host in range(2, 10)]
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

    def test_unix(self):
        self.check(["unix"])

    def test_tls(self):
        self.check(STRANGERS, tls=True)


@unittest.skipUnless(namespaces(), "needs network namespaces and ip")
class Shares(unittest.TestCase):
    """How many connections an address gets."""

    def hold(self, agent, stack, source, count, data=HALF):
        """How many of so many clients stay."""
        socks = []
        for _ in range(count):
            with contextlib.suppress(ConnectionError):  # it is sent away at once
                socks.append(stack.enter_context(agent.client(source)))
        for sock in socks:
            ignoring_errors(sock.sendall, data)
        self.assertEqual(agent.scrape(path="/healthz"), 200)  # so that all were accepted
        return sum(not is_closed(sock) for sock in socks)

    def test_a_quarter_for_an_address(self):
        with Crowded() as agent, contextlib.ExitStack() as stack:
            for source in ("198.51.100.2", "198.51.100.3"):
                self.assertEqual(self.hold(agent, stack, source, LIMIT), LIMIT // 4, source)

    def test_a_network_of_ipv6_is_one_address(self):
        with Crowded() as agent, contextlib.ExitStack() as stack:
            held = sum(self.hold(agent, stack, f"2001:db8:1::{host}", LIMIT // 4) for host in (1, 2))
            self.assertEqual(held, LIMIT // 4)

    def test_what_is_kept_free(self):
        """For probes from the node, for scrapers that are known, and for private sockets."""
        with Crowded() as agent, contextlib.ExitStack() as stack:
            for _ in range(2):
                self.assertEqual(agent.scrape("198.51.100.99"), 200)
            held = sum(self.hold(agent, stack, source, LIMIT) for source in STRANGERS)
            self.assertEqual(held, LIMIT - 3 * (LIMIT // 16))
            self.assertIsNone(agent.scrape("198.51.100.98"))
            for _ in range(3):
                self.assertEqual(agent.scrape("198.51.100.99"), 200)
                self.assertEqual(agent.scrape("127.0.0.1", "/healthz"), 200)
                self.assertEqual(agent.scrape("198.51.100.1", "/readyz"), 200)  # the node's own


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
