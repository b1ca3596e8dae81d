#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Makes C of the runbooks: runbooks.py texts|rules OUTPUT RUNBOOKS.md [CMARK-GFM]

texts: what the agent serves at /runbooks/, HTML by cmark-gfm, which reads Markdown as GitHub does and
leaves out raw HTML; without CMARK-GFM by the same library as a module of Python. Each third-level
heading begins a runbook. The region between "<!-- commands -->" and "<!-- /commands -->" comes out
once, for the page puts it in front of each runbook. The words of MARKS become bytes that the page
replaces by the names that it knows. For terminals each runbook is there as Markdown, too.

rules: which runbook is about the findings of which rule, from the first line of a runbook,
"Findings: `RULE`, `RULE` (Ethernet), `RULE` (info)". With a link layer it holds for ports of that
link layer only, with info for findings of that severity only; both go before a line without.
"""
import html
import re
import subprocess
import sys

# A runbook here may be served by any agent, so it must not name the one that serves it.
FLEET = "Several nodes"
MARKS = {word: chr(number) for number, word in enumerate(
    ("NODE", "NAMESPACE", "POD", "DEVICE", "PORT", "NETDEV", "PCI-ADDRESS"), start=1)}
MARK = re.compile(rf"\b({'|'.join(sorted(MARKS, key=len, reverse=True))})\b")
LINK_LAYERS = {"": "UNKNOWN", "info": "UNKNOWN", "Ethernet": "ETHERNET",
               "InfiniBand": "INFINIBAND"}
COMMANDS = re.compile(r"^<!-- commands -->\n(.*?)^<!-- /commands -->\n", re.M | re.S)
FINDINGS = re.compile(r"\A\s*Findings: (.+?)\n\n", re.S)


def fail(text):
    sys.exit(f"runbooks.md: {text}")


# -- Reading --------------------------------------------------------------------------------------

class Runbook:
    """One section: what its heading says, and its text as Markdown."""

    def __init__(self, name, section, text):
        self.name, self.section, self.text = name, section, text
        listed = FINDINGS.match(text)
        self.rules = re.findall(r"`([\w-]+)`(?: \((\w+)\))?", listed[1]) if listed else []
        if not re.fullmatch(r"\w+", name) or not text.strip():
            fail(f"{name}: a runbook has a name of one word, and a text")

    @property
    def fleet(self):
        return self.section == FLEET


def read_runbooks(text):
    """The commands for all, and the runbooks in their order."""
    commands, runbooks, section = COMMANDS.search(text), [], None
    if not commands:
        fail('wants a region "<!-- commands -->"')
    for part in re.split(r"^(?=##+ )", text, flags=re.M)[1:]:
        heading, body = part.split("\n", 1)
        if heading.startswith("## "):
            section = heading[3:]
        else:
            runbooks.append(Runbook(heading.lstrip("# "), section, body))
    names = [runbook.name for runbook in runbooks]
    for name in {name for name in names if names.count(name) > 1}:
        fail(f"{name}: two sections")
    return commands[1], runbooks


# -- HTML -----------------------------------------------------------------------------------------

class Links:
    """Links of one document become links of many; words that name a runbook become links, too."""

    def __init__(self, runbooks):
        self.names = {runbook.name.lower(): runbook.name for runbook in runbooks}

    def link(self, match):
        """A link to a section; one to another file has no target where the agent serves it."""
        target, text = html.unescape(match[1]), match[2]
        if not target.startswith("#"):
            return match[0] if target.startswith("https://") else text
        if target[1:] not in self.names:
            fail(f"there is no section {target}")
        return f'<a href="/runbooks/{self.names[target[1:]]}">{text}</a>'

    def word(self, match):
        name = match[0]
        return f'<a href="/runbooks/{name}">{name}</a>' if name.lower() in self.names else name

    def resolve(self, text, own_name):
        text = re.sub(r'<a href="([^"]*)">(.*?)</a>', self.link, text, flags=re.S)
        parts = re.split(r"(<pre>.*?</pre>|<a .*?</a>|<[^>]*>)", text, flags=re.S)
        words = re.compile(rf"\bRdma(?!{own_name[4:]}\b)\w+")
        return "".join(part if part.startswith("<") else words.sub(self.word, part) for part in parts)


def name_cells(match):
    """On a phone a table has no head, and each cell its title in front."""
    titles = re.findall(r"<th>(.*?)</th>", match[0])
    head, _, body = match[0].partition("<tbody>")
    rows = (re.sub("<td>", lambda _, rest=iter(titles): f'<td data-of="{next(rest)}">', row)
            for row in re.split("(?<=</tr>)", body))
    return f"<div class=wide>{head}<tbody>{''.join(rows)}</div>"


def plain_html(markdown, cmark):
    if cmark:
        return subprocess.run([cmark, "--to", "html", "--extension", "table"], text=True,
                              input=markdown, stdout=subprocess.PIPE, check=True).stdout
    import cmarkgfm
    return cmarkgfm.markdown_to_html_with_extensions(markdown, extensions=["table"])


def to_html(markdown, cmark):
    text = re.sub("<table>.*?</table>", name_cells, plain_html(markdown, cmark), flags=re.S)
    return MARK.sub(lambda match: MARKS[match[1]], text)


def to_text(runbook):
    """For a terminal: links to sections and files are their words."""
    text = re.sub(r"\[([^][]*)\]\((?!https?:)[^)]*\)", r"\1", runbook.text.strip())
    return f"# {runbook.name}\n\n{text}\n"


# -- C --------------------------------------------------------------------------------------------

def literal(text):
    """String literals, one for each line, as ISO C limits their length."""
    for line in text.splitlines(keepends=True) or [""]:
        escaped = "".join(c if " " <= c <= "~" and c not in '"\\?' else
                          "".join(f"\\{byte:03o}" for byte in c.encode()) for c in line)
        yield f'\t "{escaped}"'


def write_texts(commands, runbooks, cmark=None):
    links = Links(runbooks)
    yield ('#include "page/runbook_texts.h"\n\n'
           '#pragma GCC diagnostic ignored "-Woverlength-strings"\n')
    yield "const char rna_runbook_commands[] ="
    yield "\n".join(literal(to_html(commands, cmark))) + ";\n"
    yield "const struct rna_runbook_text rna_runbook_texts[] = {"
    for runbook in runbooks:
        text = links.resolve(to_html(runbook.text, cmark), runbook.name)
        rules = ", ".join(dict.fromkeys(rule for rule, _ in runbook.rules))
        yield (f'\t{{"{runbook.name}", "{runbook.section}", "{rules}", '
               f"{str(runbook.fleet).lower()},")
        yield "\n".join((*literal(text), "\t ,", *literal(to_text(runbook)))) + "},"
    yield f"}};\nconst size_t rna_runbook_count = {len(runbooks)};"


def write_rules(runbooks):
    yield '#include "rules/rules.h"\n'
    yield "const struct rna_rule_runbook rna_rule_runbooks[] = {"
    seen = set()
    for runbook in runbooks:
        for rule, layer in runbook.rules:
            if (rule, layer) in seen:
                fail(f"{rule}: two runbooks")
            if layer not in LINK_LAYERS:
                fail(f"{rule}: {layer} is no link layer")
            seen.add((rule, layer))
            yield (f'\t{{"{rule}", RNA_LINK_LAYER_{LINK_LAYERS[layer]}, '
                   f'{str(layer == "info").lower()}, "{runbook.name}"}},')
    yield f"}};\nconst size_t rna_rule_runbook_count = {len(seen)};"


def main():
    kind, output, path, *cmark = sys.argv[1:]
    with open(path, encoding="utf-8") as file:
        commands, runbooks = read_runbooks(file.read())
    lines = write_texts(commands, runbooks, *cmark) if kind == "texts" else write_rules(runbooks)
    with open(output, "w", encoding="ascii") as out:
        out.write("/* Made by exporter/page/runbooks.py of helm/rdma-node-agent/runbooks.md. */\n")
        out.writelines(f"{line}\n" for line in lines)


main()
