# SPDX-License-Identifier: Apache-2.0
"""The rules on what "collect" prints for each recorded machine.

A machine without a finding of severity warning or critical has no alert at all. On the others each
such finding has one, and information has none. The samples are those of tests/machines/*/
expected.prom, which the suite golden compares with the agent's.
"""
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
MACHINES = os.path.join(HERE, "../machines")
sys.path.insert(0, os.path.join(HERE, "../golden"))
import scrape  # noqa: E402 pylint: disable=wrong-import-position

# The demo that ./run shows by default, and machines of each kind of fabric.
CERTAINLY_HEALTHY = {"efa-p5", "gb300", "hgx-h100-ib", "mi300x", "roce-8rail-gpu"}
SINCE = 1795438980
END = "8m"  # every alert has fired by then, also those with a delay
TARGET = 'job="rdma",instance="node1"'


def names_in(rules):
    """The metrics that the rules ask for."""
    text = "\n".join(rule["expr"] for rule in rules)
    return set(re.findall(r"\brdma_[a-z0-9_]+", text))


def values(name, value):
    """The agent's own counters grow. What changes from run to run has no value there."""
    if name.startswith("rdma_agent_") and name.endswith("_total"):
        return "1+1x8"
    return f"{SINCE if value == '~' else value}+0x8"


def series(path, names):
    with open(path, encoding="utf-8", newline="") as file:
        lines = scrape.samples(file.read().split("\n")[:-1])
    found = [{"series": f"up{{{TARGET}}}", "values": "1+0x8"}]
    for line in lines:
        name, _, rest = line.partition("{")
        name = name.split()[0]
        if name not in names:
            continue
        labels, value = rest.rsplit("}", 1) if rest else ("", line[len(name):])
        labels = f"{TARGET},{labels}" if labels else TARGET
        found.append({"series": f"{name}{{{labels}}}", "values": values(name, value.strip())})
    return found


def needs_action(found):
    return any(one["series"].startswith("rdma_finding{") and 'severity="info"' not in one["series"]
               for one in found)


def nothing(text):
    return {"expr": text, "eval_time": END, "exp_samples": []}


def test_of(name, found):
    if not needs_action(found):
        expected = [nothing("ALERTS")]
    else:
        expected = [nothing('ALERTS{severity="info"}'),
                    nothing('rdma_finding{severity!="info"} '
                            "unless on (job, instance, rule, device, port) "
                            'ALERTS{alertstate="firing"}')]
    return {"name": name, "interval": "1m", "input_series": found, "promql_expr_test": expected}


def complaints(path, rules):
    """Yields what is wrong; path is the file of the rules."""
    names = names_in(rules)
    machines = {os.path.basename(os.path.dirname(file)): series(file, names)
                for file in sorted(glob.glob(f"{MACHINES}/*/expected.prom"))}
    healthy = {name for name, found in machines.items() if not needs_action(found)}
    for name in sorted(CERTAINLY_HEALTHY - healthy):
        yield f"{name}: ought to be a healthy machine"
    file = {"rule_files": [os.path.abspath(path)], "evaluation_interval": "1m",
            "tests": [test_of(name, found) for name, found in machines.items()]}
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as tests:
        json.dump(file, tests)  # which is YAML, too
        tests.flush()
        done = subprocess.run(["promtool", "test", "rules", tests.name], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    if done.returncode:
        yield f"recorded machines:\n{done.stdout}"
    print(f"{len(machines)} recorded machines, {len(healthy)} of them without an alert")
