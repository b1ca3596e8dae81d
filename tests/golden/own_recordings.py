# SPDX-License-Identifier: Apache-2.0
"""Machines that "rdma-node-agent record" made of a machine, and what must be true of them.

A recording that keeps identity gives the outputs of the original. One that does not in identifying values only, each of them always has the same stand-in, and nothing of the original
is found anywhere in it: in no content, no name and no target of a link.
"""
import ipaddress
import os
import re

# Files of the original, by the end of their path, whose content identifies something.
IDENTIFYING = re.compile(r"/(node_guid|sys_image_guid|node_desc|gids/\d+|net/[^/]+/address|"
                         r"gateways/[^/]+/\d+/address|rails/[^/]+/\d+/(address|subnet)|"
                         r"ad_partner_mac|lacp_partner|"
                         r"peer/(name|guid|system_image_guid|port_guid)|manager/guid|"
                         r"lldp/[^/]+/(name|guid|port_description))$")
GPU_IDENTITY = re.compile(r"GPU-[0-9a-f-]{36}")
REPLACED_JSON = {"uuid", "node_guid", "system_image_guid", "port_guid", "node_description", "gid", "ipv4",
                 "guid", "port_description", "gateway", "lacp_partner"}
SAYS_NOTHING = re.compile(r"(0|:|fe80|x|\s)*|0?x?")
HOST_NAME = re.compile(r"[a-z][a-z-]*\d+(\.[a-z.]+)?")  # among the words of a description
IN_NAMES = re.compile(r"(?<![0-9a-f])([0-9a-f]{12}|[0-9a-f]{16}|([0-9a-f]{2}:){5}[0-9a-f]{2})"
                      r"(?![0-9a-f])")  # MAC, GUID
GATEWAY = re.compile(r"(?<=\bgateway )\S+|(?<=answer: )\S+(?= on )|"
                     r"(?<=\bsubnet )[\d.]+|(?<=requests for )[\d.]+")  # in findings
PEER_NAME = re.compile(r"/(peer|lldp/[^/]+)/name$")
GATEWAY_ADDRESS = re.compile(r"/gateways/[^/]+/\d+/address$")
UNRECORDABLE = {"stalled"}  # a read that never ends is recorded as one that fails

# who used a device is no matter of hardware, and a recording has one network namespace
LEFT_OUT = {"users": ("train-0", "4711", "nvmet"), "sriov-pod": ("train-0", "target-0"),
            "followed": ("train-0", "proc/500", "ibp64s0"),
            "followed-claims": ("proc/600", "rxe9")}


def read_tree(root):
    """{path below root: text} of each file, link and directory."""
    found = {}
    for directory, names, files in os.walk(root):
        for name in names + files:
            path = os.path.join(directory, name)
            if os.path.islink(path):
                found[path[len(root):]] = os.readlink(path)
            elif os.path.isfile(path):
                with open(path, encoding="utf-8", errors="replace") as file:
                    found[path[len(root):]] = file.read()
            else:
                found[path[len(root):]] = ""
    return found


def identities(tree):
    """The texts that may not be in a recording of a tree."""
    found = set()
    for path, text in tree.items():
        found |= set(GPU_IDENTITY.findall(text))
        if not IDENTIFYING.search(path):
            continue
        text = text.strip()
        if not SAYS_NOTHING.fullmatch(text) and re.search("[: ]", text):
            found |= {text, text.replace(":", "")}
        found |= {word for word in text.split() if HOST_NAME.fullmatch(word)}
    return found - {os.path.basename(path) for path in tree
                    if os.path.dirname(path) == "/sys/class/infiniband"}


def leaks(original, recording):
    """Yields what the recording tells of the original."""
    whole = "\0".join(text for pair in recording.items() for text in pair)
    for secret in identities(original):
        if secret in whole:
            yield from (f"{path} has {secret}" for path, text in recording.items()
                        if secret in path or secret in text)


def mask(value, seen):
    """value with "~" for what is replaced, whose texts are added to seen in their order.

    An absent counter is one whose file has gone, which is the same as none.
    """
    if isinstance(value, str):
        return GATEWAY.sub("~", IN_NAMES.sub("~", value))
    if isinstance(value, list):
        return [mask(element, seen) for element in value]
    if not isinstance(value, dict):
        return value
    masked = {}
    for key, member in value.items():
        if member == {"state": "absent"}:
            continue
        if key in REPLACED_JSON and member is not None:
            seen.append(member)
            member = "~"
        masked[key] = mask(member, seen)
    return masked


def shown(address):
    """An address as tables show it: of IPv4 if it is mapped."""
    address = ipaddress.IPv6Address(address)
    return str(address.ipv4_mapped or address)


def hide_peers(text, tree):
    """text with "~" for what stands at the other ends of cables, which findings name, too.

    Columns of a table are as wide as their names, so blanks count once.
    """
    text = GATEWAY.sub("~", text)
    names = [name.strip() for path, name in tree.items() if PEER_NAME.search(path)]
    for name in sorted(names, key=len, reverse=True):
        text = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", "~", text)
    return re.sub(" +", " ", text) if names else text


def hide_gateways(text, tree):
    """Likewise for the gateways in the table of status."""
    for path, address in tree.items():
        if GATEWAY_ADDRESS.search(path):
            text = re.sub(rf"(?<= ){re.escape(shown(address.strip()))}(?= )", "~", text)
    return re.sub(" +", " ", text)


def judge_replacements(old, new):
    """Yields where the same text has two stand-ins, or two texts share one."""
    for name, pairs in ("stand-ins", zip(old, new)), ("originals", zip(new, old)):
        known = {}
        for key, value in pairs:
            if known.setdefault(key, value) != value:
                yield f"{key} has two {name}: {known[key]}, {value}"
    yield from (f"{text} is not replaced" for text, stand_in in zip(old, new)
                if text == stand_in)


def judge_json(original, recording):
    old, new = [], []
    if mask(original, old) != mask(recording, new):
        yield "JSON differs in more than what identifies"
    yield from judge_replacements(old, new)


def judge_kept(agent, root, outputs, texts):
    """Yields which outputs of the recording that keeps identity differ from the original's."""
    for output in outputs:
        old, new = output.mask(texts[output.suffix]), output.mask(output.ask(agent, root))
        if output.suffix == "json":
            seen, kept = [], []
            if mask(old, seen) != mask(new, kept) or seen != kept:
                yield "JSON of the recording that keeps identity differs"
        elif old != new:
            yield f"{output.suffix} of the recording that keeps identity differs"


def judge_replaced(agent, root, outputs, texts, trees):
    """Yields what differs in the other one in more than in what identifies."""
    old, new = trees
    for output in outputs:
        if output.suffix not in ("json", "wide.txt"):
            continue
        pair = (hide_peers(texts[output.suffix], old), hide_peers(output.ask(agent, root), new))
        if output.suffix == "json":
            yield from judge_json(*map(output.mask, pair))
        elif mask(hide_gateways(pair[0], old), []) != mask(hide_gateways(pair[1], new), []):
            yield "status differs"


def judge_left_out(agent, root, directory, words):
    """Yields what a recording tells, however it is made, although it is to leave that out."""
    for options in [], ["--keep-identity"]:
        recording = f"{directory}/{len(options)}"
        agent.run(root, ["record", recording, *options])
        text = "\0".join(text for pair in read_tree(recording).items() for text in pair)
        yield from (f"{word} is in a recording" for word in words if word in text)


def judge(agent, root, outputs, texts, directory):
    """Records root, twice, below directory, and yields what is wrong with it.

    texts: the outputs of root, by suffix.
    """
    kept, replaced = f"{directory}/kept", f"{directory}/replaced"
    agent.run(root, ["record", kept, "--keep-identity"])
    agent.run(root, ["record", replaced])
    trees = read_tree(root), read_tree(replaced)
    yield from leaks(*trees)
    if agent.may_stall:
        if not os.path.exists(f"{kept}/recorded/unreadable"):
            yield "what could not be read is not noted"
        return
    yield from judge_kept(agent, kept, outputs, texts)
    yield from judge_replaced(agent, replaced, outputs, texts, trees)
