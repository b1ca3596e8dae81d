# SPDX-License-Identifier: Apache-2.0
"""Several VMs and the fabric between them.

A lab is one process of "switches" and a VM per node, started by ../vm. Frames travel over pairs of
UDP sockets on loopback, connected to each other and handed to QEMU and to the switches as open
descriptors; so no port number is fixed, and none is free for a moment. Node N has the rails
10.77.R.(N+1) with rxe on each, and 10.78.0.(N+1) on the switch for management.
"""
import fcntl
import json
import os
import select
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.realpath(__file__))
VM = f"{HERE}/../vm"
MEMORY = 512  # MB of a VM
BOOT_LIMIT = 150  # seconds; alone it takes 10
SOCKET_BUFFER = 8 << 20
FIRST_FD = 20  # ../vm has numbers of its own below


class Lost(Exception):
    """A VM ended, or no longer answers: of this lab, nothing more is to be learned."""


def unavailable(nodes, programs=()):
    """Why this machine cannot run a lab of that size that needs these programs; None: it can."""
    for program in programs:
        if not shutil.which(program):
            return f"there is no {program}"
    answer = subprocess.run([VM, "available"], stdout=subprocess.PIPE, text=True, check=False)
    if answer.returncode:
        return answer.stdout.strip()
    backends = subprocess.run(["qemu-system-x86_64", "-netdev", "help"], capture_output=True,
                              text=True, check=False).stdout
    if "dgram" not in backends.split():
        return "this QEMU has no network backend dgram (since QEMU 7.2)"
    with open("/proc/meminfo", encoding="ascii") as file:
        memory = {line.split(":")[0]: int(line.split()[1]) // 1024 for line in file}
    needed = nodes * (MEMORY + 150)
    if memory["MemAvailable"] < needed:
        return f"{nodes} VMs need {needed} MB, {memory['MemAvailable']} MB are available"
    return None


def keep(descriptor_owner):
    """A socket under a number that ../vm leaves alone."""
    number = fcntl.fcntl(descriptor_owner.fileno(), fcntl.F_DUPFD_CLOEXEC, FIRST_FD)
    descriptor_owner.close()
    return socket.socket(fileno=number)


def udp_pair():
    """Two sockets on loopback that send to each other only."""
    pair = []
    for _ in range(2):
        one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        one.bind(("127.0.0.1", 0))
        for option in (socket.SO_RCVBUF, 33):  # 33: SO_RCVBUFFORCE, which only root may use
            try:
                one.setsockopt(socket.SOL_SOCKET, option, SOCKET_BUFFER)
            except PermissionError:
                pass
        pair.append(keep(one))
    pair[0].connect(pair[1].getsockname())
    pair[1].connect(pair[0].getsockname())
    return pair


class Switches:
    """The fabric's process, and requests to it; see "switches" for what it takes."""

    def __init__(self, nodes, rails, seed):
        pairs = [[udp_pair() for _ in range(rails + 1)] for _ in range(nodes)]
        self.vm_ends = [[pair[0] for pair in node] for node in pairs]
        ends = [[pair[1] for pair in node] for node in pairs]
        self.control, theirs = socket.socketpair()
        self.answers = self.control.makefile("r", encoding="utf-8")
        configuration = {"nodes": nodes, "rails": rails, "seed": seed, "control": theirs.fileno(),
                         "sockets": [[end.fileno() for end in node] for node in ends]}
        given = [end for node in ends for end in node] + [theirs]
        self.process = subprocess.Popen(
            [sys.executable, f"{HERE}/switches", json.dumps(configuration)],
            pass_fds=[one.fileno() for one in given], start_new_session=True)
        for one in given:
            one.close()

    def ask(self, what, **arguments):
        self.control.sendall(json.dumps({"do": what, **arguments}).encode() + b"\n")
        line = self.answers.readline()
        if not line:
            raise Lost("the switches ended")
        answer = json.loads(line)
        if "error" in answer:
            raise ValueError(f"{what} {arguments}: {answer['error']}")
        return answer["value"]

    def set(self, link, **faults):
        self.ask("set", link=link, faults=faults)

    def layout(self, layout, spines=1):
        self.ask("layout", layout=layout, spines=spines)

    def clear(self):
        self.ask("clear")

    def zero(self):
        self.ask("zero")

    def counts(self, count="frames"):
        return {name: counts[count] for name, counts in self.ask("counts").items()}

    def recorded(self, node, rail):
        return [bytes.fromhex(frame) for frame in self.ask("recorded", node=node, rail=rail)]

    def inject(self, node, rail, given):
        self.ask("inject", node=node, rail=rail, frames=[frame.hex() for frame in given])

    def close(self):
        self.control.close()
        self.process.terminate()
        self.process.wait()
        for node in self.vm_ends:
            for end in node:
                end.close()


def private_cache(directory):
    """A cache as ../vm wants it, with locks and sockets of its own: of a cache's VMs only as many run
    as there are cores. What is in the shared one is linked, so that it is never out of date."""
    shared = os.environ.get("RNA_VM_CACHE") or os.path.expanduser("~/.cache/rdma-node-agent/vm")
    os.makedirs(directory, exist_ok=True)
    for name in os.listdir(shared):
        if name[0].isdigit() and not os.path.lexists(f"{directory}/{name}"):
            os.symlink(os.path.realpath(f"{shared}/{name}"), f"{directory}/{name}")
    return directory


class Node:
    """A VM."""

    def __init__(self, lab, number):
        self.lab, self.number = lab, number
        self.name = f"node{number}"
        self.directory = f"{lab.results}/{self.name}"
        self.cache = private_cache(f"{lab.short}/{number}")
        os.makedirs(self.directory, exist_ok=True)
        self.process = self.channel = None
        self.commands = 0

    # QEMU's netdevs and the port for commands.
    def qemu_arguments(self, port):
        words = ["-chardev", f"socket,id=lab,fd={port}",
                 "-device", "virtserialport,chardev=lab,name=lab"]
        for rail, end in enumerate(self.lab.switches.vm_ends[self.number]):
            digits = rail if rail < self.lab.rails else 0xFF
            words += ["-netdev", f"dgram,id=n{rail},local.type=fd,local.str={end.fileno()}",
                      "-device", f"virtio-net-pci,netdev=n{rail},"
                      f"mac=52:54:00:00:{self.number:02x}:{digits:02x}"]
        return " ".join(words)

    def start(self):
        """Boots; ready() waits for it. What its NICs were sent meanwhile is forgotten."""
        self.channel, theirs = socket.socketpair()
        theirs = keep(theirs)
        self.lines = b""
        ends = self.lab.switches.vm_ends[self.number]
        for end in ends:
            self.drain(end)
        command = [VM, "run", "-v", "-k", "-m", str(MEMORY), "-t", str(self.lab.limit),
                   "-d", self.directory, "-q", self.qemu_arguments(theirs.fileno()),
                   "--", "bash", f"{HERE}/guest", str(self.number), str(self.lab.rails)]
        # A guest that stands still ends: the lab begins again as a whole, or not at all.
        environment = {**os.environ, "RNA_VM_CACHE": self.cache, "RNA_VM_AGAIN": "1"}
        with open(f"{self.directory}/vm.log", "ab") as log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            env=environment, start_new_session=True,
                                            pass_fds=[theirs.fileno(), *(end.fileno() for end in ends)])
        theirs.close()

    @staticmethod
    def drain(end):
        while select.select([end], [], [], 0)[0]:
            end.recv(1 << 16)

    def ready(self, limit=BOOT_LIMIT):
        if self.wait_for(0, limit) != 0:
            raise Lost(f"{self.name} cannot set up its network; see {self.directory}")

    # The status of a command, from the line that its end makes the guest write.
    def wait_for(self, number, limit):
        end = time.monotonic() + limit
        while True:
            while b"\n" in self.lines:
                line, self.lines = self.lines.split(b"\n", 1)
                done, status = line.split()
                if int(done) == number:
                    return int(status)
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.channel], [], [], left)[0]:
                raise Lost(f"{self.name} did not answer command {number} for {limit} s")
            got = self.channel.recv(4096)
            if not got:
                raise Lost(f"{self.name} ended; see {self.directory}")
            self.lines += got

    def begin(self, command):
        """Has the guest run a command; end() has its outcome."""
        self.commands += 1
        with open(f"{self.directory}/command.{self.commands}", "w", encoding="utf-8") as file:
            file.write(command + "\n")
        try:
            self.channel.sendall(b"%d\n" % self.commands)
        except OSError as error:
            raise Lost(f"{self.name}: {error}") from error
        return self.commands

    def end(self, number, limit=60):
        """Status and output."""
        status = self.wait_for(number, limit)
        with open(f"{self.directory}/output.{number}", encoding="utf-8", errors="replace") as file:
            output = file.read()
        for kind in ("command", "output"):
            os.unlink(f"{self.directory}/{kind}.{number}")
        return status, output

    def run(self, command, limit=60):
        return self.end(self.begin(command), limit)

    def must(self, command, limit=60):
        """The output of a command that succeeds."""
        status, output = self.run(command, limit)
        if status:
            raise RuntimeError(f"{self.name}: {command}: status {status}: {output.strip()}")
        return output

    def fetch(self, path):
        """The agent's answer to a request for that path; None: it gave none, or an error."""
        status, output = self.run(f"fetch {shlex.quote(path)}")
        return output if status == 0 else None

    def fetch_json(self, path):
        text = self.fetch(path)
        return json.loads(text) if text else None

    def stop(self):
        """Ends the VM at once, as a power failure does."""
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(15)
            except subprocess.TimeoutExpired:
                os.killpg(self.process.pid, signal.SIGKILL)
                self.process.wait()
        if self.channel:
            self.channel.close()

    def restart(self):
        self.stop()
        self.start()
        self.ready()


class Lab:
    """Use as a context: with Lab(...) as lab. results gets a directory per node."""

    def __init__(self, results, nodes=3, rails=2, seed=1, limit=2700):
        self.results, self.rails, self.limit = results, rails, limit
        # QEMU has a socket in the cache of a VM, and the path of a socket has to be short.
        self.scratch = tempfile.TemporaryDirectory(prefix="rna-fabric.", dir="/tmp")
        self.short = self.scratch.name
        self.switches = Switches(nodes, rails, seed)
        self.nodes = [Node(self, number) for number in range(nodes)]

    def __enter__(self):
        started = time.monotonic()
        try:
            for node in self.nodes:
                node.start()
            for node in self.nodes:
                self.boot(node)
        except BaseException:
            self.close()
            raise
        print(f"# {len(self.nodes)} VMs are up after {time.monotonic() - started:.1f} s", flush=True)
        return self

    @staticmethod
    def boot(node):
        """A guest whose timers stand still does not get far: once more."""
        try:
            node.ready()
        except Lost as lost:
            print(f"# {lost}; once more", flush=True)
            node.restart()

    def run_all(self, command, limit=60):
        """The same on all nodes at a time: status and output of each."""
        begun = [(node, node.begin(command)) for node in self.nodes]
        return [node.end(number, limit) for node, number in begun]

    def __exit__(self, *_):
        self.close()

    def close(self):
        for node in self.nodes:
            node.stop()
        self.switches.close()
        self.scratch.cleanup()
