# SPDX-License-Identifier: Apache-2.0
"""An agent that runs for as long as a measurement: its socket and settings are in a directory that
is removed, it keeps no state, and listens on no address."""
import os
import signal
import time

from agent import get
from tools import NotTried, start_with_us, wait_for_end

PATIENCE = 60  # seconds until it is ready, and until it has ended
TICK = os.sysconf("SC_CLK_TCK")


def cpu_seconds(pid):
    """Of a process so far. The name of a process may hold blanks."""
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def resident_bytes(pid):
    with open(f"/proc/{pid}/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def end(process):
    """SIGTERM, then SIGKILL; a process that hangs in the kernel is left to it."""
    for number in signal.SIGTERM, signal.SIGKILL:
        if wait_for_end(process, 0) is None:
            process.send_signal(number)
            wait_for_end(process, PATIENCE)


def wait_for(process, url):
    """Until it answers. Ends it if it does not."""
    limit = time.monotonic() + PATIENCE
    while True:
        try:
            return get(url)
        except OSError as error:
            if process.poll() is not None or time.monotonic() > limit:
                end(process)
                name = os.path.basename(process.args[0])
                raise NotTried(f"{name} does not start: {error}") from error
            time.sleep(0.05)


class RunningAgent:
    def __init__(self, binary, directory, settings="", root="/"):
        self.command = [binary, "run", "--config", f"{directory}/run.yaml", "--root", root]
        self.url, self.process = f"unix:{directory}/http.sock:", None
        with open(f"{directory}/run.yaml", "w", encoding="utf-8") as file:
            file.write(f'http: {{listen: ["unix:{directory}/http.sock"]}}\n'
                       'state: {directory: ""}\ncontrol: {socket: ""}\n'
                       'selftest: {enabled: false}\n' + settings)

    def __enter__(self):
        self.process = start_with_us(self.command)
        wait_for(self.process, f"{self.url}/readyz")
        return self

    def __exit__(self, *_):
        end(self.process)
