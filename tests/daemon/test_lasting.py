# SPDX-License-Identifier: Apache-2.0
"""Memory that lasts: a restart within a fault, the history of events, rails that keep their numbers."""
import json
import os
import shutil
import unittest

from agent import BUSY, wait
from lines import long
from test_disk import Refused, needs_library
from test_memory import EVENTS, PORT, Remembering, of_ports

CALLS_MAX = 80  # that a start and some writes make; more is a fault of this test
FILES = {"memory.json", "problems.json"} | EVENTS
HEADER = '{"version": 1, "lines": "events"}\n'


class Lasting(Remembering):
    def since(self, rule="port-down"):
        """Unix time since when the only finding of a rule holds; None: there is none."""
        return next((value for (name, labels), value in self.metrics().items()
                     if name == "rdma_finding_since_seconds" and ("rule", rule) in labels), None)

    def history(self, *options):
        done = self.command("events", "--json", *options)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)["events"]

    def rails(self):
        """{PCI address: rail}"""
        nics = json.loads(self.get("/api/v1/topology").text)["nics"]
        return {nic["pci_address"]: nic["rail"] for nic in nics if "rail" in nic}

    def kill_and_start(self):
        self.process.kill()
        self.process.wait()
        self.start()
        wait("readiness", self.is_ready)


class Findings(unittest.TestCase):
    def go_down(self, agent):
        agent.write(f"{PORT}/state", "1: DOWN")
        return wait("a finding", agent.since)

    def test_a_restart_within_a_fault(self):
        with Lasting() as agent:
            since = self.go_down(agent)
            for _ in range(2):
                agent.restart()
                self.assertEqual(wait("the finding", agent.since), since)
            agent.wait_snapshots(5)
            self.assertEqual(agent.log().count("RULE=port-down, SEVERITY=critical"), 1, agent.log())
            self.assertNotIn("resolved", agent.log())
            agent.write(f"{PORT}/state", "4: ACTIVE")
            wait("its end", lambda: "resolved" in agent.log())
            self.assertEqual(agent.log().count("resolved"), 1)  # that entry has the rule as well

    def test_a_crash_within_a_fault(self):
        with Lasting() as agent:
            since = self.go_down(agent)
            wait("it is kept", lambda: os.path.exists(f"{agent.state}/problems.json")
                 and "port-down" in self.read(agent, "problems.json"))
            agent.kill_and_start()
            self.assertEqual(wait("the finding", agent.since), since)
            agent.wait_snapshots(5)
            self.assertEqual(agent.log().count("RULE=port-down, SEVERITY=critical"), 1, agent.log())

    @staticmethod
    def read(agent, name):
        with open(f"{agent.state}/{name}", encoding="utf-8") as file:
            return file.read()

    def test_it_ended_while_no_agent_ran(self):
        with Lasting() as agent:
            self.go_down(agent)
            agent.stop()
            agent.write(f"{PORT}/state", "4: ACTIVE")
            agent.start()
            wait("its end", lambda: "resolved" in agent.log())
            self.assertIsNone(agent.since())

    def test_commands_that_run_once_agree(self):
        with Lasting() as agent:
            since = self.go_down(agent)
            agent.stop()
            status = json.loads(agent.command("status", "--json").stdout)
            finding = next(f for f in status["findings"] if f["rule"] == "port-down")
            metrics = agent.command("collect", "--format=openmetrics").stdout
            self.assertIn("rdma_finding_since_seconds", metrics)
            self.assertIn(f"{since:.6f}".rstrip("0").rstrip("."), metrics)
            self.assertIn("since", finding)

    def test_an_upgrade(self):
        """The files of 0.1: only memory.json, which has devices alone."""
        with Lasting() as agent:
            wait("a file", agent.memory)
            agent.stop()
            file = agent.file()
            file.pop("rails", None)
            for name in os.listdir(agent.state):
                os.unlink(f"{agent.state}/{name}")
            with open(f"{agent.state}/memory.json", "w", encoding="utf-8") as old:
                json.dump(file, old)
            since = self.go_down_and_start(agent)
            agent.restart()
            self.assertEqual(wait("the finding", agent.since), since)
            self.assertNotIn("damaged", agent.log())
            self.assertEqual(agent.expected(), (1, "remembered"))

    def go_down_and_start(self, agent):
        agent.write(f"{PORT}/state", "1: DOWN")
        agent.start()
        wait("readiness", agent.is_ready)
        return wait("a finding", agent.since)

    def test_damaged_and_newer_files(self):
        for name in "problems.json", "events.jsonl":
            for text, word in ("nonsense\n", "damaged"), ('{"version": 9}\n', "newer version"):
                with self.subTest(f"{name}: {word}"), Lasting() as agent:
                    agent.stop()
                    with open(f"{agent.state}/{name}", "w", encoding="utf-8") as file:
                        file.write(text)
                    agent.start()
                    wait("readiness", agent.is_ready)
                    self.assertIn(f"{name}: ", agent.log())
                    self.assertIn(word, agent.log())
                    self.go_down(agent)
                    agent.stop()
                    kept = self.read(agent, name)
                    self.assertEqual(kept == text, word == "newer version")


class History(unittest.TestCase):
    def flap(self, agent, times=1):
        for _ in range(times):
            downs = agent.transitions("down")
            agent.write(f"{PORT}/state", "1: DOWN")
            wait("a down", lambda d=downs: agent.transitions("down") == d + 1)
            agent.write(f"{PORT}/state", "4: ACTIVE")
            wait("an up", lambda d=downs: agent.transitions("up") == d + 1)

    def test_it_outlives_the_agent(self):
        with Lasting() as agent:
            self.flap(agent)
            before = agent.changes()
            agent.restart()
            self.assertEqual(agent.changes()[:len(before)], before)
            self.flap(agent)
            wait("it is kept", lambda: len(of_ports(agent.history("--last", "100"))) == 4)
            agent.stop()
            events = agent.history("--since", "1h")
            self.assertEqual([e["sequence"] for e in events], list(range(1, len(events) + 1)))
            self.assertEqual([e["state"] for e in of_ports(events)], ["down", "up"] * 2)
            self.assertEqual(events[:len(before)], before)
            self.assertEqual(agent.history("--last=1"), events[-1:])
            table = agent.command("events", "--last", "2").stdout
            self.assertEqual(len(table.splitlines()), 3)
            self.assertEqual(agent.history("--since=1ms"), [])
            self.assertEqual(agent.command("events", "--since=1ms").stdout, "Nothing changed.\n")

    @staticmethod
    def select(events):
        """What became of port-down and of the agent."""
        return [event for event in events
                if event["kind"] == "agent" or event.get("rule") == "port-down"]

    def test_what_changed_in_an_incident(self):
        """All that an administrator asks for after it, whatever became of the agent meanwhile."""
        expected = ["started", "raised", "reloaded", "reload-refused", "accepted", "resolved",
                    "stopped", "started"]
        with Lasting() as agent:
            agent.write(f"{PORT}/state", "1: DOWN")
            wait("a finding", agent.since)
            for number, extra in enumerate(("", "nonsense: 1\n")):
                agent.write_config(extra=extra)
                agent.hang_up()
                wait("a reload", lambda n=number: len(self.select(agent.changes())) == 3 + n)
            agent.write_config()
            done = agent.command("expect", "accept", "*")
            self.assertEqual(done.returncode, 0, done.stderr)
            wait("its end", lambda: agent.since() is None)
            agent.restart()
            events = self.select(agent.changes())
            self.assertEqual([event["change"] for event in events], expected)
            wait("they are kept", lambda: self.select(agent.history("--since", "1h")) == events)
            raised, refused, resolved = events[1], events[3], events[5]
            self.assertEqual((raised["device"], raised["port"], raised["severity"], raised["impact"],
                              raised["cause"]), ("mlx5_1", 1, "critical", "rail-lost", "cable"))
            self.assertIn("mlx5_1/1: down", raised["text"])
            self.assertEqual(resolved["since"], raised["since"])
            self.assertIn("nonsense", refused["text"])
            page = agent.get("/").text
            self.assertIn("What changed in the last hour", page)
            self.assertIn("<b class=bad>raised critical</b><td>port-down", page)

    def test_wrong_options(self):
        with Lasting() as agent:
            for option in "--last=0", "--last=x", "--since=yesterday", "--since=5":
                done = agent.command("events", option)
                self.assertNotEqual(done.returncode, 0)
                self.assertIn(option.split("=")[0], done.stderr)

    def test_the_disk_is_left_alone_when_nothing_happens(self):
        with Lasting() as agent:
            self.flap(agent)
            wait("all is kept", lambda: agent.history("--last", "99") == agent.changes())
            agent.wait_snapshots(10)
            versions = {name: agent_version(agent, name) for name in os.listdir(agent.state)}
            agent.wait_snapshots(20)
            self.assertEqual({name: agent_version(agent, name) for name in os.listdir(agent.state)},
                             versions)


def agent_version(agent, name):
    stat = os.stat(f"{agent.state}/{name}")
    return stat.st_ino, stat.st_size, stat.st_mtime_ns


class Rails(unittest.TestCase):
    """A node with eight GPUs, of which each has a NIC, and NICs for storage."""

    def start(self):
        return Lasting("hgx-h100-ib", poll={**BUSY, "topology": "1s"})

    def test_a_nic_that_vanishes(self):
        with self.start() as agent:
            before = wait("rails", agent.rails)
            wait("they are kept", lambda: "rails" in agent.file())
            agent.take_away("mlx5_4")
            wait("its loss", lambda: agent.metric("rdma_devices_missing") == 1)
            self.stays(agent, before)
            agent.restart()
            self.stays(agent, before)
            topology = json.loads(agent.command("topology", "--format=json").stdout)
            self.assertEqual({n["pci_address"]: n["rail"] for n in topology["nics"] if "rail" in n},
                             before)

    def stays(self, agent, before):
        """All have the rail that they had; and no other has one."""
        agent.wait_snapshots(15)
        self.assertEqual(agent.rails(), before)

    def test_without_a_memory(self):
        """On the first day of a node, too, numbers are those of places: a lost device moves none."""
        with self.start() as agent:
            before = wait("rails", agent.rails)
            wait("they are kept", lambda: "rails" in agent.file())
            agent.take_away("mlx5_4")
            agent.stop()
            shutil.rmtree(agent.state)
            agent.start()
            wait("readiness", agent.is_ready)
            self.assertEqual(wait("rails", agent.rails), before)
            agent.bring_back("mlx5_4")
            wait("what is right", lambda: agent.rails() == before)

    def test_accepting_a_nic_that_is_gone(self):
        with self.start() as agent:
            before = wait("rails", agent.rails)
            wait("they are kept", lambda: "rails" in agent.file())
            agent.take_away("mlx5_4")
            wait("its loss", lambda: agent.metric("rdma_devices_missing") == 1)
            done = agent.command("expect", "accept", "*")
            self.assertEqual(done.returncode, 0, done.stderr)
            wait("no loss", lambda: agent.metric("rdma_devices_missing") == 0)
            self.stays(agent, before)


@long
class KilledWhileAppending(unittest.TestCase):
    """Nothing that was on the disk is lost, whichever call is the last."""

    def setUp(self):
        needs_library(self)

    def line(self, number):
        return json.dumps({"sequence": number, "time": 1763716800000000 + number, "device": "rxe2",
                           "port": 1, "up": number % 2 == 0, "count": 1, "source": "poll",
                           "reason": "state DOWN, physical state Disabled"}) + "\n"

    def start_over(self, agent, kept, count):
        for name in os.listdir(agent.state):
            os.unlink(f"{agent.state}/{name}")
        for name, text in kept.items():
            with open(f"{agent.state}/{name}", "w", encoding="utf-8") as file:
                file.write(text)
        with open(f"{agent.state}/events.jsonl", "w", encoding="utf-8") as file:
            file.write(HEADER + "".join(self.line(n) for n in range(1, count + 1)))
        if os.path.exists(agent.calls):
            os.unlink(agent.calls)
        agent.turn(up=True)

    @staticmethod
    def numbers(agent):
        done = agent.command("events", "--last=99999", "--json")
        assert done.returncode == 0, done.stderr
        return [event["sequence"] for event in of_ports(json.loads(done.stdout)["events"])]

    def survive(self, agent, number, count):
        """False: there is no such call before the event is on the disk."""
        agent.start(env=agent.environment(RNA_FAULTS_FAIL=f"{number}:before"))
        wait("readiness or death", lambda: agent.process.poll() is not None or self.is_up(agent))
        if agent.process.poll() is None:
            agent.turn(up=False)
        wait("death or the event", lambda: agent.process.poll() is not None
             or len(self.numbers(agent)) > count)
        alive = agent.process.poll() is None
        if alive:
            agent.process.kill()
            agent.process.wait()
        self.assertEqual(self.numbers(agent)[:count], list(range(1, count + 1)))
        agent.turn(up=True)
        agent.start()
        wait("readiness", lambda: self.is_up(agent))
        agent.turn(up=False)
        wait("another event", lambda: len(self.numbers(agent)) > count)
        self.assertEqual(agent.stop()[0], 0)
        self.assertNotIn("damaged", agent.log())
        self.assertLessEqual(set(os.listdir(agent.state)), FILES)
        return not alive

    @staticmethod
    def is_up(agent):
        try:
            return agent.is_ready() and agent.metric("rdma_port_up", device="rxe2", port="1") == 1
        except (AssertionError, OSError):
            return False

    def kill_at_each(self, count):
        with Refused() as agent:
            agent.turn(up=True)
            wait("a file", lambda: agent.memory() and agent.knows())
            agent.stop()
            kept = {}
            for name in "memory.json", "problems.json":
                with open(f"{agent.state}/{name}", encoding="utf-8") as file:
                    kept[name] = file.read()
            for number in range(1, CALLS_MAX):
                with self.subTest(number):
                    self.start_over(agent, kept, count)
                    if not self.survive(agent, number, count):
                        return
            self.fail(f"more than {CALLS_MAX} calls")

    def test_a_line(self):
        self.kill_at_each(3)

    def test_turning_over(self):
        self.kill_at_each(1024)
