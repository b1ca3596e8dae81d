# SPDX-License-Identifier: Apache-2.0
"""Another user of the node: at the control socket, and with files in the state directory."""
import contextlib
import itertools
import os
import stat
import subprocess
import sys
import tempfile
import time
import unittest

from agent import PATIENCE, QUIET, stretched, wait
from lines import alone
from test_hostile import open_files
from test_memory import Remembering
from test_selftest import Asked

NOBODY = 65534
DENIED = b"epermission denied: only root and the agent's own user may do this"
SECRET = '{"version": 1, "devices": [], "accepted": [], "secret": "a secret of root"}'

# What the stranger runs, with the socket as its argument. It prints a word when it has done its
# worst, and holds on to what it has until its stdin ends.
STRANGER = r"""
import array, os, socket, sys, time
PACKET = 32768
def call():
    made = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    made.settimeout(60)
    while True:
        try:
            made.connect(sys.argv[1])
            return made
        except BlockingIOError:  # its queue is full
            time.sleep(0.001)
def answer(*packets, rights=()):
    asked, got = call(), []
    try:
        for packet in packets:
            asked.sendmsg([packet], rights)
        while True:
            packet = asked.recv(PACKET)
            if not packet:
                return got
            got.append(packet)
    except (BrokenPipeError, ConnectionResetError):
        return got
"""
STRANGERS = {
    # request: all that comes back
    "asks": "print([answer(name + b'\\n') for name in (b'quiesce', b'resume', b'selftest', b'nothing',"
            " b'quiesce\\ntimeout=7d', b'\\x00\\x1b[31m', b'x')])",
    "asks nothing": "print([answer(b'x' * size) for size in (PACKET + 1, 2 * PACKET, 200000)],"
                    " [answer(b'', b'quiesce\\n')])",
    "passes files": "left, right = os.pipe()\n"
                    "files = array.array('i', [right] * 200)\n"
                    "rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, files)]\n"
                    "print([answer(b'quiesce\\n', rights=rights) for _ in range(20)])\n"
                    "os.close(right)\nprint(os.read(left, 1))",
    "holds connections": "held = [call() for _ in range(300)]",
    "asks twice": "held = [call() for _ in range(30)]\n"
                  "for one in held:\n"
                  "    try:\n"
                  "        [one.send(b'quiesce\\n') for _ in range(100)]\n"
                  "    except OSError:\n"
                  "        pass",
    "never stops": "print('ready', flush=True)\n"
                   "while True:\n"
                   "    try:\n"
                   "        call().send(b'quiesce\\n')\n"
                   "    except OSError:\n"
                   "        pass",
}


@unittest.skipUnless(os.geteuid() == 0, "only root can become another user")
@unittest.skipIf(os.path.isdir("/sys/class/infiniband"), "this node has RDMA")
@alone
class Control(unittest.TestCase):
    @contextlib.contextmanager
    def stranger(self, agent, kind):
        """While it does that; gives what it printed until then."""
        script = f"{STRANGER}{STRANGERS[kind]}\nprint('ready', flush=True)\nsys.stdin.read()\n"
        process = subprocess.Popen([sys.executable, "-c", script, agent.socket], cwd="/",
                                   user=NOBODY, group=NOBODY, extra_groups=[], text=True,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        try:
            yield list(itertools.takewhile(lambda line: line != "ready\n", process.stdout))
        finally:
            process.kill()
            process.communicate()

    def attack(self, kind):
        """What the stranger printed; beside it and afterwards the agent serves root and scrapers."""
        with Asked(poll=QUIET) as agent:
            os.chmod(agent.directory, 0o711)
            before = open_files(agent) + 4  # that are open for a moment
            with self.stranger(agent, kind) as printed:
                for command in ("resume", "quiesce"):
                    started = time.monotonic()
                    self.assertEqual(agent.ask(command).returncode, 0)
                    self.assertEqual(agent.get("/metrics").status, 200)
                    self.assertLess(time.monotonic() - started, stretched(5))
                self.assertEqual(agent.metric("rdma_agent_quiesced"), 1)
                self.assertEqual(agent.ask("resume").returncode, 0)
            self.assertEqual(agent.metric("rdma_agent_quiesced"), 0)
            wait("its connections to end", lambda: open_files(agent) <= before)
            return "".join(printed)

    def test_what_it_asks_is_refused(self):
        self.assertEqual(self.attack("asks"), f"{[[DENIED, b'x3']] * 7}\n")

    def test_what_is_no_request_has_no_answer(self):
        self.assertEqual(self.attack("asks nothing"), "[[], [], []] [[]]\n")

    def test_files_that_it_passes_are_closed(self):
        self.assertEqual(self.attack("passes files"), f"{[[DENIED, b'x3']] * 20}\nb''\n")

    def test_connections_that_it_holds(self):
        self.assertEqual(self.attack("holds connections"), "")

    def test_requests_whose_answers_it_does_not_read(self):
        self.assertEqual(self.attack("asks twice"), "")

    def test_requests_without_end(self):
        self.attack("never stops")


class State(unittest.TestCase):
    """Things in the place of the state files. None is followed, waited for or written."""

    def put(self, agent, path):
        """Puts each thing there, one after the other; gives its name and what the log says."""
        secret = f"{agent.directory}/secret"
        with open(secret, "w", encoding="utf-8") as file:
            file.write(SECRET)
        for name, make, words in (
                ("a link", lambda: os.symlink(secret, path), "not used"),
                ("a link to itself", lambda: os.symlink(os.path.basename(path), path), "not used"),
                ("a FIFO", lambda: os.mkfifo(path), "not a regular file"),
                ("a directory", lambda: os.mkdir(path), "not a regular file"),
                ("an endless device", lambda: os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 5)),
                 "not a regular file"),
                ("a file of another user", lambda: self.make_file(path, NOBODY), "not used"),
                ("a file that none may read", lambda: self.make_file(path, 0, 0), None)):
            try:
                make()
            except PermissionError:
                continue  # root of a user namespace makes no devices
            yield name, words
            if os.path.isdir(path) and not os.path.islink(path):
                os.rmdir(path)
            elif os.path.lexists(path):
                os.unlink(path)
            with open(secret, encoding="utf-8") as file:
                self.assertEqual(file.read(), SECRET)

    @staticmethod
    def make_file(path, user, mode=0o600):
        with open(path, "w", encoding="utf-8") as file:
            file.write(SECRET)
        os.chmod(path, mode)
        os.chown(path, user, -1)

    @unittest.skipUnless(os.geteuid() == 0, "only root can give away files")
    def test_what_is_no_state_file(self):
        for name in ("memory.json", "accepted.json"):
            with Remembering(poll=QUIET) as agent:
                wait("a file", agent.memory)
                path, log = f"{agent.state}/{name}", 0
                agent.stop()
                if os.path.exists(path):
                    os.unlink(path)
                for thing, words in self.put(agent, path):
                    with self.subTest(name=name, thing=thing):
                        agent.start()
                        wait("readiness", agent.is_ready)
                        self.assertEqual(agent.stop()[0], 0)
                        said, log = agent.log()[log:], len(agent.log())
                        if words:
                            self.assertIn(words, said)
                agent.start()
                wait("readiness", agent.is_ready)

    @unittest.skipUnless(os.geteuid() == 0, "only root can become another user")
    def test_a_directory_that_all_may_write(self):
        """A stranger swaps the files while the agent starts, reads, writes and ends."""
        with Remembering() as agent, tempfile.TemporaryDirectory() as outside:
            wait("a file", agent.memory)
            os.chmod(agent.directory, 0o711)
            os.chmod(agent.state, 0o777)
            os.chmod(outside, 0o755)
            target = f"{outside}/target"
            with open(target, "w", encoding="utf-8") as file:
                file.write(SECRET)
            before = os.stat(target)
            process = subprocess.Popen(
                [sys.executable, "-c", SWAPPER, agent.state, target], cwd="/", user=NOBODY,
                group=NOBODY, extra_groups=[])
            try:
                for _ in range(8):
                    agent.restart()
                    agent.write("sys/class/infiniband/mlx5_1/ports/1/state", "1: DOWN")
                    agent.command("expect", "accept", "*", root=False)  # which may fail
                    self.assertEqual(agent.get("/metrics").status, 200)
                self.assertIsNone(process.poll())
            finally:
                process.kill()
                process.wait(PATIENCE)
            after = os.stat(target)
            self.assertEqual((after.st_mode, after.st_uid, after.st_mtime_ns),
                             (before.st_mode, before.st_uid, before.st_mtime_ns))
            with open(target, encoding="utf-8") as file:
                self.assertEqual(file.read(), SECRET)


SWAPPER = r"""
import os, random, sys
state, target = sys.argv[1:]
def text(path):
    with open(path, "w") as file:
        file.write('{"version": 1, "devices": [' * random.randrange(5000))
makes = (lambda path: os.symlink(target, path), os.mkfifo, os.mkdir, text,
         lambda path: os.link(target, path))
while True:
    path = f"{state}/{random.choice(('memory.json', 'accepted.json'))}{random.choice(('', '.new'))}"
    away = f"{path}.{random.randrange(100)}"
    for step in (lambda: random.choice(makes)(away), lambda: os.rename(away, path),
                 lambda: os.rename(path, away), lambda: os.unlink(away), lambda: os.rmdir(away)):
        try:
            step()
        except OSError:
            pass
"""


if __name__ == "__main__":
    unittest.main()
