#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the source to the shape of the architecture.

Folders: who may include what. Libraries: each third-party hardware or format library in one file.
Functions: none over 80 lines, those over 50 are listed.
"""
import os
import re
import sys
from collections import defaultdict

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# Folder -> what its own ("quoted") headers may begin with; a name without a slash is of the folder.
FOLDERS = {
    "include/rna": ("rna/",),
    "agent/core": ("rna/",),
    "collectors": ("rna/", "collectors_config.h"),
    "exporter": ("rna/",),
    "agent": ("rna/", "agent_config.h"),
}

# Headers that one file alone may include, wherever it stands; a family of headers ends in a slash
# and belongs to one file as a whole.
ONE_FILE = ("infiniband/verbs.h", "infiniband/umad.h", "infiniband/mad.h", "netlink/", "rdma/",
            "hwloc.h", "lldpctl.h", "microhttpd.h", "libdeflate.h", "yaml.h", "curl/", "gnutls/",
            "crypt.h", "seccomp.h")
# Verbs are asked for state in the agent, and move data in a child process. Netlink has the kernel's
# own families in one file, and ethtool's, which is generic, in another. The layouts of MADs are read
# by topic, and one file sends them.
MORE_FILES = {"infiniband/verbs.h": {"collectors/verbs.c", "collectors/loopback_verbs.c"},
              "netlink/": {"collectors/netlink.c", "collectors/ethtool.c"},
              "infiniband/mad.h": {"collectors/mad_session.c", "collectors/mad.c",
                                   "collectors/mad_fabric.c"}}
# JSON goes out of the program in exporter/, and agent/ reads and writes its own files in it: two
# folders that never see each other, and one file in each.
ONE_FILE_A_FOLDER = ("jansson.h",)
SYSTEMD = ("agent/", "exporter/http.c")

LINES_LISTED, LINES_FORBIDDEN = 50, 80
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


def check_folders(path, problems):
    folder = max((f for f in FOLDERS if path.startswith(f + "/")), key=len)
    for number, quoted, header in includes(path):
        own = "/" not in header and os.path.exists(os.path.join(ROOT, folder, header))
        if quoted and not own and not header.startswith(FOLDERS[folder]):
            problems.append(f'{path}:{number}: {folder}/ may not include "{header}"')
        if header.startswith("systemd/") and not path.startswith(SYSTEMD):
            problems.append(f"{path}:{number}: <{header}> belongs to agent/ and exporter/http.c")


def check_libraries(paths, problems):
    users = defaultdict(list)
    for path in paths:
        for header in {next((o for o in ONE_FILE if h.startswith(o)), None)
                       for _, _, h in includes(path)} - {None}:
            users[header].append(path)
        for header in {h for _, _, h in includes(path)}.intersection(ONE_FILE_A_FOLDER):
            users[f"{header} in {os.path.dirname(path)}"].append(path)
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
    for path in paths:
        check_folders(path, problems)
        check_functions(path, problems)
    check_libraries(paths, problems)
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"{len(paths)} files, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
