# SPDX-License-Identifier: Apache-2.0
"""Errors of a run in which one call failed, compared with the run without a failure."""
import errno
import os
import re

# What says that reads failed, and what follows from it. All else must be as it was, or missing.
TOLD = re.compile(r"rdma_(collector_\w+|findings?|finding_info|finding_since_seconds|agent_\w+|port_peer_stale|kernel_log_(readable|info)|kubernetes_\w+)|process_\w+")
# A label whose value tells how sure the rest is, or where it comes from.
SOURCES = {"reason", "netdev_source", "source"}
# Counts of what could be read; and VL15, which is left out where the link layer is known not to have it.
COUNTS = {"rdma_port_gids", "rdma_port_saturated_counters", "rdma_port_vl15_dropped_total"}

# Of this node: what its kernel counts for all that runs on it, other tests included.
SHARED = re.compile(r"rdma_node_neighbour\w+|rdma_kernel_log_messages_\w+")

SAMPLE = re.compile(r'(\w+)(?:\{(.*)\})? (\S+)')
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


def name(fault):
    return fault if fault == "short" else errno.errorcode[fault]


def samples(text):
    """{(name, labels): value}"""
    found = {}
    for line in text.splitlines():
        match = None if line.startswith("#") else SAMPLE.fullmatch(line)
        pairs = LABEL.findall(match[2] or "") if match else []
        if match and not TOLD.fullmatch(match[1]) and ("reason", "unknown") not in pairs:
            labels = frozenset((label, value) for label, value in pairs
                               if label not in SOURCES and value != "unknown")
            found[match[1], labels] = match[3]
    return found


def wrong_samples(before, run):
    was, now = samples(before), run.output
    for (family, labels), value in samples(now).items():
        like = [old for (other, more), old in was.items() if other == family and labels <= more]
        if family not in COUNTS and value not in like:
            yield f"{family}{dict(labels)} is {value}, and was {like[:1] or 'not there'}"


def wrong_variables(before, run):
    """Advice from fewer readings has fewer variables, or a line on stderr says what failed.

    A comment in the output is not enough: who evaluates it sees none.
    """
    exported = {line for line in run.output.splitlines() if not line.startswith("#")}
    said = re.search(r"(?m)^(error|warning): \S+: .", run.errors)
    if not exported <= set(before.splitlines()) and not said:
        yield f"other variables: {run.output[:1000]}"


FORMS = {"samples": wrong_samples, "variables": wrong_variables, None: lambda before, run: ()}


def complains(errors, fault):
    """Is there a line with an object in front, and why?"""
    reason = "" if fault == "short" else re.escape(os.strerror(fault))
    return re.search(rf"(?m)^(error|warning|rdma-node-agent): .*\S: .*{reason}", errors)


def judge(case, whole, run, fault):
    if run.status is None:
        return ["it hangs"]
    problems = []
    if run.status not in case.statuses:
        problems.append(f"exit status {run.status}")
    if run.sanitizer:
        problems.append("a sanitizer complains")
    if run.left - whole.left:
        problems.append(f"left open: {dict(run.left - whole.left)}")
    if run.status != whole.status and not complains(run.errors, fault):
        problems.append("it fails without a line that names an object and the reason")
    if run.status == whole.status:
        problems += FORMS[case.form](whole.output, run)
    return problems
