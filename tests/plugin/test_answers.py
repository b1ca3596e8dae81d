# SPDX-License-Identifier: Apache-2.0
"""Each format on nodes in each state; and an answer in time, whatever hangs."""
import contextlib
import json
import os
import signal
import socket
import subprocess
import tempfile
import threading
import unittest

from agent import Agent, free_port, stretched, wait
from lines import alone
from nodes import FORMATS, check, command, node, state_files, unpack

SECOND = 1.0  # for schedulers, everything included
# Exit codes by state: ok, warning, critical, unknown.
CODES = {"nagios": (0, 1, 2, 3), "json": (0, 1, 2, 3), "slurm": (0, 0, 1, 0), "nhc": (0, 0, 1, 3),
         "npd": (0, 0, 1, 2)}
STATES = ("ok", "warning", "critical", "unknown")
PREFIX = {"nagios": "RDMA ", "slurm": "rdma-node-agent: ", "nhc": "", "npd": ""}


def run(form, *arguments):
    done = subprocess.run(command(form, *arguments), stdout=subprocess.PIPE, text=True, check=False,
                          stderr=subprocess.DEVNULL)
    return done.returncode, done.stdout


class Formats(unittest.TestCase):
    def assert_state(self, form, text, state):
        if form == "json":
            document = json.loads(text)
            self.assertEqual(document["state"], state)
            return
        self.assertTrue(text.startswith(PREFIX[form] + state.upper()), text)
        if form != "nagios":
            self.assertEqual(text.count("\n"), 1, text)
            self.assertTrue(text.endswith("\n"), text)
            self.assertFalse(set(text) & set("'\"`\\"), text)
        if form == "npd":
            self.assertLessEqual(len(text.encode().strip()), 80, text)

    def test_each_format_in_each_state(self):
        for number, state in enumerate(STATES):
            with node(state) as root:
                for form in FORMATS:
                    with self.subTest(form=form, state=state):
                        code, text = run(form, "--root", root)
                        self.assert_state(form, text, state)
                        self.assertEqual(code, CODES[form][number], text)

    def test_a_failure_is_unknown(self):
        """Before anything is looked at: the configuration, the root, the options."""
        for arguments in ("--config", "/nowhere.yaml"), ("--root", "/nowhere"), ("--deadline", "1ms"):
            for form in FORMATS:
                with self.subTest(form=form, arguments=arguments):
                    code, text, _ = check(f"--format={form}", *arguments)
                    self.assert_state(form, text, "unknown")
                    self.assertEqual(code, CODES[form][3])
        code, text, _ = check("--jsno")
        self.assertEqual((code, text), (3, "RDMA UNKNOWN - unknown option --jsno; did you mean "
                                           "--json?\n"))

    def test_json_says_what_the_summary_says(self):
        with node("critical") as root:
            document = json.loads(run("json", "--root", root)[1])
            first = run("nagios", "--root", root)[1].split("\n", 1)[0]
        inventory = document["inventory"]
        self.assertIn(f"'ports_up'={inventory['ports_up']};;{inventory['ports_expected_up']}:;0;"
                      f"{inventory['ports']} ", first)
        self.assertEqual(inventory["ports_up"], inventory["ports_expected_up"] - 1)
        self.assertIn(f"'critical'={document['counts']['critical']};;0;0", first)


class Server:
    """A control socket: accepts so many calls, and gives each the answers."""

    def __init__(self, answers=(), accept=True):
        self.answers, self.accept, self.asked = answers, accept, []

    def __enter__(self):
        self.directory = tempfile.TemporaryDirectory(prefix="rna-plugin-")
        self.path = f"{self.directory.name}/control"
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.bind(self.path)
        self.socket.listen(0)
        if self.accept:
            threading.Thread(target=self.serve, daemon=True).start()
        return self

    def serve(self):
        with contextlib.suppress(OSError):
            while True:
                call = self.socket.accept()[0]
                self.asked.append((call, call.recv(100)))
                for answer in self.answers:
                    call.send(answer)

    def __exit__(self, *_):
        self.socket.close()
        self.directory.cleanup()

    @contextlib.contextmanager
    def config(self, http=None):
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write(f'control: {{socket: "{self.path}"}}\n'
                       f'http: {{listen: ["127.0.0.1:{http or free_port()}"]}}\n')
            file.flush()
            yield file.name


FINDING = {"rule": "port-down", "severity": "critical", "device": "mlx5_3", "port": 1,
           "silenced": False, "text": "mlx5_3/1: down", "remedy": "Look."}


class ControlSocket(unittest.TestCase):
    def test_schedulers_ask_it_first(self):
        document = json.dumps({"findings": [FINDING]}).encode()
        with Server((b"o" + document[:20], b"o" + document[20:], b"x0")) as server, \
                server.config() as config:
            code, text = run("slurm", "--config", config)
            self.assertEqual((code, text), (1, "rdma-node-agent: CRITICAL: mlx5_3/1: down\n"))
            self.assertEqual(server.asked[0][1], b"check\n")
            self.assertEqual(run("nagios", "--config", config)[0], 3)  # asks by HTTP alone
            self.assertEqual(len(server.asked), 1)

    def test_then_http(self):
        with Agent("hgx-h100-ib") as agent, Server((b"eno permission", b"x3")) as server, \
                server.config(agent.port) as config:
            self.assertRegex(run("nhc", "--config", config)[1], r"^OK: \d+ of 10 ports up\n$")

    def test_then_the_devices(self):
        for answers in ((b"enot yet", b"x3"), (b"?",), (b"onothing", b"x0"), ()):
            with Server(answers) as server, server.config() as config:
                code, text = run("npd", "--config", config) if answers else (
                    check("--format=npd", "--deadline", "5s", "--config", config)[:2])
                self.assertRegex(text, r"^(OK|WARNING|CRITICAL|UNKNOWN): ")
                self.assertEqual(len(server.asked), 1, answers)
                self.assertIn(code, (0, 1, 2))

    def test_old_data_is_not_used(self):
        document = json.dumps({"time": "2026-01-01T00:00:00Z", "findings": [FINDING]}).encode()
        with Server((b"o" + document, b"x0")) as server, server.config() as config:
            self.assertNotIn("mlx5_3/1: down", run("slurm", "--config", config)[1])

    def test_the_agent_answers_there(self):
        """An agent of this node, which has a control socket. It says the same by HTTP."""
        with Agent() as agent, socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as call:
            call.connect(f"{agent.directory}/control")
            call.send(b"check\n")
            text = b""
            while (packet := call.recv(1 << 16))[:1] == b"o":
                text += packet[1:]
            self.assertEqual(packet, b"x0")
            by_http = json.loads(agent.get("/api/v1/findings").text)
            for name in "state", "inventory", "counts":
                self.assertEqual(json.loads(text)[name], by_http[name])


@alone
class InTime(unittest.TestCase):
    """Less than a second, and as much more as a busy machine needs to start a process."""

    def assert_soon(self, *arguments):
        for form in "slurm", "nhc", "npd":
            code, text, seconds = check(f"--format={form}", *arguments)
            self.assertLess(seconds, stretched(SECOND), f"{form} {arguments}: {text}")
            self.assertRegex(text, r"^(rdma-node-agent: )?(OK|WARNING|UNKNOWN): [^\n]+\n$")
            self.assertIn(code, (0, 3 if form == "nhc" else 2))

    def test_stopped_agent(self):
        """SIGSTOP: its sockets accept, and the process does not answer."""
        for arguments in ("hgx-h100-ib",), ():  # by HTTP, and by the control socket
            with Agent(*arguments) as agent:
                agent.process.send_signal(signal.SIGSTOP)
                try:
                    self.assert_soon("--config", agent.config)
                    code, text, _ = check("--deadline", "500ms", "--config", agent.config)
                finally:
                    agent.process.send_signal(signal.SIGCONT)
                self.assertEqual((code, text.split(" - ")[0]), (3, "RDMA UNKNOWN"))
                self.assertIn("the agent does not answer within 0.5 s", text)

    def test_dead_agent(self):
        with Agent() as agent:
            agent.process.kill()
            agent.process.wait()
            self.assert_soon("--config", agent.config)
            agent.start()
            wait("readiness", agent.is_ready)

    def test_socket_without_room(self):
        """connect() itself waits, since the queue of connections is full."""
        with Server(accept=False) as server, server.config() as config:
            with contextlib.ExitStack() as waiting:
                for _ in range(2):
                    call = waiting.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET))
                    call.setblocking(False)
                    with contextlib.suppress(BlockingIOError):
                        call.connect(server.path)
                self.assert_soon("--config", config)

    def test_hung_device(self):
        with tempfile.TemporaryDirectory(prefix="rna-plugin-") as root:
            unpack("stalled", root)
            self.assert_soon("--root", root)
            text = check("--format=slurm", "--root", root)[1]
        self.assertRegex(text, "mlx5_3: does not answer|cannot be read within")

    def test_all_devices_hang(self):
        """No state of any port: it is not known how the node is."""
        with node("ok") as root:
            for path in state_files(root):
                os.unlink(path)
                os.mkfifo(path)
            self.assert_soon("--root", root)
            code, text, _ = check("--format=nhc", "--root", root)
        self.assertEqual((code, text.split(":")[0]), (3, "UNKNOWN"))

    def test_nothing_is_left_behind(self):
        """A reader of the output is not kept waiting by a process that still holds it."""
        with tempfile.TemporaryDirectory(prefix="rna-plugin-") as root:
            unpack("stalled", root)
            done = subprocess.run(
                ["sh", "-c", '"$@" & wait $!; echo end', "sh", *command("slurm", "--root", root)[:3],
                 "--root", root], stdout=subprocess.PIPE, text=True, timeout=60, check=True)
        self.assertRegex(done.stdout, r"^rdma-node-agent: \w+: .*\nend\n$")
