#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the source follows the architecture.

Rooms: which room may include which; the arrows run one way. Names: each base name, each tag of a
struct and each prefix of an enum occurs once. Comments: the files that they name are there. Libraries:
each third-party hardware or format library in one file. The map lists rooms and threads. Functions:
none over 80 lines, those over 50 are listed. Collectors: the loop names none. Standard streams: two
files write to them. Section headings have one style; clang-format sorts the includes.
"""
import os
import re
import sys
from collections import defaultdict

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# Room -> the rooms whose headers it may include beside its own. The arrows run one way: a room may
# only name rooms that stand above it here, and a test below holds this table itself to that. Rooms
# of include/rna/ come first; "rna" is the top of it: the doors from folder to folder.
BASE = ("rna/base",)
MODEL = (*BASE, "rna/model")
COLLECTOR = (*MODEL, "rna/collector.h")
EXPORTER = (*MODEL, "rna/exporter.h")
ROOMS = {
    "include/rna/base": (),
    "include/rna/model": BASE,
    "include/rna": MODEL,
    "agent/core/base": BASE,
    "agent/core/model": MODEL,

    "collectors/parse": COLLECTOR,
    "collectors/backend": (*COLLECTOR, "rna/monitor.h", "rna/verbs_events.h", "parse"),
    "collectors/loopback": (*MODEL, "rna/bandwidth.h", "backend", "parse"),
    "collectors/prober": (*MODEL, "rna/prober.h", "backend", "parse"),
    # The list of collectors, collectors.h, is the door of the folder; table.c calls what it lists.
    "collectors/topology": (*COLLECTOR, "collectors.h", "backend", "parse"),
    "collectors/processes": (*COLLECTOR, "parse"),
    "collectors/attempts": (*COLLECTOR, "rna/attempts.h", "rna/monitor.h", "backend", "parse",
                            "processes"),
    "collectors": (*COLLECTOR, "backend", "parse", "processes"),
    "collectors/record": (*COLLECTOR, "rna/record.h", "", "backend", "parse"),

    "exporter/view": MODEL,
    "exporter/metrics": (*EXPORTER, "view"),
    "exporter/json": (*EXPORTER, "rna/check.h", "view", "metrics"),
    "exporter/text": (*EXPORTER, "rna/check.h", "rna/kubernetes.h", "view", "metrics", "json"),
    "exporter/page": (*EXPORTER, "view", "metrics"),
    "exporter/env": (*EXPORTER, "view", "json"),
    "exporter/kubernetes": (*MODEL, "rna/https.h", "rna/kubernetes.h", "view", "json", "env"),
    "exporter/http": (*EXPORTER, "rna/web.h", "view", "metrics"),

    "agent/settings": MODEL,
    "agent/memory": (*MODEL, "settings"),
    "agent/selftest": (*MODEL, "settings", "memory"),
    "agent/mesh": (*MODEL, "rna/https.h", "rna/kubernetes.h"),
    "agent/probe": (*MODEL, "rna/prober.h", "settings", "selftest", "mesh"),
    "agent/bandwidth": (*MODEL, "rna/bandwidth.h", "settings", "memory", "selftest", "mesh",
                        "probe"),
    "agent/baseline": MODEL,
    "agent/episodes": (*MODEL, "settings"),
    "agent/rules": (*MODEL, "settings", "memory", "selftest", "baseline", "episodes"),
    "agent/health": (*MODEL, "settings", "baseline", "episodes", "rules"),
    "agent/config": (*MODEL, "rna/collector.h", "rna/kubernetes.h", "rna/web.h", "settings",
                     "memory", "selftest", "mesh", "probe", "baseline", "rules"),
    "agent/node": (*MODEL, "rna/kubernetes.h", "settings", "memory", "rules"),
    "agent/loop": (*EXPORTER, "rna/collector.h", "rna/kubernetes.h", "rna/monitor.h",
                   "rna/verbs_events.h", "settings", "memory", "selftest", "probe", "bandwidth",
                   "baseline", "rules", "health", "config", "node"),
    "agent/doctor": (*MODEL, "rna/attempts.h", "rna/collector.h", "rna/kubernetes.h", "rna/prober.h",
                     "settings", "memory", "probe", "rules", "config", "node", "loop"),
    "agent/cli": (*EXPORTER, "rna/attempts.h", "rna/check.h", "rna/collector.h", "rna/https.h", "rna/kubernetes.h",
                  "rna/record.h", "settings", "memory", "selftest", "mesh", "probe", "baseline", "rules",
                  "config", "node", "loop", "doctor"),
    "agent": ("rna/model", "rna/bandwidth.h", "rna/prober.h", "cli"),
}
GENERATED = ("agent_config.h", "collectors_config.h", "rna/base/project.h")

# Headers that one file alone may include, wherever it stands; a family of headers ends in a slash
# and belongs to one file as a whole.
ONE_FILE = ("infiniband/verbs.h", "infiniband/umad.h", "infiniband/mad.h", "netlink/", "rdma/",
            "hwloc.h", "lldpctl.h", "microhttpd.h", "libdeflate.h", "yaml.h", "curl/", "gnutls/",
            "crypt.h", "seccomp.h", "jansson.h", "resolv.h", "arpa/nameser.h")
# Verbs are asked for state in the agent, and move data in two child processes. Netlink has its
# sockets in one file, and its messages in another. The layouts of MADs are read by topic, and one file
# sends them. GnuTLS has credentials in one file, sessions of clients in another,
# and handles secrets in a third.
MORE_FILES = {"infiniband/verbs.h": {"collectors/backend/verbs.c", "collectors/loopback/queue_pairs.c",
                                     "collectors/prober/probe_port.c"},
              "gnutls/": {"exporter/http/web.c", "exporter/http/tls_relay.c",
                          "agent/core/base/secret.c"},
              "netlink/": {"collectors/backend/netlink.c", "collectors/parse/message.h"},
              "infiniband/mad.h": {"collectors/backend/mad_session.c", "collectors/backend/mad.c",
                                   "collectors/backend/mad_fabric.c"}}
LOOP = "agent/loop/"
SYSTEMD = ("agent/", "collectors/backend/journal.c", "exporter/http/http.c", "exporter/http/listen.c",
           "exporter/http/requests.c")

# What is written to the standard streams goes through these, which replace control characters in the
# texts of others.
SINKS = ("agent/cli/output.c", "agent/core/base/log.c")
# A stream of stdio, a function that needs none named, or one that gets the descriptor.
STREAMS = re.compile(r"\b(?:stdout|stderr)\b|\b(?:v?printf|puts|putchar(?:_unlocked)?|perror|psignal|"
                     r"psiginfo|v?dprintf)\s*\(|\b(?!isatty\b)\w+\(\s*STD(?:OUT|ERR)_FILENO\b|"
                     r"\b(?:\w*write\w*|fdopen|sendfile|splice)\(\s*[12]\b")
# Code, and whether it writes: main() asks the check itself.
WRITES = (('printf("%s", text);', True), ("(void)fputs(text, stdout);", True), ("puts(text);", True),
          ("fprintf(stderr, text);", True), ("write(STDOUT_FILENO, text, len);", True),
          ("rna_file_write_all(\n\tSTDERR_FILENO, text, len);", True), ("write(2, text, len);", True),
          ("vdprintf(fd, format, args);", True), ("putchar('\\n');", True), ("perror(path);", True),
          ("snprintf(text, size, format);", False), ("rna_strbuf_puts(out, text);", False),
          ("isatty(STDERR_FILENO)", False), ("/* stdout: puts(text) */", False), ('"printf(1)"', False),
          ("fd <= STDERR_FILENO", False), ("write(fd, text, 1);", False))
COMMENTS_AND_TEXTS = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\])*"', re.S)

LINES_LISTED, LINES_FORBIDDEN = 50, 80
FILES_IN_A_ROOM = 45
CHECKED = ("include", "agent", "collectors", "exporter")


def sources():
    for folder in CHECKED:
        for directory, _, files in os.walk(os.path.join(ROOT, folder)):
            for name in sorted(files):
                if name.endswith((".c", ".h")):
                    yield os.path.relpath(os.path.join(directory, name), ROOT)


def includes(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            match = re.match(r'\s*#\s*include\s+([<"])([^>"]+)[>"]', line)
            if match:
                yield number, match[1] == '"', match[2]


def room_of(header, room):
    """Where a "quoted" header lies, as ROOMS has it, and the header as a row may name it."""
    folder = room.split("/", 1)[0]
    if header.startswith("rna/"):
        return os.path.dirname(header), header
    if os.path.exists(os.path.join(ROOT, room, header)):
        return None, header  # its own room's
    return os.path.dirname(header) if "/" in header else "", header


def check_includes(path, problems):
    room = os.path.dirname(path)
    if room not in ROOMS:
        problems.append(f"{path}: {room}/ is no room: add it to ROOMS, below the rooms that it needs")
        return
    for number, quoted, header in includes(path):
        if quoted and header not in GENERATED:
            other, name = room_of(header, room)
            own = other is None or "include/" + other == room
            if not own and other not in ROOMS[room] and name not in ROOMS[room]:
                problems.append(f'{path}:{number}: {room}/ may not include "{header}"')
        if header.startswith("systemd/") and not path.startswith(SYSTEMD):
            problems.append(f"{path}:{number}: <{header}> belongs to agent/, to journal.c of "
                            "collectors/backend, and to http.c, listen.c and requests.c of exporter/http")


def check_arrows(problems):
    """A room stands below all rooms of its folder that it may include."""
    seen = set()
    for room, others in ROOMS.items():
        folder = room.split("/", 1)[0]
        for other in others:
            full = other if other.startswith("rna/") else os.path.join(folder, other).rstrip("/")
            full = "include/" + full if full.startswith("rna/") else full
            if not full.endswith(".h") and full not in seen:
                problems.append(f"ROOMS: {room}/ may include {full}/, which stands below it")
        seen.add(room)


def check_names(paths, problems):
    """One base name occurs once in the tree, so that a name says which file is meant."""
    places = defaultdict(list)
    for path in paths:
        places[os.path.basename(path)].append(path)
    for name, files in sorted(places.items()):
        if len(files) > 1:
            problems.append(f"{name} occurs more than once: {', '.join(files)}")


def check_size(paths, problems):
    sizes = defaultdict(int)
    for path in paths:
        sizes[os.path.dirname(path)] += 1
    for room, count in sorted(sizes.items()):
        if count > FILES_IN_A_ROOM:
            problems.append(f"{room}/ has {count} files, {FILES_IN_A_ROOM} at most: divide it")


RULER = 100


def check_rulers(path, problems):
    """Sections have one style of heading: /* -- Title ---...--- */, as wide as a line may be."""
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            line = line.rstrip("\n")
            if re.match(r"\s*/\*\s*(--|==|\*\*)", line) and not (
                    re.fullmatch(r"\s*/\* -- \S.*\S -+( \*/)?", line)
                    and len(line.expandtabs(8)) == RULER):
                problems.append(f"{path}:{number}: a section heading is /* -- Title --- */, "
                                f"{RULER} columns wide")


def check_collectors(path, problems):
    """The loop knows collectors by the columns of their table, and none of them by name."""
    if not path.startswith(LOOP):
        return
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            for name in re.findall(r"\bRNA_COLLECTOR_(?!COUNT\b)[A-Z_]+|\bRNA_OF\(\w+\)", line):
                problems.append(f"{path}:{number}: {LOOP} may not name {name}: what it needs to "
                                "know of a collector is a column of collectors/table.c")


def writes_to_streams(text):
    """Yields the line and the words of what writes to a standard stream."""
    code = COMMENTS_AND_TEXTS.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
    for match in STREAMS.finditer(code):
        yield code.count("\n", 0, match.start()) + 1, match[0]


def check_streams(path, problems):
    if path in SINKS:
        return
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        for number, words in writes_to_streams(file.read()):
            problems.append(f"{path}:{number}: {words}: use rna_output() or rna_log(), which replace "
                            "control characters in texts of others")


def check_stream_check(problems):
    for code, wanted in WRITES:
        if bool(list(writes_to_streams(code))) != wanted:
            problems.append(f"STREAMS: {code} is taken for what it is not")


def check_tags(paths, problems):
    """A type that other files may name has a name of its own, and so has the prefix of an enum."""
    tags, prefixes = defaultdict(set), defaultdict(set)
    for path in paths:
        if not path.endswith(".h"):
            continue
        with open(os.path.join(ROOT, path), encoding="utf-8") as file:
            text = file.read()
        for tag in re.findall(r"^(?:struct|union|enum) (rna_\w+) \{", text, re.M):
            tags[tag].add(path)
        for body in re.findall(r"^enum rna_\w+ \{(.*?)^\}", text, re.M | re.S):
            names = re.findall(r"^\t(RNA_\w+)", body, re.M)
            prefixes[os.path.commonprefix(names).rpartition("_")[0]].add(path)
    for name in "RNA", "":  # constants that have no word in common
        prefixes.pop(name, None)
    for name, places in sorted((tags | prefixes).items()):
        if len(places) > 1:
            problems.append(f"{name} is defined by more than one header: {', '.join(sorted(places))}")


COMMENTS = re.compile(r"/\*.*?\*/|(?://[^\n]*\n\s*)+", re.S)
FILE_NAME = re.compile(r"(?<![\w/<.-])((?:agent|collectors|exporter|include|tests)/[\w/]*)?[a-z]\w*\.[ch]\b(?![.>])")
# A comment that quotes another project may name its files without their folder.
QUOTES = re.compile(r"Linux|Alibaba|NVSHMEM|NCCL|rxe|\b(?!agent|collectors|exporter|include|tests|rna)\w+/\w[\w/]*\.[ch]\b")


def check_comments(path, known, problems):
    """Files that comments name are there, and the star of a line stands apart from its text."""
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        text = file.read()
    for comment in COMMENTS.finditer(text):
        line = text.count("\n", 0, comment.start()) + 1
        for number, words in enumerate(comment[0].split("\n")):
            if re.match(r"\s+\*[^\s/]|\s+\*\s+\*\s", words):
                problems.append(f"{path}:{line + number}: a star without a blank, or two: {words.strip()}")
        if QUOTES.search(comment[0]):
            continue
        for name in FILE_NAME.finditer(comment[0]):
            if os.path.basename(name[0]) not in known:
                problems.append(f"{path}:{line}: the comment names {name[0]}, which is not there")


THREAD = re.compile(r"(?:\.name = |rna_thread_start\([^;]*?, )\"(rna-[a-z-]+)\"", re.S)


def check_map(paths, problems):
    """The map lists each room, and each thread and process by what top(1) shows."""
    with open(os.path.join(ROOT, "include/rna/README.md"), encoding="utf-8") as file:
        listed = file.read()
    for room in ROOMS:
        if room != "agent" and f"`{room}`" not in listed:
            problems.append(f"include/rna/README.md does not list the room {room}")
    for path in paths:
        with open(os.path.join(ROOT, path), encoding="utf-8") as file:
            for name in THREAD.findall(file.read()):
                if f"`{name}`" not in listed:
                    problems.append(f"{path}: include/rna/README.md does not list the thread {name}")


def check_libraries(paths, problems):
    users = defaultdict(list)
    for path in paths:
        for header in {next((o for o in ONE_FILE if h.startswith(o)), None)
                       for _, _, h in includes(path)} - {None}:
            users[header].append(path)
    for header, files in sorted(users.items()):
        if len(files) > 1 and set(files) != MORE_FILES.get(header):
            problems.append(f"<{header}> is included by {', '.join(files)}: one file only")


def functions(path):
    """Yields (line, name, length). Our layout has the braces of a function in the first column."""
    start, name = 0, "?"
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            head = re.match(r"[A-Za-z_].*?(\w+)\(", line)
            if head and not line.startswith("#"):
                name = head[1]
            if line.startswith("{"):
                start = number
            elif line.startswith("}") and start:
                yield start, name, number - start + 1
                start = 0


def check_functions(path, problems):
    for number, name, length in functions(path):
        if length > LINES_FORBIDDEN:
            problems.append(f"{path}:{number}: {name}() has {length} lines, {LINES_FORBIDDEN} is the end")
        elif length > LINES_LISTED:
            print(f"{path}:{number}: {name}() has {length} lines: think")


def main():
    paths, problems = list(sources()), []
    known = {name for _, _, names in os.walk(ROOT) for name in names}
    for path in paths:
        check_comments(path, known, problems)
        check_includes(path, problems)
        check_rulers(path, problems)
        check_collectors(path, problems)
        check_streams(path, problems)
        check_functions(path, problems)
    check_stream_check(problems)
    check_arrows(problems)
    check_names(paths, problems)
    check_tags(paths, problems)
    check_size(paths, problems)
    check_libraries(paths, problems)
    check_map(paths, problems)
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"{len(paths)} files, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
