# SPDX-License-Identifier: Apache-2.0
"""Events of the kernel, in a network namespace of the agent. tests/vm/suite-events tests their
effect on devices; here is no device, so the tests check that events cost almost nothing."""
import os
import unittest

from agent import OPENMETRICS, QUIET, Agent, Reply, namespaces, wait
from formats import check_classic, parse_openmetrics
from lines import alone
from test_sockets import UnixConnection

STORM_CPU_SECONDS = 2  # of 10,000 changes; without a sanitizer it takes 0.1 s
NETLINK_ROUTE, NETLINK_KOBJECT_UEVENT = "0", "15"


class LiveAgent(Agent):
    """On this machine's own /, in a network namespace where only lo is."""

    wrapper = ("unshare", "-n")

    def __init__(self):
        super().__init__("no-stack", poll={**QUIET, "process": "200ms"})
        self.root, self.socket = "/", f"{self.directory}/http.sock"
        self.http_settings["listen"] = [f"unix:{self.socket}"]

    def request(self, method, path, headers=None, body=None, timeout=30):
        connection = UnixConnection(self.socket)
        try:
            connection.request(method, path, headers=headers or {}, body=body)
            response = connection.getresponse()
            return Reply(response, response.read())
        finally:
            connection.close()

    def events(self):
        return self.metric("rdma_agent_events_total", source="rtnetlink")


def event_sockets(agent):
    """Netlink sockets that listen to a group: the columns are protocol and, of them, groups."""
    with open(agent.proc("net/netlink"), encoding="utf-8") as file:
        rows = [line.split() for line in file.readlines()[1:]]
    return sorted(row[1] for row in rows
                  if row[1] in (NETLINK_ROUTE, NETLINK_KOBJECT_UEVENT) and int(row[3], 16)
                  and int(row[2]) == agent.process.pid)


class Recording(unittest.TestCase):
    def test_has_no_events(self):
        with Agent("roce-8rail") as agent:
            names = {name for name, _ in agent.metrics()}
            self.assertNotIn("rdma_agent_events_total", names)
            self.assertIn("rdma_agent_changes_total", names)
            with open(agent.proc("net/netlink"), encoding="utf-8") as file:
                pids = [line.split()[2] for line in file.readlines()[1:]]
            self.assertNotIn(str(agent.process.pid), pids)

    def test_polls_show_changes(self):
        with Agent("roce-8rail") as agent:
            agent.write("sys/class/infiniband/mlx5_1/ports/1/state", "1: DOWN")
            wait("a change", lambda: agent.metric(
                "rdma_agent_changes_total", source="poll") == 1)


@unittest.skipUnless(namespaces(), "no network namespace to be had")
class Live(unittest.TestCase):
    @alone
    def test_a_storm_costs_little(self):
        with LiveAgent() as agent:
            agent.ip_batch(["link set lo up", "link set lo down"] * 5000)
            wait("events", lambda: agent.events() > 1000)
            cpu = self.cpu(agent)
            print(f"     {cpu:.2f} s of CPU for {agent.events():.0f} events")
            self.assertLess(cpu, STORM_CPU_SECONDS)

    def test_formats(self):
        with LiveAgent() as agent:
            agent.ip_batch(["link set lo up"])
            wait("an event", agent.events)
            check_classic(agent.get("/metrics").text)
            text = agent.get("/metrics", {"Accept": OPENMETRICS}).text
            self.assertIn("# TYPE rdma_agent_event_latency_seconds histogram\n", text)
            parse_openmetrics(text)

    def test_can_be_turned_off(self):
        with LiveAgent() as agent:
            self.assertEqual(event_sockets(agent), [NETLINK_ROUTE, NETLINK_KOBJECT_UEVENT])
            agent.write_config(extra="watch: {events: false}\n")
            agent.hang_up()
            wait("no socket", lambda: not event_sockets(agent))
            agent.write_config()
            agent.hang_up()
            wait("both sockets", lambda: len(event_sockets(agent)) == 2)

    @staticmethod
    def cpu(agent):
        with open(agent.proc("stat"), encoding="utf-8") as file:
            fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
