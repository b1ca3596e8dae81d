# SPDX-License-Identifier: Apache-2.0
"""Generated parts of the documents of the Helm chart, for check-docs.py: the table of README.md,
from the comments of values.yaml, and the schema of the agent's settings, from their table.
"""
import json
import pathlib
import re
import sys

import yaml

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "golden"))
import documents

SCHEMA_WIDTH = 120  # columns
# Settings that values of another name decide, since the pod has to know them as well.
DECIDED_BY_POD = {"http.listen", "state.directory", "kubernetes.node_name"}
# Defaults of the chart that follow from the cluster; the agent has never heard of the word.
AUTOMATIC = {"kubernetes.backend": "auto"}
DURATION = "^([0-9]+(d|h|m|s|ms))+$"
# Patterns for the forms of texts in the table of settings. The agent itself checks other forms.
SUBDOMAIN = "[a-z0-9]([-a-z0-9.]*[a-z0-9])?"
LABEL = "[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?"
TEXTS = {
    "the key of a label": f"^({SUBDOMAIN}/)?{LABEL}$",
    'the key of a taint, or "" for none': f"^(({SUBDOMAIN}/)?{LABEL})?$",
    'KEY, KEY=VALUE, or "" for none': f"^(({SUBDOMAIN}/)?{LABEL}(=({LABEL})?)?)?$",
    "the value of a label": f"^({LABEL})?$",
    "a DNS subdomain, with or without a trailing slash": f"^{SUBDOMAIN}/?$",
    "the key of a label or a taint, or a prefix of labels that ends with a slash":
        f"^{SUBDOMAIN}/({LABEL})?$",
    "an absolute path": "^/",
    'an absolute path, or ""': "^(/.*)?$",
}


class Mistake(SystemExit):
    """values.yaml is not as it should be; ends the check with these words."""


# -- values.yaml to README.md ---------------------------------------------------------------------

def comment_above(lines, number):
    """The comment that ends right above a line, as one text; "" for none."""
    found = []
    while number > 0 and lines[number - 1].lstrip().startswith("# "):
        number -= 1
        found.insert(0, lines[number].strip().removeprefix("# "))
    return " ".join(found)


def value_rows(lines, mapping, path=()):
    """(key, default, meaning) of each key that has a comment. One that is itself explained may
    have keys that are not."""
    for key, value in mapping.value:
        name = (*path, key.value)
        meaning = comment_above(lines, key.start_mark.line)
        below = list(value_rows(lines, value, name)) if isinstance(value, yaml.MappingNode) else []
        if meaning:
            default = json.dumps(yaml.safe_load(yaml.serialize(value)))
            yield ".".join(name), default, meaning
        elif not below:
            yield ".".join(name), None, None
        yield from (row for row in below if row[1] is not None or not meaning)


def values_table(text):
    rows = list(value_rows(text.splitlines(), yaml.compose(text)))
    bare = [key for key, default, _ in rows if default is None]
    if bare:
        raise Mistake(f"values.yaml: no comment explains {', '.join(bare)}")
    cells = [f"| `{key}` | `{default}` | {meaning} |"
             for key, default, meaning in rows]
    return "\n".join(["| Value | Default | Meaning |", "|---|---|---|", *cells]) + "\n"


# -- The table of settings to values.schema.json --------------------------------------------------

def setting_schema(kind, allowed):
    """JSON schema of one setting. What only the agent can judge is left to the agent."""
    if kind == "boolean":
        return {"type": "boolean"}
    if kind == "retired":
        return {}
    if kind == "integer":
        low, high = re.fullmatch(r"(\d+) to (\d+)", allowed).groups()
        return {"type": "integer", "minimum": int(low), "maximum": int(high)}
    if kind == "choice":
        return {"type": "string", "enum": allowed.split(", ")}
    if kind == "duration":
        return {"type": "string", "pattern": DURATION}
    if kind == "list of mappings":
        return {"type": "array", "items": {"type": "object"}}
    number_or_word = re.fullmatch(r"(\w+), or (\d+) to (\d+)", allowed)
    if number_or_word:
        word, low, high = number_or_word.groups()
        return {"type": ["string", "integer"], "pattern": rf"^({word}|\d+)$",
                "minimum": int(low), "maximum": int(high)}
    text = {"type": "string", **({"pattern": TEXTS[allowed]} if allowed in TEXTS else {})}
    return {"type": "array", "items": text} if kind == "list" else text


def config_schema(settings):
    sections = {}
    for key, kind, allowed, _default, meaning in settings:
        if key not in DECIDED_BY_POD:
            section, name = key.split(".")
            of_section = sections.setdefault(section, {
                "type": "object", "additionalProperties": False, "properties": {}})
            of_section["properties"][name] = {"description": meaning,
                                              **setting_schema(kind, allowed)}
            if key in AUTOMATIC:
                of_section["properties"][name]["enum"].insert(0, AUTOMATIC[key])
    return {"type": "object", "additionalProperties": False, "properties": sections}


def check_defaults(settings, text):
    """values.yaml may show settings of the agent, with the defaults that they have."""
    defaults = {key: default for key, _kind, _allowed, default, _meaning in settings}
    for section, content in yaml.safe_load(text)["config"].items():
        for name, value in content.items():
            key = f"{section}.{name}"
            default = AUTOMATIC.get(key, defaults.get(key))
            if default not in (value, json.dumps(value)):
                raise Mistake(f"values.yaml: config.{section}.{name} is {value!r}, "
                              f"and the agent's own default is {default}")


def expected_schema(settings, text):
    """values.schema.json with the agent's settings as they are."""
    schema = json.loads(text)
    schema["properties"]["config"] = config_schema(settings)
    return documents.compact(schema, SCHEMA_WIDTH)
