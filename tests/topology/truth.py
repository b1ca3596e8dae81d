# SPDX-License-Identifier: Apache-2.0
"""Ground truth: the *.truth.tsv files of the recordings, and matrices as nvidia-smi prints them."""
import re

# What a word of the truth files allows. SYS? is an unknown locality, and NCCL's files have
# no root complexes, so PHB and NODE are one there.
WORDS = {"SYS(pkg)": ("SYS",), "SYS?": ("unknown",), "PHB/NODE": ("PHB", "NODE")}


class Truth:
    def __init__(self):
        self.cells = {}    # (address, address) -> classes that are right
        self.nearest = {}  # GPU -> NICs
        self.nics = {}     # address -> RDMA devices, or interfaces where there are none
        self.gpus = []


def fields(path):
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.strip():
                yield line.rstrip("\n").split("\t")


def classes(word):
    word = re.sub(r":\d+$", "", word)
    return WORDS.get(word, (word,))


def hwloc(path):
    truth, by_name, columns = Truth(), {}, []
    for kind, *rest in fields(path):
        if kind == "nic":
            by_name[rest[0]] = rest[1]
            truth.nics[rest[1]] = [rest[0]]
        elif kind == "gpu":
            truth.gpus.append(rest[0])
        elif kind == "matrix":
            columns = [by_name[name] for name in rest[1:]]
        elif kind == "gpu_matrix":
            columns = truth.gpus
        elif kind == "row":
            truth.cells.update({(rest[0], column): classes(word)
                                for column, word in zip(columns, rest[1:]) if word != "X"})
        elif kind == "nearest":
            truth.nearest[rest[0]] = [by_name[name] for name in rest[1].split(",")]
        elif not kind.startswith("#"):
            raise SystemExit(f"{path}: what is '{kind}'?")
    return truth


def matrix(path):
    """Rows and columns are named NAME@ADDRESS; a name may be ?, an address -."""
    truth, columns = Truth(), []
    for first, *rest in fields(path):
        if first.startswith(("#", "nic", "gpu\t")) or first == "gpu":
            continue
        if "@" not in first:
            columns = [column.partition("@")[::2] for column in rest]
            truth.nics = {address: [name] if name != "?" else []
                          for name, address in columns if address != "-"}
            continue
        gpu = first.partition("@")[2]
        truth.gpus.append(gpu)
        truth.cells.update({(gpu, address): classes(word)
                            for (_, address), word in zip(columns, rest) if address != "-"})
    return truth


def printed(path, gpus, nics):
    """The matrix of nvidia-smi topo -m in a text; gpus, nics: addresses, in its order."""
    addresses = {**{f"GPU{i}": a for i, a in enumerate(gpus)},
                 **{f"NIC{i}": a for i, a in enumerate(nics)}}
    truth, columns = Truth(), []
    truth.gpus, truth.nics = list(gpus), {nic: [] for nic in nics}
    with open(path, encoding="utf-8") as file:
        for line in file:
            words = line.replace("|", " ").split()
            if words[:2] == ["GPU0", "GPU1"]:
                columns = [word for word in words if word in addresses]
            elif columns and words and words[0] in addresses:
                truth.cells.update({(addresses[words[0]], addresses[column]): (word,)
                                    for column, word in zip(columns, words[1:])
                                    if word != "X" and not word.startswith("NV")})
    return truth
