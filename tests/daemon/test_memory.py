# SPDX-License-Identifier: Apache-2.0
"""Memory: transitions counted once, expected states, persistence over a restart, missing devices."""
import fcntl
import glob
import json
import os
import signal
import subprocess
import unittest

import agent as agent_module
from agent import BUSY, Agent, wait

DEVICE = "sys/class/infiniband/mlx5_1"
PORT = f"{DEVICE}/ports/1"
EVENTS = {f"events{kind}{age}.jsonl" for kind in ("", "-findings", "-agent") for age in ("", ".old")}


def of_ports(events):
    return [event for event in events if event["kind"] == "port"]


class Remembering(Agent):
    """An agent with a state directory beside its root."""

    def __init__(self, machine="roce-8rail", extra="", poll=None):
        super().__init__(machine, poll=poll)
        self.state, self.extra = f"{self.directory}/state", extra

    def write_config(self, poll=None, extra=""):
        super().write_config(poll, f"state: {{directory: {self.state}}}\n{self.extra}{extra}")

    def restart(self):
        self.stop()
        self.start()
        wait("readiness", self.is_ready)

    def file(self):
        """{} while there is none."""
        try:
            with open(f"{self.state}/memory.json", encoding="utf-8") as file:
                return json.load(file)
        except FileNotFoundError:
            return {}

    def memory(self):
        """{name: device} of the file."""
        return {device["name"]: device for device in self.file().get("devices", [])}

    def command(self, *words, root=True):
        where = ["--root", self.root] if root else []
        return subprocess.run([agent_module.binary, *words, *where, "--config", self.config],
                              capture_output=True, text=True, timeout=agent_module.PATIENCE,
                              check=False, umask=0o077)  # root's, on careful nodes

    def transitions(self, direction, device="mlx5_1"):
        return self.metric("rdma_port_transitions_total", device=device, port="1",
                           direction=direction)

    def events(self):
        return [(f'{event["device"]}/{event["port"]}', event["state"], event["count"],
                 event["source"]) for event in of_ports(self.changes())]

    def changes(self):
        return json.loads(self.get("/api/v1/events").text)["events"]

    def expected(self, device="mlx5_1"):
        """(number, reason)"""
        return next((value, dict(labels)["reason"])
                    for (name, labels), value in self.metrics().items()
                    if name == "rdma_port_expected_up" and ("device", device) in labels)

    def take_away(self, name="mlx5_1"):
        os.rename(self.path(f"sys/class/infiniband/{name}"), f"{self.directory}/{name}")

    def swap(self, one, other):
        """Exchanges the names of two devices, as a reboot without persistent names does."""
        self.take_away(one)
        os.rename(self.path(f"sys/class/infiniband/{other}"),
                  self.path(f"sys/class/infiniband/{one}"))
        os.rename(f"{self.directory}/{one}", self.path(f"sys/class/infiniband/{other}"))

    def findings(self, rule):
        """{device: text} of the rule."""
        return {finding["device"]: finding["text"]
                for finding in json.loads(self.get("/api/v1/findings").text)["findings"]
                if finding["rule"] == rule}

    def bring_back(self, name="mlx5_1"):
        os.rename(f"{self.directory}/{name}", self.path(f"sys/class/infiniband/{name}"))


class Transitions(unittest.TestCase):
    def test_down_and_up_are_seen_by_three_and_counted_once(self):
        with Remembering() as agent:
            self.assertIsNone(agent.metric("rdma_port_last_transition_timestamp_seconds",
                                           device="mlx5_1", port="1"))
            with open(agent.path(f"{PORT}/counters/link_downed"), encoding="utf-8") as file:
                downs = int(file.read())
            agent.write(f"{PORT}/state", "1: DOWN")
            agent.write(f"{PORT}/counters/link_downed", downs + 1)
            wait("a down", lambda: agent.transitions("down") == 1)
            # else the counter may be read after the port is up again, which is a second down
            wait("the counter", lambda: agent.metric("rdma_port_link_downed_total",
                                                     device="mlx5_1", port="1") == downs + 1)
            agent.write(f"{PORT}/state", "4: ACTIVE")
            wait("an up", lambda: agent.transitions("up") == 1)
            agent.wait_snapshots(10)
            self.assertEqual(agent.transitions("down"), 1)
            self.assertEqual(agent.events(), [("mlx5_1/1", "down", 1, "poll"),
                                              ("mlx5_1/1", "up", 1, "poll")])
            self.assertGreater(agent.metric("rdma_port_last_transition_timestamp_seconds",
                                            device="mlx5_1", port="1"), 1.7e9)
            self.assertEqual(agent.transitions("down", "mlx5_0"), 0)

    def test_flaps_between_two_looks(self):
        with Remembering() as agent:
            agent.wait_snapshots(3)
            with open(agent.path(f"{PORT}/counters/link_downed"), encoding="utf-8") as file:
                downs = int(file.read())
            agent.write(f"{PORT}/counters/link_downed", downs + 2)
            wait("two downs", lambda: agent.transitions("down") == 2)
            agent.wait_snapshots(10)
            self.assertEqual((agent.transitions("down"), agent.transitions("up")), (2, 2))
            self.assertEqual(agent.events(), [("mlx5_1/1", "down", 2, "counter"),
                                              ("mlx5_1/1", "up", 2, "counter")])
            self.assertEqual(agent.log().count("down 2 times: between two reads: link_downed increased"),
                             1)

    def test_another_agent_has_the_directory(self):
        """Or a thread of one that hangs in a driver, after its end."""
        agent = Remembering()
        os.makedirs(agent.state)
        other = os.open(agent.state, os.O_RDONLY)
        self.addCleanup(os.close, other)
        fcntl.flock(other, fcntl.LOCK_EX)
        with agent:
            agent.wait_snapshots(3)
            self.assertIn("in use by another agent", agent.log())
            self.assertEqual(agent.memory(), {})
            fcntl.flock(other, fcntl.LOCK_UN)
            wait("what it knows", agent.memory)
            with self.assertRaises(BlockingIOError):
                fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def test_device_goes_and_comes_back(self):
        with Remembering() as agent:
            agent.take_away()
            wait("the loss of its port", lambda: len(agent.events()) == 1)
            agent.bring_back()
            wait("its return", lambda: agent.transitions("up") == 1)
            agent.wait_snapshots(5)
            self.assertEqual(agent.transitions("down"), 1)
            self.assertIn("mlx5_1/1: down: device removed", agent.log())

    def test_excluding_a_device_is_no_loss(self):
        with Remembering() as agent:
            agent.write_config(extra="devices: {exclude: [mlx5_1]}\n")
            agent.hang_up()
            wait("one less", lambda: agent.metric("rdma_devices") == 8)
            agent.wait_snapshots(3)
            self.assertEqual(agent.events(), [])
            self.assertEqual(agent.metric("rdma_devices_missing"), 0)

    def test_command(self):
        with Remembering() as agent:
            self.assertRegex(agent.command("events", root=False).stdout,
                             r"OBJECT .*\n\S+ +- +started +agent +version [0-9.]+\n")
            agent.write(f"{PORT}/state", "1: DOWN")
            wait("a down", lambda: agent.transitions("down") == 1)
            done = agent.command("events", root=False)
            self.assertRegex(done.stdout, r"mlx5_1/1 +down +poll +state DOWN")
            events = json.loads(agent.command("events", "--json", root=False).stdout)["events"]
            self.assertEqual([event["state"] for event in of_ports(events)], ["down"])
            self.assertEqual(agent.get("/api/v1/events.txt").text, done.stdout)
            agent.stop()
            done = agent.command("events", root=False)
            self.assertEqual(done.returncode, 1)
            self.assertIn("no agent listens on 127.0.0.1:", done.stderr)

    def test_command_over_a_unix_socket(self):
        agent = Remembering()
        agent.http_settings = {"listen": [f"unix:{agent.directory}/http",
                                          f"127.0.0.1:{agent.port}"]}
        with agent:
            self.assertIn("started", agent.command("events", root=False).stdout)


class Restarts(unittest.TestCase):
    def test_what_was_up_is_expected_up(self):
        with Remembering() as agent:
            wait("a file with the rate",  # which is read after the state
                 lambda: "best_rate" in str(agent.memory()))
            agent.stop()
            agent.write(f"{PORT}/state", "1: DOWN")
            agent.start()
            wait("readiness", agent.is_ready)
            self.assertEqual(agent.metric("rdma_port_up", device="mlx5_1", port="1"), 0)
            self.assertEqual(agent.expected(), (1, "remembered"))
            self.assertEqual(agent.events(), [])  # no agent observed the removal
            port = agent.memory()["mlx5_1"]["ports"][0]
            self.assertEqual(port["best_rate"], 50e9)

    def test_killed(self):
        with Remembering() as agent:
            wait("a file", agent.memory)
            agent.process.kill()
            agent.process.wait()
            agent.write(f"{PORT}/state", "1: DOWN")
            agent.start()
            wait("readiness", agent.is_ready)
            self.assertEqual(agent.expected(), (1, "remembered"))

    def test_a_quiesce_outlives_a_crash(self):
        """Its driver is still being changed after a restart of the agent."""
        with Remembering() as agent:
            wait("a file", agent.memory)
            agent.process.send_signal(signal.SIGUSR1)
            wait("it is kept", lambda: "until" in agent.file().get("quiesced", {}))
            agent.process.kill()
            agent.process.wait()
            agent.start()
            wait("readiness", agent.is_ready)
            self.assertEqual(agent.metric("rdma_agent_quiesced"), 1)
            agent.process.send_signal(signal.SIGUSR2)
            wait("its end", lambda: agent.metric("rdma_agent_quiesced") == 0)
            agent.restart()
            self.assertEqual(agent.metric("rdma_agent_quiesced"), 0)
            self.assertNotIn("quiesced", agent.file())

    def test_never_up_is_not_expected(self):
        with Remembering("port-down") as agent:
            agent.restart()
            self.assertEqual(agent.expected("mlx5_0"), (0, "unknown"))
            self.assertEqual(agent.expected("mlx5_4"), (1, "remembered"))

    def test_damaged_file_is_set_aside(self):
        for damage in "", "not JSON", '{"version": 1, "devices": [{"key": "0000:1':
            with self.subTest(damage), Remembering() as agent:
                wait("a file", agent.memory)
                agent.stop()
                with open(f"{agent.state}/memory.json", "w", encoding="utf-8") as file:
                    file.write(damage)
                agent.start()
                wait("a new file", lambda a=agent: not os.path.exists(
                    f"{a.state}/memory.json.new") and "mlx5_1" in self.memory_or_none(a))
                self.assertIn("memory.json: damaged", agent.log())
                (aside,) = glob.glob(f"{agent.state}/memory.json.corrupt-*")
                with open(aside, encoding="utf-8") as file:
                    self.assertEqual(file.read(), damage)

    @staticmethod
    def memory_or_none(agent):
        try:
            return agent.memory()
        except ValueError:
            return {}

    def test_newer_file_is_left_alone(self):
        newer = '{"version": 99, "devices": "elsewhere"}'
        with Remembering() as agent:
            wait("a file", agent.memory)
            agent.stop()
            with open(f"{agent.state}/memory.json", "w", encoding="utf-8") as file:
                file.write(newer)
            agent.start()
            wait("readiness", agent.is_ready)
            agent.write(f"{PORT}/state", "1: DOWN")
            wait("a down", lambda: agent.transitions("down") == 1)
            agent.restart()
            with open(f"{agent.state}/memory.json", encoding="utf-8") as file:
                self.assertEqual(file.read(), newer)
            self.assertIn("written by a newer version", agent.log())

    def test_directory_that_cannot_be_made(self):
        agent = Remembering()
        agent.state = "/proc/none"
        with agent:
            self.assertIn("/proc/none: cannot make the state directory", agent.log())
            self.assertEqual(agent.expected(), (1, "remembered"))

    def test_file_that_cannot_be_written(self):
        agent = Remembering()
        os.makedirs(f"{agent.state}/memory.json.new/in-the-way")
        with agent:
            wait("a complaint", lambda: "state will be lost when the agent ends" in agent.log())
            os.rmdir(f"{agent.state}/memory.json.new/in-the-way")
            os.rmdir(f"{agent.state}/memory.json.new")
            agent.write(f"{PORT}/state", "1: DOWN")
            wait("a file", agent.memory)
            wait("good news", lambda: "persisting state again" in agent.log())

    def test_recorded_root_has_no_memory_by_default(self):
        file = "/var/lib/rdma-node-agent/memory.json"
        before = os.path.exists(file) and os.stat(file).st_mtime_ns
        with Agent("roce-8rail") as agent:
            agent.wait_snapshots(2)
            self.assertEqual(os.path.exists(file) and os.stat(file).st_mtime_ns, before)
            self.assertNotIn("state directory", agent.log())
            self.assertIn("with --root what the agent remembers", agent.log())

    def test_recorded_root_with_a_directory_says_nothing(self):
        with Remembering() as agent:
            self.assertNotIn("with --root what the agent remembers", agent.log())

    @staticmethod
    def version_of(path):
        """Another one for each write; reading changes the time of the last access and no more."""
        stat = os.stat(path)
        return stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_mode

    def test_commands_that_run_once_write_nothing(self):
        with Remembering() as agent:
            wait("a file", agent.memory)
            agent.stop()
            before = self.versions(agent)
            self.assertIn("memory.json", before)
            agent.write(f"{PORT}/state", "1: DOWN")
            table = agent.command("status").stdout
            self.assertRegex(table, r"mlx5_1 +1 +Ethernet +DOWN +LinkUp +up ")
            self.assertEqual(self.versions(agent), before)

    def versions(self, agent):
        return {name: self.version_of(f"{agent.state}/{name}") for name in os.listdir(agent.state)}


class Expectations(unittest.TestCase):
    def test_configured(self):
        extra = "expect: {up: [mlx5_0], down: ['0000:40:00.0/1']}\n"
        with Remembering(extra=extra) as agent:
            self.assertEqual(agent.expected("mlx5_0"), (1, "configured"))
            self.assertEqual(agent.expected("mlx5_1"), (0, "configured"))
            self.assertEqual(agent.expected("mlx5_2"), (1, "remembered"))

    def test_siblings(self):
        agent = Remembering()
        agent.write(f"{PORT}/state", "1: DOWN")
        with agent:
            self.assertEqual(agent.expected(), (1, "siblings"))

    def test_accept(self):
        with Remembering() as agent:
            agent.write(f"{PORT}/state", "1: DOWN")
            wait("a down", lambda: agent.transitions("down") == 1)
            self.assertEqual(agent.expected(), (1, "remembered"))
            done = agent.command("expect", "accept", "mlx5_1/1")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("accepted: 0 up, 1 down, 0 gone", done.stdout)
            wait("the daemon to notice", lambda: agent.expected() == (0, "accepted"))
            self.assertRegex(agent.command("expect", "list", "mlx5_1").stdout,
                             r"mlx5_1/1 +DOWN +down +accepted")
            agent.restart()
            self.assertEqual(agent.expected(), (0, "accepted"))
            agent.write(f"{PORT}/state", "4: ACTIVE")
            wait("the port to be wanted again", lambda: agent.expected() == (1, "remembered"))
            agent.write(f"{PORT}/state", "1: DOWN")
            wait("a down", lambda: agent.transitions("down") == 1)
            agent.restart()
            self.assertEqual(agent.expected(), (1, "remembered"))

    def test_accept_without_a_daemon(self):
        with Remembering() as agent:
            wait("a file", agent.memory)
            agent.stop()
            agent.write(f"{PORT}/state", "1: DOWN")
            refused = agent.command("expect", "accept")
            self.assertEqual(refused.returncode, 2)
            self.assertIn("or '*' for all of this node", refused.stderr)
            done = agent.command("expect", "accept", "*")
            self.assertIn("accepted: 8 up, 1 down, 0 gone", done.stdout)
            self.assertEqual(os.stat(f"{agent.state}/accepted.json").st_mode & 0o777, 0o644,
                             "the agent's own user has to read it")
            agent.start()
            wait("readiness", agent.is_ready)
            self.assertEqual(agent.expected(), (0, "accepted"))
            self.assertEqual(agent.expected("mlx5_2"), (1, "remembered"))

    def test_accept_of_nothing(self):
        with Remembering() as agent:
            done = agent.command("expect", "accept", "mlx5_1", "mlx5_99")
            self.assertEqual(done.returncode, 1)
            self.assertIn("mlx5_99: no such device or port", done.stderr)
            self.assertFalse(os.path.exists(f"{agent.state}/accepted.json"))

    def test_accept_needs_a_place(self):
        with Agent("roce-8rail") as agent:
            done = subprocess.run([agent_module.binary, "expect", "accept", "*", "--root", agent.root,
                                   "--config", agent.config], capture_output=True, text=True,
                                  check=False)
            self.assertEqual(done.returncode, 1)
            self.assertIn("with --root there is none unless state.directory is set", done.stderr)


class Missing(unittest.TestCase):
    @staticmethod
    def missing(agent):
        """{device: whereabouts}"""
        return {dict(labels)["device"]: dict(labels)["whereabouts"]
                for (name, labels) in agent.metrics() if name == "rdma_device_missing_info"}

    def test_lost_unbound_moved(self):
        pci = "sys/bus/pci/devices/0000:40:00.0"
        with Remembering() as agent:
            real = os.path.realpath(agent.path(pci))
            agent.take_away()
            os.rename(f"{real}/infiniband", f"{agent.directory}/infiniband")
            wait("no driver for RDMA", lambda: self.missing(agent) == {"mlx5_1": "unbound"})
            os.makedirs(f"{real}/mlx5_core.rdma.0/driver")
            wait("another namespace", lambda: self.missing(agent) == {"mlx5_1": "moved"})
            os.rename(real, f"{agent.directory}/function")
            wait("no function", lambda: self.missing(agent) == {"mlx5_1": "lost"})
            self.assertEqual(agent.metric("rdma_devices_missing"), 1)
            self.assertIn("<h2>Missing devices</h2>", agent.get("/").text)

    def test_missed_after_a_restart_until_it_is_accepted(self):
        with Remembering() as agent:
            wait("a file", agent.memory)
            agent.stop()
            agent.take_away()
            agent.start()
            wait("readiness", agent.is_ready)
            wait("a device to be missed", lambda: "mlx5_1" in self.missing(agent))
            self.assertEqual(agent.events(), [])
            self.assertIn("mlx5_1: no longer expected",
                          agent.command("expect", "accept", "mlx5_1").stdout)
            wait("nothing to be missed", lambda: agent.metric("rdma_devices_missing") == 0)
            agent.bring_back()
            wait("the device", lambda: agent.metric("rdma_devices") == 9)
            agent.take_away()
            wait("a device to be missed", lambda: "mlx5_1" in self.missing(agent))

    def test_names_that_are_swapped_by_a_restart(self):
        with Remembering(extra="health: {boot_grace: 0s}\n") as agent:
            wait("a file", agent.memory)
            addresses = {name: device["pci_address"] for name, device in agent.memory().items()}
            agent.stop()
            agent.swap("mlx5_1", "mlx5_2")
            agent.start()
            wait("readiness", agent.is_ready)
            wait("the findings", lambda: agent.findings("device-renamed") == {
                "mlx5_1": f"mlx5_1: was mlx5_2 before, and PCI {addresses['mlx5_1']} was mlx5_1",
                "mlx5_2": f"mlx5_2: was mlx5_1 before, and PCI {addresses['mlx5_2']} was mlx5_2"})
            agent.restart()
            wait("the findings", lambda: len(agent.findings("device-renamed")) == 2)
            self.assertEqual(agent.command("expect", "accept", "mlx5_[12]").returncode, 0)
            wait("no finding", lambda: not agent.findings("device-renamed"))

    def test_stack_unloaded(self):
        with Remembering() as agent:
            os.rename(agent.path("sys/class/infiniband"), f"{agent.directory}/class")
            wait("all to be missed", lambda: agent.metric("rdma_devices_missing") == 9)
            os.rename(f"{agent.directory}/class", agent.path("sys/class/infiniband"))
            wait("none to be missed", lambda: agent.metric("rdma_devices_missing") == 0)
