# SPDX-License-Identifier: Apache-2.0
"""The dashboards as such: each query parses and asks for what there is, and each panel says what to do.

A label of a query must be of one of its metrics as "describe metrics" lists them, of the targets, or
made by label_replace() in the query or in a rule. Whether there is data is for tests/daemon.
"""
import os
import re
import subprocess
import sys
import tempfile

import yaml

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../dashboards"))
import boards  # noqa: E402 pylint: disable=wrong-import-position
import stage  # noqa: E402 pylint: disable=wrong-import-position

# Of targets, of histograms, of ALERTS, and names of pods that Prometheus renames.
OF_PROMETHEUS = {"cluster", "job", "instance", "rack", "le", "alertname", "alertstate", "severity",
                 "exported_namespace", "exported_pod", "exported_job"}
METRIC = re.compile(r"\b(?:rdma[_:][a-z0-9_:]+|process_[a-z_]+|up|ALERTS)\b(?!\()")
PANELS_MAX, ABOUT_MIN = 26, 20


def labels_of_metrics(binary):
    """{name: labels} of what the agent serves."""
    table = subprocess.run([binary, "describe", "metrics"], check=True, text=True,
                           stdout=subprocess.PIPE).stdout
    rows = ([cell.strip(" `") for cell in row.split("|")[1:4]] for row in table.splitlines()[2:])
    return {name: set(labels.split(", ")) for name, _, labels in rows}


def used(text):
    """The labels that a query asks for, and those that it makes itself."""
    made = set(re.findall(r'"(\w+)", "[^"]*", "\w*", "', text)) | set(
        re.findall(r'label_join\(.*?"(\w+)"', text, re.S))
    bare = re.sub(r'"(\\.|[^"\\])*"', '""', text)
    groups = re.findall(r"\b(?:by|on|without|ignoring|group_left|group_right)\s*\(([^)]*)\)", bare)
    matchers = re.findall(r"\{([^}]*)\}", bare)
    asked = {name.strip() for group in groups for name in group.split(",")} | {
        name for matcher in matchers for name in re.findall(r"(\w+)\s*(?:=~|!~|!=|=)", matcher)}
    return asked - {""}, made


def known_labels(text, served, records, seen=()):
    """The labels that the metrics of a query may have."""
    found = set(OF_PROMETHEUS) | used(text)[1]
    for name in set(METRIC.findall(re.sub(r'"(\\.|[^"\\])*"', '""', text))) - set(seen):
        found |= served.get(re.sub("_(bucket|count|sum)$", "", name), set())
        for rule in records.get(name, []):
            found |= set(rule.get("labels", {})) | known_labels(rule["expr"], served, records,
                                                                (*seen, name))
    return found


def check_labels(where, query, served, records):
    unknown = used(query)[0] - known_labels(query, served, records)
    for label in sorted(unknown):
        yield f"{where}: none of its metrics has the label {label}"


def check_syntax(queries):
    """promtool reads them all, as the expressions of rules."""
    rules = [{"record": f"x{number}", "expr": query} for number, (_, query) in enumerate(queries)]
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        yaml.safe_dump({"groups": [{"name": "dashboards", "rules": rules}]}, file)
        file.flush()
        done = subprocess.run(["promtool", "check", "rules", file.name], text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    for number in re.findall(r'"x(\d+)"', done.stdout) if done.returncode else []:
        yield f"{queries[int(number)][0]}: promtool does not read its query"
    if done.returncode:
        yield done.stdout


def check_panel(where, panel):
    defaults = panel["fieldConfig"]["defaults"]
    for what, text in (("title", panel["title"]), ("unit", defaults.get("unit")),
                       ("text for no data", defaults.get("noValue"))):
        if not text:
            yield f"{where}: wants a {what}"
    if len(panel.get("description", "")) < ABOUT_MIN:
        yield f"{where}: wants a description that says what to do"
    for target in panel["targets"]:
        if panel["type"] not in ("stat", "table") and not target.get("legendFormat"):
            yield f"{where}: wants a legend"


def check_links(where, panel):
    """A link names fields that the table has when the links are made."""
    shown = next((one["options"]["include"]["names"] for one in panel.get("transformations", [])
                  if one["id"] == "filterFieldsByName"), None)
    for link in panel["fieldConfig"]["defaults"].get("links", []):
        for field in re.findall(r"__data\.fields\.(\w+)", link["url"]):
            if shown and field not in shown:
                yield f"{where}: its link {link['title']} needs the column {field}"


def check_layout(name, board):
    """Panels have a number of their own, and none lies on another one."""
    panels = list(boards.panels_of(board))
    if len({panel["id"] for panel in panels}) < len(panels):
        yield f"{name}: two panels have one id"
    drawn = [panel for panel in board["panels"] if panel["type"] != "row"]
    if len(drawn) > PANELS_MAX:
        yield f"{name}: {len(drawn)} panels outside of closed rows are more than an operator reads"
    cells = set()
    for panel in board["panels"]:
        grid = panel["gridPos"]
        taken = {(x, y) for x in range(grid["x"], grid["x"] + grid["w"])
                 for y in range(grid["y"], grid["y"] + grid["h"])}
        if taken & cells or grid["x"] + grid["w"] > 24:
            yield f"{name}: {panel['title']} lies on another panel, or beyond the edge"
        cells |= taken


def complaints(binary, rules):
    served, records, all_boards = labels_of_metrics(binary), {}, boards.load()
    for rule in rules:
        if "record" in rule:
            records.setdefault(rule["record"], []).append(rule)
    queries = [(f"{name}, {where}", boards.expand(query, "node1"))
               for name, board in all_boards.items() for where, query in boards.queries_of(board)]
    yield from check_syntax(queries)
    for where, query in queries:
        yield from check_labels(where, query, served, records)
    for name, board in all_boards.items():
        yield from check_layout(name, board)
        if not boards.annotations_of(board):
            yield f"{name}: no alerts on its axis of time"
        for panel in boards.panels_of(board):
            if panel["type"] != "row":
                yield from check_panel(f"{name}, {panel['title']}", panel)
                yield from check_links(f"{name}, {panel['title']}", panel)
    for number in range(stage.DOUBLES):
        for pair in stage.undocumented(binary, stage.Doubles.story(number, 600, 60)):
            yield f"tests/dashboards/stage.py: the agent has no {pair}"
    done = subprocess.run([f"{HERE}/../../helm/dashboards/make", "--check"], text=True, check=False,
                          stderr=subprocess.PIPE)
    if done.returncode:
        yield done.stderr
