# SPDX-License-Identifier: Apache-2.0
"""The queries of exporter/joins.md about interfaces, with a real node_exporter and a real Prometheus.

The node_exporter reads /sys of the same recorded node. The other queries, and the labels of DCGM and
kube-state-metrics, are in tests/alerts/joins.yaml.
"""
import contextlib
import re
import shutil
import subprocess
import unittest

from agent import QUIET, TESTS, Agent, free_port, wait
from prometheus import Prometheus

EXPORTER = shutil.which("prometheus-node-exporter")
NODE, PORTS = "roce-8rail", 9
CARRIER = "sys/class/net/{}/carrier"


def query_with(metric):
    """The query of the document that asks node_exporter for a metric."""
    with open(f"{TESTS}/../exporter/joins.md", encoding="utf-8") as file:
        queries = re.findall(r"```promql\n(.*?)```", file.read(), re.S)
    return next(query for query in queries if metric in query)


@contextlib.contextmanager
def node_exporter(root):
    port = free_port()
    process = subprocess.Popen(
        [EXPORTER, f"--web.listen-address=127.0.0.1:{port}", f"--path.sysfs={root}/sys",
         "--collector.disable-defaults", "--collector.netclass", "--collector.loadavg"],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield port
    finally:
        process.terminate()
        process.wait()


@unittest.skipUnless(EXPORTER, "no prometheus-node-exporter")
class Joins(unittest.TestCase):
    def test_carrier(self):
        """All ports agree with their interfaces, but the one whose interface lost its carrier."""
        query = query_with("node_network_carrier")
        agree = re.sub(r"^!= on", "== on", query, flags=re.M)
        self.assertNotEqual(agree, query)
        with Agent(NODE, poll=QUIET) as agent, node_exporter(agent.root) as port, \
                Prometheus(agent.port, port) as prometheus:
            wait("all ports", lambda: len(prometheus.query(agree)) == PORTS)
            self.assertEqual(prometheus.query(query), [])
            ports = {labels["netdev"] for labels, _ in prometheus.query(agree)}
            lost = sorted(ports)[0]
            agent.write(CARRIER.format(lost), "0")
            wait("the port without carrier", lambda: [
                labels["netdev"] for labels, _ in prometheus.query(query)] == [lost])
            self.assertEqual(len(prometheus.query(agree)), PORTS - 1)
