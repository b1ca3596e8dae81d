# SPDX-License-Identifier: Apache-2.0
"""What the agent says: of a running one by HTTP, or of one that polls once."""
import json
import re
import socket

SERIES = re.compile(r"^(\w+)(?:\{(.*)\})? (\S+)$")
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
PATIENCE = 10  # seconds for an answer by HTTP


def get(url):
    """The body as text. Raises OSError unless the server answers 200.

    unix:SOCKET:PATH is a Unix socket. To import urllib takes longer than the rest of a comparison
    in an emulated machine.
    """
    if url.startswith("unix:"):
        name, _, path = url[len("unix:"):].rpartition(":/")
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(PATIENCE)
        connection.connect(name)
    else:
        host, _, path = url[len("http://"):].partition("/")
        name, _, port = host.partition(":")
        connection = socket.create_connection((name, int(port)), PATIENCE)
    with connection, connection.makefile("rb") as file:
        connection.sendall(f"GET /{path} HTTP/1.0\r\n\r\n".encode())
        head, _, body = file.read().partition(b"\r\n\r\n")
    code = head.split()[1] if head else b"none"
    if code != b"200":
        raise OSError(f"{url}: status {code.decode()}")
    return body.decode()


def by_http(url):
    """{document: function that fetches it}"""
    return {"metrics": lambda: get(f"{url}/metrics"),
            "snapshot": lambda: get(f"{url}/api/v1/snapshot"),
            "topology": lambda: get(f"{url}/api/v1/topology"),
            "short": lambda: ""}


def by_command(ask):
    """The same of commands; ask: a function that returns what one writes."""
    return {"metrics": lambda: ask("collect"),
            "snapshot": lambda: ask("collect", "--format=json"),
            "topology": lambda: ask("topology", "--json"),
            "short": lambda: ask("status", "--short")}


class Agent:
    """Documents are fetched when a comparison wants one, or all at once by fetch()."""

    def __init__(self, documents):
        self.documents, self.texts, self.parsed = documents, {}, {}

    def text(self, name):
        if name not in self.texts:
            self.texts[name] = self.documents[name]()
        return self.texts[name]

    def fetch(self):
        for name in self.documents:
            self.text(name)
        return self

    def parse(self, name, function):
        if name not in self.parsed:
            self.parsed[name] = function(self.text(name))
        return self.parsed[name]

    def snapshot(self):
        return self.parse("snapshot", json.loads)

    def topology(self):
        return self.parse("topology", json.loads)

    def metrics(self):
        return self.parse("metrics", parse_metrics)

    def series(self, name, **labels):
        """[(labels, value), ...] that have these labels."""
        return [(found, value) for found, value in self.metrics().get(name, [])
                if labels.items() <= found.items()]

    def value(self, name, **labels):
        found = self.series(name, **labels)
        return found[0][1] if len(found) == 1 else None

    def label(self, name, key, **labels):
        found = self.series(name, **labels)
        return found[0][0].get(key, "") if len(found) == 1 else None

    def device(self, name):
        return next((d for d in self.snapshot()["devices"] if d["name"] == name), {})

    def port(self, device, port):
        return next((p for p in self.device(device).get("ports", []) if str(p["port"]) == port), {})


def parse_metrics(text):
    found = {}
    for line in text.splitlines():
        match = SERIES.match(line)
        if match:
            name, labels, value = match.groups()
            found.setdefault(name, []).append((dict(LABEL.findall(labels or "")), float(value)))
    return found
