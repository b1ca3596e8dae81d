# SPDX-License-Identifier: Apache-2.0
"""Machines that "rdma-node-agent record" made of a machine, and what must be true of them.

A recording that keeps identity gives the outputs of the original. One that does not in identifying values only, each of them always has the same stand-in, and nothing of the original
is found anywhere in it: in no content, no name and no target of a link.
"""
import glob
import json
import os
import re

# Files of the original, by the end of their path, whose content identifies something.
IDENTIFYING = re.compile(r"/(node_guid|sys_image_guid|node_desc|gids/\d+|net/[^/]+/address|"
                         r"peer/(name|guid|system_image_guid|port_guid)|manager/guid|"
                         r"lldp/[^/]+/(name|guid|port_description))$")
GPU_IDENTITY = re.compile(r"GPU-[0-9a-f-]{36}")
REPLACED_JSON = {"uuid", "node_guid", "system_image_guid", "port_guid", "node_description", "gid", "ipv4",
                 "guid", "port_description"}
SAYS_NOTHING = re.compile(r"(0|:|fe80|x|\s)*|0?x?")
HOST_NAME = re.compile(r"[a-z][a-z-]*\d+(\.[a-z.]+)?")  # among the words of a description
IN_NAMES = re.compile(r"(?<![0-9a-f])([0-9a-f]{12}|[0-9a-f]{16}|([0-9a-f]{2}:){5}[0-9a-f]{2})"
                      r"(?![0-9a-f])")  # MAC, GUID
PEER_NAME = re.compile(r"/(peer|lldp/[^/]+)/name$")
UNRECORDABLE = {"stalled"}  # a read that never ends is recorded as one that fails


def walk(root):
    """Yields (path below root, text) of each file, link and directory."""
    for directory, names, files in os.walk(root):
        for name in names + files:
            path = os.path.join(directory, name)
            below = path[len(root):]
            if os.path.islink(path):
                yield below, os.readlink(path)
            elif os.path.isfile(path):
                with open(path, encoding="utf-8", errors="replace") as file:
                    yield below, file.read()
            else:
                yield below, ""


def identities(root):
    """The texts that may not be in a recording of root."""
    found = set()
    for path, text in walk(root):
        found |= set(GPU_IDENTITY.findall(text))
        if not IDENTIFYING.search(path):
            continue
        text = text.strip()
        if not SAYS_NOTHING.fullmatch(text) and re.search("[: ]", text):
            found |= {text, text.replace(":", "")}
        found |= {word for word in text.split() if HOST_NAME.fullmatch(word)}
    return found - {os.path.basename(path) for path in glob.glob(f"{root}/sys/class/infiniband/*")}


def leaks(original, recording):
    """Yields what the recording tells of the original."""
    secrets = identities(original)
    for path, text in walk(recording):
        for secret in secrets:
            if secret in path or secret in text:
                yield f"{path} has {secret}"


def mask(value, seen):
    """value with "~" for what is replaced, whose texts are added to seen in their order.

    An absent counter is one whose file has gone, which is the same as none.
    """
    if isinstance(value, str):
        return IN_NAMES.sub("~", value)
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


def hide_peers(text, root):
    """text with "~" for what stands at the other ends of cables, which findings name, too.

    Columns of a table are as wide as their names, so blanks count once.
    """
    names = [name.strip() for path, name in walk(root) if PEER_NAME.search(path)]
    for name in sorted(names, key=len, reverse=True):
        text = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", "~", text)
    return re.sub(" +", " ", text) if names else text


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
    if mask(json.loads(original), old) != mask(json.loads(recording), new):
        yield "JSON differs in more than what identifies"
    yield from judge_replacements(old, new)


def judge(agent, name, root, outputs, directory):
    """Records root, twice, below directory, and yields what is wrong with it."""
    kept, replaced = f"{directory}/kept", f"{directory}/replaced"
    agent.run(root, ["record", kept, "--keep-identity"])
    agent.run(root, ["record", replaced])
    yield from leaks(root, replaced)
    if name in UNRECORDABLE:
        if not os.path.exists(f"{kept}/recorded/unreadable"):
            yield "what could not be read is not noted"
        return
    for output in outputs:
        texts = [output.normal(output.ask(agent, tree))
                 for tree in (root, kept, replaced)]
        if output.suffix == "json":
            old, new = [], []
            if mask(json.loads(texts[1]), new) != mask(json.loads(texts[0]), old) or old != new:
                yield "JSON of the recording that keeps identity differs"
            yield from judge_json(*(hide_peers(texts[i], tree)
                                    for i, tree in ((0, root), (2, replaced))))
        elif texts[1] != texts[0]:
            yield f"{output.suffix} of the recording that keeps identity differs"
        elif output.suffix == "txt" and (mask(hide_peers(texts[2], replaced), []) !=
                                         mask(hide_peers(texts[0], root), [])):
            yield "status differs"
