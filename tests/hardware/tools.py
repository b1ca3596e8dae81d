# SPDX-License-Identifier: Apache-2.0
"""The tools of a node: each is run with a limit of time, and what ran is kept for the archive.

A device that does not answer holds a process in the kernel, where no signal ends it. So nothing
here waits for a process that was killed, and a tool that gave no answer once is not asked again.
"""
import ctypes
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time

# Beside PATH: the PATH of an ordinary user lacks the tools of root.
PLACES = ("/usr/sbin", "/sbin", "/usr/local/sbin", "/opt/rocm/bin")
PATIENCE = 20  # seconds for a tool
AGENT_PATIENCE = 120  # for a command of the agent: a device that hangs costs it poll.deadline
PR_SET_PDEATHSIG = 1  # linux/prctl.h


class NotTried(Exception):
    """Why there is nothing to compare with."""


class Failed(NotTried):
    """The tool ran and has no answer: the driver may lack the function."""

    def __init__(self, reason, output):
        super().__init__(reason)
        self.output = output


def hangs_with_a_thread(process):
    """Whether all of it has ended but a thread that is in the kernel."""
    try:
        with open(f"/proc/{process.pid}/stat", encoding="utf-8", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return False


def wait_for_end(process, seconds):
    """The status; 0 of a process of which a thread hangs, as it has none yet; None: it goes on."""
    limit = time.monotonic() + seconds
    while True:
        try:
            return process.wait(min(0.5, seconds))
        except subprocess.TimeoutExpired:
            if hangs_with_a_thread(process):
                return 0
            if time.monotonic() > limit:
                return None


def kill(process):
    """Ends a process and its children, without waiting for those that hang in the kernel."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except OSError:
        pass
    wait_for_end(process, 2)


def last_line(text):
    """The conclusion, behind warnings."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "no message"


def start_with_us(command):
    """A process in the background, which the kernel ends when this one is killed."""
    def end_with_parent():
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)

    return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL, preexec_fn=end_with_parent)


class Run:
    """One command that was run."""

    def __init__(self, command):
        self.command, self.output, self.errors = command, "", ""
        self.status, self.seconds = None, 0.0

    def outcome(self):
        return "no answer" if self.status is None else f"status {self.status}"


def environment():
    """That of the user, but for the language, and for what changes the form of an output."""
    return {**os.environ, "LC_ALL": "C", "LANG": "C", "TERM": "dumb"}


class Tools:
    """One look at the node: an answer is remembered until the next look."""

    def __init__(self, root="/", places=None, patience=PATIENCE, runs=None, mute=None):
        """places: directories of programs instead of PATH; the rest is that of an earlier look."""
        self.root, self.places, self.patience = root, places, patience
        self.runs = [] if runs is None else runs
        self.mute = {} if mute is None else mute
        self.answers = {}

    def again(self):
        return Tools(self.root, self.places, self.patience, self.runs, self.mute)

    def run(self, *command):
        """Standard output, or NotTried."""
        if command not in self.answers:
            try:
                self.answers[command] = self.ask(command)
            except NotTried as error:
                self.answers[command] = error
        answer = self.answers[command]
        if isinstance(answer, NotTried):
            raise answer
        return answer

    def run_or_nothing(self, *command):
        """Standard output; "" if the tool is there and has no answer."""
        try:
            return self.run(*command)
        except Failed:
            return ""

    def run_partly(self, *command):
        """Standard output, also of a tool that gave up in the middle of it."""
        try:
            return self.run(*command)
        except Failed as error:
            if not error.output.strip():
                raise
            return error.output

    def find(self, name):
        path = self.places or ":".join((os.environ.get("PATH", ""), *PLACES))
        program = shutil.which(name, path=path)
        if not program:
            raise NotTried(f"no {name}")
        return program

    def ask(self, command):
        program = self.find(command[0])
        if command[0] in self.mute:
            raise NotTried(self.mute[command[0]])
        run = self.start(program, command)
        if run.status is None:
            self.mute[command[0]] = f"{command[0]}: no answer within {self.patience:g} s"
            raise NotTried(self.mute[command[0]])
        if run.status:
            reason = last_line(run.errors or run.output)
            raise Failed(f"{command[0]}: status {run.status}: {reason}", run.output)
        return run.output

    def start(self, program, command, seconds=None):
        """The run of a program, which gets so many seconds: usually those of a tool."""
        run, begin = Run(command), time.monotonic()
        self.runs.append(run)
        with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
            process = subprocess.Popen([program, *command[1:]], stdin=subprocess.DEVNULL,
                                       stdout=output, stderr=errors, env=environment(),
                                       start_new_session=True)
            try:
                run.status = wait_for_end(process, seconds or self.patience)
            finally:
                if run.status is None:
                    kill(process)
            run.seconds = time.monotonic() - begin
            run.output, run.errors = (self.read_all(file) for file in (output, errors))
        return run

    def agent(self, binary, *words):
        """Standard output of a command of the agent, which has limits of its own."""
        run = self.start(binary, (binary, *words), AGENT_PATIENCE)
        if run.status != 0:
            raise OSError(f"{words[0]}: {run.outcome()}: {last_line(run.errors)}")
        return run.output

    def background(self, *command):
        """A process that runs until it is ended."""
        program = self.find(command[0])
        self.note([command])
        return start_with_us([program, *command[1:]])

    def note(self, commands):
        """Commands that ran elsewhere, for the list of commands."""
        self.runs += map(Run, commands)

    @staticmethod
    def read_all(file):
        file.seek(0)
        return file.read().decode(errors="replace")

    def apart(self, what, function):
        """The result of a function that reads files of a device, in a process that may hang."""
        result, out = os.pipe()
        process = os.fork()
        if process == 0:
            try:
                with os.fdopen(out, "w") as file:
                    json.dump(function(), file)
            finally:
                os._exit(0)
        os.close(out)
        limit, text = time.monotonic() + self.patience, b""
        with os.fdopen(result, "rb", buffering=0) as file:
            while select.select([file], [], [], max(0, limit - time.monotonic()))[0]:
                part = file.read(65536)
                if not part:
                    os.waitpid(process, 0)
                    return json.loads(text)
                text += part
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, os.WNOHANG)
        raise NotTried(f"{what}: no answer within {self.patience:g} s")

    # --- files, of the node or of a recording -----------------------------------------------------

    def at(self, path):
        return os.path.join(self.root, path.lstrip("/"))

    def read(self, path):
        """The text of a file without its line end, or None."""
        try:
            with open(self.at(path), encoding="utf-8", errors="replace") as file:
                return file.read().strip()
        except OSError:
            return None

    def names(self, path):
        """What is in a directory, sorted; nothing if there is none."""
        try:
            return sorted(os.listdir(self.at(path)))
        except OSError:
            return []

    def link(self, path):
        """The last part of what a link leads to, or None."""
        try:
            return os.path.basename(os.readlink(self.at(path)))
        except OSError:
            return None

    # --- devices and their interfaces -------------------------------------------------------------

    def devices(self):
        return self.names("/sys/class/infiniband")

    def ports(self, device):
        return self.names(f"/sys/class/infiniband/{device}/ports")

    def link_layer(self, device, port):
        return self.read(f"/sys/class/infiniband/{device}/ports/{port}/link_layer")

    def pci_function(self, device):
        """The name of the directory that the device is in; "" if it is in none, as rxe."""
        link = self.at(f"/sys/class/infiniband/{device}/device")
        return os.path.basename(os.path.realpath(link)) if os.path.islink(link) else ""

    def netdevs(self, device, port="1"):
        """Interfaces of an Ethernet port: of its GIDs, or else of its function."""
        if self.link_layer(device, port) != "Ethernet":
            return []
        base = f"/sys/class/infiniband/{device}"
        of_gids = f"{base}/ports/{port}/gid_attrs/ndevs"
        found = [self.read(f"{of_gids}/{index}") for index in self.names(of_gids)[:1]]
        found = [name for name in found if name] or [self.read(f"{base}/parent")]
        if found[0]:
            return found
        return [name for name in self.names(f"{base}/device/net")
                if self.read(f"{base}/device/net/{name}/dev_port") in (None, str(int(port) - 1))]

    def members(self, netdev):
        """The members of a bond, or the interface itself."""
        slaves = self.read(f"/sys/class/net/{netdev}/bonding/slaves")
        return slaves.split() if slaves else [netdev]
