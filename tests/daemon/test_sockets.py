# SPDX-License-Identifier: Apache-2.0
"""Where HTTP is served: several addresses, unix sockets, sockets that systemd passes."""
import contextlib
import fcntl
import http.client
import os
import shutil
import socket
import stat
import subprocess
import tempfile
import unittest

import agent as agent_module
from agent import PATIENCE, QUIET, Agent, free_port, namespaces, wait

RELOADED = "rdma_agent_config_last_reload_successful"


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=PATIENCE)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(PATIENCE)
        self.sock.connect(self.path)


def get(connection, path="/readyz"):
    """The status; None while there is no listener."""
    with contextlib.closing(connection):
        try:
            connection.request("GET", path)
            return connection.getresponse().status
        except OSError:
            return None


def get_unix(path, *rest):
    return get(UnixConnection(path), *rest)


def get_tcp(port, *rest):
    return get(http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE), *rest)


class UnixAgent(Agent):
    """Listens on TCP and on a unix socket of its directory."""

    def __init__(self, **rest):
        super().__init__("no-stack", poll=QUIET, **rest)
        self.socket = f"{self.directory}/http.sock"
        self.listen(f"unix:{self.socket}")

    def listen(self, *more):
        self.http_settings["listen"] = [f"127.0.0.1:{self.port}", *more]


def failed_start(agent):
    """Status and messages of a start that must fail."""
    try:
        agent.write_config()
        agent.start()
        return agent.process.wait(PATIENCE), agent.log()
    finally:
        agent.kill()


class UnixSocket(unittest.TestCase):
    def test_served_and_removed(self):
        with UnixAgent() as agent:
            for path in ("/readyz", "/metrics", "/"):
                self.assertEqual(get_unix(agent.socket, path), 200)
            self.assertEqual(stat.S_IMODE(os.lstat(agent.socket).st_mode), 0o660)
            self.assertEqual(agent.stop()[0], 0)
            self.assertFalse(os.path.lexists(agent.socket))

    def test_of_a_dead_server_is_replaced(self):
        with UnixAgent() as agent:
            agent.process.kill()
            agent.process.wait()
            self.assertTrue(stat.S_ISSOCK(os.lstat(agent.socket).st_mode))
            self.assertIsNone(get_unix(agent.socket))
            agent.start()
            wait("service", agent.is_ready)
            self.assertEqual(get_unix(agent.socket), 200)

    def test_of_a_living_server_stays(self):
        with UnixAgent() as first:
            second = UnixAgent()
            second.listen(f"unix:{first.socket}")
            status, log = failed_start(second)
            self.assertNotEqual(status, 0)
            self.assertIn(f"cannot listen on unix:{first.socket}: Address already in use", log)
            self.assertEqual(get_unix(first.socket), 200)

    def test_what_is_no_socket_stays(self):
        def file(path):
            with open(path, "w", encoding="utf-8") as out:
                out.write("precious")

        for make in (file, os.mkdir, os.mkfifo, lambda path: os.symlink("nowhere", path)):
            agent = UnixAgent()
            path = f"{agent.directory}-foreign"
            make(path)
            try:
                agent.listen(f"unix:{path}")
                before = os.lstat(path)
                status, log = failed_start(agent)
                self.assertNotEqual(status, 0)
                self.assertIn("no socket", log)
                self.assertEqual(os.lstat(path), before)
            finally:
                (os.rmdir if os.path.isdir(path) else os.unlink)(path)

    def test_of_another_server_is_not_removed(self):
        with UnixAgent() as agent, socket.socket(socket.AF_UNIX) as other:
            os.unlink(agent.socket)
            other.bind(agent.socket)
            self.assertEqual(agent.stop()[0], 0)
            self.assertTrue(os.path.lexists(agent.socket))

    def test_without_a_directory(self):
        agent = UnixAgent()
        agent.listen("unix:/does/not/exist/http.sock")
        status, log = failed_start(agent)
        self.assertNotEqual(status, 0)
        self.assertIn("unix:/does/not/exist/http.sock: No such file or directory", log)

    def test_path_too_long(self):
        agent = UnixAgent()
        agent.listen(f"unix:/{'x' * 107}")
        status, log = failed_start(agent)
        self.assertNotEqual(status, 0)
        self.assertIn("at most 107 bytes", log)

    def test_name_without_a_file(self):
        with UnixAgent() as agent:
            name = f"rna-test-{os.getpid()}"
            agent.listen(f"unix:@{name}")
            agent.write_config()
            agent.hang_up()
            wait("service", lambda: get_unix(f"\0{name}") == 200)
            self.assertFalse(os.path.lexists(agent.socket))

    def test_reload(self):
        with UnixAgent() as agent:
            other = f"{agent.directory}/other.sock"
            agent.listen(f"unix:{other}")
            agent.write_config()
            agent.hang_up()
            wait("the new socket", lambda: os.path.exists(other) and get_unix(other) == 200)
            self.assertFalse(os.path.lexists(agent.socket))

    def test_reload_that_fails_keeps_the_old(self):
        with UnixAgent() as agent:
            agent.listen(f"unix:{agent.socket}", f"unix:{agent.config}")
            agent.write_config()
            agent.hang_up()
            wait("the failure in a metric",
                 lambda: agent.metric_if_served(RELOADED) == 0)
            self.assertEqual(get_unix(agent.socket), 200)
            self.assertTrue(os.path.isfile(agent.config))


class Lost(unittest.TestCase):
    """A reload that gets neither the new address nor the old one back."""

    @staticmethod
    def lose(agent):
        """The old one is taken away, and the new one is none."""
        os.unlink(agent.socket)
        os.mkdir(agent.socket)
        agent.listen(f"unix:{agent.socket}", f"unix:{agent.config}")
        agent.write_config()
        agent.hang_up()
        wait("HTTP to be down", lambda: "HTTP server is down" in agent.log())
        assert get_tcp(agent.port) is None

    def test_it_comes_back_by_itself(self):
        with UnixAgent() as agent:
            self.lose(agent)
            os.rmdir(agent.socket)
            wait("service", agent.is_ready)
            self.assertEqual(get_unix(agent.socket), 200)
            self.assertEqual(agent.metric(RELOADED), 0)
            self.assertEqual(agent.log().count("HTTP server is"), 2, agent.log())

    def test_it_comes_back_with_a_reload(self):
        with UnixAgent() as agent:
            self.lose(agent)
            os.rmdir(agent.socket)
            agent.listen(f"unix:{agent.socket}")
            agent.write_config()  # what it was at the start
            agent.hang_up()
            wait("service", agent.is_ready)
            self.assertEqual(agent.metric(RELOADED), 1)

    def test_it_can_be_stopped_meanwhile(self):
        with UnixAgent() as agent:
            self.lose(agent)
            self.assertEqual(agent.stop()[0], 0)


@unittest.skipUnless(namespaces(), "no network namespace to be had")
class NotYetThere(unittest.TestCase):
    """An agent that is started before its address is there, as at boot."""

    ADDRESS = "192.0.2.1"

    @contextlib.contextmanager
    def waiting(self, order=1):
        """order -1: the socket is not tried before the address is there."""
        agent = UnixAgent(ready=False)
        # without any address each one can be bound
        agent.wrapper = ("unshare", "-n", "sh", "-c", 'ip link set lo up && exec "$@"', "sh")
        listen = [f"unix:{agent.socket}", f"{self.ADDRESS}:{agent.port}"]
        agent.http_settings["listen"] = listen[::order]
        with agent:
            wait("HTTP to be down", lambda: "HTTP server is down" in agent.log())
            self.assertIn(f"{self.ADDRESS}:{agent.port}: Cannot assign requested address",
                          agent.log())
            yield agent

    def test_it_is_served_when_it_comes(self):
        with self.waiting() as agent:
            wait("the first snapshot", lambda: "watching 0 RDMA devices" in agent.log())
            self.assertIsNone(get_unix(agent.socket))
            agent.ip_batch([f"address add {self.ADDRESS}/32 dev lo"])
            wait("service", lambda: get_unix(agent.socket) == 200)
            self.assertEqual(agent.log().count("HTTP server is"), 2, agent.log())

    def test_a_reload_can_bring_another(self):
        with self.waiting() as agent:
            agent.http_settings["listen"] = [f"unix:{agent.socket}"]
            agent.write_config()
            agent.hang_up()
            wait("service", lambda: get_unix(agent.socket) == 200)
            self.assertEqual(agent.log().count("HTTP server is"), 1, agent.log())

    def test_a_reload_of_all_else_meanwhile(self):
        """Likewise for an address that does not exist; an impossible address is still an error."""
        with self.waiting() as agent:
            agent.write_config(extra="log: {level: debug}\n")
            agent.hang_up()
            wait("the reload", lambda: agent.log().count("configuration reloaded") == 1)
            self.assertEqual(agent.log().count("HTTP server is"), 1, agent.log())
            agent.http_settings["listen"] = [f"unix:{agent.socket}", f"192.0.2.2:{agent.port}"]
            agent.write_config()
            agent.hang_up()
            wait("the next one", lambda: agent.log().count("configuration reloaded") == 2)
            self.assertIn(f"192.0.2.2:{agent.port}: Cannot assign", agent.log())
            agent.http_settings["listen"] = [f"unix:{agent.config}"]
            agent.write_config()
            agent.hang_up()
            wait("the refusal", lambda: "configuration not reloaded" in agent.log())
            agent.ip_batch(["address add 192.0.2.2/32 dev lo"])
            wait("service", lambda: get_unix(agent.socket) == 200)

    def test_another_reason_is_told(self):
        with self.waiting(-1) as agent, socket.socket(socket.AF_UNIX) as other:
            other.bind(agent.socket)
            other.listen()
            agent.ip_batch([f"address add {self.ADDRESS}/32 dev lo"])
            wait("the other reason", lambda: f"{agent.socket}: Address already in use" in agent.log())
            self.assertEqual(agent.log().count("HTTP server is down"), 2, agent.log())

    def test_it_can_be_stopped_meanwhile(self):
        with self.waiting() as agent:
            self.assertEqual(agent.stop()[0], 0)
            self.assertEqual(agent.log().count("error:"), 1, agent.log())


class Taken(unittest.TestCase):
    def test_it_ends_the_start(self):
        sock, port = tcp_socket()
        with sock:
            agent = UnixAgent()
            agent.http_settings["listen"] = [f"127.0.0.1:{port}"]
            status, log = failed_start(agent)
            self.assertNotEqual(status, 0)
            self.assertIn(f"cannot listen on 127.0.0.1:{port}, where another process listens: "
                          "Address already in use", log)


class SeveralAddresses(unittest.TestCase):
    def test_all_are_served(self):
        with UnixAgent() as agent:
            ports = [free_port() for _ in range(3)]
            agent.listen(f"unix:{agent.socket}", *(f"127.0.0.1:{port}" for port in ports))
            agent.write_config()
            agent.hang_up()
            for port in (*ports, agent.port):
                wait(f"service on {port}", lambda port=port: get_tcp(port) == 200)
            self.assertEqual(get_unix(agent.socket), 200)


class ActivatedAgent(UnixAgent):
    """Is started as systemd does: sockets from descriptor 3 on, and LISTEN_* in its environment."""

    def __init__(self, *sockets):
        super().__init__()
        self.sockets = sockets

    def start(self):
        # numbers that none of the others has, so that no dup2() below hits what is still needed
        copies = [fcntl.fcntl(sock.fileno(), fcntl.F_DUPFD, 100) for sock in self.sockets]

        def arrange():  # between fork() and exec()
            for index, copy in enumerate(copies):
                os.dup2(copy, 3 + index)
            os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS=str(len(copies)),
                              LISTEN_FDNAMES=":".join(f"web{index}" for index in range(len(copies))))
        try:
            super().start(preexec_fn=arrange, close_fds=False)
        finally:
            for copy in copies:
                os.close(copy)


def tcp_socket():
    sock = socket.create_server(("127.0.0.1", 0))
    sock.setblocking(True)
    return sock, sock.getsockname()[1]


class Activation(unittest.TestCase):
    def test_passed_sockets_are_served(self):
        tcp, port = tcp_socket()
        with tempfile.TemporaryDirectory() as directory, tcp, socket.socket(socket.AF_UNIX) as unix:
            path = f"{directory}/http.sock"
            unix.bind(path)
            unix.listen()
            agent = ActivatedAgent(tcp, unix)
            own, agent.port = agent.port, port
            agent.http_settings["listen"] = [f"127.0.0.1:{own}"]
            with agent:
                self.assertEqual((get_tcp(port), get_unix(path)), (200, 200))
                self.assertIsNone(get_tcp(own))
                lines = [line for line in agent.log().splitlines() if "http.listen" in line]
                self.assertEqual(len(lines), 1, lines)
                self.assertIn("2 sockets", lines[0])
                self.assertEqual(agent.stop()[0], 0)
            self.assertTrue(os.path.lexists(path), "systemd's, not ours")

    def test_they_stay_on_reload(self):
        tcp, port = tcp_socket()
        with tcp:
            agent = ActivatedAgent(tcp)
            agent.port = port
            agent.http_settings["listen"] = [f"127.0.0.1:{free_port()}"]
            with agent:
                for change in ({"listen": [f"127.0.0.1:{free_port()}"]}, {"max_connections": 9},
                               {"idle_timeout": "9s"}):
                    agent.http_settings.update(change)
                    agent.write_config()
                    count = agent.log().count("configuration reloaded")
                    agent.hang_up()
                    wait("the reload", lambda count=count:
                         agent.log().count("configuration reloaded") > count)
                    self.assertEqual(get_tcp(port), 200)
                self.assertEqual(agent.log().count("http.listen"), 1)

    def test_what_does_not_listen_is_refused(self):
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
            with socket.socket(socket.AF_INET, kind) as sock:
                status, log = failed_start(ActivatedAgent(sock))
                self.assertNotEqual(status, 0)
                self.assertIn("passed socket web0: expected a listening stream socket", log)

    def test_by_systemd(self):
        program = shutil.which("systemd-socket-activate")
        if not program:
            self.skipTest("systemd-socket-activate is not there")
        agent, port = UnixAgent(), free_port()
        try:
            agent.write_config()
            command = [program, f"--listen=127.0.0.1:{port}", agent_module.binary, "run",
                       "--root", agent.root, "--config", agent.config]
            with open(agent.log_path, "ab") as log:
                agent.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log,
                                                 stderr=log)
            agent.port = port
            # it starts the agent at the first connection, which waits until it is served
            wait("readiness", agent.is_ready)
            self.assertIn("1 socket passed by systemd", agent.log())
            self.assertFalse(os.path.lexists(agent.socket))
            self.assertEqual(agent.stop()[0], 0)
        finally:
            agent.kill()
