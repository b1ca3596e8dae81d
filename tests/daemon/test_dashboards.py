# SPDX-License-Identifier: Apache-2.0
"""The dashboards of the chart, and its alert rules, on a Prometheus that scrapes real agents.

The fleet is seven recorded nodes and this node, whose kernel sends events. On one of them a port
goes down and another port transfers data. Then each query of each dashboard must return data; a
query about one node must return data for at least one of them, since no node has everything.

All tests share the fleet and one Prometheus: eight agents with sanitizers are a load of their own.
They wait for events. A wait fails after a number of scrapes, not after a time, so that a slow
machine has as many chances as a fast one.
"""
import contextlib
import glob
import json
import re
import unittest

from agent import BUSY, TESTS, Installed, wait
from lines import long
from prometheus import Prometheus

FILES = f"{TESTS}/../helm/rdma-node-agent/files"
NODES = ("hgx-h100-ib", "roce-8rail", "odd-files", "optics", "roce-qos", "roce-ethernet",
         "mad", None)
PORTS = "sys/class/infiniband/mlx5_{}/ports/1"
NEEDS_HARDWARE = re.compile("rdma[_:]selftest_")  # recordings are not tested
PATIENCE = 3600  # seconds, for a Prometheus that scrapes nothing at all
SCRAPES = 100  # of each agent, until a test gives up; findings are delayed by up to a minute
POLL = {name: "1s" for name in BUSY} | {"deadline": "60s", "handover": "1s"}


def panels_of(board):
    for panel in board["panels"]:
        yield panel
        yield from panel.get("panels", [])  # of a row that is collapsed


def queries_of(board):
    """What Grafana would ask, [(where, query)]."""
    for variable in board["templating"]["list"]:
        if variable["type"] == "query":
            metric, label = re.fullmatch(r"label_values\((.*), (\$?\w+)\)", variable["query"]).groups()
            yield f"variable {variable['name']}", f"group by ({label}) ({metric})"
    for panel in panels_of(board):
        for target in panel.get("targets", []):
            yield f"{panel['title']} {target['refId']}", target["expr"]


def all_queries():
    for path in sorted(glob.glob(f"{FILES}/dashboard-*.json")):
        with open(path, encoding="utf-8") as file:
            board = json.load(file)
        for where, query in queries_of(board):
            yield f"{board['title']}, {where}: {query}", query


def expand(query, instance):
    """The query with the variables of the dashboard in it."""
    for name, value in {"$job": ".*", "$instance": instance, "$__rate_interval": "1m",
                        "$group": "peer", "$member": ".*", "$severity": "1", "$show": "0",
                        "$findings": "critical|warning|info"}.items():
        query = query.replace(name, value)
    assert not re.search(r"\$[^1]", query), query  # $1 is of label_replace()
    return query


@long
class Dashboards(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        stack = contextlib.ExitStack()
        cls.addClassCleanup(stack.close)
        cls.agents = [stack.enter_context(Installed(node, poll=POLL)) for node in NODES]
        cls.prometheus = stack.enter_context(Prometheus(
            *(agent.port for agent in cls.agents), interval=3,
            rules=[f"{FILES}/alerts.yaml", f"{FILES}/records.yaml"]))
        wait("two scrapes of each node", lambda: cls.scrapes() >= 2, PATIENCE)
        cls.agents[0].write(f"{PORTS.format(0)}/state", "1: DOWN")
        cls.agents[0].write(f"{PORTS.format(1)}/counters/port_xmit_data", 10**15)

    @classmethod
    def scrapes(cls):
        """Good ones of the node that has the fewest; 0 while one has none."""
        counts = cls.prometheus.query("count_over_time(rdma_agent_build_info[1d])")
        return min(count for _, count in counts) if len(counts) == len(NODES) else 0

    def wait(self, what, condition):
        end = self.scrapes() + SCRAPES
        wait(what, lambda: condition() or self.scrapes() > end and self.fail(f"never: {what}"),
             PATIENCE)

    def has_data(self, query):
        return any(self.prometheus.query(expand(query, f"127.0.0.1:{agent.port}"))
                   for agent in self.agents)

    def test_queries(self):
        missing = dict(all_queries())
        for key in [key for key, query in missing.items() if NEEDS_HARDWARE.search(query)]:
            self.has_data(missing.pop(key))  # Prometheus accepts the query; for data see vm-selftest
        end = self.scrapes() + SCRAPES
        while missing and self.scrapes() <= end:
            missing = {key: query for key, query in missing.items() if not self.has_data(query)}
        self.assertEqual(list(missing), [])
        self.assertEqual(self.prometheus.complaints(), [])

    def test_traffic_is_seen(self):
        self.wait("bytes in a rate", lambda: self.prometheus.value(
            "max(max_over_time(rate(rdma_port_data_transmitted_bytes_total[1m])[10m:5s])) > 0"))

    def test_rules(self):
        self.wait("the port that is down", lambda: self.prometheus.value(
            'ALERTS{alertname="RdmaPortDown", device="mlx5_0", link_layer="InfiniBand"}'))
        for group in self.prometheus.api("rules")["groups"]:
            for rule in group["rules"]:
                self.assertEqual((rule["health"], rule.get("lastError")), ("ok", None), rule["name"])
