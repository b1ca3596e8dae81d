#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The version of the project. meson.build has it; other files have to repeat it. As a program it prints
the version, or what does not have it."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCE = "meson.build", r"^    version: '(.*)',$"
# Files, and where in them the version is. The first place counts in the changelogs.
COPIES = [
    ("CHANGELOG.md", r"\A(?:.*\n)*?## (\S+) \("),
    ("README.md", r"/rdma-node-agent:(\S+)"),
    ("README.md", r"rdma-node-agent-([\d.]+\d)"),
    ("debian/changelog", r"\A\S+ \((.*?)\)"),
    ("helm/Containerfile", r"/rdma-node-agent:(\S+)"),
    ("helm/rdma-node-agent/Chart.yaml", r"^version: (.*)$"),
    ("helm/rdma-node-agent/Chart.yaml", r"^appVersion: (.*)$"),
    ("systemd/README.md", r"rdma-node-agent-([\d.]+\d)"),
    ("rdma-node-agent.spec", r"^Version: +(.*)$"),
    ("rdma-node-agent.spec", r"^%changelog\n\* .* - (.*)-\d+$"),
]


def found(name, pattern):
    return re.findall(pattern, (ROOT / name).read_text(encoding="utf-8"), re.M)


def version():
    return found(*SOURCE)[0]


def problems():
    """Yields what has another version than meson.build."""
    for name, pattern in COPIES:
        versions = set(found(name, pattern))
        if versions != {version()}:
            yield (f"{name}: has version {' and '.join(sorted(versions)) or 'none'} where "
                   f"meson.build has {version()}")


def main():
    wrong = list(problems())
    print(*wrong or [version()], sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
