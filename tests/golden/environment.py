# SPDX-License-Identifier: Apache-2.0
"""The variables that the commands env and nccl print: each form as its users read it, all libraries
with the same ports, and whole texts of some machines."""
import json
import re
import subprocess

import yaml

from formats import FAILED, Invalid

LIBRARIES = ("nccl", "rccl", "ucx", "nvshmem", "nixl", "openmpi", "mooncake")
# The variable with the list of ports, and how it looks.
PORT = r"[^,:^]+:\d+"
DEVICE = r"[^,:^]+"
PLACE = r"(?::\d*:\d+)?"  # the rail and plane of NCCL
LISTS = {"nccl": ("NCCL_IB_HCA", "="), "rccl": ("NCCL_IB_HCA", "="), "ucx": ("UCX_NET_DEVICES", ""),
         "nvshmem": ("NVSHMEM_HCA_LIST", ""), "nixl": ("UCX_NET_DEVICES", ""),
         "openmpi": ("UCX_NET_DEVICES", ""), "mooncake": ("MC_MS_FILTERS", "")}
MOST = {"nccl": 32, "rccl": 32, "nvshmem": 48}  # ports that a library can use
# Machines whose texts are kept, with the GPU for which they are asked as well: InfiniBand beside
# GPUs, and there one whose NIC is down; RoCE with everything wrong, with IPv6 alone and with
# priorities; a bond; planes of one port; partitions; planes as cards have them, and prefixes;
# drivers of other vendors; AMD; virtual machines; no port at all.
WHOLE = {"hgx-h100-ib": "3", "hgx-h100-lost": "1", "roce-troubles": None, "roce-ipv6": None,
         "roce-qos": None, "bond": None, "cx8-12ports": None, "other-vendors": None, "mi300x": "0",
         "vm-flat": "1", "vm-numa": "2", "vm-one-bus": "0", "efa": "99", "partitions": None,
         "planes": None, "planes-configured": "1", "two-prefixes": None, "shared-prefix": None,
         "lag": None, "ionic-erdma": None}
FOR_GPUS = ("nccl", "ucx", "nvshmem")  # the others follow from these


def shell_variables(text):
    """{name: value} that a shell has after the text, and nothing on its outputs."""
    result = subprocess.run(["bash", "-c", "set -eu; . /dev/stdin; env -0"], input=text.encode(),
                            capture_output=True, env={}, check=False)
    if result.returncode or result.stderr:
        raise Invalid(f"bash: {result.stderr.decode()[-2000:]}")
    pairs = (pair.split("=", 1) for pair in result.stdout.decode().split("\0") if pair)
    return {name: value for name, value in pairs
            if name.startswith(("NCCL_", "UCX_", "NVSHMEM_", "OMPI_", "MC_", "WITH_"))}


def env_variables(text):
    """As docker takes them from a file: no quotes, lines beginning with # are comments."""
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return dict(line.split("=", 1) for line in lines)


def yaml_variables(text):
    variables = yaml.safe_load(text)["env"]
    if not all(isinstance(variable["value"], str) for variable in variables):
        raise Invalid("YAML: a value is no string")
    return {variable["name"]: variable["value"] for variable in variables}


def json_variables(text):
    return {variable["name"]: variable["value"] for variable in json.loads(text)["variables"]}


FORMS = {"shell": shell_variables, "env": env_variables, "yaml": yaml_variables,
         "json": json_variables}


def check_forms(texts):
    """Texts of all forms by name: each is read as its users read it, and they say the same."""
    if any(text.startswith(FAILED) for text in texts.values()):
        if len(set(texts.values())) > 1:
            raise Invalid("env fails in some forms only")
        return
    said = {form: FORMS[form](text) for form, text in texts.items()}
    for form, variables in said.items():
        if variables != said["shell"]:
            raise Invalid(f"env: {form} says {variables}, shell says {said['shell']}")


def listed(library, text):
    """The ports of a library, in their order; none if it has none. text: its JSON."""
    if text.startswith(FAILED):
        return []
    variables = json_variables(text)
    name, start = LISTS[library]
    entry = DEVICE if library == "mooncake" else PORT + PLACE
    match = re.fullmatch(f"{start}({entry}(?:,{entry})*)(?:,lo)?", variables.get(name, ""))
    if not match or not all(variables.values()):
        raise Invalid(f"env --for={library}: {variables}")
    return [":".join(port.split(":")[:2]) for port in match[1].split(",")]


def unwritable(text):
    """Ports whose names a library cannot write."""
    if text.startswith(FAILED):
        return set()
    return {port.replace("/", ":") for left_out in json.loads(text)["left_out"]
            if "cannot be written" in left_out["reason"] for port in left_out["ports"]}


def check_libraries(texts):
    """JSON of all libraries by name: one choice of ports, in many dialects."""
    ports = {library: listed(library, text) for library, text in texts.items()}
    longest = max(ports.values(), key=len)
    for library, own in ports.items():
        skipped = unwritable(texts[library])
        expected = [port for port in longest if port not in skipped]
        if library == "mooncake":
            expected = list(dict.fromkeys(port.split(":")[0] for port in expected))
        if len(expected) > MOST.get(library, len(expected)):  # some of each card
            expected = [port for port in expected if port in own][:MOST[library]]
        if own != expected and not texts[library].startswith(FAILED):
            raise Invalid(f"env --for={library}: ports {own}, not {expected}")
    if len({text.startswith(FAILED) for text in texts.values()}) > 1:
        raise Invalid("env fails for some libraries only")


def commands(name):
    """Those of a machine whose texts are kept, without that of NCCL, which has a file of its own."""
    for library in LIBRARIES[1:]:
        yield ["env", f"--for={library}"]
    if WHOLE[name] is not None:
        for library in FOR_GPUS:
            yield ["env", f"--for={library}", f"--gpu={WHOLE[name]}"]


def whole(name, ask):
    """The texts of a machine, one behind the other. ask: the output of a command."""
    if ask(["nccl"]) != ask(["env", "--for=nccl"]):
        raise Invalid("nccl and env --for=nccl differ")
    return "".join(f"## {' '.join(words)}\n{ask(words)}" for words in commands(name))
