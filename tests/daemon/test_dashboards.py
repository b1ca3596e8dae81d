# SPDX-License-Identifier: Apache-2.0
"""The dashboards of the chart, and its alert rules, on a Prometheus that scrapes real agents.

A fleet of seven nodes, on one of which a port goes down and another one moves data, and of this very
node, where there is a kernel to listen to. Then each query of each dashboard has data; those of the
node's, on one node at least, since no node has everything.
"""
import contextlib
import glob
import json
import re
import time
import unittest

from agent import TESTS, Agent, wait
from lines import long
from prometheus import Prometheus

FILES = f"{TESTS}/../helm/rdma-node-agent/files"
NODES = ("hgx-h100-ib", "roce-8rail", "odd-files", "optics", "roce-qos", "roce-ethernet",
         "mad", None)
PORTS = "sys/class/infiniband/mlx5_{}/ports/1"
NEEDS_HARDWARE = "rdma_selftest_"  # recordings are not tested, nor is a node without devices
PATIENCE = 240  # seconds; findings have to last a while before they are told


def panels_of(board):
    for panel in board["panels"]:
        yield panel
        yield from panel.get("panels", [])  # of a row that is collapsed


def queries_of(board):
    """What Grafana would ask, [(where, query)]."""
    for variable in board["templating"]["list"]:
        if variable["type"] == "query":
            metric, label = re.fullmatch(r"label_values\((.*), (\w+)\)", variable["query"]).groups()
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
    for name, value in {"$job": ".*", "$instance": instance, "$__rate_interval": "10s"}.items():
        query = query.replace(name, value)
    assert "$" not in query, query
    return query


@long
class Dashboards(unittest.TestCase):
    maxDiff = None
    def setUp(self):
        stack = contextlib.ExitStack()
        self.addCleanup(stack.close)
        self.agents = [stack.enter_context(Agent(node)) for node in NODES]
        self.prometheus = stack.enter_context(Prometheus(
            *(agent.port for agent in self.agents), rules=f"{FILES}/alerts.yaml"))
        wait("each node to be scraped twice", lambda: self.prometheus.value(
            "count(count_over_time(rdma_agent_build_info[5m]) >= 2)") == len(NODES))
        self.stir()

    def stir(self):
        self.agents[0].write(f"{PORTS.format(0)}/state", "1: DOWN")
        self.agents[0].write(f"{PORTS.format(1)}/counters/port_xmit_data", 10**15)

    def has_data(self, query):
        return any(self.prometheus.query(expand(query, f"127.0.0.1:{agent.port}"))
                   for agent in self.agents)

    def test_queries(self):
        end = time.monotonic() + PATIENCE
        missing = dict(all_queries())
        for key in [key for key, query in missing.items() if NEEDS_HARDWARE in query]:
            self.has_data(missing.pop(key))  # Prometheus takes the query; for data see vm-selftest
        while missing and time.monotonic() < end:
            missing = {key: query for key, query in missing.items() if not self.has_data(query)}
        self.assertEqual(list(missing), [])
        self.assertEqual(self.prometheus.complaints(), [])

    def test_traffic_is_seen(self):
        wait("bytes in a rate", lambda: self.prometheus.value(
            "max(max_over_time(rate(rdma_port_data_transmitted_bytes_total[10s])[1m:1s])) > 0"))

    def test_rules(self):
        wait("the port that is down", lambda: self.prometheus.value(
            'ALERTS{alertname="RdmaPortDown", device="mlx5_0", link_layer="InfiniBand"}'), PATIENCE)
        for group in self.prometheus.api("rules")["groups"]:
            for rule in group["rules"]:
                self.assertEqual((rule["health"], rule.get("lastError")), ("ok", None), rule["name"])
