# SPDX-License-Identifier: Apache-2.0
"""A real Prometheus scrapes the agent."""
import unittest

from agent import Agent, wait
from prometheus import Prometheus


class Scraped(unittest.TestCase):
    def test_scraped(self):
        with Agent("hgx-h100-ib") as agent, Prometheus(agent.port) as prometheus:
            prometheus.wait_scrapes()
            wanted = {"count(rdma_port_up)": 10, "sum(rdma_port_up)": 9,
                      "count(rdma_port_data_transmitted_bytes_total)": 10,
                      "max(rdma_port_rate_bytes_per_second)": 50e9, "count(ALERTS)": None}
            wait("all of it", lambda: {query: prometheus.value(query) for query in wanted} == wanted)
            wait("a join", lambda: self.joined_netdevs(prometheus))
            self.assertIn("ibp24s0", self.joined_netdevs(prometheus))
            self.assertEqual(prometheus.complaints(), [])

    @staticmethod
    def joined_netdevs(prometheus):
        """Of all ports, None in the moment after a scrape that came too late."""
        joined = prometheus.query("rdma_port_up * on(instance, device, port) "
                                  "group_left(netdev) rdma_port_info")
        return {labels.get("netdev") for labels, _ in joined} if len(joined) == 10 else None
