# SPDX-License-Identifier: Apache-2.0
"""What others say: systemd/security.md lists each source that is not the kernel's own word.

A file of the code that reads such a source is in a row of the table, with what it can change at most.
Tests that the page names exist.
"""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "systemd/security.md"
HEADING = "## What others say is a claim\n"

# What reads a source of others.
READS = re.compile(
    r"RNA_ROOT_OF_PROCESS|\"proc/%[us]/(?!ns/)|/proc/%u/environ|<lldpctl\.h>|"      # processes, lldpd
    r"\brna_https_(ask|new|client)\w*\(|\bcurl_easy_perform|\bres_n?(query|search)|"  # HTTP, DNS
    r"\b(accept4?|recv|recvmsg|recvfrom|connect)\((?!\))|\bumad_recv\(|"              # sockets, MADs
    r"\bibv_(start_poll|poll_cq)\(|\"dev/kmsg\"|\bsd_journal_open\w*\(|"              # queues, logs
    r"\"(var/log/(pods|containers)|var/lib/kubelet/|etc/(containerd|crio|docker)/)")   # files
# Files that match and read nothing of others, and what they read instead.
OWN = {
    "agent/cli/control_client.c": "the agent, which a socket in its own directory leads to",
    "agent/core/base/unix_socket.c": "opens sockets for others",
    "collectors/attempts/attempt_node.c": "tries whether files can be read",
    "collectors/backend/monitor.c": "netlink",
    "collectors/loopback/bandwidth_child.c": "the agent's own child",
    "collectors/loopback/loopback_child.c": "the agent's own child",
    "collectors/loopback/queue_pairs.c": "completions of the agent's own writes",
    "collectors/prober/prober.c": "its parent",
    "collectors/prober/prober_child.c": "the agent's own child",
    "collectors/readiness.c": "whether the kernel log can be read",
    "collectors/record/contents.c": "which files a recording keeps",
    "exporter/http/connections.c": "whether a client has gone",
    "exporter/http/http.c": "whether a client has gone",
    "exporter/http/tls_relay.c": "clients, for libmicrohttpd",
}
FUNCTION = re.compile(r"\b(test_\w+)\b")
SUITE = re.compile(r"`(vm-[a-z-]+)`")
TARGET = re.compile(r"fuzz targets? `(\w+)`(?: and `(\w+)`)?")


def rows(text):
    """The cells of each row of the table."""
    section = text.partition(HEADING)[2].partition("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[1:]]


def readers():
    """The files that read a source of others."""
    return {str(path.relative_to(ROOT)) for top in ("agent", "collectors", "exporter")
            for path in (ROOT / top).rglob("*.c") if READS.search(path.read_text(encoding="utf-8"))}


def check_files(table):
    listed = {name for row in table for name in re.findall(r"`([\w/]+\.c)`", row[1])}
    found = readers()
    yield from (f"{name} reads what others say and is in no row of the table"
                for name in sorted(found - listed - set(OWN)))
    yield from (f"{name} is in the table and does not exist"
                for name in sorted(listed) if not (ROOT / name).exists())
    yield from (f"{name} is an exception of tests/docs/claims.py that is not needed"
                for name in sorted(set(OWN) - found))


def known_tests():
    names = set()
    for pattern in ("*.c", "*.py"):
        for path in (ROOT / "tests").rglob(pattern):
            names.update(re.findall(r"\b(?:void|def) (\w+)\(", path.read_text(encoding="utf-8")))
            names.update(re.findall(r"^class (\w+)", path.read_text(encoding="utf-8"), re.M))
    return names


def check_tests(text):
    text = re.sub(r"`[\w/]+\.c`", "", text)
    known = known_tests()
    suites = re.findall(r"^\t(\S+) +(?:default|all|named)", (ROOT / "check").read_text(encoding="utf-8"), re.M)
    targets = {path.name for path in (ROOT / "tests/fuzz/corpus").iterdir()}
    units = {path.stem for path in (ROOT / "tests/unit").rglob("test_*.c")}
    units |= {path.stem for path in (ROOT / "tests").rglob("test_*.py")}
    yield from (f"there is no test {name}"
                for name in sorted(set(FUNCTION.findall(text)) - known - units))
    classes = {name for row in rows(text) for name in re.findall(r"`([A-Z]\w+)`", row[4])}
    yield from (f"there is no test {name}" for name in sorted(classes - known))
    yield from (f"there is no suite {name}" for name in sorted(set(SUITE.findall(text)) - set(suites)))
    yield from (f"there is no fuzz target {name}" for pair in TARGET.findall(text) for name in pair
                if name and name not in targets)


def problems():
    """Yields what is wrong with the page."""
    text = PAGE.read_text(encoding="utf-8")
    table = rows(text)
    if not table:
        yield f'systemd/security.md has no table behind "{HEADING.strip()}"'
    yield from (f"{row[0]}: a row has five cells, and tests" for row in table
                if len(row) != 5 or not row[4])
    yield from check_files(table)
    yield from check_tests(text)
