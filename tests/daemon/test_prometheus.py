# SPDX-License-Identifier: Apache-2.0
"""A real Prometheus scrapes the agent."""
import http.client
import json
import re
import subprocess
import tempfile
import unittest
import urllib.parse

from agent import Agent, free_port, wait

CONFIG = """
global: {{scrape_interval: 1s, scrape_timeout: 1s}}
scrape_configs:
- job_name: rdma
  static_configs: [{{targets: ["127.0.0.1:{port}"]}}]
"""


class Prometheus:
    def __init__(self, target):
        self.directory = tempfile.TemporaryDirectory(prefix="rna-prometheus-")
        self.port, self.log_path = free_port(), f"{self.directory.name}/log"
        with open(f"{self.directory.name}/config.yml", "w", encoding="utf-8") as file:
            file.write(CONFIG.format(port=target))

    def __enter__(self):
        with open(self.log_path, "wb") as log:
            self.process = subprocess.Popen(
                ["prometheus", f"--config.file={self.directory.name}/config.yml",
                 f"--storage.tsdb.path={self.directory.name}/data",
                 f"--web.listen-address=127.0.0.1:{self.port}"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        self.directory.cleanup()

    def query(self, text):
        """[(labels, value)], empty while it starts."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        try:
            connection.request("GET", "/api/v1/query?" + urllib.parse.urlencode({"query": text}))
            reply = json.loads(connection.getresponse().read())
        except (OSError, ValueError):
            return []
        finally:
            connection.close()
        return [(s["metric"], float(s["value"][1])) for s in reply["data"]["result"]]

    def complaints(self):
        with open(self.log_path, encoding="utf-8") as file:
            return [line for line in file if re.search("level=(warn|error)", line)]


class Scraped(unittest.TestCase):
    def test_scraped(self):
        with Agent("hgx-h100-ib") as agent, Prometheus(agent.port) as prometheus:
            def value(text):
                result = prometheus.query(text)
                return result[0][1] if result else None
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
