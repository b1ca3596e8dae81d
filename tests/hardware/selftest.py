# SPDX-License-Identifier: Apache-2.0
"""The agent's self-test of each idle port beside ib_write_bw of the same port with itself."""
import json
import time

from background import end
from cost import free_port
from facts import Fact
from tools import NotTried

SECONDS = 2  # of each
SLACK = 0.2  # of the bandwidth: both are short, and caches are warm or not
LISTEN = "0A"  # the state in /proc/net/tcp
PERFTEST = "ib_write_bw"
AVERAGE = 3  # column


def own(tools, binary, config, device, port):
    """The run of a port's test."""
    run = tools.start(binary, (binary, "selftest", "--config", config, "--device",
                               f"{device}/{port}", "--duration", f"{SECONDS}s", "--json"))
    try:
        result = json.loads(run.output)["runs"][0]
    except (ValueError, LookupError) as error:
        reason = (run.errors or run.output).strip() or run.outcome()
        raise NotTried(f"no self-test: {reason.splitlines()[0]}") from error
    if result["end"] != "done":
        raise NotTried(f"no self-test: {result.get('text') or result.get('skip') or result['end']}")
    return result


def is_listening(port):
    for family in "tcp", "tcp6":
        with open(f"/proc/net/{family}", encoding="ascii") as file:
            if any(line.split()[1].endswith(f":{port:04X}") and line.split()[3] == LISTEN
                   for line in list(file)[1:]):
                return True
    return False


def wait_for(server, port):
    limit = time.monotonic() + 10
    while not is_listening(port):
        if server.poll() is not None or time.monotonic() > limit:
            raise NotTried(f"{PERFTEST}: the server does not listen")
        time.sleep(0.05)


def perftest(tools, device, port, size, queue_pairs):
    """Gb/s"""
    tcp = free_port()
    words = ("-d", device, "-i", port, "-p", str(tcp), "-s", str(size), "-q", str(queue_pairs),
             "-D", str(SECONDS), "-F", "--report_gbits")
    server = tools.background(PERFTEST, *words)
    try:
        wait_for(server, tcp)
        output = tools.run(PERFTEST, *words, "127.0.0.1")
    finally:
        end(server)
    rows = [line.split() for line in output.splitlines() if line.strip()[:1].isdigit()]
    return float(rows[-1][AVERAGE])


def bandwidth(binary, config):
    """A table of one part: the test of the agent decides whether the port is idle."""
    def part(tools, device, port):
        result = own(tools, binary, config, device, port)
        ours = result["bandwidth_bytes_per_second"]
        form = result["write_bytes"], result["queue_pairs"]
        theirs = perftest(tools, device, port, *form) * 1e9 / 8
        yield Fact(PERFTEST, f"{device}/{port}", "bandwidth in bytes per second", round(theirs),
                   lambda agent: ours, slack=SLACK * theirs)
    return ("port", PERFTEST, part),

