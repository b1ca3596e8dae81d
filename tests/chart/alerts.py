# SPDX-License-Identifier: Apache-2.0
"""Changes of single alerts by prometheusRule.alerts: what is named changes, and nothing else."""
import yaml

from renderer import CHART, only, parsed, read

URL = "https://wiki.test"


def rules_of(ours, changes):
    values = {"prometheusRule": {"enabled": True, "runbookBaseUrl": URL, "alerts": changes}}
    return only(parsed(ours.run(values)), "PrometheusRule", "-alerts")["spec"]


def wanted(change):
    """The rules of the file, each as change leaves it; None takes it away."""
    spec = yaml.safe_load(read(f"{CHART}/files/alerts.yaml"))
    for group in spec["groups"]:
        for rule in group["rules"]:
            if "alert" in rule:
                rule["annotations"]["runbook_url"] = f"{URL}/{rule['alert']}"
            if "page_url" in rule.get("annotations", {}):
                rule["annotations"]["page_url"] = "http://{{ $labels.instance | stripPort }}:10879/"
        group["rules"] = [rule for rule in map(change, group["rules"]) if rule]
    return spec


def severity(rule):
    return rule.get("labels", {}).get("severity")


def off(rule):
    return None if rule.get("alert") in ("RdmaModule", "RdmaPortDown") else rule


def one_of_two(rule):
    if rule.get("alert") == "RdmaPortDown" and severity(rule) == "critical":
        return {**rule, "for": "20m"}
    return rule


def of_findings(rule):
    """The severity is that of the finding, and there is no "for"."""
    if rule.get("alert") == "RdmaLinkDegraded":
        return {**rule, "for": "10m", "labels": {**rule.get("labels", {}), "severity": "info"}}
    return rule


CASES = [
    ({}, lambda rule: rule),
    ({"RdmaModule": {"enabled": False}, "RdmaPortDown": {"enabled": False}}, off),
    ({"RdmaModule": {"enabled": True}}, lambda rule: rule),
    ({"RdmaPortDown/critical": {"for": "20m"}}, one_of_two),
    ({"RdmaLinkDegraded": {"for": "10m", "severity": "info"}}, of_findings),
]


def complaints(ours):
    for changes, change in CASES:
        if rules_of(ours, changes) != wanted(change):
            yield f"{changes}: the rules are others"
