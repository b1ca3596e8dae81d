# SPDX-License-Identifier: Apache-2.0
"""Machines of the shapes that the shipped profiles are for, made of what their documents say.

The documents are those that the profile names (agent/baseline/shipped/): here are the facts of
each, written down a second time and independently of the profile. What no document says, such as
the addresses of most GPUs, is invented.
"""
import dataclasses
import itertools

NDR = {"rate": "400 Gb/sec (4X NDR)", "speed_code": "128", "net_speed": "400000"}
HALF_OF_NDR = {"rate": "200 Gb/sec (4X HDR)", "speed_code": "64", "net_speed": "200000"}
# One of two ports of a card: two lanes.
NDR200 = {"rate": "200 Gb/sec (2X NDR)", "speed_code": "128", "width_code": "16",
          "net_speed": "200000"}
EDR = {"rate": "100 Gb/sec (4X EDR)", "speed_code": "32", "net_speed": "100000"}
HDR50 = {"rate": "50 Gb/sec (2X HDR)", "speed_code": "64", "width_code": "16",
         "net_speed": "50000"}
XDR = {"rate": "800 Gb/sec (4X XDR)", "speed_code": "256", "net_speed": "800000"}
SLOWER = {NDR["rate"]: HALF_OF_NDR, NDR200["rate"]: EDR, XDR["rate"]: NDR,
          EDR["rate"]: HDR50}

CX7_IB = {"model": "connectx7-ib", **NDR}
CX7 = {"model": "connectx7-roce", **NDR}
CX7_200 = {"model": "connectx7-roce", **NDR200}
CX8_IB = {"model": "connectx8-ib", **XDR}
CX8 = {"model": "connectx8-roce", **NDR}
CX5_EX = {"model": "connectx6dx-roce", "pci_device": "0x1019", "hca_type": "MT4121", **EDR}
CX6_DX = {"model": "connectx6dx-roce", **EDR}
POLLARA = {"model": "ionic", **NDR}
BF3 = {"model": "connectx7-roce", "pci_device": "0xa2dc", "hca_type": "MT41692", **NDR}
VF_IB = {"model": "vf-ib", **NDR}
VF_XDR = {"model": "vf-ib", **XDR}
VF = {"model": "vf", **NDR}

A100_40 = {"model": "h100", "pci_device": "0x20b0", "product": "NVIDIA A100-SXM4-40GB"}
A100_80 = {"model": "h100", "pci_device": "0x20b2", "product": "NVIDIA A100-SXM4-80GB"}
H100 = {"model": "h100"}
H200 = {"model": "h100", "pci_device": "0x2335", "product": "NVIDIA H200"}
B200 = {"model": "b200"}
B300 = {"model": "b200", "pci_device": "0x3182", "product": "NVIDIA B300 SXM6 AC"}
GB200 = {"model": "gb300", "pci_device": "0x2941", "product": "NVIDIA GB200"}
GB300 = {"model": "gb300"}
MI300X = {"model": "mi300x"}
MI355X = {"model": "mi300x", "pci_device": "0x75a3"}
MI300X_VF = {"model": "mi300x", "pci_device": "0x74b5"}


@dataclasses.dataclass
class Shape:
    dmi: dict          # files of /sys/class/dmi/id
    gpu: dict          # keys of a "function" statement
    gpus: list         # addresses
    nic: dict          # keys of a "device" statement
    nics: list         # addresses of those that the document counts
    names: str = "mlx5_{}"
    netdevs: str = "rdma{}"
    others: list = dataclasses.field(default_factory=list)  # (address, keys): NICs for other things
    switched: bool = False  # the NICs are below PCIe switches
    numbers: tuple = ()  # in the names of the NICs; else they count from 0

    def path(self, address):
        """Each function has a host bridge of its own; those of a card share their ports. In a VM
        the ports are those that the hypervisor invents."""
        domain, bus = address.split(":")[0], int(address.split(":")[1], 16)
        above = 3 if self.switched and address in self.nics else 1
        ports = [f"{domain}:{bus - number:02x}:{'01' if number == above else '00'}.0"
                 for number in range(above, 0, -1)] if bus else [f"{domain}:00:1f.0"]
        return "/".join([f"pci{domain}:{max(bus - above, 0):02x}", *ports])

    def names_of(self):
        """Address -> device name."""
        return {address: self.names.format(self.number(at, address))
                for at, address in enumerate(self.nics)}

    def number(self, at, address):
        """EFAs have the number of their bus in their name, others count."""
        if self.numbers:
            return self.numbers[at]
        return int(address[5:7], 16) if "rdmap" in self.names else at


def nvidia(product):
    return {"sys_vendor": "NVIDIA", "product_name": product, "board_name": product}


OCI = {"sys_vendor": "Supermicro", "product_name": "Server", "chassis_asset_tag": "OracleCloud.com"}
AZURE = {"sys_vendor": "Microsoft Corporation", "product_name": "Virtual Machine",
         "chassis_asset_tag": "7783-7084-3265-9085-8269-3286-77"}
GOOGLE = {"sys_vendor": "Google", "product_name": "Google Compute Engine"}


def ec2(kind):
    return {"sys_vendor": "Amazon EC2", "product_name": kind}


def addresses(buses, functions=(0,), domain=0):
    return [f"{domain:04x}:{bus:02x}:00.{function}"
            for bus, function in itertools.product(buses, functions)]


DGX_NICS = addresses((24, 64, 79, 94, 154, 192, 206, 220))  # ibp24s0 and so on
DGX_GPUS = addresses((0x1b, 0x43, 0x52, 0x61, 0x9d, 0xc3, 0xd1, 0xdf))
DGX_STORAGE = [(address, CX7) for address in addresses((0x29, 0xaa), (0, 1))]
OCI_BUSES = (0x0c, 0x2a, 0x41, 0x58, 0x86, 0xa5, 0xbd, 0xd5)
OCI_GPUS = addresses((0x0f, 0x2d, 0x44, 0x5b, 0x89, 0xa8, 0xc0, 0xd8))
OCI_CX7 = [(address, CX7) for address in addresses((0x1f, 0x9a), (0, 1))]
OCI_CX6 = [(address, CX6_DX) for address in addresses((0x1f, 0x9a))]
GRACE_NICS = [f"{domain}:03:00.0" for domain in ("0000", "0002", "0010", "0012")]
GRACE_GPUS = [f"{domain}:06:00.0" for domain in ("0008", "0009", "0018", "0019")]
AZURE_NICS = [f"010{number}:00:00.0" for number in range(1, 9)]
AZURE_GPUS = [f"{domain}:00:00.0" for domain in
              ("0001", "0002", "0003", "0008", "0009", "000a", "000b", "000c")]
EIGHT_GPUS = addresses(range(0x10, 0x90, 0x10))


def efas(count):
    """So many EFAs; each bus of eight GPUs has its share."""
    share = count // 8 if count >= 8 else 1
    return [f"0000:{bus + at + 1:02x}:00.0" for bus in range(0x10, 0x90, 0x10)
            for at in range(share)][:count]


def efa(kind, gpu, count, pci_device):
    return Shape(ec2(kind), gpu, EIGHT_GPUS, {"model": "efa", "pci_device": pci_device},
                 efas(count), names="rdmap{}s0", netdevs="")


def oci(gpu, nic, **rest):
    functions = (0, 1) if nic is CX7_200 else (0,)
    return Shape(OCI, gpu, OCI_GPUS, {**nic, "net_mtu": "4220", "max_read_request": "4096"},
                 addresses(OCI_BUSES, functions), switched=True, **rest)


def google(gpu, count):
    return Shape(GOOGLE, gpu, EIGHT_GPUS[:count], {**VF, "net_mtu": "8896"},
                 addresses(range(0x11, 0x11 + 0x10 * count, 0x10)), netdevs="gpu{}rdma0")


def azure(gpu, nic, count, **rest):
    gpus = AZURE_GPUS if count == 8 else GRACE_GPUS
    return Shape(AZURE, gpu, gpus, nic, AZURE_NICS[:count], netdevs="ib{}", **rest)


# Shipped profile -> its machine.
SHAPES = {
    "dgx-h100": Shape(nvidia("DGXH100"), H100, DGX_GPUS, CX7_IB, DGX_NICS, others=DGX_STORAGE),
    "dgx-h200": Shape(nvidia("DGXH200"), H200, DGX_GPUS, CX7_IB, DGX_NICS, others=DGX_STORAGE),
    "dgx-b200": Shape(nvidia("DGXB200"), B200, DGX_GPUS, CX7_IB, DGX_NICS,
                      others=[(address, BF3) for address in addresses((0x29, 0xaa), (0, 1))]),
    "dgx-b300": Shape(nvidia("DGXB300"), B300, EIGHT_GPUS, CX8_IB,
                      addresses(range(0x11, 0x91, 0x10)),
                      others=[(address, BF3) for address in addresses((0x05, 0x95), (0, 1))]),
    "nvidia-gb200-nvl72": Shape(
        nvidia("GB200 NVL"), GB200, GRACE_GPUS, CX7_IB, GRACE_NICS,
        others=[(f"{domain}:03:00.{port}", BF3) for domain in ("0006", "0016") for port in (0, 1)]),
    "supermicro-gb300-nvl72": Shape(
        {"sys_vendor": "Supermicro", "product_name": "ARS-121GL-NB3-LCC-R1"}, GB300, GRACE_GPUS,
        CX8_IB, GRACE_NICS, others=[("0016:16:00.0", BF3), ("0016:16:00.1", BF3)]),
    "oci-bm-gpu-a100-v2-8": Shape(
        OCI, A100_80, addresses((0x0f, 0x15, 0x50, 0x53, 0x8c, 0x91, 0xd6, 0xda)),
        {**CX5_EX, "net_mtu": "4220", "max_read_request": "4096"},
        addresses((0x0c, 0x16, 0x47, 0x4b, 0x89, 0x93, 0xc3, 0xd1), (0, 1)),
        others=[("0000:6b:00.0", CX6_DX)]),
    "oci-bm-gpu4-8": Shape(
        OCI, A100_40, addresses((0x0f, 0x15, 0x51, 0x54, 0x8d, 0x92, 0xd6, 0xda)),
        {**CX5_EX, "net_mtu": "4220", "max_read_request": "4096"},
        addresses((0x0c, 0x16, 0x48, 0x4c, 0x8a, 0x94, 0xc3, 0xd1), (0, 1)),
        others=[("0000:2d:00.0", {**CX5_EX, **HDR50})]),
    "oci-bm-gpu-b4-8": Shape(
        OCI, A100_40, addresses((0x0f, 0x15, 0x50, 0x53, 0x8c, 0x91, 0xd6, 0xda)),
        {**CX5_EX, "net_mtu": "4220", "max_read_request": "4096"},
        addresses((0x0c, 0x16, 0x47, 0x4b, 0x89, 0x93, 0xc3, 0xd1), (0, 1)),
        others=[("0000:6b:00.0", {**CX6_DX, **HDR50})]),
    "oci-bm-gpu-b300-8": Shape(
        OCI, B300, EIGHT_GPUS, CX8, addresses(range(0x11, 0x91, 0x10), (0, 1)),
        others=[("0000:05:00.0", CX7)]),
    "oci-bm-gpu-mi355x-8": Shape(
        OCI, MI355X, EIGHT_GPUS, POLLARA, addresses(range(0x11, 0x91, 0x10)), names="ionic_{}",
        numbers=(0, 2, 3, 4, 5, 7, 8, 9)),
    "oci-bm-gpu-mi355x-v1-8": Shape(
        OCI, MI355X, EIGHT_GPUS, CX7, addresses(range(0x11, 0x91, 0x10))),
    "oci-bm-gpu-gb300-4": Shape(
        OCI, GB300, GRACE_GPUS, CX8, [f"{nic[:-1]}{port}" for nic in GRACE_NICS for port in (0, 1)],
        numbers=(0, 1, 2, 3, 5, 6, 7, 8)),
    "oci-bm-gpu-h100-8": oci(H100, CX7_200, others=OCI_CX6),
    "oci-bm-gpu-h200-8": oci(H200, CX7, others=OCI_CX7),
    "oci-bm-gpu-b200-8": oci(B200, CX7, others=OCI_CX7),
    "oci-bm-gpu-mi300x-8": oci(MI300X, CX7, others=OCI_CX6),
    "oci-bm-gpu-gb200-4": Shape(
        OCI, GB200, [f"{domain}:01:00.0" for domain in ("0008", "0009", "0018", "0019")],
        {**CX7, "max_read_request": "4096"}, GRACE_NICS,
        others=[("0006:09:00.0", CX7), ("0016:0b:00.0", CX7)]),
    "oci-bm-gpu-gb200-v3-4": Shape(
        OCI, GB200, GRACE_GPUS, {**CX8, "net_mtu": "9000"},
        [f"{nic[:-1]}{port}" for nic in GRACE_NICS for port in (0, 1)]),
    "azure-nd96isr-h100-v5": azure(H100, VF_IB, 8),
    "azure-nd96isr-h200-v5": azure(H200, VF_IB, 8, names="mlx5_ib{}", others=[
        ("8f23:00:02.0", {"model": "vf", **EDR})]),
    "azure-nd96isr-mi300x-v5": azure(MI300X_VF, VF_IB, 8),
    "azure-nd128isr-gb300-v6": azure(GB300, VF_XDR, 4),
    "aws-p4d-24xlarge": efa("p4d.24xlarge", A100_40, 4, "0xefa0"),
    "aws-p4de-24xlarge": efa("p4de.24xlarge", A100_80, 4, "0xefa0"),
    "aws-p5-48xlarge": efa("p5.48xlarge", H100, 32, "0xefa1"),
    "aws-p5e-48xlarge": efa("p5e.48xlarge", H200, 32, "0xefa2"),
    "aws-p5en-48xlarge": efa("p5en.48xlarge", H200, 16, "0xefa2"),
    "aws-p6-b200-48xlarge": efa("p6-b200.48xlarge", B200, 8, "0xefa3"),
    "aws-p6e-gb200-36xlarge": Shape(
        ec2("p6e-gb200.36xlarge"), GB200, GRACE_GPUS, {"model": "efa", "pci_device": "0xefa3"},
        efas(8), names="rdmap{}s0", netdevs=""),
    "aws-p6-b300-48xlarge": efa("p6-b300.48xlarge", B300, 16, "0xefa3"),
    "gcp-a3-ultragpu-8g": google(H200, 8),
    "gcp-a4-highgpu-8g": google(B200, 8),
    "gcp-a4x-highgpu-4g": google(GB200, 4),
    "gcp-a4x-maxgpu-4g-metal": Shape(
        GOOGLE, GB300, GRACE_GPUS, CX8,
        [f"{nic[:-1]}{port}" for nic in GRACE_NICS for port in (0, 1)], netdevs="gpu{}rdma0"),
}

# Nodes that resemble a shape and are none: no profile may fit them.
STRANGERS = {
    "an HGX H100 of a maker whose NICs are of choice": Shape(
        {"sys_vendor": "Dell Inc.", "product_name": "PowerEdge XE9680"}, H100, DGX_GPUS, CX7_IB,
        DGX_NICS),
    "ND96is_H100_v5, which has no InfiniBand": Shape(
        AZURE, H100, AZURE_GPUS, {"model": "vf", **EDR}, ["8f23:00:02.0"]),
    "a Hyper-V host's machine outside Azure": Shape(
        {**AZURE, "chassis_asset_tag": "None"}, H100, AZURE_GPUS, VF_IB, AZURE_NICS),
    "an OCI shape without a cluster network": Shape(
        OCI, H200, OCI_GPUS, CX7, [address for address, _ in OCI_CX7]),
    "p5.4xlarge": Shape(ec2("p5.4xlarge"), H100, EIGHT_GPUS[:1],
                        {"model": "efa", "pci_device": "0xefa1"}, efas(1), names="rdmap{}s0",
                        netdevs=""),
}


class Text:
    """A machine file in the making."""

    def __init__(self, shape):
        self.shape, self.names = shape, shape.names_of()
        self.lines = ["processors packages=2 nodes=2"]
        self.lines += [f"write sys/class/dmi/id/{file} = {text}"
                       for file, text in shape.dmi.items()]
        for address in shape.gpus:
            self.add("function", address, address, shape.gpu)
        for at, address in enumerate(shape.nics):
            keys = dict(shape.nic)
            if shape.netdevs:
                keys["netdev"] = shape.netdevs.format(at)
            self.add("device", self.names[address], address, {"pci": address, **keys})
        for at, (address, keys) in enumerate(shape.others):
            self.add("device", f"mlx5_{20 + at}", address,
                     {"pci": address, "netdev": f"eth{at}", **keys})

    def add(self, verb, name, address, keys):
        if keys["model"].endswith("-ib"):
            keys = {"lid": "0x10", **keys}
        words = " ".join(f'{key}="{text}"' for key, text in keys.items())
        self.lines.append(f"{verb} {name} path={self.shape.path(address)} numa=0 {words}")

    def change(self, address, **keys):
        words = " ".join(f'{key}="{text}"' for key, text in keys.items())
        self.lines.append(f"device {self.names[address]} {words}")

    def drop(self, name):
        """The device or function is not there at all."""
        start = tuple(f"{verb} {name} " for verb in ("device", "function"))
        self.lines = [line for line in self.lines if not line.startswith(start)]

    def __str__(self):
        return "\n".join(self.lines) + "\n"
