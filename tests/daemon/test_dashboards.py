# SPDX-License-Identifier: Apache-2.0
"""The dashboards of the chart, and its alert rules, on a Prometheus that scrapes a small fleet.

The fleet and what happens to it are those of tests/dashboards/stage.py, which also draws them. Each
query of each dashboard must return data at some moment of the story; a query about one node must for
at least one of them, since no node has everything. The story goes on with each scrape, and a wait fails
after a number of scrapes, not after a time, so that a slow machine has as many chances as a fast one.
"""
import contextlib
import re
import sys
import tempfile
import threading
import unittest

from agent import TESTS, wait
from lines import long

sys.path.insert(0, f"{TESTS}/dashboards")
import boards  # noqa: E402
import stage  # noqa: E402

INTERVAL, STORY = 3, 120  # seconds of a scrape, and of the story: forty scrapes
SCRAPES = 100  # of each agent, until a test gives up
# Queries without data, and why.
WITHOUT = {"rdma_agent_missed_changes_total": "a driver that sends no events; recordings are polled"}


def all_queries():
    for name, board in boards.load().items():
        for where, query in boards.queries_of(board):
            yield f"{name}, {where}: {query}", query


@long
class Dashboards(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        stack = contextlib.ExitStack()
        cls.addClassCleanup(stack.close)
        directory = stack.enter_context(tempfile.TemporaryDirectory())
        cls.stage = stack.enter_context(stage.Stage(directory, STORY, INTERVAL))
        cls.prometheus = cls.stage.prometheus
        cls.instances = [f"{name}:10879" for name in
                         (*cls.stage.nodes, *(f"probe-{number}" for number in range(stage.DOUBLES)))]
        cls.stage.set()
        over = threading.Event()
        story = threading.Thread(target=cls.stage.play, args=(
            lambda: cls.stage.scrapes() * INTERVAL, over))
        story.start()
        stack.callback(story.join)
        stack.callback(over.set)

    def wait(self, what, condition):
        end = self.stage.scrapes() + SCRAPES
        wait("the story", lambda: condition() or (
            self.stage.scrapes() > end and self.fail(f"never: {what()}")), stage.PATIENCE)

    def has_data(self, query):
        instances = self.instances if "$instance" in query else [""]
        return any(self.prometheus.query(boards.expand(query, instance)) for instance in instances)

    def test_queries(self):
        missing = {key: query for key, query in all_queries()
                   if not re.search("|".join(WITHOUT), query)}

        def all_found():
            for key in [key for key, query in missing.items() if self.has_data(query)]:
                del missing[key]
            return not missing

        self.wait(lambda: "\n".join(missing), all_found)
        self.assertEqual(self.prometheus.complaints(), [])

    def test_traffic_is_seen(self):
        self.wait(lambda: "bytes in a rate", lambda: self.prometheus.value(
            "max(max_over_time(rate(rdma_port_data_transmitted_bytes_total[1m])[10m:5s])) > 0"))

    def test_rules(self):
        self.wait(lambda: "the port that is down", lambda: self.prometheus.value(
            'last_over_time(ALERTS{alertname="RdmaPortDown", device="mlx5_3", '
            'link_layer="InfiniBand"}[1h])'))
        for group in self.prometheus.api("rules")["groups"]:
            for rule in group["rules"]:
                self.assertEqual((rule["health"], rule.get("lastError")), ("ok", None), rule["name"])
