#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The version and the addresses of the project, which other files have to repeat.

    project.py                           print the version, or what differs
    project.py --update                  write the addresses of meson_options.txt into the other files
    project.py --version VERSION [DATE]  write another version into all files; DATE (2026-12-24): it is
                                         released. The changelogs get a section, if their first one is
                                         released; else that is renamed

meson.build has the version, the defaults of meson_options.txt are the addresses. While one is empty,
packaging and documents say that the program is from your own build.
"""
import datetime
import email.utils
import pathlib
import re
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCE = "meson.build", r"^    version: '(.*)',$"
OPTIONS = "meson_options.txt", r"^option\('(project_url|project_contact|image_repository)', type: 'string', value: '(.*)',$"
# What an address may be: each has to fit into all places below.
FORMS = {"project_url": r"https://[\w./~%-]+", "project_contact": r"[^<>:#\"'\\]+ <[^<>\s\"'\\]+@[^<>\s\"'\\]+>",
         "image_repository": r"[\w.-]+(:\d+)?(/[a-z0-9._-]+)+"}
# Files, and where in them the version is. The first place counts in the changelogs.
COPIES = [
    ("CHANGELOG.md", r"\A(?:.*\n)*?## (\S+) \("),
    ("README.md", r"/rdma-node-agent:(\S+)"),
    ("README.md", r"rdma-node-agent-([\d.]+\d)"),
    ("debian/changelog", r"\A\S+ \((.*?)\)"),
    ("helm/Containerfile", r"/rdma-node-agent:(\S+)"),
    ("helm/README.md", r"rdma-node-agent[:-](\d[\d.]+\d)"),
    ("helm/README.md", r"VERSION=(\S+)"),
    ("helm/rdma-node-agent/Chart.yaml", r"^version: (.*)$"),
    ("helm/rdma-node-agent/Chart.yaml", r"^appVersion: (.*)$"),
    ("helm/rdma-node-agent/README.md", r"/rdma-node-agent:(\S+)"),
    ("systemd/README.md", r"rdma-node-agent-([\d.]+\d)"),
    ("rdma-node-agent.spec", r"^Version: +(.*)$"),
    ("rdma-node-agent.spec", r"^%changelog\n\* .* - (.*)-\d+$"),
]
# The first section of each changelog, and a new one.
SECTIONS = [
    ("CHANGELOG.md", r"^## .*\n", "## {version} ({state})\n"),
    ("debian/changelog", r"\A\S+ .*\n(?:\n?  .*\n)*\n -- .*\n",
     "rdma-node-agent ({version}) {suite}; urgency=medium\n\n  * See CHANGELOG.md.\n\n"
     " -- {maintainer}  {time}\n"),
    ("rdma-node-agent.spec", r"(?<=^%changelog\n)\* .*\n- .*\n",
     "* {day} {maintainer} - {version}-1\n- See CHANGELOG.md.\n"),
]


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


def found(name, pattern):
    return re.findall(pattern, read(name), re.M)


def version():
    return found(*SOURCE)[0]


# -- Addresses ------------------------------------------------------------------------------------

def addresses():
    """The options with their defaults."""
    return dict(found(*OPTIONS))


def lines(*rows):
    """A line for each row, of which the last part is an address, if there is one."""
    return "".join(f"{before}{address}\n" for before, address in rows if address)


def paragraph(text):
    return textwrap.fill(text, 100, break_on_hyphens=False) + "\n"


def maintainer(url, contact, image):
    return contact or "your own build <>"  # Debian's packages must have one


def control(url, contact, image):
    return lines(("Maintainer: ", maintainer(url, contact, image)), ("Homepage: ", url))


def source(url, contact, image):
    return lines(("Upstream-Contact: ", contact), ("Source: ", url))


def tags(url, contact, image):
    return lines(("URL:            ", url), ("Packager:       ", contact))


def chart(url, contact, image):
    name, address = email.utils.parseaddr(contact)
    return lines(("home: ", url), ("maintainers: ", contact and f"[{{name: {name}, email: {address}}}]"))


def label(url, contact, image):
    return lines(("      org.opencontainers.image.url=", url and f'"{url}" \\'))


def values(url, contact, image):
    own = "" if image else " It comes from your own build, of helm/Containerfile, in your own registry."
    return f"  # Image name.{own}\n  repository: {image or 'rdma-node-agent'}\n"


def install(url, contact, image):
    if not url:
        return paragraph("No release is published: packages and image come from your own build, in a checkout on "
                         "Debian 12 or in a container.")
    return paragraph(f"Releases are at {url}. This builds the same in a checkout, on Debian 12 or in a container.")


def image_of(url, contact, image):
    if not image:
        return paragraph("The image comes from your own build. Push it to a registry that your nodes can reach:")
    return paragraph(f"The image is `{image}`. For one of your own, build it, push it to a registry that your "
                     "nodes can reach, and name it in `image.repository`:")


def report(url, contact, image):
    whom = contact or "those who built the agent: your own build names no other address"
    return paragraph("Report vulnerabilities privately, so that nodes can be fixed before the problem becomes "
                     f"public, to {whom}. Do not open a public issue. Please include")


# Files, where in them something about the addresses is, and what.
PLACES = [
    ("README.md", r"^## Install\n\n(.*?\n)\n", install),
    ("SECURITY.md", r"^## How to report\n\n(.*?\n)\n", report),
    ("debian/changelog", r"\A.*?^ -- (.*?)  \w", maintainer),
    ("debian/control", r"^Priority: optional\n(.*?)^Build-Depends:", control),
    ("debian/copyright", r"^Upstream-Name: \S+\n(.*?)\nFiles:", source),
    ("helm/Containerfile", r'^ +org\.opencontainers\.image\.licenses=\S+ \\\n(.*?)^ +\S+\.version=', label),
    ("helm/rdma-node-agent/Chart.yaml", r"^kubeVersion: [^\n]*\n(.*?)^keywords:", chart),
    ("helm/rdma-node-agent/README.md", r"^## Install\n\n(.*?\n)\n", image_of),
    ("helm/rdma-node-agent/values.yaml", r'^  registry: ""\n(.*?)^  # Image tag', values),
    ("rdma-node-agent.spec", r"^License: [^\n]*\n(.*?)^Source0:", tags),
    ("rdma-node-agent.spec", r"^%changelog\n\* \w+ \w+ \d+ \d+ (.*?) - ", maintainer),
]


def expected(name, text):
    """The text of a file, with the addresses of meson_options.txt."""
    for _, pattern, content in (place for place in PLACES if place[0] == name):
        match = re.search(pattern, text, re.M | re.S)
        if not match:
            sys.exit(f"{name}: has no place for the project's addresses: {pattern}")
        text = text[:match.start(1)] + content(*addresses().values()) + text[match.end(1):]
    return text


FILES = sorted({name for name, _, _ in PLACES})


def update():
    for name in FILES:
        (ROOT / name).write_text(expected(name, read(name)), encoding="utf-8")


# -- Version --------------------------------------------------------------------------------------

def write_version(new, day):
    """Into all files, and as the first section of the changelogs, of this day or not released."""
    stale = "(not released)" in re.search(r"^## .*", read("CHANGELOG.md"), re.M)[0]
    now = datetime.datetime.combine(day or datetime.date.today(), datetime.time(12), datetime.timezone.utc)
    for name, pattern, form in SECTIONS:
        text = read(name)
        first = re.search(pattern, text, re.M)
        section = form.format(
            version=new, state=day or "not released", suite="unstable" if day else "UNRELEASED",
            maintainer=maintainer(*addresses().values()), day=f"{now:%a %b %d %Y}",
            time=email.utils.format_datetime(now))
        rest = "" if stale else f"\n{first[0]}"
        (ROOT / name).write_text(text[:first.start()] + section + rest + text[first.end():], encoding="utf-8")
    for name, pattern in [SOURCE, *COPIES]:
        text = re.sub(pattern, lambda match: match[0].replace(match[1], new), read(name), flags=re.M)
        (ROOT / name).write_text(text, encoding="utf-8")


# -- All ------------------------------------------------------------------------------------------

def problems():
    """Yields what has another version than meson.build, or other addresses than meson_options.txt."""
    for name, pattern in COPIES:
        versions = set(found(name, pattern))
        if versions != {version()}:
            yield (f"{name}: has version {' and '.join(sorted(versions)) or 'none'} where "
                   f"meson.build has {version()}")
    for option, value in addresses().items():
        if value and not re.fullmatch(FORMS[option], value):
            yield f"{OPTIONS[0]}: {option} is '{value}', which does not match {FORMS[option]}"
    for name in FILES:
        if expected(name, read(name)) != read(name):
            yield f"{name}: has not the addresses of {OPTIONS[0]}: tests/docs/project.py --update"


def main():
    match sys.argv[1:]:
        case []:
            wrong = list(problems())
            print(*wrong or [version()], sep="\n")
            return 1 if wrong else 0
        case ["--update"]:
            return update()
        case ["--version", new, *day] if re.fullmatch(r"\d+\.\d+\.\d+", new) and len(day) < 2:
            return write_version(new, day and datetime.date.fromisoformat(day[0]))
    return __doc__


if __name__ == "__main__":
    sys.exit(main())
