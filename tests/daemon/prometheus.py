# SPDX-License-Identifier: Apache-2.0
"""A Prometheus of a test's own, which scrapes agents."""
import http.client
import json
import re
import subprocess
import tempfile
import urllib.parse

from agent import free_port, wait


class Server:
    """A program with a web server and a directory of its own, for the time of a with."""

    def __init__(self, name):
        self.directory = tempfile.TemporaryDirectory(prefix=f"rna-{name}-")
        self.port, self.log_path = free_port(), f"{self.directory.name}/log"
        self.process = None

    def start(self, *command):
        with open(self.log_path, "wb") as log:
            self.process = subprocess.Popen(
                [*command, f"--web.listen-address=127.0.0.1:{self.port}"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        self.directory.cleanup()


class Prometheus(Server):
    """with Prometheus(agent.port) as prometheus: ...; rules are paths of rules files, job more of
    the job, interval how often it scrapes, in seconds, alertmanager the port of one."""

    def __init__(self, *targets, rules=(), job=None, interval=1, alertmanager=None):
        super().__init__("prometheus")
        job = {"job_name": "rdma", "static_configs": [
            {"targets": [f"127.0.0.1:{target}" for target in targets]}], **(job or {})}
        config = {"global": {"scrape_interval": f"{interval}s", "scrape_timeout": f"{interval}s",
                             "evaluation_interval": f"{interval}s"},
                  "scrape_configs": [job], "rule_files": list(rules)}
        if alertmanager:
            config["alerting"] = {"alertmanagers": [
                {"static_configs": [{"targets": [f"127.0.0.1:{alertmanager}"]}]}]}
        with open(f"{self.directory.name}/config.yml", "w", encoding="utf-8") as file:
            json.dump(config, file)  # which is YAML, too

    def __enter__(self):
        self.start("prometheus", f"--config.file={self.directory.name}/config.yml",
                   f"--storage.tsdb.path={self.directory.name}/data")
        return self

    def api(self, path, **parameters):
        """The data of an answer, None while it starts."""
        if self.process.poll() is not None:
            with open(self.log_path, encoding="utf-8") as log:
                raise AssertionError(f"Prometheus has ended: {log.readlines()[-1:]}")
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        try:
            connection.request("GET", f"/api/v1/{path}?{urllib.parse.urlencode(parameters)}")
            reply = json.loads(connection.getresponse().read())
        except (OSError, ValueError):
            return None
        finally:
            connection.close()
        if reply["status"] != "success":
            raise AssertionError(f"{path} {parameters}: {reply['error']}")
        return reply["data"]

    def query(self, text):
        """[(labels, value)], empty while it starts."""
        data = self.api("query", query=text)
        return [(s["metric"], float(s["value"][1])) for s in data["result"]] if data else []

    def value(self, text):
        """The first value, None if there is none."""
        result = self.query(text)
        return result[0][1] if result else None

    def wait_scrapes(self):
        """Some that were good: on a busy machine one may come too late."""
        wait("up == 1", lambda: self.value("up") == 1)
        wait("several scrapes", lambda: (self.value("sum_over_time(up[10m])") or 0) >= 4)

    def complaints(self):
        """Not of its own lateness: on a busy machine it evaluates rules twice for one second."""
        with open(self.log_path, encoding="utf-8") as file:
            return [line for line in file if re.search("level=(warn|error)", line)
                    and "different value but same timestamp" not in line]
