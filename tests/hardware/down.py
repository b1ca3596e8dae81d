# SPDX-License-Identifier: Apache-2.0
"""Takes one port down, which the user names, and measures when the agent shows it.

An Ethernet port goes down by "ip link". A port of InfiniBand trains its link again at the request
of ibportstate (PortState Down of its own PortInfo), so it comes up by itself and the subnet manager
activates it: "Disable may be irreversible", as infiniband-diags/ibportstate.c of rdma-core says. A
process of its own, the keeper, brings back what was there, whenever the pipe to it closes: also if
this program is killed, or hangs.
"""
import json
import os
import select
import signal
import socket
import struct
import subprocess
import time

from agent import get
from background import RunningAgent
from facts import AGREES, DIFFERS, Row
from link_events import Observer
from tools import Failed, NotTried

PATIENCE = 30  # seconds until the agent shows the change, and until the port is active again
LONGEST = 90  # seconds; then the keeper restores the port whatever happens
PAUSE = 0.003  # between two requests: the agent shall have the CPU
ESTABLISHED, SSH = "01", 22
SETTINGS = "health: {boot_grace: 0s}\nmetrics: {details: true}\n"
# What "ip link set down" removes and "up" does not bring back, in the words of ip.
# The order is that in which they depend on each other.
SAVED = (("-6", "-o", "address", "show", "scope", "global", "dev"),
         ("neigh", "show", "nud", "permanent", "dev"),
         ("-4", "route", "show", "table", "all", "dev"),
         ("-6", "route", "show", "table", "all", "dev"))
BY_KERNEL = ("local", "broadcast", "multicast", "anycast", "unreachable")


def call(*command):
    """Of ip and ibportstate, in the keeper as well, which has no Tools."""
    return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, check=False, timeout=20)


def output(*command):
    return call(*command).stdout.decode(errors="replace")


# --- what may not go down -------------------------------------------------------------------------

def address_of(text):
    """That of a line of /proc/net/tcp or tcp6: words of the host's byte order."""
    raw = b"".join(struct.pack("=I", int(text[i:i + 8], 16)) for i in range(0, len(text), 8))
    if len(raw) == 4:
        return socket.inet_ntop(socket.AF_INET, raw)
    mapped = raw[:12] == bytes(10) + b"\xff\xff"
    return socket.inet_ntop(socket.AF_INET, raw[12:]) if mapped else \
        socket.inet_ntop(socket.AF_INET6, raw)


def ssh_clients():
    """Addresses of all clients of sshd, those of other users too: sudo hides SSH_CONNECTION."""
    words = os.environ.get("SSH_CONNECTION", "").split()
    ports, found = {SSH, *map(int, words[3:4])}, set(words[:1])
    for family in "tcp", "tcp6":
        with open(f"/proc/net/{family}", encoding="ascii") as file:
            for line in list(file)[1:]:
                _, local, remote, state, *_ = line.split()
                if state == ESTABLISHED and int(local.split(":")[1], 16) in ports:
                    found.add(address_of(remote.split(":")[0]))
    return found


def related(netdev):
    """The interface with those above it: VLANs, bonds and bridges go down with it."""
    base = f"/sys/class/net/{netdev}"
    above = [name.partition("_")[2] for name in os.listdir(base) if name.startswith("upper_")]
    return [netdev, *(name for each in above for name in related(each))]


def device_of_route(*words):
    found = json.loads(output("ip", "-j", "route", *words) or "[]")
    return {route.get("dev") for route in found}


def refuse(tools, agent, device, port, netdev):
    """Raises NotTried if the port has to stay up."""
    if os.geteuid() != 0:
        raise NotTried("only root can take a port down")
    if not (tools.read(f"/sys/class/infiniband/{device}/ports/{port}/state") or "").startswith("4"):
        raise NotTried("the port is not ACTIVE")
    if agent.value("rdma_device_in_use", device=device) == 1:
        raise NotTried("an application has the device open")
    if not netdev:
        return
    names = set(related(netdev))
    for client in sorted(ssh_clients()):
        if device_of_route("get", client) & names:
            raise NotTried(f"the SSH connection of {client} is over {netdev}")
    if device_of_route("show", "default") & names:
        raise NotTried(f"the default route is over {netdev}")


# --- down, and back -------------------------------------------------------------------------------

def saved(netdevs):
    """{(command, interface): lines}; routes by a gateway come behind those that lead to it."""
    return {(words, name): sorted(output("ip", *words, name).splitlines(),
                                  key=lambda line: " via " in line)
            for words in SAVED for name in netdevs}


def to_add(words, name, line):
    """The command that brings a line back, or None if the kernel does."""
    fields = [field for field in line.split() if field not in ("linkdown", "dead")]
    if "expires" in fields or fields[:1] in [[kind] for kind in BY_KERNEL]:
        return None
    if "route" in words:
        by_others = "kernel" in fields or "ra" in fields
        return None if by_others else ["ip", words[0], "route", "replace", *fields, "dev", name]
    if "neigh" in words:
        fields = [field for field in fields if field != "PERMANENT"]
        return ["ip", "neigh", "replace", *fields, "nud", "permanent", "dev", name]
    if "dynamic" in fields:
        return None
    address = fields[fields.index("inet6") + 1]
    return ["ip", "-6", "address", "replace", address, "dev", name, "nodad"]


class Ethernet:
    """By "ip link"."""

    def __init__(self, netdev):
        self.netdev, self.netdevs = netdev, related(netdev)
        self.before = saved(self.netdevs)
        self.down = ("ip", "link", "set", "dev", netdev, "down")

    def restore(self):
        """Returns the commands that it ran."""
        ran = [["ip", "link", "set", "dev", self.netdev, "up"]]
        call(*ran[0])
        now = saved(self.netdevs)
        for (words, name), lines in self.before.items():
            for line in lines:
                command = line not in now[words, name] and to_add(words, name, line)
                if command:
                    call(*command)
                    ran.append(command)
        return ran


class InfiniBand:
    """By ibportstate. Whatever state the port is in, Polling is what it leaves for LinkUp."""

    def __init__(self, tools, device, port):
        self.path = tools.at(f"/sys/class/infiniband/{device}/ports/{port}/phys_state")
        self.command = ["ibportstate", "-C", device, "-P", port, "-D", "0", port]
        tools.run(*self.command, "query")
        self.down = (*self.command, "down")

    def restore(self):
        with open(self.path, encoding="ascii") as file:
            if not file.read().startswith("3"):  # Disabled
                return []
        call(*self.command, "enable")
        return [[*self.command, "enable"]]


class Keeper:
    """Restores at the request of this process, when this process has ended, or after LONGEST."""

    def __init__(self, way):
        watched, self.pipe = os.pipe()
        self.answer, out = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(self.pipe)
            os.close(self.answer)
            self.keep(way, watched, out)
        os.close(watched)
        os.close(out)

    @staticmethod
    def keep(way, watched, out):
        try:
            os.setsid()
            for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE:
                signal.signal(number, signal.SIG_IGN)
            select.select([watched], [], [], LONGEST)
            os.write(out, json.dumps(way.restore()).encode())
        finally:
            os._exit(0)

    def restore(self):
        """The commands that it ran."""
        os.close(self.pipe)
        text = b""
        while part := os.read(self.answer, 65536):
            text += part
        os.close(self.answer)
        os.waitpid(self.pid, 0)
        return json.loads(text or "[]")


# --- the measurement ------------------------------------------------------------------------------

def wait_until(url, line, seconds):
    """When the metrics had the line for the first time, or None."""
    limit = time.monotonic() + seconds
    while time.monotonic() < limit:
        if line in get(f"{url}/metrics"):
            return time.monotonic()
        time.sleep(PAUSE)
    return None


def wait_active(tools, device, port):
    limit = time.monotonic() + PATIENCE
    path = f"/sys/class/infiniband/{device}/ports/{port}/state"
    while not (tools.read(path) or "").startswith("4"):
        if time.monotonic() > limit:
            return False
        time.sleep(0.05)
    return True


def milliseconds(start, stop):
    return "unknown" if None in (start, stop) else f"{max(0, stop - start) * 1000:.0f} ms"


def take_down(tools, way, url, thing, netdev):
    """(rows, lines of text)"""
    device, port = thing.split("/")
    line = f'rdma_port_up{{device="{device}",port="{port}"}} '
    if wait_until(url, f"{line}1\n", PATIENCE) is None:
        raise NotTried("the agent does not say that the port is up")
    observer = Observer(netdev) if netdev else None
    keeper = Keeper(way)
    try:
        start = time.monotonic()
        tools.run(*way.down)
        done = time.monotonic()
        seen = wait_until(url, f"{line}0\n", PATIENCE)
        event = observer.time_of(False, 1) if observer else done
    except Failed as error:
        raise NotTried(str(error)) from error
    finally:
        tools.note(keeper.restore())
        if observer:
            observer.end()
    back = wait_active(tools, device, port)
    rows = [Row(AGREES if seen else DIFFERS, way.down[0], thing, "down", True, bool(seen)),
            Row(AGREES if back else DIFFERS, "sysfs", thing, "active again", back, True)]
    return rows, [f"down of {thing}: the kernel's event {milliseconds(start, event)} after the "
                  f"command, the agent's {milliseconds(event, seen)} after the kernel's; "
                  f"the port is {'active again' if back else 'NOT ACTIVE: bring it up by hand'}"]


def measure(tools, agent, binary, directory, thing):
    device, _, port = thing.partition("/")
    if port not in tools.ports(device):
        raise NotTried(f"there is no port {thing}")
    ethernet = tools.link_layer(device, port) == "Ethernet"
    netdevs = tools.netdevs(device, port)
    netdev = netdevs[0] if netdevs else agent.port(device, port).get("netdev")
    if ethernet and not netdev:
        raise NotTried("the port has no interface")
    refuse(tools, agent, device, port, netdev)
    way = Ethernet(netdev) if ethernet else InfiniBand(tools, device, port)
    with RunningAgent(binary, directory, SETTINGS) as running:
        return take_down(tools, way, running.url, thing, netdev)
