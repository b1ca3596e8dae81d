# SPDX-License-Identifier: Apache-2.0
"""Each value alone: exactly the rights that it adds and takes away, compared with the defaults. Every
value of values.yaml is in one of two tables: those that change rights, and those that do not."""
import yaml

import renderer
from renderer import CHART, read

RUN_AS, ROOT = "user 10879", "user 0"
STATE = {"hostPath /var/lib/rdma-node-agent: agent rw, state rw",
         "state: user 0", "state: capability CHOWN", "state: no capabilities by default",
         "state: no new privileges", "state: read-only root"}
UNPRIVILEGED = {"agent: no new privileges", "agent: no capabilities by default"}
PRIVILEGED = {"agent: privileged", "hostPath /dev/infiniband: agent ro"}
API = {"token of the API", "ClusterRole: nodes get,patch", "ClusterRole: nodes/status patch",
       "Role in default: events create,patch"}
POLICIES = {"policy of admission: nodes,nodes/status", "policy of admission: events"}
CLEAN_UP = {"while a Job runs: nodes list,get,patch", "while a Job runs: nodes/status patch"}
TEST = {"while a Job runs: endpointslices list"}
DEVICES = {"ClusterRole: resourceslices list", "ClusterRole: devicetaintrules list,create,patch,delete",
           "policy of admission: devicetaintrules",
           "while a Job runs: devicetaintrules list,delete"}
API |= POLICIES | CLEAN_UP
LIMIT = {"Role in ns: leases list", "Role in ns: leases patch, 2 by name",
         "policy of admission: leases"}
NFD = {ROOT, "hostPath /etc/kubernetes/node-feature-discovery/features.d: agent rw"}
SLICES = {"token of the API", "Role in ns: endpointslices list"}
SECRET = {"secret rel-rdma-node-agent-probe: agent ro"}
QUOTA = "quota for system-node-critical"
PLUGIN = {"deviceFiles": {"by": "plugin", "resource": "rdma/hca"}}


def kubernetes(**settings):
    return {"config": {"kubernetes": settings}}


# The base of the following: nothing that follows from the cluster.
OFF = kubernetes(backend="off")
# The values, what they add to the rights of the base, and what they take away.
CHANGES = [
    ({"runAsUser": 4711}, {"user 4711"}, {RUN_AS}),
    ({"verbs": {"enabled": True}}, PRIVILEGED, UNPRIVILEGED),
    ({"verbs": {"enabled": True}, **PLUGIN}, {"resource rdma/hca"}, set()),
    ({"umad": {"enabled": True}}, PRIVILEGED | {ROOT}, UNPRIVILEGED | {RUN_AS}),
    ({"umad": {"enabled": True, "group": 2010}}, PRIVILEGED | {"group 2010"}, UNPRIVILEGED),
    ({"umad": {"enabled": True}, **PLUGIN}, {ROOT, "resource rdma/hca"}, {RUN_AS}),
    ({"umad": {"enabled": True, "group": 2010}, **PLUGIN}, {"group 2010", "resource rdma/hca"},
     set()),
    ({"selfTest": {"enabled": True}}, PRIVILEGED | {ROOT}, UNPRIVILEGED | {RUN_AS}),
    ({"selfTest": {"enabled": True}, **PLUGIN},
     {ROOT, "agent: capability IPC_LOCK", "resource rdma/hca"}, {RUN_AS}),
    ({"probe": {"enabled": True}}, PRIVILEGED | {ROOT} | SLICES | SECRET, UNPRIVILEGED | {RUN_AS}),
    ({"probe": {"enabled": True}, **PLUGIN},
     {ROOT, "agent: capability IPC_LOCK", "resource rdma/hca"} | SLICES | SECRET, {RUN_AS}),
    ({"probe": {"enabled": True, "ipcLock": False}, **PLUGIN},
     {"fsGroup 10879", "resource rdma/hca"} | SLICES | SECRET, set()),
    ({"probe": {"enabled": True, "ipcLock": False, "priority": True}, **PLUGIN},
     {ROOT, "agent: capability SYS_NICE", "resource rdma/hca"} | SLICES | SECRET, {RUN_AS}),
    ({"probe": {"enabled": True, "ipcLock": False, "members": "dns"}, **PLUGIN},
     {"fsGroup 10879", "resource rdma/hca", "DNS of the cluster"} | SECRET, set()),
    ({"probe": {"enabled": True, "ipcLock": False, "members": "none", "secretName": "given"}},
     PRIVILEGED | {"fsGroup 10879", "secret given: agent ro"}, UNPRIVILEGED),
    ({"probe": {"enabled": True, "ipcLock": False, "members": "dns"}, "runAsUser": 4711,
      "podSecurityContext": {"fsGroup": 17}, "config": {"probe": {
          "members_kubernetes": "fabric/agents"}}, **PLUGIN},
     {"fsGroup 17", "user 4711", "resource rdma/hca", "token of the API",
      "Role in fabric: endpointslices list"} | SECRET, {RUN_AS}),
    ({"probe": {"enabled": True, "ipcLock": False}, "config": {
        "kubernetes": {"kubeconfig": "/etc/kube/config"}, "probe": {"secret_file": "/s"}}, **PLUGIN},
     {"resource rdma/hca"}, set()),
    ({"kernelLog": {"journal": "/var/log/journal", "group": 190}},
     {"hostPath /var/log/journal: agent ro", "group 190"}, set()),
    ({"kernelLog": {"journal": "/run/log/journal"}, "ethtool": {"enabled": True}},
     {"hostPath /run/log/journal: agent ro", ROOT, "agent: capability NET_ADMIN"}, {RUN_AS}),
    ({"umad": {"enabled": True, "group": 2010}, "kernelLog": {"journal": "/j", "group": 190},
      **PLUGIN}, {"group 2010", "group 190", "resource rdma/hca", "hostPath /j: agent ro"}, set()),
    ({"ethtool": {"enabled": True}}, {ROOT, "agent: capability NET_ADMIN"}, {RUN_AS}),
    ({"users": {"enabled": True}}, {"hostPID", "hostPath /var/log/containers: agent ro"}, set()),
    ({"follow": {"enabled": True}}, {"hostPID", ROOT, "agent: capability SYS_PTRACE"}, {RUN_AS}),
    (kubernetes(backend="api"), API, set()),
    (kubernetes(backend="api", conditions=False), API - {"ClusterRole: nodes/status patch"}, set()),
    (kubernetes(backend="api", events=False), API - {"Role in default: events create,patch",
                                                     "policy of admission: events"}, set()),
    (kubernetes(backend="api", device_taints="report"), API | DEVICES, set()),
    ({**kubernetes(backend="api", taint="a/b"), "taintLimit": 2}, API | LIMIT, set()),
    ({**kubernetes(backend="api", taint="a/b"), "taintLimit": None}, API, set()),
    (kubernetes(backend="api", taint="a/b", taint_dry_run=True), API, set()),
    (kubernetes(backend="api", taint="a/b", taint_leases="c/d"), API, set()),
    (kubernetes(backend="api", taint="a/b", kubeconfig="/etc/kube/config"), CLEAN_UP, set()),
    (kubernetes(backend="api", kubeconfig="/etc/kube/config"), CLEAN_UP, set()),
    ({**kubernetes(backend="api"), "admissionPolicy": "never"}, API - POLICIES, set()),
    (kubernetes(backend="nfd"), NFD, {RUN_AS}),
    (kubernetes(backend="nfd", nfd_directory="/nfd"), {ROOT, "hostPath /nfd: agent rw"}, {RUN_AS}),
    (kubernetes(backend="both"), API | NFD, {RUN_AS}),
    ({**kubernetes(backend="api"), "cleanUp": False}, API - CLEAN_UP, set()),
    ({"dnsPolicy": "ClusterFirstWithHostNet"}, {"DNS of the cluster"}, set()),
    ({"web": {"certificateSecret": "rdma-tls"}},
     {"secret rdma-tls: agent ro", "socket /run/rdma-node-agent/http.sock in the pod"}, set()),
    ({"namespaceOverride": "other"}, set(), set()),
    ({"openshift": {"securityContextConstraints": "always"}},
     {"seLinuxOptions {'type': 'spc_t'}", "Role in ns: securitycontextconstraints use, 1 by name"}, set()),
    ({"openshift": {"securityContextConstraints": "always", "seLinuxType": ""}},
     {"Role in ns: securitycontextconstraints use, 1 by name"}, set()),
    ({"extraContainers": [{"name": "a", "image": "b", "securityContext": {"privileged": True}}]},
     {"a: privileged"}, set()),
    ({"state": {"type": "none"}}, set(), STATE),
    ({"state": {"type": "emptyDir"}}, set(), STATE),
    ({"state": {"path": "/var/lib/other"}},
     {"hostPath /var/lib/other: agent rw, state rw"},
     {"hostPath /var/lib/rdma-node-agent: agent rw, state rw"}),
    ({"port": 9879}, {"port 9879 of the node"}, {"port 10879 of the node"}),
    ({"listenHost": "127.0.0.1"}, {"port 10879 of 127.0.0.1"}, {"port 10879 of the node"} | TEST),
    ({"test": {"enabled": False}}, set(), TEST),
    ({"web": {"secretName": "rdma-web"}},
     {"secret rdma-web: agent ro", "socket /run/rdma-node-agent/http.sock in the pod"}, set()),
    ({"podSecurityContext": {"runAsUser": 0, "runAsNonRoot": False}}, {ROOT}, {RUN_AS}),
    ({"podSecurityContext": {"seLinuxOptions": {"type": "spc_t"}}},
     {"seLinuxOptions {'type': 'spc_t'}"}, set()),
    ({"podSecurityContext": {"seccompProfile": {"type": "Unconfined"}}},
     {"seccomp Unconfined"}, {"seccomp RuntimeDefault"}),
    ({"extraVolumes": [{"name": "host", "hostPath": {"path": "/"}}],
      "extraVolumeMounts": [{"name": "host", "mountPath": "/host", "readOnly": True}]},
     {"hostPath /: agent ro"}, set()),
    ({**kubernetes(backend="api"), "nodeReadinessRule": {
        "enabled": True, "conditions": ["RdmaPortDown"], "enforcementMode": "bootstrap-only",
        "nodeSelector": {"pool": "gpu"}, "dryRun": True,
        "taint": {"key": "readiness.k8s.io/a", "effect": "PreferNoSchedule"}}}, API, set()),
    ({"priorityClassName": ""}, set(), {"priority system-node-critical", QUOTA}),
    ({"extraInitContainers": [{"name": "a", "image": "b", "securityContext": {"privileged": True}}]},
     {"a: privileged"}, set()),
    (kubernetes(backend="auto"), API, set()),
]

# Another value of each that changes no rights, neither alone nor with the API. A key with a table of
# values is one value, and so is a list.
KEEPS = {
    "image.repository": "registry.test/rna", "image.tag": "1.0",
    "image.digest": "sha256:" + "0123456789abcdef" * 4, "image.pullPolicy": "Always",
    "image.registry": "registry.test", "global.imageRegistry": "registry.test",
    "global.imagePullSecrets": ["registry"],
    "imagePullSecrets": [{"name": "registry"}], "nameOverride": "rna", "fullnameOverride": "rna",
    "config.kubernetes.roce_key": "a/b", "config.kubernetes.label_prefix": "a.b/",
    "apiServer.host": "192.0.2.1", "apiServer.port": 6443,
    "resources": {"limits": {"memory": "1Gi"}}, "tolerations": [{"operator": "Exists"}],
    "nodeSelector": {"pool": "gpu"}, "rdmaNodes.only": True, "rdmaNodes.labels": ["a/b"],
    "affinity": {"nodeAffinity": {}}, "updateStrategy": {"type": "OnDelete", "rollingUpdate": None},
    "terminationGracePeriodSeconds": 30, "startupProbe": {"periodSeconds": 3},
    "livenessProbe": {"periodSeconds": 11}, "readinessProbe": {"periodSeconds": 11},
    "revisionHistoryLimit": 2, "minReadySeconds": 5, "extraObjects": [{"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}}],
    "taintLimit": 20, "commonAnnotations": {"a": "b"},
    "nodeFeatureRule": {"enabled": True, "label": "a/b", "modules": []},
    "commonLabels": {"a": "b"}, "podLabels": {"a": "b"}, "podAnnotations": {"a": "b"},
    "extraArgs": ["--log=debug"], "extraEnv": [{"name": "TZ", "value": "UTC"}],
    "serviceAccount.create": False, "serviceAccount.name": "given",
    "serviceAccount.annotations": {"a": "b"}, "service.enabled": True,
    "podMonitor": {"enabled": True, "labels": {"a": "b"}, "interval": "30s", "sampleLimit": 1},
    "serviceMonitor": {"enabled": True, "labels": {"a": "b"}, "attachMetadata": {"node": True}},
    "prometheusRule": {"enabled": True, "alerts": {"RdmaModule": {"enabled": False}}},
    "dashboards": {"enabled": True, "labels": {"a": "b"}, "namespace": "monitoring"},
    "networkPolicy": {"enabled": True, "from": [{"podSelector": {}}]},
    "config.poll": {"state": "500ms"}, "config.selftest": {"enabled": True, "gpu_memory": True},
    "config.probe": {"enabled": True, "group": "a", "traffic_class": 106, "service_level": 1,
                     "members_kubernetes": "a/b"},
    "deviceTaintDrivers": ["nic.example.org"], "config.security": {"seccomp": "off"}, "config.expect": {"profile": "auto"},
    "profiles": "{version: 1, profiles: [{name: a, match: {gpus: 8}}]}", "config.lanes": {"max": 4},
}
# Of no effect without others, with which they are in CHANGES.
WITH_OTHERS = {"config.kubernetes.conditions", "config.kubernetes.events", "admissionPolicy",
               "config.kubernetes.kubeconfig", "config.kubernetes.nfd_directory",
               "deviceFiles.by", "deviceFiles.resource", "umad.group", "kernelLog.group", "web.tls",
               "web.clientCertificates", "extraVolumeMounts"}


# -- The rights of manifests ----------------------------------------------------------------------

def of_container(container):
    context, name = container.get("securityContext", {}), container["name"]
    if context.get("privileged"):
        yield f"{name}: privileged"
    if context.get("allowPrivilegeEscalation") is False:
        yield f"{name}: no new privileges"
    capabilities = context.get("capabilities", {})
    if capabilities.get("drop") == ["ALL"]:
        yield f"{name}: no capabilities by default"
    yield from (f"{name}: capability {added}" for added in capabilities.get("add", []))
    if context.get("readOnlyRootFilesystem"):
        yield f"{name}: read-only root"
    if "runAsUser" in context:
        yield f"{name}: user {context['runAsUser']}"
    known = {"privileged", "allowPrivilegeEscalation", "capabilities", "readOnlyRootFilesystem",
             "runAsUser", "runAsGroup", "runAsNonRoot"}
    yield from (f"{name}: {key} {context[key]}" for key in sorted(set(context) - known))
    limits = container.get("resources", {}).get("limits", {})
    yield from (f"resource {key}" for key in limits if "/" in key)


def of_volume(volume, containers):
    """Which containers may read or write what is not of the pod itself."""
    kinds = {"hostPath": "path", "secret": "secretName"}
    kind = next((kind for kind in kinds if kind in volume), None)
    if not kind:
        return
    users = [f"{container['name']} {'ro' if mount.get('readOnly') else 'rw'}"
             for container in containers for mount in container.get("volumeMounts", [])
             if mount["name"] == volume["name"]]
    yield f"{kind} {volume[kind][kinds[kind]]}: {', '.join(sorted(users))}"


def of_pod(pod):
    context = pod["securityContext"]
    containers = pod["containers"] + pod.get("initContainers", [])
    yield f"user {context['runAsUser']}"
    yield f"seccomp {context['seccompProfile']['type']}"
    yield from (f"group {group}" for group in context.get("supplementalGroups", []))
    known = {"runAsUser", "runAsGroup", "runAsNonRoot", "seccompProfile", "supplementalGroups"}
    yield from (f"{key} {context[key]}" for key in sorted(set(context) - known))
    yield from (key for key in ("hostNetwork", "hostPID", "hostIPC", "shareProcessNamespace")
                if pod.get(key))
    if pod.get("priorityClassName"):
        yield f"priority {pod['priorityClassName']}"
    if pod.get("dnsPolicy") == "ClusterFirstWithHostNet":
        yield "DNS of the cluster"
    if pod.get("automountServiceAccountToken") is not False:
        yield "token of the API"
    for container in containers:
        yield from of_container(container)
    for volume in pod["volumes"]:
        yield from of_volume(volume, containers)


def of_object(item):
    kind = item["kind"]
    if renderer.is_hook(item) and kind in ("ClusterRole", "Role"):
        for rule in item["rules"]:
            yield f"while a Job runs: {','.join(rule['resources'])} {','.join(rule['verbs'])}"
    elif renderer.is_hook(item):  # what runs there may nothing else, which rights.py verifies
        return
    elif kind in ("ClusterRole", "Role"):
        where = f"{kind} in {item['metadata']['namespace']}" if kind == "Role" else kind
        for rule in item["rules"]:
            named = f", {len(rule['resourceNames'])} by name" if "resourceNames" in rule else ""
            yield f"{where}: {','.join(rule['resources'])} {','.join(rule['verbs'])}{named}"
    elif kind == "ValidatingAdmissionPolicy":
        for rule in item["spec"]["matchConstraints"]["resourceRules"]:
            yield f"policy of admission: {','.join(rule['resources'])}"
    elif kind == "ResourceQuota":
        yield f"quota for {item['spec']['scopeSelector']['matchExpressions'][0]['values'][0]}"
    elif kind == "DaemonSet":
        yield from of_pod(item["spec"]["template"]["spec"])
    elif kind == "ConfigMap" and "rdma-node-agent.yaml" in item["data"]:
        settings = yaml.safe_load(item["data"]["rdma-node-agent.yaml"])
        for place in settings["http"]["listen"]:
            host, _, port = place.rpartition(":")
            yield (f"socket {port} in the pod" if host == "unix"
                   else f"port {port} of {host or 'the node'}")


def rights_of(items):
    return {right for item in items for right in of_object(item)}


# -- The tables -----------------------------------------------------------------------------------

def leaves(values, path=()):
    """Keys of values that are no sections of others."""
    for key, value in values.items():
        if isinstance(value, dict) and value and ".".join(path + (key,)) not in KEEPS:
            yield from leaves(value, path + (key,))
        else:
            yield ".".join(path + (key,))


def nested(path, value):
    for key in reversed(path.split(".")):
        value = {key: value}
    return value


def check_tables():
    """Is each value of values.yaml in a table?"""
    named = {path for values, _added, _taken in CHANGES for path in leaves(values)}
    known = named | set(KEEPS) | WITH_OTHERS
    for path in leaves(yaml.safe_load(read(f"{CHART}/values.yaml"))):
        if not any(path == name or name.startswith(f"{path}.") for name in known):
            yield f"{path}: is in no table of options.py: does it change rights?"


def difference(before, after):
    added = [f"adds {right!r}" for right in sorted(after - before)]
    return ", ".join(added + [f"takes {right!r}" for right in sorted(before - after)])


def on_base(values):
    """The values laid over OFF; a null among them, which takes a default away, stays."""
    config = values.get("config", {})
    settings = {**OFF["config"]["kubernetes"], **config.get("kubernetes", {})}
    return {**values, "config": {**config, "kubernetes": settings}}


def complaints(ours):
    yield from check_tables()
    default = rights_of(ours.objects(OFF))
    with_api = rights_of(ours.objects(kubernetes(backend="api")))
    for values, added, taken in CHANGES:
        wanted = (default - taken) | added
        found = rights_of(ours.objects(on_base(values)))
        if found != wanted or added & default or taken - default:
            yield f"{values}: {difference(wanted, found)}, compared with options.py"
    for path, value in KEEPS.items():
        for base, wanted in ((OFF, default), (kubernetes(backend="api"), with_api)):
            found = rights_of(ours.objects(renderer.overlay(base, nested(path, value))))
            if found != wanted:
                yield f"{path}: changes rights: {difference(wanted, found)}"
