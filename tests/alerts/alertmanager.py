# SPDX-License-Identifier: Apache-2.0
"""A real Alertmanager with files/inhibit.yaml."""
import collections
import http.client
import json
import os
import sys

import yaml

HERE = os.path.dirname(os.path.abspath(__file__))
FILES = os.path.join(HERE, "../../helm/rdma-node-agent/files")
sys.path.insert(0, os.path.join(HERE, "../daemon"))
from prometheus import Server  # noqa: E402 pylint: disable=wrong-import-position

GROUP_WAIT = 6  # seconds


def paging(port):
    """Sends each alert that is not inhibited on its own, to a webhook."""
    return {"route": {"receiver": "pager", "group_by": ["..."], "group_wait": f"{GROUP_WAIT}s",
                      "group_interval": "1h", "repeat_interval": "4h"},
            "receivers": [{"name": "pager", "webhook_configs": [
                {"url": f"http://127.0.0.1:{port}/", "send_resolved": False}]}]}


class Alertmanager(Server):
    def __init__(self, config):
        super().__init__("alertmanager")
        self.config = config

    def __enter__(self):
        with open(f"{FILES}/inhibit.yaml", encoding="utf-8") as file:
            inhibit = yaml.safe_load(file)
        path = f"{self.directory.name}/alertmanager.yml"
        with open(path, "w", encoding="utf-8") as file:
            json.dump({**self.config, **inhibit}, file)
        self.start("prometheus-alertmanager", f"--config.file={path}",
                   "--cluster.listen-address=", f"--storage.path={self.directory.name}/data")
        return self

    def ask(self, method, path, body=None):
        """The reply; None while it starts."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        try:
            connection.request(method, f"/api/v2/{path}", body and json.dumps(body),
                               {"Content-Type": "application/json"})
            reply = connection.getresponse()
            return reply.read() if reply.status == 200 else None
        except OSError:
            return None
        finally:
            connection.close()

    def alerts(self):
        """[(labels, is it inhibited?)] of all that are firing; None while it starts."""
        found = self.ask("GET", "alerts?active=true&inhibited=true")
        return found and [(alert["labels"], bool(alert["status"]["inhibitedBy"]))
                          for alert in json.loads(found)]

    def count(self, **wanted):
        """Of alerts with these labels: {is it inhibited?: how many}."""
        return collections.Counter(inhibited for labels, inhibited in self.alerts() or []
                                   if wanted.items() <= labels.items())
