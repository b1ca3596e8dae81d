# SPDX-License-Identifier: Apache-2.0
"""helm/remediation.md: its values are accepted, and the policies for NVSentinel mean what it says."""
import re

import yaml

import policy
from renderer import ROOT, only, parsed, read

PAGE = "helm/remediation.md"
# Status of a condition, and the policies that find it.
NODES = [({}, []), (None, []), ({"Ready": "False"}, []), ({"RdmaPortDown": "True"}, ["RdmaProblem"]),
         ({"RdmaPortDown": "False"}, []), ({"RdmaPortDown": "Unknown"}, []),
         ({"RdmaFabricUnhealthy": "True"}, []), ({"RdmaTaintWithheld": "False"}, []),
         ({"RdmaTaintWithheld": "True", "RdmaDeviceMissing": "True"}, ["RdmaNodeUnfit", "RdmaProblem"])]


def blocks(owner):
    text = read(f"{ROOT}/{PAGE}")
    return [yaml.safe_load(block) for block in re.findall(rf"```yaml\n# values of {owner}\n(.*?)```", text, re.S)]


def check_values(ours, types):
    found = blocks("this chart")
    if len(found) != 2:
        yield f"has {len(found)} blocks of values"
    for values in found:
        config = only(parsed(ours.text(values)), "ConfigMap", "rel-rdma-node-agent")
        told = yaml.safe_load(config["data"]["rdma-node-agent.yaml"])["kubernetes"]
        if not values["config"]["kubernetes"].items() <= told.items():
            yield f"{values} became {told}"
    named = set(re.findall(r'"(Rdma[A-Za-z]+)"', read(f"{ROOT}/{PAGE}")))
    yield from (f"no condition is called {name}" for name in sorted(named - set(types)))


def check_policies():
    rules, = (block["kubernetes-object-monitor"]["policies"] for block in blocks("NVSentinel"))
    asked = {"spec": {"matchConditions": [], "variables": [], "validations": [
        {"message": rule["name"], "expression": f"!({rule['predicate']['expression']})"}
        for rule in rules]}}
    nodes = [{"resource": {"status": {} if conditions is None else {"conditions": [
        {"type": kind, "status": status} for kind, status in conditions.items()]}}}
             for conditions, _ in NODES]
    for (conditions, wanted), said in zip(NODES, policy.verdicts(asked, nodes) or []):
        if said != wanted:
            yield f"{conditions}: wanted {wanted}, and it is {said}"


def complaints(ours, types):
    yield from (f"{PAGE}: {text}" for text in check_values(ours, types))
    yield from (f"{PAGE}: {text}" for text in check_policies())
