# SPDX-License-Identifier: Apache-2.0
"""Messages of the kernel about RDMA that no pattern of the agent knows.

The agent itself says which it knows: a recording keeps only messages that a pattern is about.
"""
import os
import re

from tools import NotTried

ABOUT_RDMA = re.compile(r"infiniband|\bib_|\brdma|\biw_|mlx[45]|bnxt_(en|re)|irdma|\befa\b|hfi1|"
                        r"\bqib|ionic|erdma|\bmana|siw|\brxe|qedr|ocrdma|nvidia.peermem|"
                        r"AER:|PCIe Bus Error|DMAR:|IOMMU|NETDEV WATCHDOG", re.IGNORECASE)
WARNING = 4  # levels up to this are worse than a notice
RECORD = re.compile(r"(\d+),(\d+),\d+,[^;]*;(.*)")
RECORD_BYTES = 8192


def read_kmsg(path):
    """Texts of all records that are in the kernel's buffer."""
    try:
        source = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except OSError as error:
        raise NotTried(f"{path}: {error.strerror}") from error
    records = []
    try:
        while True:
            try:
                text = os.read(source, RECORD_BYTES)
            except BrokenPipeError:
                continue  # overwritten while we read
            except BlockingIOError:
                break
            if not text:
                break
            records.append(text.decode(errors="replace"))
    finally:
        os.close(source)
    return "".join(records)


def parse(text):
    """{sequence number: (level, message)}"""
    matches = (RECORD.match(line) for line in text.splitlines() if not line.startswith(" "))
    return {int(match[2]): (int(match[1]) & 7, match[3]) for match in matches if match}


def known(binary, tools, text, directory):
    """Sequence numbers of the records that the agent has a pattern for."""
    root, recording = f"{directory}/log", f"{directory}/log-recording"
    os.makedirs(f"{root}/dev")
    os.makedirs(f"{root}/sys")
    with open(f"{root}/dev/kmsg", "w", encoding="utf-8") as file:
        file.write(text)
    tools.agent(binary, "record", recording, "--root", root)
    try:
        with open(f"{recording}/dev/kmsg", encoding="utf-8", errors="replace") as file:
            return set(parse(file.read()))
    except FileNotFoundError:
        return set()  # of none


def unknown(binary, tools, directory):
    """(number of messages about RDMA, those of level warning and worse that no pattern knows)."""
    text = read_kmsg(tools.at("/dev/kmsg"))
    names = [name for device in tools.devices() for name in (device, tools.pci_function(device))]
    about = re.compile("|".join(map(re.escape, filter(None, names))) or "(?!)")
    messages = {number: (level, message) for number, (level, message) in parse(text).items()
                if ABOUT_RDMA.search(message) or about.search(message)}
    patterns = known(binary, tools, text, directory) if messages else set()
    rest = [message for number, (level, message) in sorted(messages.items())
            if number not in patterns and level <= WARNING]
    return len(messages), list(dict.fromkeys(rest))
