# SPDX-License-Identifier: Apache-2.0
"""Real Helms, 3 and 4, install, test, upgrade, roll back and uninstall the chart on a server that stores
(store.py): hooks run in an order in which each pod finds what it needs, and nothing is left behind."""
import concurrent.futures
import itertools
import json
import os
import subprocess
import tempfile

import renderer
import store

OFF = {"config": {"kubernetes": {"backend": "off"}}}
API = {"config": {"kubernetes": {"backend": "api", "taint": "t.test/rdma"}}}
OFF_HEADING = "Off, and the values that turn it on"
# What the chart makes by itself where the server has such kinds.
AUTOMATIC = {"PodMonitor", "PrometheusRule", "ClusterRole", "ValidatingAdmissionPolicy", "ResourceQuota"}
NAMESPACES, RELEASES = ["a", "monitoring", "rdma-node-agent", "z"], ["a", "z"]
TEST, CLEAN_UP = ["Pod", "test"], ["Job", "clean-up"]
# Commands, the values that they get, and which hook has to have run.
WHOLE_LIFE = [("install", OFF, None), ("upgrade", API, None), ("test", None, TEST),
              ("upgrade", OFF, CLEAN_UP), ("rollback", None, None), ("uninstall", None, CLEAN_UP)]
SHORT_LIFE = [("install", {}, None), ("test", None, TEST), ("uninstall", None, CLEAN_UP)]


class Cluster(store.Store):
    """With a Helm that works on it, for one release."""

    def __init__(self, directory, program, namespace, release):
        super().__init__(directory, renderer.NEWEST)
        self.program, self.namespace, self.release = program, namespace, release

    def helm(self, verb, values):
        """Its exit status and what it said. An upgrade has to say which values it wants; the revision
        to roll back to is the one with the API."""
        home = {f"HELM_{name}_HOME": self.directory for name in ("CACHE", "CONFIG", "DATA")}
        words = {"install": [renderer.CHART], "upgrade": [renderer.CHART], "rollback": ["2"]}
        fresh = ["--reset-values"] if verb == "upgrade" else []
        chart = ["--values", "-", "--disable-openapi-validation"] if values is not None else []
        patience = [] if verb == "get notes" else ["--timeout", "60s"]
        done = subprocess.run(
            [self.program, *verb.split(), self.release, *words.get(verb, []), *chart, *fresh, *patience,
             "--namespace", self.namespace], input=json.dumps(values), text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
            env={**os.environ, **home, "KUBECONFIG": self.kubeconfig})
        return done.returncode, done.stdout

    def step(self, verb, values, hook):
        del self.made[:]
        code, text = self.helm(verb, values)
        if code:
            yield f"{verb}: status {code}: {text}"
        # Helm 4 prints no notes behind a test
        if verb == "test" and OFF_HEADING not in text + self.helm("get notes", None)[1]:
            yield f"{verb}: does not say what is off: {text}"
        if verb == "install" and values == {} and not AUTOMATIC <= {kind for kind, _ in self.made}:
            yield f"{verb}: made {self.made}"
        ran = [[kind, name.split("-agent-")[-1]] for kind, name in self.made if kind in ("Job", "Pod")]
        if ran != ([hook] if hook else []):
            yield f"{verb}: {ran} ran"
        yield from (f"{verb}: {name} began before all that it needs was there" for name in self.failed)

    def live(self, steps):
        for step in steps:
            yield from self.step(*step)
        yield from (f"is left: {key}" for key in self.objects)


def life_of(program, steps, namespace, release):
    with tempfile.TemporaryDirectory() as directory, \
            Cluster(directory, program, namespace, release) as cluster:
        return [f"{program}, release {release} in {namespace}: {text}" for text in cluster.live(steps)]


def complaints():
    """Helm waits most of the time, hence several at once."""
    lives = [(steps, namespace, release) for steps in (WHOLE_LIFE, SHORT_LIFE)
             for namespace in NAMESPACES for release in RELEASES
             if steps is SHORT_LIFE or (namespace, release) == ("z", "a")]
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        for major in ("3", "4"):
            program = renderer.Helm(major).program
            if program:
                yield from itertools.chain(*pool.map(lambda life: life_of(program, *life), lives))
            else:
                print(f"skipped: the life of a release by Helm {major}, which there is not")
