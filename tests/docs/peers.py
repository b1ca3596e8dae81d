# SPDX-License-Identifier: Apache-2.0
"""The comparison with other health checkers, for check-docs.py: makes the tables of
agent/rules/peers.md from peers.yaml beside it, and compares that file with the tables of the code.
"""
import pathlib

import yaml

DATA = pathlib.Path(__file__).resolve().parents[2] / "agent/rules/peers.yaml"
ANSWERS = ("yes", "partly", "no")
# What a check may name: key of the file -> what it is called in the tables.
REFERENCES = {"rules": "", "thresholds": "threshold ", "metrics": "", "profile": "profile key ",
              "settings": "setting ", "commands": "command "}
KEYS = {"check", "source", "answer", "note", *REFERENCES}
PEER_KEYS = {"name", "repository", "page", "commit", "date", "scope", "checks"}


def peers():
    """Everything is text, also yes and no."""
    return yaml.load(DATA.read_text(encoding="utf-8"), Loader=yaml.BaseLoader)["peers"]


def as_list(value):
    return value if isinstance(value, list) else [value]


# -- Tables ----------------------------------------------------------------------------------------


def origin(peer):
    """Link to what was read."""
    if "page" in peer:
        return f"[{peer['page'].removeprefix('https://')}]({peer['page']})"
    return (f"[{peer['repository']}](https://github.com/{peer['repository']}) at "
            f"{peer['commit'][:12]}")


def source_links(peer, check):
    if "source" not in check:
        return ""
    if "repository" not in peer:
        return ", ".join(f"`{path.rsplit('/', 1)[-1]}`" for path in as_list(check["source"]))
    place = f"https://github.com/{peer['repository']}/blob/{peer['commit']}"
    return ", ".join(f"[{path.rsplit('/', 1)[-1]}]({place}/{path})"
                     for path in as_list(check["source"]))


def names(check):
    return ", ".join(f"{word}`{name}`" for key, word in REFERENCES.items()
                     for name in check.get(key, []))


def row(*cells):
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"


def head(*cells):
    return row(*cells) + "|" + "---|" * len(cells) + "\n"


def summary(listed):
    yield head("Project", "Read", "Checks", *ANSWERS)
    for peer in listed:
        answers = [check["answer"] for check in peer["checks"]]
        counts = (str(answers.count(answer) or "") for answer in ANSWERS)
        yield row(peer["name"], f"{origin(peer)}, {peer['date']}", str(len(answers)), *counts)


def section(peer):
    yield f"\n## {peer['name']}\n\n"
    yield from (f"{line}\n" for line in wrapped(peer["scope"]))
    yield "\n" + head("Check", "Here", "By", "Difference, or reason", "Source")
    for check in peer["checks"]:
        yield row(check["check"], check["answer"], names(check), check.get("note", ""),
                  source_links(peer, check))


def wrapped(text):
    line = ""
    for word in text.split():
        if line and len(line) + 1 + len(word) > 100:
            yield line
            line = word
        else:
            line = f"{line} {word}".strip()
    yield line


def table():
    listed = peers()
    return "".join([*summary(listed), *(text for peer in listed for text in section(peer))])


# -- Problems --------------------------------------------------------------------------------------


def of_answer(check):
    """Yields what an answer lacks: one that claims something names it, others give a reason."""
    answer = check.get("answer")
    if answer not in ANSWERS:
        yield f"answer {answer!r} is none of {', '.join(ANSWERS)}"
    if answer in ("yes", "partly") and not names(check):
        yield f"answer {answer} without a rule, metric or command"
    if answer in ("partly", "no") and not check.get("note"):
        yield f"answer {answer} without a reason"


def of_check(check, known):
    yield from of_answer(check)
    for key in set(check) - KEYS:
        yield f"unknown key {key}"
    for key in REFERENCES:
        for name in check.get(key, []):
            if name not in known[key]:
                yield f"{name}: no such thing among {key}"


def of_peer(peer, known):
    missing = {"name", "date", "scope", "checks"} - set(peer)
    missing |= set() if "page" in peer else {"repository", "commit"} - set(peer)
    if missing or set(peer) - PEER_KEYS:
        yield f"{', '.join(sorted(missing ^ (set(peer) - PEER_KEYS)))}: missing or unknown"
    seen = set()
    for check in peer["checks"]:
        if check["check"] in seen:
            yield f"{check['check']}: twice"
        seen.add(check["check"])
        if "source" not in check and "page" not in peer:
            yield f"{check['check']}: no source"
        for problem in of_check(check, known):
            yield f"{check['check']}: {problem}"


def problems(known):
    """Yields what is wrong with the file; known: for each key of REFERENCES the names there are."""
    for peer in peers():
        for problem in of_peer(peer, known):
            yield f"{DATA.name}: {peer.get('name')}: {problem}"
