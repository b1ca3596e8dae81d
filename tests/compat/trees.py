# SPDX-License-Identifier: Apache-2.0
"""Generated trees: devices with a subset of the files that node_exporter knows, or all but one, and
numbers at the limits. The same name always gives the same tree."""
import os
import random
import shutil
import socket

from differences import HW_COUNTERS, LEGACY_COUNTERS, PMA_COUNTERS

STATES = ("1: DOWN", "2: INIT", "3: ARMED", "4: ACTIVE", "5: ACTIVE_DEFER")
PHYSICAL = ("1: Sleep", "2: Polling", "3: Disabled", "4: PortConfigurationTraining", "5: LinkUp",
            "6: LinkErrorRecovery", "7: Phy Test")
RATES = ("2.5 Gb/sec (1X SDR)", "10 Gb/sec (4X SDR)", "40 Gb/sec (4X QDR)", "56 Gb/sec (4X FDR)",
         "100 Gb/sec (4X EDR)", "200 Gb/sec (4X HDR)", "400 Gb/sec (4X NDR)", "800 Gb/sec (8X NDR)")
# Also those at which counters of 4, 8, 16, 32 and 64 bits stop, and where a double loses ones.
NUMBERS = (0, 1, 15, 254, 255, 256, 65535, 65536, 2**31, 2**32 - 1, 2**32, 2**53 - 1, 2**53 + 1,
           2**60, 2**62 - 1)


def free_port():
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"{text}\n")


def number(draw):
    return draw.choice(NUMBERS) if draw.random() < 0.5 else draw.randrange(2**40)


def make_port(draw, path, share):
    """share: how many of the counter files there are."""
    write(f"{path}/state", draw.choice(STATES))
    write(f"{path}/phys_state", draw.choice(PHYSICAL))
    write(f"{path}/rate", draw.choice(RATES))
    write(f"{path}/link_layer", draw.choice(("InfiniBand", "Ethernet")))
    for directory, files in (("counters", PMA_COUNTERS), ("hw_counters", HW_COUNTERS)):
        for file in files.values():
            if draw.random() < share:
                write(f"{path}/{directory}/{file}", number(draw))
    write(f"{path}/counters/somebody_elses", 4711)  # files that it does not list
    write(f"{path}/hw_counters/somebody_elses", 4711)


def make_device(draw, path, share):
    write(f"{path}/fw_ver", draw.choice(("28.39.3004", "2.42.5000", "20.35.2000-rc1")))
    write(f"{path}/node_guid", "1070:fd03:0000:0001")
    write(f"{path}/board_id", draw.choice(("MT_0000000838", 'say "hi" \\ bye', "")))
    write(f"{path}/hca_type", draw.choice(("MT4129", "")))
    for port in range(1, draw.choice((1, 1, 2, 5)) + 1):
        make_port(draw, f"{path}/ports/{port}", share)


def generate(seed, share):
    def make(root):
        draw = random.Random(seed)
        for index in range(draw.randrange(1, 5)):
            make_device(draw, f"{root}/sys/class/infiniband/gen_{index}", share)
    return make


def without(seed, files):
    """A generated tree without these files of its first device."""
    def make(root):
        generate(seed, 1)(root)
        for file in files:
            path = f"{root}/sys/class/infiniband/gen_0/{file}"
            shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)
    return make


def largest(root):
    """The largest number everywhere, and words whose bytes are too many for 64 bits."""
    generate(2, 1)(root)
    for file in PMA_COUNTERS.values():
        write(f"{root}/sys/class/infiniband/gen_0/ports/1/counters/{file}", 2**64 - 1)
    write(f"{root}/sys/class/infiniband/gen_0/ports/1/counters/port_rcv_data", 2**62 + 1)


def legacy(root):
    """A port as kernels before 4.7 had it."""
    generate(3, 1)(root)
    for file in LEGACY_COUNTERS.values():
        write(f"{root}/sys/class/infiniband/gen_0/ports/1/counters_ext/{file}", 4711)


GENERATED = {"largest": largest,
             "legacy": legacy,
             "without-counters": without(1, ["ports/1/counters"]),
             "without-hw-counters": without(1, ["ports/1/hw_counters"]),
             "without-board": without(1, ["board_id"]),
             "without-type": without(1, ["hca_type"]),
             "without-rate": without(1, ["ports/1/rate"]),
             "without-state": without(1, ["ports/1/state"])}
GENERATED |= {f"generated-{seed}": generate(seed, share)
             for seed, share in enumerate((1, 1, 0.9, 0.5, 0.5, 0.1, 0))}
