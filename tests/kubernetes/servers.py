# SPDX-License-Identifier: Apache-2.0
"""A real control plane on loopback: etcd, kube-apiserver and, where there is one, the controller manager.

Their programs come from a folder (RNA_TEST_KUBERNETES). All else is made here: certificates, keys,
kubeconfigs. RBAC and admission policies are on, and DeviceTaintRules, where the server knows them.
"""
import contextlib
import json
import os
import re
import subprocess
import urllib.request

import api
from agent import free_port, wait
from cluster import Cluster

README = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../helm/README.md")
FOLDER = "RNA_TEST_KUBERNETES"
NEEDED, HELM = ["etcd", "kube-apiserver", "kubectl"], "helm"
CONTROLLERS = "kube-controller-manager"  # only for the garbage collector


class Missing(Exception):
    """Why no server can be started."""


def is_program(path):
    return os.path.isfile(path) and os.access(path, os.X_OK)


def helms(folder):
    """Of several versions: all files whose names begin so."""
    return sorted(path for path in (f"{folder}/{name}" for name in os.listdir(folder)
                                    if name.startswith(HELM)) if is_program(path))


def folder():
    """The folder with the programs; raises Missing with those that it has not."""
    path = os.environ.get(FOLDER)
    if not path:
        raise Missing(f"{FOLDER} names no folder with {', '.join(NEEDED)} and {HELM}")
    if not os.path.isdir(path):
        raise Missing(f"{FOLDER}: {path} is no folder")
    path = os.path.abspath(path)
    missing = [name for name in NEEDED if not is_program(f"{path}/{name}")]
    missing += [] if helms(path) else [HELM]
    if missing:
        raise Missing(f"{FOLDER}: {path} lacks {', '.join(missing)}")
    return path


def output(*command):
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT).stdout


def version_of(program, *arguments):
    """Numbers of the first version in what it says: (1, 36, 2)."""
    text = output(program, *(arguments or ["--version"]))
    return tuple(map(int, re.search(r"v?(\d+)\.(\d+)\.(\d+)", text).groups()))


class Server:
    """A process that serves until it is stopped, with its log in a file."""

    def __init__(self, directory, *command):
        self.name = os.path.basename(command[0])
        self.command, self.path = command, f"{directory}/{self.name}.log"
        self.process = None

    def log(self):
        with open(self.path, encoding="utf-8", errors="replace") as file:
            return "".join(file.readlines()[-20:])

    def start(self, is_ready):
        with open(self.path, "ab") as log:
            self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

        def ready():
            if self.process.poll() is not None:
                raise AssertionError(f"{self.name} ended with status {self.process.returncode}: {self.log()}")
            with contextlib.suppress(OSError):
                return is_ready()
            return False

        try:
            wait(f"{self.name}", ready)
        except AssertionError as error:
            raise AssertionError(f"{error}; its log: {self.log()}") from error

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


class Servers:
    """In a with statement. admin, kubeconfig_path: of an administrator."""

    helm_flags = []

    def __init__(self, directory, programs, account=""):
        """account: NAMESPACE:NAME of agents, who may read their own Node only."""
        self.account, self.directory = account, directory
        self.programs, self.kubectl = programs, f"{programs}/kubectl"
        self.version = version_of(f"{programs}/kube-apiserver")
        self.running = []
        self.etcd_port, self.port = free_port(), free_port()
        self.url = f"https://127.0.0.1:{self.port}"

    def __enter__(self):
        try:
            self.make_keys()
            self.kubeconfig_path = self.kubeconfig("admin", {
                "client-certificate": f"{self.directory}/admin.crt", "client-key": f"{self.directory}/admin.key"})
            self.admin = Cluster(self.kubeconfig_path)
            self.start_etcd()
            self.start_api()
            if is_program(f"{self.programs}/{CONTROLLERS}"):
                self.start_controllers()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        while self.running:
            self.running.pop().stop()

    def start(self, is_ready, program, *arguments):
        server = Server(self.directory, f"{self.programs}/{program}", *arguments)
        self.running.append(server)
        server.start(is_ready)

    @property
    def hides_nodes(self):
        """Does authorization keep agents from other Nodes, as helm/README.md says how?"""
        return self.version >= (1, 32)

    @property
    def collects_garbage(self):
        return any(server.name == CONTROLLERS for server in self.running)

    # -- keys ---------------------------------------------------------------------------------

    def make_keys(self):
        api.make_certificates(self.directory)
        api.make_certificate(self.directory, "ca", "admin", "/O=system:masters/CN=kubernetes-admin",
                             "extendedKeyUsage=clientAuth")
        api.openssl("genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048",
                    "-out", f"{self.directory}/accounts.key")
        api.openssl("pkey", "-in", f"{self.directory}/accounts.key", "-pubout",
                    "-out", f"{self.directory}/accounts.pub")

    def kubeconfig(self, name, user, url=None):
        """Writes one and returns its path."""
        path = f"{self.directory}/{name}.kubeconfig"
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"apiVersion": "v1", "kind": "Config", "current-context": "it",
                       "contexts": [{"name": "it", "context": {"cluster": "here", "user": "me"}}],
                       "clusters": [{"name": "here", "cluster": {
                           "server": url or self.url, "certificate-authority": f"{self.directory}/ca.crt"}}],
                       "users": [{"name": "me", "user": user}]}, file)
        return path

    # -- servers ------------------------------------------------------------------------------

    def start_etcd(self):
        url, peers = f"http://127.0.0.1:{self.etcd_port}", f"http://127.0.0.1:{free_port()}"
        self.etcd = url
        self.start(lambda: self.is_healthy(url), "etcd", "--name=it",
                   f"--data-dir={self.directory}/etcd", f"--listen-client-urls={url}",
                   f"--advertise-client-urls={url}", f"--listen-peer-urls={peers}",
                   f"--initial-advertise-peer-urls={peers}", f"--initial-cluster=it={peers}")

    @staticmethod
    def is_healthy(url):
        with urllib.request.urlopen(f"{url}/health", timeout=5) as reply:
            return json.load(reply)["health"] in ("true", True)

    def gates(self):
        """What has to be switched on for rules for devices; nothing where the server has none."""
        if "DRADeviceTaintRules=" not in output(f"{self.programs}/kube-apiserver", "--help"):
            return []
        return ["--feature-gates=DRADeviceTaintRules=true", "--runtime-config=resource.k8s.io/v1beta2=true"]

    def authorization(self):
        """That of helm/README.md, where the server knows it; it wants no other flags."""
        if not self.hides_nodes:
            return ["--authorization-mode=Node,RBAC"]
        with open(README, encoding="utf-8") as file:
            text = re.search(r"```yaml\n(apiVersion: apiserver.config.k8s.io/v1\n.*?)```", file.read(), re.S)[1]
        nowhere = self.kubeconfig("nowhere", {}, f"https://127.0.0.1:{free_port()}")
        path = f"{self.directory}/authorization.yaml"
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.replace("NAMESPACE:ACCOUNT", self.account).replace(
                "/etc/kubernetes/nowhere.kubeconfig", nowhere))
        return [f"--authorization-config={path}"]

    def start_api(self):
        directory, issuer = self.directory, "https://kubernetes.default.svc"
        self.start(lambda: self.admin.request("GET", "/apis")[0] == 200 and self.is_up(),
                   "kube-apiserver", f"--etcd-servers={self.etcd}", "--bind-address=127.0.0.1",
                   f"--secure-port={self.port}", "--advertise-address=127.0.0.1",
                   "--endpoint-reconciler-type=none", "--service-cluster-ip-range=10.96.0.0/16",
                   f"--tls-cert-file={directory}/server.crt", f"--tls-private-key-file={directory}/server.key",
                   f"--client-ca-file={directory}/ca.crt", f"--service-account-issuer={issuer}",
                   f"--service-account-key-file={directory}/accounts.pub",
                   f"--service-account-signing-key-file={directory}/accounts.key",
                   f"--api-audiences={issuer}", *self.authorization(),
                   "--enable-admission-plugins=NodeRestriction,OwnerReferencesPermissionEnforcement",
                   "--allow-privileged=true", *self.gates())

    def is_up(self):
        """Roles of the server's own are made a moment after it begins to answer."""
        status, _ = self.admin.request(
            "GET", "/apis/rbac.authorization.k8s.io/v1/clusterroles/cluster-admin")
        return status == 200

    def start_controllers(self):
        """The others would run pods that no kubelet runs."""
        self.start(lambda: "Started controller" in self.running[-1].log() or "garbage" in self.running[-1].log(),
                   CONTROLLERS, f"--kubeconfig={self.directory}/admin.kubeconfig", "--controllers=garbagecollector",
                   "--leader-elect=false", "--secure-port=0")
