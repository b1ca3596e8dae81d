# SPDX-License-Identifier: Apache-2.0
"""The two renderers of the chart: our own (render/), and helm if it is installed."""
import copy
import json
import os
import re
import subprocess
import tempfile

import jsonschema
import yaml

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
CHART = os.path.join(ROOT, "helm/rdma-node-agent")
RELEASE, NAMESPACE = "rel", "ns"
POLICY = "admissionregistration.k8s.io/v1/ValidatingAdmissionPolicy"
CONSTRAINTS = "security.openshift.io/v1/SecurityContextConstraints"
MONITORING = [f"monitoring.coreos.com/v1/{kind}" for kind in ("PodMonitor", "PrometheusRule")]
# Of what a cluster of a version serves, that which the chart asks for.
CLUSTERS = {"1.20.0": [], "1.28.0": [], "1.36.0": [POLICY, *MONITORING]}
NEWEST = "1.36.0"
OPENSHIFT = "1.33.0"  # OpenShift 4.20
SERVED = {**CLUSTERS, OPENSHIFT: [POLICY, CONSTRAINTS]}


# What "auto" is on the newest cluster.
EXPLICIT = {"config": {"kubernetes": {"backend": "api"}}, "prometheusRule": {"enabled": True}}


def explicit(values):
    """The same values without "auto", for the newest cluster."""
    scraped = not (values.get("serviceMonitor", {}).get("enabled") or "127.0.0.1" == values.get("listenHost"))
    return overlay({**EXPLICIT, "podMonitor": {"enabled": scraped}}, values)


def acknowledged(values, cluster):
    """Values for a cluster that may have no admission policies, which they have to say then, and no
    operator for Prometheus."""
    if POLICY in SERVED.get(cluster, []):
        return values
    return overlay({"admissionPolicy": "never"}, explicit(values))


class Refused(Exception):
    """The values are not accepted."""


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def overlay(base, over):
    """Values laid over the chart's own, as helm does it."""
    if not isinstance(base, dict) or not isinstance(over, dict):
        return copy.deepcopy(over)
    found = {**base, **{key: overlay(base.get(key), value) for key, value in over.items()}}
    return {key: value for key, value in found.items() if over.get(key, value) is not None}


def with_defaults(values):
    return overlay(yaml.safe_load(read(f"{CHART}/values.yaml")), values)


def check_schema(values):
    """Raises Refused with all that the schema says, one line for each mistake."""
    schema = json.loads(read(f"{CHART}/values.schema.json"))
    errors = jsonschema.Draft7Validator(schema).iter_errors(with_defaults(values))
    lines = [".".join(map(str, error.path)) + ": " + error.message for error in errors]
    if lines:
        raise Refused("\n".join(lines))


def settled(text):
    """What is generated anew by each rendering becomes the same."""
    return re.sub(r"^  secret: [A-Za-z0-9+/]{86}==$", "  secret: Z2VuZXJhdGVk", text, flags=re.M)


def documents(text):
    """The manifests of a rendering, each as it stands there, without its heading."""
    parts = re.split(r"^---\n", text, flags=re.M)
    found = (re.sub(r"\A# Source: .*\n", "", part).strip() for part in parts)
    return sorted(f"{part}\n" for part in found if part)


def parsed(text):
    return [yaml.safe_load(document) for document in documents(text)]


def is_hook(item):
    """Is it of a Job or a test, and not of the release?"""
    return "helm.sh/hook" in item["metadata"].get("annotations", {})


def only(items, kind, name=""):
    """The one object of a kind, whose name ends so."""
    found, = (item for item in items
              if item["kind"] == kind and item["metadata"]["name"].endswith(name))
    return found


GOCODE = "/usr/share/gocode"
SPRIG = "src/github.com/Masterminds/sprig"


def go_path(directory):
    """Debian's packages; since 3.2.3-7 sprig is in a folder of its version, of which the old name is
    a link in directory then."""
    if os.path.exists(f"{GOCODE}/{SPRIG}/functions.go"):
        return GOCODE
    os.makedirs(os.path.dirname(f"{directory}/{SPRIG}"))
    os.symlink(f"{GOCODE}/{SPRIG}/v3", f"{directory}/{SPRIG}")
    return f"{directory}:{GOCODE}"


class Renderer:
    """Ours; built once."""

    def __init__(self, directory):
        self.program = os.path.join(directory, "render")
        environment = {**os.environ, "GO111MODULE": "off", "GOPATH": go_path(directory),
                       "GOFLAGS": "", "CGO_ENABLED": "0"}
        subprocess.run(["go", "build", "-o", self.program, "./render"], check=True,
                       env=environment, cwd=HERE)

    def run(self, values, *options, cluster=NEWEST):
        check_schema(values)
        done = subprocess.run([self.program, "-release", RELEASE, "-namespace", NAMESPACE,
                               "-kube-version", cluster,
                               "-api-versions", ",".join(SERVED.get(cluster, [])), *options,
                               CHART], input=json.dumps(values), text=True, capture_output=True,
                              check=False)
        if done.returncode:
            raise Refused(done.stderr)
        return done.stdout

    def text(self, values, cluster=NEWEST):
        return settled(self.run(values, cluster=cluster))

    def upgraded(self, values, before, *options):
        """What an upgrade makes where the cluster has these objects; or its notes, with -notes."""
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump(before, file)
            file.flush()
            return self.run(values, "-is-upgrade", "-objects", file.name, *options)

    def notes(self, values):
        return self.run(values, "-notes")

    def objects(self, values, cluster=NEWEST):
        return parsed(self.text(values, cluster))


class Helm:
    """The real one, which helm.sh finds or fetches; program is None where it cannot. With "3" or "4"
    one of that major version."""

    def __init__(self, *major):
        done = subprocess.run([f"{HERE}/helm.sh", *major], text=True, stdout=subprocess.PIPE,
                              check=False)
        self.program = done.stdout.strip() if done.returncode == 0 else None

    def text(self, values, cluster=NEWEST):
        versions = [f"--api-versions={version}" for version in SERVED.get(cluster, [])]
        done = subprocess.run([self.program, "template", RELEASE, CHART, "--namespace", NAMESPACE,
                               "--kube-version", cluster, *versions, "--values", "-"],
                              input=json.dumps(values), text=True, capture_output=True, check=False)
        if done.returncode:
            raise Refused(done.stderr)
        return settled(done.stdout)

    def lint(self):
        """What it complains of; "" for nothing."""
        done = subprocess.run([self.program, "lint", "--strict", CHART], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        return done.stdout if done.returncode else ""
