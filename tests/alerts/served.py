# SPDX-License-Identifier: Apache-2.0
"""The runbooks that the agent serves: each link of an alert leads to one, and each finding has one."""
import html
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../daemon"))
import agent  # noqa: E402

MACHINE = "hgx-h100-ib"
ROW = re.compile(r"<tr><th><a href=/runbooks/(\w+)>\1</a><td>([^<]*)<td")


def rules_of(alert, found):
    """The findings that an alert is about, by their names."""
    return {name for pattern in re.findall(r'rule=~?"([^"]+)"', alert["expr"])
            for name in found if re.fullmatch(pattern, name)}


def check_rule_link(served, rule):
    """As dashboards link to the runbook of a finding."""
    reply = served.get(f"/runbooks/{rule}")
    if reply.status != 200 or rule not in reply.text:
        yield f"{rule}: /runbooks/{rule} is not served, status {reply.status}"


def check_link(served, url, name):
    reply = served.get(re.sub(r"^http://.*?(?=/runbooks/)", "", url))
    if reply.status != 200 or f"<h1>{name} " not in reply.text:
        yield f"{name}: its runbook_url is not served, status {reply.status}"
    for target in re.findall(r'href="?(/[^">]*)', reply.text):
        if served.get(target).status != 200:
            yield f"{name}: its runbook has a dead link, {target}"
    commands = re.search(r"<main>\n<h2>[^\n]*\n<pre>(.*?)</pre>", reply.text, re.S)
    if not commands or "kubectl exec" not in commands[1] or "ssh " not in commands[1]:
        yield f"{name}: its runbook does not begin with the commands"


def check_rules(alerts, listed, found):
    """What a runbook says that it is about is what its alert is about."""
    for alert in alerts:
        name, rules = alert["alert"], rules_of(alert, found)
        if re.match("rdma:(finding|problem){", alert["expr"]) and not rules <= listed.get(name, set()):
            yield f"{name}: runbooks.md lists other findings than the alert, which has {rules}"
    for rule in sorted(found):
        if not any(rule in rules for rules in listed.values()):
            yield f"{rule}: no runbook lists it"


def complaints(binary, alerts, found):
    agent.binary = binary
    with agent.Agent(MACHINE, poll=agent.QUIET) as served:
        index = html.unescape(served.get("/runbooks/").text)
        listed = {name: set(rules.split(", ")) for name, rules in ROW.findall(index)}
        yield from check_rules(alerts, listed, found)
        for rule in sorted(found):
            yield from check_rule_link(served, rule)
        for name, url in {alert["alert"]: alert["annotations"]["runbook_url"]
                          for alert in alerts}.items():
            yield from check_link(served, url, name)
