# SPDX-License-Identifier: Apache-2.0
"""Trees to measure: generated machines of tests/machines, which would be too long to write by hand."""
import os
import shutil
import subprocess

os.environ["RNA_TEST_FIFOS"] = "1"  # a FIFO stands for a file that never answers
UNPACK = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                      "machines", "unpack")
# A node has eight HCAs at most; what it has more of are virtual functions, spread evenly.
PHYSICAL_FUNCTIONS = 8


def machine(devices):
    """The text of a machine with so many one-port devices in InfiniBand mode, of known size."""
    functions = min(devices, PHYSICAL_FUNCTIONS)
    lines = []

    def device(model, pci, place):
        index = len(lines)
        lines.append(f"device mlx5_{index} model={model} pci={pci} {place} "
                     f"netdev=ib{index} lid={index + 1:#x}")

    for bus in range(functions):
        device("connectx7-ib-most", f"0000:{bus * 16 + 1:02x}:00.0",
               f"path=pci0000:{bus * 16:02x}/0000:{bus * 16:02x}:01.0")
    for index in range(devices - functions):
        bus, number = index % functions * 16 + 1, index // functions + 1
        device("vf-ib", f"0000:{bus:02x}:{number // 8:02x}.{number % 8}",
               f"physfn=0000:{bus:02x}:00.0")
    return "\n".join(lines) + "\n"


class Tree:
    """A node with so many devices, as files."""

    def __init__(self, directory, devices):
        self.devices, self.directory = devices, directory
        self.root = os.path.join(directory, "root")
        shutil.rmtree(directory, ignore_errors=True)
        os.makedirs(directory)
        with open(os.path.join(directory, "machine"), "w", encoding="utf-8") as file:
            file.write(machine(devices))
        subprocess.run([UNPACK, directory, self.root], check=True)

    def polled_files(self):
        """How many files state, counters and hw_counters read together."""
        ports = f"{self.root}/sys/class/infiniband"
        count = 0
        for name in os.listdir(ports):
            for kind in ("counters", "hw_counters"):
                files = os.listdir(f"{ports}/{name}/ports/1/{kind}")
                count += len(files) - ("lifespan" in files)
            count += 2  # state and phys_state
        return count

    def hang(self, device=0):
        """From now on a counter of the device never answers: who opens it waits for ever."""
        path = f"{self.root}/sys/class/infiniband/mlx5_{device}/ports/1/counters/port_xmit_data"
        os.unlink(path)
        os.mkfifo(path)
