#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""fill.py TEMPLATE TABLES - writes a man page or the bash completion to stdout.

TEMPLATE is prose (man(7) or bash) in which @NAME@ stands for what the program's tables say. TABLES
is the output of "rdma-node-agent describe json", "-" for stdin. The ending of TEMPLATE says whether
NAME is looked up in MANUAL or in COMPLETION.
"""
import json
import re
import sys


# -- man(7) ----------------------------------------------------------------------------------------

def plain(text):
    """Every hyphen becomes a minus: readers copy from the terminal into a shell, and nothing says
    which hyphen is part of a name. A line that begins with a dot would be a request."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^(?=[.'])", r"\\&", text, flags=re.M)


def bold(text):
    return f"\\fB{plain(text)}\\fR"


def italic(text):
    return f"\\fI{plain(text)}\\fR"


def entry(head, *lines):
    """A paragraph with a hanging head."""
    return "\n".join((".TP", head, *lines))


def one_of(words, default=None):
    return ", ".join(map(bold, words)) + (f"; default {bold(default)}" if default else "")


def usage(option):
    return bold("--" + option["name"]) + (" " + italic(option["value"]) if option["value"] else "")


def command_entry(command, options):
    head = " ".join([bold(command["name"]),
                     *(italic(command[key]) for key in ("operand", "words") if command[key]),
                     *(f"[{usage(options[name])}]" for name in command["options"])])
    lines = [plain(command[key]) for key in ("summary", "help") if command[key]]
    if command["operands"]:
        lines.append(f"{italic(command['operand'])} is one of {one_of(command['operands'])}.")
    if command["formats"]:
        formats = one_of(command["formats"], command["formats"][0])
        lines.append(f"{italic(options['format']['value'])} is one of {formats}.")
    return entry(head, *lines)


def option_entry(option):
    choices = ": " + one_of(option["choices"], option["default"]) if option["choices"] else ""
    return entry(usage(option), plain(option["help"]) + choices)


def setting_entry(setting):
    return entry(f"{bold(setting['setting'])} ({setting['type']})", plain(setting["meaning"]),
                 f"Allowed: {plain(setting['allowed'])}. Default: {bold(setting['default'])}.")


def command_entries(tables):
    options = {option["name"]: option for option in tables["options"]}
    return "\n".join(command_entry(command, options) for command in tables["commands"])


def exit_entry(row):
    return entry(bold(str(row["code"])), plain(row["meaning"]))


def exit_sections(tables):
    """Of the commands with exit codes of their own; those with the same ones share a section."""
    sections = {}
    for command in tables["commands"]:
        codes = "\n".join(map(exit_entry, command["exit_codes"]))
        sections.setdefault(codes, []).append(command["name"])
    return "\n".join(f".SS {', '.join(map(plain, commands))}\n{codes}"
                     for codes, commands in sections.items() if codes)


def project(tables):
    """Where the program comes from, and to whom problems go."""
    home, contact = tables["project_url"], tables["project_contact"]
    if not home and not contact:
        return "This program is from your own build. Report problems to those who built it."
    return "\n".join(filter(None, [home and f"Home page: {italic(home)}",
                                   contact and f"Report problems to {plain(contact)}."]))


MANUAL = {
    "PROJECT": project,
    "VERSION": lambda tables: plain(tables["version"]),
    "CONFIGURATION": lambda tables: italic(tables["configuration"]),
    "STATE_DIRECTORY": lambda tables: plain(tables["state_directory"]),
    "COMMANDS": command_entries,
    "OPTIONS": lambda tables: "\n".join(map(option_entry, tables["options"])),
    "EXIT_STATUS": lambda tables: "\n".join(map(exit_entry, tables["exit_codes"])),
    "EXIT_STATUS_OF_COMMANDS": exit_sections,
    "PROFILES": lambda tables: "\n".join(
        entry(f"{bold(row['section'])}: {bold(row['key'])}", plain(row["meaning"]), f"Allowed: {plain(row['allowed'])}.")
        for row in tables["profiles"]),
    "SETTINGS": lambda tables: "\n".join(map(setting_entry, tables["settings"])),
}


# -- bash ------------------------------------------------------------------------------------------
# Commands, options and choices are words of letters and hyphens, so that none of them is quoted.

def names(rows):
    return [row["name"] for row in rows]


def offer(pattern, *words):
    """A line of a case: what is offered for what has been typed."""
    return f"{pattern}) _rdma_node_agent_offer {' '.join(words)}; return ;;"


def candidates(placeholder, choices, tables):
    """What may stand for a placeholder of help texts, such as FILE or [COMMAND]."""
    if "FILE" in placeholder:
        return ["file"]
    if "DIR" in placeholder:
        return ["directory"]
    if "DEVICE" in placeholder:
        return ["device"]
    return ["words", *(names(tables["commands"]) if "COMMAND" in placeholder else choices or [])]


def value_cases(tables):
    """For each option, its values; those of --format depend on the command."""
    return [offer("--" + option["name"], *candidates(option["value"], option["choices"], tables))
            for option in tables["options"] if option["value"] and option["name"] != "format"]


def format_cases(tables):
    return [offer(f"{command['name']}:--format", "words", *command["formats"])
            for command in tables["commands"] if command["formats"]]


def option_words(command, tables):
    """The options of a command, None for those of all, in the order of the table."""
    return ["--" + option["name"] for option in tables["options"]
            if option["common"] or (command and option["name"] in command["options"])]


def word_cases(tables):
    """The words behind an operand."""
    return [case for command in tables["commands"] if command["words"]
            for case in (f"{command['name']}:?*:-*) ;;",
                         offer(f"{command['name']}:?*:*",
                               *candidates(command["words"], None, tables)))]


def command_cases(tables):
    cases = [offer(":-*", "words", *option_words(None, tables)),
             offer(":*", "words", *names(tables["commands"]))]
    for command in tables["commands"]:
        cases.append(offer(f"{command['name']}:-*", "words", *option_words(command, tables)))
        if command["operand"]:
            cases.append(offer(f"{command['name']}:*",
                               *candidates(command["operand"], command["operands"], tables)))
    return cases


COMPLETION = {
    "OPTIONS_WITH_VALUE": lambda tables: " | ".join(
        "--" + option["name"] for option in tables["options"] if option["value"]),
    "VALUE_CASES": lambda tables: "\n\t".join(value_cases(tables)),
    "FORMAT_CASES": lambda tables: "\n\t".join(format_cases(tables)),
    "WORD_CASES": lambda tables: "\n\t".join(word_cases(tables)),
    "COMMAND_CASES": lambda tables: "\n\t".join(command_cases(tables)),
}


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    fillers = COMPLETION if sys.argv[1].endswith(".bash.in") else MANUAL
    with open(sys.argv[1], encoding="utf-8") as file:
        template = file.read()
    with open(0 if sys.argv[2] == "-" else sys.argv[2], encoding="utf-8") as file:
        tables = json.load(file)
    sys.stdout.write(re.sub(r"@([A-Z_]+)@", lambda match: fillers[match[1]](tables), template))


if __name__ == "__main__":
    main()
