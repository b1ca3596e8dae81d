# SPDX-License-Identifier: Apache-2.0
"""The outputs of the agent in tests: the command of each, its validity, and the values that change
from run to run."""
import difflib
import json
import re
import subprocess

import yaml
from prometheus_client.openmetrics.parser import text_string_to_metric_families

import documents
import scrape
import tables
import twice

# What differs from run to run, and so stands as ~ in an expectation. This is the only such list.
# Names of metrics; in JSON the same values are members of the object that belongs to their prefix.
VOLATILE = {
    "rdma_collector_duration_seconds",
    "rdma_collector_age_seconds",
    "rdma_agent_start_time_seconds",
    "rdma_agent_longest_run_seconds",
    "rdma_agent_config_last_reload_success_timestamp_seconds",
    "rdma_finding_since_seconds",
    "rdma_agent_lanes",  # a slow machine needs more of them
    "process_cpu_seconds_total",
    "process_resident_memory_bytes",
    "process_virtual_memory_bytes",
    "process_open_fds",
    "process_max_fds",
    "process_threads",
    "process_start_time_seconds",
}
VOLATILE_UNLESS_ZERO = {"rdma_collector_stalled_seconds"}
VOLATILE_LABELS = {"rdma_agent_build_info": "version"}
VOLATILE_JSON = {"time", "agent.version", "agent.root", "findings.since",
                 "devices.ports.peer.last_seen"} | {
    re.sub("^(?:rdma_)?(collector|agent|process)_", lambda m: {"collector": "collectors"}.get(
        m[1], m[1]) + ".", name) for name in VOLATILE}
VOLATILE_JSON_UNLESS_ZERO = {"collectors.stalled_seconds"}
# Machines that differ in kind, whose JSON is kept whole: InfiniBand beside GPUs, answers of the
# fabric, drivers of other vendors, Ethernet with its statistics, a device that does not answer,
# texts that break formats.
WHOLE_JSON = {"hgx-h100-ib", "mad", "other-vendors", "roce-ethernet", "stalled", "strange-strings"}


class Invalid(Exception):
    """An output breaks the rules of its format."""


def check_classic(text):
    """Classic text format, as Prometheus itself judges it; its lint counts as well."""
    result = subprocess.run(["promtool", "check", "metrics"], input=text, text=True, check=False,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if result.returncode or result.stdout.strip():
        raise Invalid(f"promtool: {result.stdout.strip()[:2000]}")
    scrape.check_heads(text)


def check_dialects(classic, openmetrics):
    """The one follows from the other, but for what differs from run to run."""
    expected = scrape.openmetrics(mask_metrics(classic)).split("\n")
    diff = [line for line in difflib.unified_diff(expected, mask_metrics(openmetrics).split("\n"),
                                                  "from classic", "OpenMetrics", n=0, lineterm="")]
    if diff:
        raise Invalid("OpenMetrics does not follow from the classic format:\n" +
                      "\n".join(diff[:20]))


def parse_openmetrics(text):
    """{(name, ((label, value), ...)): number} by the strict parser."""
    try:
        families = list(text_string_to_metric_families(text))
    except ValueError as error:
        raise Invalid(f"OpenMetrics: {error}") from error
    names = [family.name for family in families]
    if len(set(names)) != len(names):
        raise Invalid("OpenMetrics: a family appears twice")
    return {(sample.name, tuple(sorted(sample.labels.items()))): sample.value
            for family in families for sample in family.samples}


def mask_metrics(text):
    return "\n".join(mask_sample(line) for line in text.split("\n"))


def mask_sample(line):
    match = re.fullmatch(r"([a-z_]+)(\{.*\})? (\S+)", line)
    if not match:
        return line
    name, labels, value = match[1], match[2] or "", match[3]
    if name in VOLATILE_LABELS:
        labels = re.sub(f'{VOLATILE_LABELS[name]}="[^"]*"', f'{VOLATILE_LABELS[name]}="~"', labels)
    if name in VOLATILE or (name in VOLATILE_UNLESS_ZERO and float(value) != 0):
        value = "~"
    return f"{name}{labels} {value}"


def sample_lines(masked):
    return [line for line in masked.split("\n")[:-1] if line[:1] != "#"]


def metric_rows(masked):
    lines = sample_lines(masked)
    rows = scrape.rows(lines)
    if scrape.samples(rows) != lines:
        raise Invalid("rows do not say what the samples say")
    return "\n".join(rows) + "\n"


def spread_metrics(rows):
    return "\n".join(scrape.samples(rows.split("\n")[:-1]))


def mask_json(text):
    return documents.masked(json.loads(text), VOLATILE_JSON, VOLATILE_JSON_UNLESS_ZERO)


FAILED = "exit status "  # begins what stands for the output of a command that failed


class Output:
    """One form of output: the arguments that ask for it, its check; mask, which replaces what
    changes from run to run; form, which makes the normal form of that; spread, which makes of the
    normal form a text in which a difference is easy to read.

    A command that may fail has an output all the same: its exit status and what it complained of.
    """

    def __init__(self, suffix, arguments, check, mask=str, form=str, spread=str, may_fail=False):
        self.suffix, self.arguments, self.check = suffix, arguments, check
        self.mask, self.form, self.spread = mask, form, spread
        self.may_fail = may_fail

    def ask(self, agent, root):
        return agent.run(root, self.arguments, self.may_fail)

    def normal(self, text):
        return self.form(self.mask(text))


def no_check(_):
    """Any text will do."""


STATUS_WIDTH = 120  # columns of a terminal that the tables of status fit


def check_width(text):
    for line in text.split("\n"):
        if len(line) > STATUS_WIDTH:
            raise Invalid(f"{len(line)} columns, of {STATUS_WIDTH}: {line}")


def check_short(text):
    """As ibdev2netdev has it; or a sentence that says why there is none."""
    for line in text.split("\n")[:-1]:
        if not re.fullmatch(r".+ port \d+ ==> .+ \((Up|Down|NA)\)|(No|It) .*", line):
            raise Invalid(f"not in the form of ibdev2netdev: {line}")


OUTPUTS = (
    Output("prom", ["collect", "--format=prometheus"], check_classic, mask_metrics, metric_rows,
           spread_metrics),
    Output("om", ["collect", "--format=openmetrics"], parse_openmetrics, mask_metrics),
    Output("json", ["collect", "--format=json"], json.loads, mask_json, documents.compact,
           documents.spread),
    Output("txt", ["status"], check_width),
    Output("wide.txt", ["status", "--wide"], no_check),
    Output("short.txt", ["status", "--short"], check_short),
    Output("topology.txt", ["topology"], no_check),
    Output("topology.json", ["topology", "--json"], json.loads, mask_json, documents.compact,
           documents.spread),
    Output("labels", ["kube", "show"], yaml.safe_load, form=tables.normal_node),
    Output("gids.txt", ["status", "--gids"], no_check),
    Output("nccl", ["nccl"], no_check, may_fail=True),
)
def check_together(texts):
    """What of the JSON no other output says; Contradiction where one says something else."""
    check_dialects(texts["prom"], texts["om"])
    rests = {suffix: mask_json(texts[suffix]) for suffix in ("json", "topology.json")}
    twice.rest(rests["json"], rests["topology.json"], sample_lines(mask_metrics(texts["prom"])), texts)
    return rests


FOLLOWING = {"om", "gids.txt", "wide.txt", "short.txt"}  # outputs that follow from others


def expectations(name, texts):
    """Yields (suffix, normal form, how to spread it) of what is kept of a machine's outputs.

    Contradiction where outputs do not say the same.
    """
    rests = check_together(texts)
    if name in WHOLE_JSON:
        rests = {}
    for suffix, rest in rests.items():
        yield f"rest.{suffix}", documents.compact(rest), documents.spread
    for output in OUTPUTS:
        if output.suffix not in FOLLOWING and output.suffix not in rests:
            yield output.suffix, output.normal(texts[output.suffix]), output.spread
