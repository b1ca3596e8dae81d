# SPDX-License-Identifier: Apache-2.0
"""The dashboards, held to Grafana's published schema.

No package of Debian or npm has a Grafana to render them: only its libraries are published, not its
server and not its panels. The package @grafana/schema has the types of a dashboard and of the
options of each kind of panel, generated from Grafana's own schema. Each dashboard and each panel
becomes a constant of such a type, and the compiler of TypeScript finds unknown keys, wrong types
and values that are none of an enumeration. What it cannot see: whether a query of Prometheus or a
transformation has the options that Grafana reads (the schema has no types for these), and how it
looks.
"""
import glob
import json
import os
import re
import subprocess
import tempfile

from renderer import CHART, HERE, read

SCHEMA = ("@grafana/schema@13.2.3",
          "ae4f0510eef2b857d14cafc90f7f7be3b499150fa209341ba66e8c8763a39ea1"
          "b1fe0fee410171e7ab7ae1e08b5d6132a11ebcaeee1c8a07062ab5e4fa8ceb2e")
COMPILER = ("typescript@5.9.3",
            "8e5d6f6733c38a72ebf5e52ddc9feded5e8580d130f508ef04f772b33f4a7d00"
            "c3e357d0ac2d98e2f290762694a454f86d795bd511e12e9a7cc2d9ba3394e04b")
# Kinds of panels: the folder of their types.
KINDS = {"stat": "stat", "table": "table", "timeseries": "timeseries", "bargauge": "bargauge",
         "gauge": "gauge", "status-history": "statushistory", "state-timeline": "statetimeline",
         "barchart": "barchart", "piechart": "piechart", "heatmap": "heatmap", "text": "text"}
# JSON has the texts of an enumeration, not its members, and may leave out what has a default.
LOOSE = """
type Loose<T> = T extends string ? `${T}` : T extends (infer E)[] ? Loose<E>[] :
	T extends object ? { [K in keyof T]?: Loose<T[K]> } : T;
"""


def package(name):
    """The folder of a package of npm; None if it cannot be had."""
    found = subprocess.run([f"{HERE}/npm.sh", *name], text=True, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, check=False)
    if found.returncode not in (0, 77):
        raise SystemExit(found.stderr)
    return found.stdout.strip() if found.returncode == 0 else None


def kinds(types, panels):
    """The imports of all kinds of panels that there are."""
    for kind in sorted({KINDS[panel["type"]] for panel in panels}):
        path = f"{types}/raw/composable/{kind}/panelcfg/x/types.gen"
        yield f"import type * as {kind} from {json.dumps(path)};"
        own = "export interface FieldConfig" in read(f"{path}.d.ts")
        yield f"type {kind}Field = {f'{kind}.FieldConfig' if own else 'Record<string, never>'};"
        has = "export interface Options" in read(f"{path}.d.ts")
        yield f"type {kind}Options = {f'{kind}.Options' if has else 'Record<string, never>'};"


def declarations(panel, name):
    """A panel as one constant for what all have, one for its options and one for its fields."""
    kind = KINDS[panel["type"]]
    custom = panel.get("fieldConfig", {}).get("defaults", {}).get("custom", {})
    yield f"const {name}: Loose<Panel> = {json.dumps(panel)};"
    yield f"const {name}_options: Loose<{kind}Options> = {json.dumps(panel.get('options', {}))};"
    yield f"const {name}_fields: Loose<{kind}Field> = {json.dumps(custom)};"
    for i, override in enumerate(panel.get("fieldConfig", {}).get("overrides", [])):
        fields, own = {}, {}
        for one in override["properties"]:
            target = own if one["id"].startswith("custom.") else fields
            target[one["id"].removeprefix("custom.")] = one["value"]
        yield f"const {name}_override{i}: Loose<FieldConfig> = {json.dumps(fields)};"
        yield f"const {name}_override{i}_fields: Loose<{kind}Field> = {json.dumps(own)};"


def without_queries(board):
    """Without panels, and without what is Prometheus's in annotations, for which there is no type."""
    own = {"expr", "step", "titleFormat", "textFormat", "tagKeys"}
    annotations = [{key: one[key] for key in one.keys() - own}
                   for one in board.get("annotations", {}).get("list", [])]
    return {**board, "panels": [], "annotations": {"list": annotations}}


def program(types, board):
    """The dashboard as a program that compiles if it is of the schema. A line names its panel."""
    rows = [panel for panel in board["panels"] if panel["type"] == "row"]
    panels = [panel for panel in board["panels"] if panel["type"] != "row"]
    panels += [panel for row in rows for panel in row["panels"]]
    path = f"{types}/raw/dashboard/x/types.gen"
    lines = [f"import type {{Dashboard, FieldConfig, Panel, RowPanel}} from {json.dumps(path)};",
             *kinds(types, panels), LOOSE.replace("\n", " "),
             f"const dashboard: Loose<Dashboard> = {json.dumps(without_queries(board))};"]
    for row in rows:
        empty = json.dumps({**row, "panels": []})
        lines.append(f"const row{row['id']}: Loose<RowPanel> = {empty};")
    for panel in panels:
        lines += declarations(panel, f"panel{panel['id']}")
    return "\n".join(lines) + "\n"


def compiled(compiler, schema, text):
    """Yields what the compiler says of a program, with the name of the constant."""
    with tempfile.TemporaryDirectory() as directory:
        path = f"{directory}/dashboard.ts"
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        with open(f"{directory}/tsconfig.json", "w", encoding="utf-8") as file:
            json.dump({"files": ["dashboard.ts"], "compilerOptions": {
                "strict": True, "noEmit": True, "skipLibCheck": True, "module": "esnext",
                "types": [], "target": "es2022", "moduleResolution": "bundler",
                "paths": {"@grafana/schema": [f"{schema}/dist/types/index.d.ts"]}}}, file)
        command = ["node", f"{compiler}/lib/tsc.js", "--pretty", "false", "-p", directory]
        done = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              check=False)
    lines = text.splitlines()
    for line in done.stdout.splitlines():
        match = re.match(r".*dashboard\.ts\((\d+),\d+\): error (.*)", line)
        if match:
            yield f"{lines[int(match[1]) - 1].split(' ', 2)[1]} {match[2]}"
        elif not line.startswith(" "):
            yield line


# A key that no panel has, a number as a text, a color mode that there is not.
WRONG = {"title": 3, "panels": [
    {"id": 1, "type": "stat", "title": "x", "options": {"colorMode": "blinking"}, "gridpos": {},
     "fieldConfig": {"defaults": {"decimals": "2", "custom": {"x": 1}}, "overrides": []}},
    {"id": 2, "type": "timeseries", "title": "y", "options": {"legend": {"placement": "left"}},
     "fieldConfig": {"defaults": {"custom": {"lineWidth": "2"}}, "overrides": [
         {"matcher": {"id": "byName"},
          "properties": [{"id": "unit", "value": 1}, {"id": "custom.drawStyle", "value": "bar"}]}]}}]}
COMPLAINTS = ("dashboard:", "panel1:", "panel1_options:", "panel1_fields:", "panel2_options:",
              "panel2_fields:", "panel2_override0:", "panel2_override0_fields:")


def complaints():
    """Yields where a dashboard is not of the schema."""
    schema, compiler = package(SCHEMA), package(COMPILER)
    if not schema or not compiler:
        print("skipped: Grafana's schema, since npm cannot fetch it")
        return
    types = f"{schema}/dist/types"
    found = list(compiled(compiler, schema, program(types, WRONG)))
    for name in COMPLAINTS:
        if not any(complaint.startswith(name) for complaint in found):
            yield f"Grafana's schema accepts a wrong {name.rstrip(':')}: {found}"
    for path in sorted(glob.glob(f"{CHART}/files/dashboard-*.json")):
        for complaint in compiled(compiler, schema, program(types, json.loads(read(path)))):
            yield f"{os.path.basename(path)}: {complaint}"
