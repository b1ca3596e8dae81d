# SPDX-License-Identifier: Apache-2.0
"""What kubelets and controllers do, where there are none: pods, their tokens, files and commands.

A pod becomes an object of the API server, so that its token is bound to it and to its Node; its
program is the one that was built, on a recorded machine.
"""
import json
import os
import subprocess
import tempfile
import time

import yaml

import agent
import api
from agent import Agent, PATIENCE, wait

CONFIG = "rdma-node-agent.yaml"


def now():
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


class Kubelet:
    """cluster: of an administrator; servers: write kubeconfigs."""

    def __init__(self, servers, namespace):
        self.servers, self.admin, self.namespace = servers, servers.admin, namespace
        self.path = f"/api/v1/namespaces/{namespace}"
        self.count, self.ran = 0, []

    def make_pod(self, node, template):
        """Of a DaemonSet's template, on that node. Returns it."""
        self.count += 1
        return self.admin.ask("POST", f"{self.path}/pods", {
            "apiVersion": "v1", "kind": "Pod", "spec": {**template["spec"], "nodeName": node},
            "metadata": {**template["metadata"], "name": f"{node}-{self.count}"}})

    def delete_pod(self, pod):
        """At once: no kubelet would end it."""
        self.admin.ask("DELETE", f"{self.path}/pods/{pod['metadata']['name']}?gracePeriodSeconds=0")

    def access(self, account, pod=None):
        """The path of a kubeconfig with a token of that account, bound to the pod."""
        bound = {"boundObjectRef": {"apiVersion": "v1", "kind": "Pod", "name": pod["metadata"]["name"],
                                    "uid": pod["metadata"]["uid"]}} if pod else {}
        made = self.admin.ask("POST", f"{self.path}/serviceaccounts/{account}/token", {
            "apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest",
            "spec": {"expirationSeconds": 3600, **bound}})
        name = pod["metadata"]["name"] if pod else account
        token = f"{self.servers.directory}/{self.namespace}-{name}.token"
        with open(token, "w", encoding="utf-8") as file:
            file.write(made["status"]["token"])
        return self.servers.kubeconfig(f"{self.namespace}-{name}", {"tokenFile": token})

    def settings(self, spec):
        """The configuration file in the volume of a pod."""
        name, = (volume["configMap"]["name"] for volume in spec["volumes"] if volume["name"] == "config")
        found = self.admin.ask("GET", f"{self.path}/configmaps/{name}")
        return yaml.safe_load(found["data"][CONFIG])

    # -- Jobs ---------------------------------------------------------------------------------

    def run_jobs(self):
        """Those that have not been run."""
        for job in self.admin.ask("GET", f"/apis/batch/v1/namespaces/{self.namespace}/jobs")["items"]:
            if not job.get("status", {}).get("conditions"):
                self.run_job(job)

    def run_job(self, job):
        began, spec = now(), job["spec"]["template"]["spec"]
        container, = spec["containers"]
        settings = self.settings(spec)
        settings["kubernetes"]["kubeconfig"] = self.access(spec["serviceAccountName"])
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            json.dump(settings, file)
            file.flush()
            done = subprocess.run([agent.binary, *container["args"], "--config", file.name], check=False,
                                  env={"PATH": os.environ["PATH"]}, text=True, timeout=PATIENCE,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.ran.append((job["metadata"]["name"], container["args"], done.returncode, done.stdout))
        self.finish(job, began, done.returncode == 0)

    def finish(self, job, began, success):
        """As the controller of Jobs says it, in both steps: pods have ended, and the Job has."""
        ended = now()
        kinds = ["SuccessCriteriaMet", "Complete"] if success else ["FailureTarget", "Failed"]
        conditions = [{"type": kind, "status": "True", "reason": "RunByHand", "message": "",
                       "lastProbeTime": ended, "lastTransitionTime": ended} for kind in kinds]
        status = {"startTime": began, "succeeded" if success else "failed": 1,
                  "uncountedTerminatedPods": {}}
        for part in ({**status, "conditions": conditions[:1]},
                     {"conditions": conditions, **({"completionTime": ended} if success else {})}):
            self.admin.ask("PATCH", f"/apis/batch/v1/namespaces/{self.namespace}/jobs/"
                           f"{job['metadata']['name']}/status", {"status": part}, kind=api.MERGE)


class PodAgent(Agent):
    """An agent as the chart's DaemonSet runs it on a node, on a recorded machine."""

    def __init__(self, kubelet, daemon_set, node, machine="roce-8rail"):
        super().__init__(machine)
        self.kubelet, self.node, self.pod = kubelet, node, None
        self.take(daemon_set)

    def take(self, daemon_set):
        template = daemon_set["spec"]["template"]
        self.spec, self.pod = template["spec"], self.kubelet.make_pod(self.node, template)
        self.kubeconfig = self.kubelet.access(self.spec["serviceAccountName"], self.pod)

    def replace(self, daemon_set):
        """By the pod of another revision, on the same node."""
        self.stop()
        self.delete_pod()
        self.take(daemon_set)
        self.write_config()
        self.start()
        wait("readiness", self.is_ready)

    def delete_pod(self):
        if self.pod:
            self.kubelet.delete_pod(self.pod)
            self.pod = None

    def write_config(self, poll=None, extra=""):
        settings = self.kubelet.settings(self.spec)
        settings["http"] = {"listen": [f"127.0.0.1:{self.port}"]}
        settings["state"] = {"directory": f"{self.directory}/state"}
        settings["kubernetes"].update(kubeconfig=self.kubeconfig, node_name=self.node)
        with open(self.config, "w", encoding="utf-8") as file:
            json.dump(settings, file)

    def kill(self):
        super().kill()
        self.delete_pod()

    def set_states(self, state):
        for rail in range(9):
            self.write(f"sys/class/infiniband/mlx5_{rail}/ports/1/state", state)
