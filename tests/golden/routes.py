# SPDX-License-Identifier: Apache-2.0
"""The paths that the agent serves, from its own table, and what reads each reply."""
import json
import os
import re
import xml.etree.ElementTree

from formats import Invalid

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../exporter/http/routes.c")


def page(text):
    if "</footer>" not in text:
        raise Invalid("the page has no end")


READERS = {"HTML": page, "TEXT": str, '"application/json"': json.loads,
           '"image/svg+xml"': xml.etree.ElementTree.fromstring}


def read_table():
    with open(SOURCE, encoding="utf-8") as source:
        text = source.read()
    names = dict(re.findall(r'^#define (\w+) +(".*")$', text, re.MULTILINE))
    rows = re.findall(r'^\t\{("[^"]*"|\w+), answer_(\w+)(?:, ([^,]+), \w+)?\},', text, re.MULTILINE)
    if not rows:
        raise SystemExit(f"{SOURCE}: the table of routes is not found")
    return {names.get(path, path).strip('"'): READERS[kind] if kind else str for path, _, kind in rows}


ROUTES = read_table()  # by path, what reads the reply
DOCUMENTS = {path: reader for path, reader in ROUTES.items() if path != "/metrics"}
