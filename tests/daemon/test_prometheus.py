# SPDX-License-Identifier: Apache-2.0
"""A real Prometheus scrapes the agent."""
import unittest

from agent import Agent, wait
from prometheus import Prometheus


class Scraped(unittest.TestCase):
    def test_scraped(self):
        with Agent("hgx-h100-ib") as agent, Prometheus(agent.port) as prometheus:
            value = prometheus.value
            wait("up == 1", lambda: value("up") == 1)
            wait("several scrapes", lambda: (value("count_over_time(up[1m])") or 0) >= 4)
            self.assertEqual(value("min_over_time(up[1m])"), 1)
            self.assertEqual(value("count(rdma_port_up)"), 10)
            self.assertEqual(value("sum(rdma_port_up)"), 9)
            self.assertEqual(value("count(rdma_port_data_transmitted_bytes_total)"), 10)
            self.assertEqual(value("max(rdma_port_rate_bytes_per_second)"), 50e9)
            joined = prometheus.query("rdma_port_up * on(instance, device, port) "
                                      "group_left(netdev) rdma_port_info")
            self.assertEqual(len(joined), 10)
            self.assertIn("ibp24s0", {labels.get("netdev") for labels, _ in joined})
            self.assertEqual(value("count(ALERTS)"), None)
            self.assertEqual(prometheus.complaints(), [])
