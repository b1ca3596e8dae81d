#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the documents with the tables of the code.

    check-docs.py BINARY            compare; prints differences and exits with 1
    check-docs.py BINARY --update   rewrite what differs

Documents have regions "<!-- generated: TOPIC -->" to "<!-- /generated -->", which PLACES lists;
each must be what "rdma-node-agent describe TOPIC" prints. pages.py has the checks of all documents,
such as links, the width of lines and the number of words. The sample configuration has one such region, written from
"describe settings"; with all its comments taken away the agent must accept it. The catalog of the
journal has one written from "describe catalog"; the rest of it explains the ids of
agent/memory/message_ids.h, all and no others; where systemd is at hand it must accept it.

That of the exporter has one with how many series typical nodes have (series.py); agent/rules/peers.md
one that compares the rules with other health checkers (peers.py). exporter/meanings.md and the
chart's files/records.yaml have one each with counters of drivers that mean the same (meanings.py).
Command lines and sample outputs of documents run on recorded machines (commands.py).
helm/README.md and systemd/README.md have the table of functions, with what turns them on, of the
chart's functions.yaml (functions.py).
The README of the Helm chart has one region, written from the comments of its values.yaml; what its
schema says of the agent's settings is written from "describe settings" (chart.py). The version of
meson.build and the addresses of meson_options.txt stand in all files that have to repeat them
(project.py). systemd/security.md lists each
source of what others say (claims.py).
"""

import argparse
import difflib
import functools
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap

import chart
import claims
import commands
import functions
import meanings
import pages
import peers
import project
import series

ROOT = pathlib.Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "systemd/rdma-node-agent.yaml"
MESSAGE_IDS = ROOT / "agent/memory/message_ids.h"
CATALOG = ROOT / "systemd/rdma-node-agent.catalog"
CHART = ROOT / "helm/rdma-node-agent"
# The table: which document has which tables of the code. No other document has any.
PLACES = {
    "agent/README.md": {"commands", "env", "needs"},
    "agent/baseline/profiles.md": {"profiles", "shipped"},
    "agent/rules/findings.md": {"consequences", "rules", "thresholds"},
    "agent/rules/kernel-log.md": {"patterns"},
    "agent/rules/peers.md": {"peers"},
    "collectors/README.md": {"collectors", "platform"},
    "exporter/README.md": {"series"},
    "exporter/meanings.md": {"meanings"},
    "exporter/metrics.md": {"metrics"},
    "helm/README.md": {"functions", "labels", "conditions"},
    "helm/rdma-node-agent/README.md": {"values"},
    "systemd/README.md": {"functions"},
}
# Documents with outputs of commands on recorded machines.
OUTPUTS = ["README.md", "agent/rules/findings.md"]
WIDTH = 100

MARKDOWN_REGION = re.compile(r"(<!-- generated: (\w+) -->\n).*?(<!-- /generated -->\n)", re.S)
RECORDS_REGION = re.compile(r"( +# generated: (records)\n).*?( +# /generated\n)", re.S)
CATALOG_REGION = re.compile(r"(# generated: (catalog)\n).*?(# /generated\n)", re.S)
YAML_REGION = re.compile(r"(# generated: (settings)\n).*?(# /generated\n)", re.S)


def describe(binary, topic):
    return subprocess.run([binary, "describe", topic], check=True, text=True,
                          stdout=subprocess.PIPE).stdout


def table(binary, topic):
    """The rows of a table of the code, each as a list of cells."""
    rows = describe(binary, topic).splitlines()[2:]
    return [[cell.strip().strip("`") for cell in row.strip("|").split("|")] for row in rows]


def names(binary, topic, column=0):
    return [row[column] for row in table(binary, topic)]


def settings(binary):
    """Each as [key, type, allowed, default, meaning]."""
    return table(binary, "settings")


def advice(binary):
    """The profiles of the unit and the switches of the chart that "doctor" recommends."""
    words = {word for row in table(binary, "needs") for cell in row[3:5] for word in re.findall(r"[\w.-]+", cell)}
    return {word for word in words if word.endswith(".enabled")} | {
        word for word in words if (ROOT / f"systemd/profiles/{word}.conf").exists()}


def comment(text):
    return textwrap.wrap(text, WIDTH, initial_indent="  # ", subsequent_indent="  # ")


def sample_configuration(binary):
    lines, section = [], None
    for key, kind, allowed, default, meaning in settings(binary):
        if kind == "retired":
            continue
        lines += [""]
        if key.split(".")[0] != section:
            section = key.split(".")[0]
            lines += [f"{section}:"]
        lines += comment(meaning) + comment(f"{kind}: {allowed}")
        lines += [f"  #{key.split('.')[1]}: {default}"]
    return "\n".join(lines) + "\n\n"


def generated(binary, topic, document):
    """A table of the code, as Markdown, for a document."""
    if topic == "values":
        return chart.values_table((CHART / "values.yaml").read_text(encoding="utf-8"))
    if topic == "functions":
        return functions.table(document)
    if topic == "series":
        return series.table(binary)
    if topic == "peers":
        return peers.table()
    if topic == "meanings":
        return meanings.table(describe(binary, topic))
    return describe(binary, topic)


def expected_document(document, binary, text):
    return MARKDOWN_REGION.sub(
        lambda match: f"{match[1]}\n{generated(binary, match[2], document)}\n{match[3]}", text)


def has_its_tables(path):
    """Has a document each table that belongs to it once, and no other?"""
    name = str(path.relative_to(ROOT))
    topics = [match[2] for match in MARKDOWN_REGION.finditer(path.read_text(encoding="utf-8"))]
    wanted = sorted(PLACES.get(name, set()))
    if sorted(topics) != wanted:
        print(f"{name}: wants a generated region each for {', '.join(wanted) or 'nothing'}; "
              f"has {', '.join(sorted(topics)) or 'none'}")
    return sorted(topics) == wanted


def expected_sample(binary, text):
    if not YAML_REGION.search(text):
        sys.exit(f"{SAMPLE.name}: wants a region '# generated: settings'")
    content = sample_configuration(binary)
    return YAML_REGION.sub(lambda match: match[1] + content + match[3], text)


def expected_catalog(binary, text):
    if not CATALOG_REGION.search(text):
        sys.exit(f"{CATALOG.name}: wants a region '# generated: catalog'")
    content = describe(binary, "catalog")
    return CATALOG_REGION.sub(lambda match: match[1] + content + match[3], text)


def expected_records(binary, text):
    rules = meanings.rules(describe(binary, "meanings"))
    return RECORDS_REGION.sub(lambda match: match[1] + rules + match[3], text)


def expected_chart_schema(binary, text):
    chart.check_defaults(settings(binary), (CHART / "values.yaml").read_text(encoding="utf-8"))
    return chart.expected_schema(settings(binary), text)


def accepts_catalog():
    """Does systemd take the catalog, and is there a text for each entry that begins in it?"""
    if not shutil.which("journalctl"):
        return True
    with tempfile.TemporaryDirectory() as root:
        place = pathlib.Path(root, "usr/lib/systemd/catalog")
        place.mkdir(parents=True)
        pathlib.Path(root, "var/lib/systemd/catalog").mkdir(parents=True)
        shutil.copy(CATALOG, place)
        done = subprocess.run(["journalctl", f"--root={root}", "--update-catalog"], text=True,
                              stderr=subprocess.PIPE, check=False)
        shown = subprocess.run(["journalctl", f"--root={root}", "--list-catalog"], text=True,
                               stdout=subprocess.PIPE, check=False).stdout
    wanted = re.findall(r"^-- ([0-9a-f]{32})$", CATALOG.read_text(encoding="utf-8"), re.M)
    missing = [id for id in wanted if id not in shown]
    if done.returncode or missing or len(set(wanted)) != len(wanted):
        print(f"{CATALOG.relative_to(ROOT)}: {done.stderr} not in it: {missing}")
        return False
    return True


def settle(path, expected, update):
    """Is path as expected? Else makes it so, or shows what differs."""
    text = path.read_text(encoding="utf-8")
    name = str(path.relative_to(ROOT))
    if text == expected:
        return True
    if update:
        path.write_text(expected, encoding="utf-8")
        print(f"{name}: rewritten")
        return True
    sys.stdout.writelines(difflib.unified_diff(text.splitlines(True), expected.splitlines(True),
                                               name, f"{name} (expected)", n=1))
    return False


def accepts_sample(binary):
    """Does the agent load the sample as it is, and with every setting in it switched on?"""
    text = SAMPLE.read_text(encoding="utf-8")
    for content in text, re.sub(r"^  #(\w)", r"  \1", text, flags=re.M):
        with tempfile.TemporaryDirectory() as root:
            config = pathlib.Path(root, "agent.yaml")
            config.write_text(content, encoding="utf-8")
            done = subprocess.run([binary, "collect", "--root", root, "--config", config],
                                  stdout=subprocess.DEVNULL)
        if done.returncode != 0:
            print(f"{SAMPLE.relative_to(ROOT)}: the agent does not take it")
            return False
    return True


def accepts_retired(binary):
    """Is each key of an earlier version accepted, and does one line say that it has no effect?"""
    wrong = []
    for key in (row[0] for row in settings(binary) if row[1] == "retired"):
        section, name = key.split(".")
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write(f"{section}: {{{name}: 7m}}\n")
            file.flush()
            done = subprocess.run([binary, "check-config", file.name], text=True, check=False,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode or done.stdout.count(f":1: {key} is ignored, remove it: No effect. ") != 1:
            wrong.append(f"{key}: status {done.returncode}, {done.stdout}")
    print(*wrong, sep="\n", end="\n" if wrong else "")
    return not wrong


def manual_names_exit_codes(binary):
    """Have the man page and the help of each command all of its exit codes?"""
    tables = json.loads(describe(binary, "json"))
    documents = ROOT / "agent/cli/documents"
    page = subprocess.run([documents / "fill.py", documents / "rdma-node-agent.8.in", "-"], text=True,
                          check=True, input=json.dumps(tables), stdout=subprocess.PIPE).stdout
    section = page.replace("\\-", "-").split(".SH EXIT STATUS\n")[1].split("\n.SH ")[0]
    common, *own = section.split(".SS ")
    sections = {name: text for text in own for name in text.split("\n")[0].split(", ")}
    wrong = []
    for command in tables["commands"]:
        name, codes = command["name"], command["exit_codes"] or tables["exit_codes"]
        text = sections.get(name, common)
        wanted = [f"\\fB{row['code']}\\fR\n{row['meaning']}\n" for row in codes]
        if not all(entry in f"{text}\n" for entry in wanted):
            wrong.append(f"rdma-node-agent.8.in: EXIT STATUS lacks exit codes of {name}")
        shown = subprocess.run([binary, name, "--help"], check=True, text=True,
                               stdout=subprocess.PIPE).stdout.split("\nExit codes:\n")
        if [f"  {row['code']}  {row['meaning']}" for row in codes] != re.findall("^  .*", shown[1], re.M):
            wrong.append(f"{name} --help: not the exit codes of its row")
    print(*wrong, sep="\n", end="\n" if wrong else "")
    return not wrong


def catalog_explains_all():
    """Has each message id an explanation, and each explanation an id?"""
    ids = set(re.findall(r'"([0-9a-f]{32})"', MESSAGE_IDS.read_text(encoding="utf-8")))
    ours = CATALOG_REGION.sub("", CATALOG.read_text(encoding="utf-8"))
    explained = set(re.findall(r"^-- ([0-9a-f]{32})$", ours, re.M))
    for number in sorted(ids ^ explained):
        print(f"{number}: is not in both of {MESSAGE_IDS.name} and {CATALOG.name}")
    return ids == explained and ids


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binary")
    parser.add_argument("--update", action="store_true", help="rewrite what differs")
    arguments = parser.parse_args()
    binary = str(pathlib.Path(arguments.binary).resolve())
    if arguments.update:
        project.update()
    good = [settle(path, expected(binary, path.read_text(encoding="utf-8")), arguments.update)
            for path, expected in (*((ROOT / name, functools.partial(expected_document, name)) for name in PLACES),
                                   *((ROOT / name, commands.with_outputs) for name in OUTPUTS),
                                   (SAMPLE, expected_sample), (CATALOG, expected_catalog),
                                   (CHART / "values.schema.json", expected_chart_schema),
                                   (CHART / "files/records.yaml", expected_records))]
    if not all(good):
        print("The documents are behind the code: tests/docs/check-docs.py BINARY --update")
    good += [has_its_tables(path) for path in pages.documents()]
    known = {topic: names(binary, topic)
             for topic in ("rules", "thresholds", "metrics", "settings", "commands")}
    known["profile"] = names(binary, "profiles", 1)
    wrong = [*pages.problems(set(known["metrics"]), set(known["settings"])), *peers.problems(known), *claims.problems(),
             *meanings.problems(describe(binary, "meanings"), set(known["metrics"])), *project.problems(),
             *functions.problems(set(known["settings"]), advice(binary)),
             *commands.problems(binary, {name.split()[0] for name in known["commands"]}, set(known["settings"]))]
    print(*wrong, sep="\n", end="\n" if wrong else "")
    documents = (manual_names_exit_codes(binary) and accepts_sample(binary) and accepts_retired(binary) and
                 catalog_explains_all() and accepts_catalog())
    return 0 if all(good) and not wrong and documents else 1


if __name__ == "__main__":
    sys.exit(main())
