# SPDX-License-Identifier: Apache-2.0
"""The process: signals, configuration, log, open files, wake-ups."""
import contextlib
import html
import math
import os
import re
import signal
import subprocess
import sys
import time
import unittest

import agent as agent_module
from agent import BUSY, PATIENCE, QUIET, STOP, Agent, stretched, wait
from lines import alone

RELOADED = "rdma_agent_config_last_reload_successful"
NETLINK_RDMA = "20"
# Starts the rest of the arguments with that signal blocked and pending, which both outlive exec.
PENDING = """
import os, signal, sys
number = int(sys.argv[1])
signal.pthread_sigmask(signal.SIG_BLOCK, [number])
os.kill(os.getpid(), number)
os.execv(sys.argv[2], sys.argv[2:])
"""
IDLE_SECONDS = 4
LATER = 3  # seconds, than a check of connections
IDLE_SWITCHES = 12
IDLE_CPU_SECONDS = 0.2


class Signals(unittest.TestCase):
    def test_term(self):
        with Agent("hgx-h100-ib") as agent:
            status, seconds = agent.stop()
            self.assertEqual(status, 0)
            self.assertLess(seconds, stretched(STOP))

    def test_term_with_clients(self):
        with Agent("hgx-h100-ib") as agent, agent.connect() as sock:
            sock.sendall(b"GET /metrics HT")
            status, seconds = agent.stop()
            self.assertEqual(status, 0)
            self.assertLess(seconds, stretched(STOP))

    def test_term_at_once(self):
        agent = Agent("hgx-h100-ib", ready=False)
        with agent:
            wait("a listening socket", lambda: self.is_listening(agent))
            self.assertEqual(agent.stop()[0], 0)

    def test_term_during_the_start(self):
        """It is pending when the process starts, which is before any file of the state is read."""
        for number in (signal.SIGTERM, signal.SIGINT):
            agent = Agent("hgx-h100-ib", ready=False)
            agent.wrapper = (sys.executable, "-c", PENDING, str(int(number)))
            with agent:
                self.assertEqual(agent.process.wait(stretched(STOP)), 0)
                self.assertNotIn("listening", agent.log())
                self.assertNotIn("stopping", agent.log())

    @staticmethod
    def is_listening(agent):
        try:
            agent.connect().close()
            return True
        except OSError:
            return False


class Configuration(unittest.TestCase):
    def test_reload(self):
        with Agent("hgx-h100-ib", poll=QUIET) as agent:
            path = "sys/class/infiniband/mlx5_0/ports/1/state"
            agent.write(path, "2: INIT")
            agent.write_config(poll=BUSY)
            agent.hang_up()
            wait("the new period", lambda: agent.metric(
                "rdma_port_state_id", device="mlx5_0", port="1") == 2)
            self.assertEqual(agent.metric(RELOADED), 1)
            self.assertIn("reloaded", agent.log())

    def test_what_is_read_at_the_start_only(self):
        with Agent("hgx-h100-ib") as agent:
            agent.write_config(extra="lanes: {max: 5}\n")
            agent.hang_up()
            wait("the reload", lambda: "configuration reloaded" in agent.log())
            self.assertIn("lanes.max takes effect only after a restart of the agent",
                          agent.log())
            self.assertNotIn("state.directory is read", agent.log())

    def test_bad_reload_keeps_the_old(self):
        with Agent("hgx-h100-ib") as agent:
            for bad in ("log: {level: loud}\n", "nonsense: {a: 1}\n", "][\n"):
                agent.write_config(extra=bad)
                agent.hang_up()
                wait("the failure in a metric", lambda: agent.metric(RELOADED) == 0)
                wait("the failure in the log", lambda: "keeping the old settings" in agent.log())
                self.assertIn(agent.config, agent.log())
                self.assertIn(f"old settings are in use: {agent.config}", agent.get("/").text)
                agent.wait_snapshots(3)
                agent.write_config()
                agent.hang_up()
                wait("a good reload", lambda: agent.metric(RELOADED) == 1)
                self.assertNotIn("old settings are in use", agent.get("/").text)

    def test_all_mistakes_are_told(self):
        bad = "log: {level: loud}\nnonsense: {a: 1}\nkubernetes: {taint: x}\n"
        first = 'log.level: "loud" is not one of error, warning, notice, info, debug'
        others = "unknown key nonsense", 'kubernetes.taint: "x" is not a valid key'
        with Agent("hgx-h100-ib") as agent:
            agent.write_config(extra=bad)
            agent.hang_up()
            wait("the failure in the log", lambda: others[1] in agent.log())
            self.assertIn(f"{first} (and 2 more mistakes)", agent.log())
            self.assertIn(others[0], agent.log())
            page = html.unescape(agent.get("/").text)
            self.assertIn(f"{first} (and 2 more mistakes)", page)
            self.assertNotIn(others[0], page)
            result = subprocess.run([agent_module.binary, "check-config", agent.config],
                                    capture_output=True, text=True, timeout=PATIENCE, check=False)
        self.assertEqual(result.returncode, 2)
        for line, words in zip(result.stderr.splitlines(), (first, *others), strict=True):
            self.assertIn(words, line)

    def test_missing_file_keeps_the_old(self):
        with Agent("hgx-h100-ib") as agent:
            os.unlink(agent.config)
            agent.hang_up()
            wait("the failure in a metric", lambda: agent.metric(RELOADED) == 0)

    def test_reload_moves_the_port(self):
        with Agent("hgx-h100-ib") as agent:
            agent.port = agent_module.free_port()
            agent.write_config()
            agent.hang_up()
            wait("service on the new port", agent.is_ready)

    def test_reload_onto_a_taken_port_keeps_the_old(self):
        with Agent("hgx-h100-ib") as other, Agent("hgx-h100-ib") as agent:
            old, agent.port = agent.port, other.port
            agent.write_config()
            agent.port = old
            agent.hang_up()
            wait("the failure in a metric", lambda: agent.metric_if_served(RELOADED) == 0)

    def run_with(self, text):
        """Status and messages of a start that must fail."""
        agent = Agent("no-stack")
        try:
            with open(agent.config, "w", encoding="utf-8") as file:
                file.write(text)
            agent.start()
            status = agent.process.wait(PATIENCE)
            return status, agent.log()
        finally:
            agent.kill()

    def test_bad_file_at_the_start(self):
        status, log = self.run_with("poll:\n  stat: 1s\n")
        self.assertNotEqual(status, 0)
        self.assertRegex(log, r"agent\.yaml:2\b.*stat.*state")
        status, log = self.run_with("poll:\n  stat: 1s\nlog:\n  level: loud\n")
        self.assertNotEqual(status, 0)
        self.assertRegex(log, r"agent\.yaml:2\b.*stat.*state")
        self.assertRegex(log, r"agent\.yaml:4\b.*log\.level")

    def test_taken_port_at_the_start(self):
        with Agent("no-stack") as other:
            status, log = self.run_with(f'http: {{listen: ["127.0.0.1:{other.port}"]}}\n')
        self.assertNotEqual(status, 0)
        self.assertIn(str(other.port), log)

    def test_root_that_is_not_there(self):
        result = subprocess.run([agent_module.binary, "collect", "--root", "/does/not/exist"],
                                capture_output=True, text=True, timeout=PATIENCE, check=False)
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("/does/not/exist", result.stderr)
        self.assertEqual(result.stdout, "")


class Log(unittest.TestCase):
    def test_changes_only(self):
        for machine in ("hgx-h100-ib", "odd-files", "no-stack"):
            with self.subTest(machine), Agent(machine) as agent:
                agent.wait_snapshots(5)
                wait("12 snapshots without a line", lambda a=agent: self.is_silent(a))
                self.assertLess(len(agent.log().splitlines()), 20)

    @staticmethod
    def is_silent(agent):
        """Problems found at the start are reported after their hold-down."""
        before = agent.log()
        agent.wait_snapshots(12)
        return agent.log() == before


class Holds(unittest.TestCase):
    def test_no_device_is_held_open(self):
        with Agent("hgx-h100-ib") as agent:
            for _ in range(10):
                agent.wait_snapshots(1)
                held = self.descriptors(agent)
                self.assertFalse([path for path in held if path.startswith("/dev/infiniband")])
                self.assertFalse(self.rdma_sockets(agent, held))

    def test_descriptors_do_not_leak(self):
        with Agent("hgx-h100-ib") as agent:
            agent.wait_snapshots(5)
            before = self.least_descriptors(agent)
            agent.wait_snapshots(30)
            self.assertLessEqual(self.least_descriptors(agent), before + 4)

    def least_descriptors(self, agent):
        """Without those that are open while something is read."""
        looks = []
        for _ in range(20):
            looks.append(len(self.descriptors(agent)))
            time.sleep(0.05)
        return min(looks)

    @staticmethod
    def descriptors(agent):
        paths = []
        for fd in os.listdir(agent.proc("fd")):
            try:
                paths.append(os.readlink(agent.proc(f"fd/{fd}")))
            except FileNotFoundError:
                pass  # it was closed just now
        return paths

    @staticmethod
    def rdma_sockets(agent, held):
        with open(agent.proc("net/netlink"), encoding="utf-8") as file:
            rows = [line.split() for line in file.readlines()[1:]]
        return [row for row in rows if row[1] == NETLINK_RDMA and f"socket:[{row[-1]}]" in held]


class Filter(unittest.TestCase):
    """Of system calls: what is refused is in test_seccomp.c, and all other tests run behind it."""

    def filter_with(self, mode, more=""):
        """What the agent says of its filter, and how many the kernel counts."""
        agent = Agent("no-stack", poll=QUIET, ready=False)
        with agent:
            agent.stop()
            agent.write_config(extra=f'security: {{seccomp: "{mode}"}}\n{more}')
            agent.start()
            wait("readiness", agent.is_ready)
            with open(agent.proc("status"), encoding="utf-8") as file:
                count = re.search(r"^Seccomp_filters:\s*(\d+)", file.read(), re.M)
            said = [dict(labels)["filter"] for name, labels in agent.metrics()
                    if name == "rdma_agent_seccomp_info"]
            return said, int(count[1]) if count else None

    def test_modes(self):
        _, ours = self.filter_with("off")
        if ours is None:
            self.skipTest("this kernel does not count filters")
        outside = ["inherited"] if ours else ["none"]
        self.assertEqual(self.filter_with("off"), (outside, ours))
        if self.filter_with("auto") == (outside, ours) and not ours:
            self.skipTest("built without libseccomp, or run by QEMU, which refuses filters")
        self.assertEqual(self.filter_with("on"), (["own"], ours + 1))
        self.assertEqual(self.filter_with("auto"), (outside, ours) if ours else (["own"], 1))
        cuda = "selftest: {gpu_memory: true}\n"
        self.assertEqual(self.filter_with("auto", cuda), (outside, ours))
        self.assertEqual(self.filter_with("on", cuda), (["own"], ours + 1))


@alone
class Idle(unittest.TestCase):
    def test_no_wake_ups_without_work(self):
        """With a client that keeps its connection: the timer of libmicrohttpd must not spin. One
        that spins either sleeps and wakes, which the switches show, or never sleeps."""
        with Agent("hgx-h100-ib", poll=QUIET) as agent, agent.connect() as sock:
            sock.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
            self.assertTrue(sock.recv(100))
            switches, cpu, start = self.switches(agent), self.cpu(agent), time.monotonic()
            wait("some seconds", lambda: time.monotonic() > start + IDLE_SECONDS)
            switches, cpu = self.switches(agent) - switches, self.cpu(agent) - cpu
            print(f"     {switches} switches, {cpu:.2f} s of CPU in {IDLE_SECONDS} s")
            self.assertLess(switches, IDLE_SWITCHES)
            self.assertLess(cpu, IDLE_CPU_SECONDS)

    def test_no_timer_when_clients_have_gone(self):
        """Of deadlines of connections, which comes after 2.5 s at the latest: a second later none is
        left. The best of some rounds, because a busy machine may be slow."""
        with Agent("no-stack", poll=QUIET) as agent:
            for _ in range(5):
                wait("an idle loop", lambda: self.next_timer(agent) > LATER)
                agent.get("/healthz")
                time.sleep(1)  # less than the timer takes
                if self.next_timer(agent) > LATER:
                    return
            self.fail("a timer is left")

    @staticmethod
    def next_timer(agent):
        """Seconds until the loop's next timer; infinite without one."""
        times = []
        for fd in os.listdir(agent.proc("fdinfo")):
            with contextlib.suppress(FileNotFoundError), open(agent.proc(f"fdinfo/{fd}"), encoding="utf-8") as file:
                if match := re.search(r"it_value: \((\d+), (\d+)\)", file.read()):
                    times.append(int(match[1]) + int(match[2]) / 1e9)
        return min((seconds for seconds in times if seconds), default=math.inf)

    @staticmethod
    def switches(agent):
        """Of the loop, which is the main thread."""
        with open(agent.proc("status"), encoding="utf-8") as file:
            return int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", file.read(), re.M)[1])

    @staticmethod
    def cpu(agent):
        """Seconds of all threads: utime and stime of proc(5), behind the name in parentheses."""
        with open(agent.proc("stat"), encoding="utf-8") as file:
            fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
