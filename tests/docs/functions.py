# SPDX-License-Identifier: Apache-2.0
"""What the agent does by default, and what turns on the rest, for check-docs.py: the tables of
helm/README.md and systemd/README.md, from the chart's functions.yaml. Profiles, settings and
values that it names exist, and a value is off by default where it says so; each profile of the
systemd unit is in it, and what "doctor" recommends."""
import os
import pathlib
import re

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
CHART = ROOT / "helm/rdma-node-agent"
FILE = CHART / "functions.yaml"
HEADING = "| Function | Kubernetes | systemd | Profile of systemd | Value of the chart | Rights beyond the default |"
OFF = (None, False, "", "off", [], {})


def rows():
    return yaml.safe_load(FILE.read_text(encoding="utf-8"))


def title(row, document):
    if "see" not in row:
        return row["function"]
    return f"[{row['function']}]({os.path.relpath(row['see'], os.path.dirname(document))})"


def code(names):
    return ", ".join(f"`{name}`" for name in names)


def under_systemd(row):
    """The profile, or one of several, and settings."""
    profiles = " or ".join(f"`{name}`" for name in row.get("profile", []))
    settings = code(row["settings"].split(", ")) if "settings" in row else ""
    return "; ".join(filter(None, [profiles, settings]))


def table(document):
    """As Markdown; document is the path that links begin in."""
    lines = [HEADING, re.sub(r"[^|]+", "---", HEADING)]
    for row in rows():
        cells = [title(row, document), row["default"]["helm"], row["default"]["systemd"],
                 under_systemd(row), code([row["value"]] if "value" in row else []), row.get("right", "")]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def value_of(values, path):
    """Of the chart; settings that values.yaml does not have are off."""
    for key in path.split("."):
        values = (values or {}).get(key)
    return values


def check_value(row, values, settings):
    path, default = row["value"], row["default"]["helm"]
    value = value_of(values, path)
    if path.removeprefix("config.") not in settings and value is None:
        yield f"there is no value {path}"
    if default.startswith("on") != (value not in OFF):
        yield f"{path} is {value!r} by default, and not {default!r}"
    if (value == "auto") != ("requires" in row):
        yield f"{path} is {value!r}, and does or does not say what auto requires"


def problems(settings, advice):
    """Yields what is wrong with the table. advice: profiles and values that "doctor" recommends."""
    values = yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8"))
    profiles = {path.stem for path in (ROOT / "systemd/profiles").glob("*.conf")}
    found = rows()
    named = {name for row in found for name in row.get("profile", [])}
    switches = {row["value"] for row in found if "value" in row}
    wrong = [f"{name}: in one of systemd/profiles and the table" for name in sorted(profiles ^ named)]
    wrong += [f"doctor recommends {name}, which is in no row" for name in sorted(advice - named - switches)]
    for row in found:
        if "value" in row:
            wrong += check_value(row, values, settings)
        wrong += [f"unknown setting {key}" for key in row.get("settings", "").split(", ")
                  if key and key not in settings]
    yield from (f"{FILE.relative_to(ROOT)}: {text}" for text in wrong)
