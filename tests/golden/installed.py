# SPDX-License-Identifier: Apache-2.0
"""The metrics of a machine as the agent is installed, without settings of metrics.

All other expectations are of all metrics. judge() compares both: what is exported as installed is
part of that, the account of the collectors is its summary, and there are not too many series.
"""
import collections
import re

import scrape

OWN = re.compile("rdma_collector_|rdma_agent_|process_")
OWN_LIMIT = 60  # series of the agent's account of itself
LIMITS = {"hgx-h100-ib": 700, "hgx-h100-lost": 700}  # series: eight rails of InfiniBand and two ports more
# Families of which the labels as installed are others, or depend on what earlier runs have remembered.
OTHERS = re.compile("rdma_collector_|rdma_agent_event_latency_seconds|rdma_finding|rdma_port_expected_up")


def read(text):
    """[(name, {label: value}, value)]"""
    return [(name, dict(labels), value) for name, labels, value in
            (scrape.split_sample(line) for line in text.split("\n")
             if line and not line.startswith("#"))]


def too_many(machine, samples):
    own = sum(bool(OWN.match(name)) for name, _, _ in samples)
    for what, number, limit in (("series", len(samples), LIMITS.get(machine, len(samples))),
                                ("series of the agent itself", own, OWN_LIMIT)):
        if number > limit:
            yield f"{number} {what} as installed, {limit} are allowed"


def unknown(samples, full):
    known = {(name, *sorted(labels.items())) for name, labels, _ in full}
    for name, labels, _ in samples:
        if not OTHERS.match(name) and (name, *sorted(labels.items())) not in known:
            yield f"{name} {labels} is there as installed, but not with all metrics"


def by_collector(samples, name, fold):
    """{labels without device: what fold makes of the values}"""
    found = collections.defaultdict(list)
    for family, labels, value in samples:
        if family == name:
            key = tuple(sorted((k, v) for k, v in labels.items() if k != "device"))
            found[key].append(float(value))
    return {key: fold(values) for key, values in found.items()}


def check_summary(samples, full):
    """Of ages, which differ from run to run, there is one for each collector."""
    expected = {
        "rdma_collector_success": {key: value for key, value in by_collector(
            full, "rdma_collector_success", min).items() if value == 0},
        "rdma_collector_errors_total": by_collector(full, "rdma_collector_errors_total", sum),
        "rdma_collector_age_seconds": by_collector(full, "rdma_collector_age_seconds", len),
        "rdma_collector_duration_seconds": {},
        "rdma_collector_stalled_seconds": {},
    }
    for name, wanted in expected.items():
        found = by_collector(samples, name, sum)
        if name == "rdma_collector_age_seconds":
            found, wanted = dict.fromkeys(found), dict.fromkeys(wanted)
        if found != wanted:
            yield f"{name} is {found} as installed, should be {wanted}"
    if any("device" in labels for name, labels, _ in samples
           if name.startswith("rdma_collector_") and name != "rdma_collector_stalled_seconds"):
        yield "the account of a collector has the label device as installed"


def judge(machine, text, full):
    """Yields what is wrong. text: metrics as installed; full: all of them."""
    samples, all_samples = read(text), read(full)
    yield from too_many(machine, samples)
    yield from unknown(samples, all_samples)
    yield from check_summary(samples, all_samples)
