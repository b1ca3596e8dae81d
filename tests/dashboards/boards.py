# SPDX-License-Identifier: Apache-2.0
"""The dashboards of the chart: their panels, and what Grafana would ask for each."""
import glob
import json
import os
import re

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FILES = f"{TESTS}/../helm/rdma-node-agent/files"
VALUES = {"$cluster": ".*", "$job": ".*", "$device": ".*", "$group": "peer", "$member": ".*",
          "$severity": "1", "$show": "0", "$findings": "critical|warning|info"}


def load():
    """{name: dashboard}"""
    found = {}
    for path in sorted(glob.glob(f"{FILES}/dashboard-*.json")):
        with open(path, encoding="utf-8") as file:
            found[re.fullmatch("dashboard-(.*).json", os.path.basename(path))[1]] = json.load(file)
    return found


def panels_of(board):
    for panel in board["panels"]:
        yield panel
        yield from panel.get("panels", [])  # of a row that is collapsed


def annotations_of(board):
    """The queries of what is drawn on the axis of time."""
    return [one["expr"] for one in board["annotations"]["list"] if "expr" in one]


def queries_of(board):
    """What Grafana would ask, [(where, query)]."""
    for variable in board["templating"]["list"]:
        if variable["type"] == "query":
            metric, label = re.fullmatch(r"label_values\((.*), (\$?\w+)\)", variable["query"]).groups()
            yield f"variable {variable['name']}", f"group by ({label}) ({metric})"
    for panel in panels_of(board):
        for target in panel.get("targets", []):
            yield f"{panel['title']} {target['refId']}", target["expr"]
    for query in annotations_of(board):
        yield "annotations", query


def expand(text, instance, interval="1m", span="5m"):
    """The text with the variables of a dashboard in it."""
    for name, value in {**VALUES, "$instance": instance, "$__rate_interval": interval,
                        "$__range": span}.items():
        text = text.replace(name, value)
    assert not re.search(r"\$[^1]", text), text  # $1 is of label_replace()
    return text
