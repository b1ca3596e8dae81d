# SPDX-License-Identifier: Apache-2.0
"""Rules for the pods with any values: each right needs a reason in the values. The values here are
those of a profile, merged over the defaults of the chart."""
import yaml

REASONS = ("verbs", "umad", "selfTest")


def by_plugin(values):
    return values["deviceFiles"]["by"] == "plugin"


def wants_device_files(values):
    return any(values[name]["enabled"] for name in REASONS)


def writes_nfd_file(values):
    return values["config"]["kubernetes"]["backend"] in ("nfd", "both")


def uses_api(values):
    settings = values["config"]["kubernetes"]
    return settings["backend"] in ("api", "both") and not settings["kubeconfig"]


def wants_root(values):
    by_umad = values["umad"]["enabled"] and values["umad"].get("group") is None
    return by_umad or bool(wanted_capabilities(values)) or writes_nfd_file(values)


def wanted_capabilities(values):
    return [name for key, name in (("selfTest", "IPC_LOCK"), ("ethtool", "NET_ADMIN"))
            if values[key]["enabled"]]


def wanted_context(values):
    """The securityContext that the agent's container has to have, as the whole of it."""
    if wants_device_files(values) and not by_plugin(values):
        return {"readOnlyRootFilesystem": True, "privileged": True}
    added = wanted_capabilities(values)
    capabilities = {"drop": ["ALL"], **({"add": added} if added else {})}
    return {"readOnlyRootFilesystem": True, "allowPrivilegeEscalation": False,
            "capabilities": capabilities}


def wanted_host_paths(values):
    found = {item["hostPath"]["path"] for item in values["extraVolumes"] if "hostPath" in item}
    if values["state"]["type"] == "hostPath":
        found.add(values["state"]["path"])
    if wants_device_files(values) and not by_plugin(values):
        found.add("/dev/infiniband")
    if values["kernelLog"]["journal"]:
        found.add(values["kernelLog"]["journal"])
    if writes_nfd_file(values):
        found.add(values["config"]["kubernetes"]["nfd_directory"])
    return found


def check_pod(pod, values):
    """Yields what a pod may that it must not, or the other way round."""
    context, agent = pod["securityContext"], pod["containers"][0]
    if set(pod) & {"hostPID", "hostIPC", "shareProcessNamespace"} or pod["hostNetwork"] is not True:
        yield "is in other namespaces than that of the network"
    if context["seccompProfile"] != {"type": "RuntimeDefault"}:
        yield "has no seccomp profile"
    is_root = context["runAsUser"] == 0
    if is_root != wants_root(values) or context["runAsNonRoot"] == is_root:
        yield f"runs as {context['runAsUser']}, runAsNonRoot {context['runAsNonRoot']}"
    if agent["securityContext"] != wanted_context(values):
        yield f"the agent has {agent['securityContext']}, which is not {wanted_context(values)}"
    host_paths = {item["hostPath"]["path"] for item in pod["volumes"] if "hostPath" in item}
    if host_paths != wanted_host_paths(values):
        yield f"has the node's {host_paths}, which is not {wanted_host_paths(values)}"
    if pod["automountServiceAccountToken"] != uses_api(values):
        yield "has a token of the API, or has none"


CONFINED = {"readOnlyRootFilesystem": True, "allowPrivilegeEscalation": False}
INIT_CONTEXTS = {
    "state": {**CONFINED, "runAsNonRoot": False, "runAsUser": 0, "runAsGroup": 0,
              "capabilities": {"drop": ["ALL"], "add": ["CHOWN"]}},
    "clean-up": {**CONFINED, "capabilities": {"drop": ["ALL"]}},
}


def check_init(pod):
    """What runs before the agent has other rights: one is root for a moment."""
    for container in pod.get("initContainers", []):
        name, context = container["name"], container["securityContext"]
        if context != INIT_CONTEXTS[name]:
            yield f"{name}: has {context}, which is not {INIT_CONTEXTS[name]}"
        mounts = {mount["name"] for mount in container["volumeMounts"]}
        if name == "state" and mounts != {"state"}:
            yield f"{name}: has {mounts}"


def wanted_rules(values):
    """What the service account may do, by the kind of the role."""
    settings = values["config"]["kubernetes"]
    if not uses_api(values):
        return {}
    cluster = [(["nodes"], ["get", "patch"])]
    cluster += [(["nodes/status"], ["patch"])] if settings["conditions"] else []
    events = {"Role": [(["events"], ["create", "patch"])]} if settings["events"] else {}
    return {"ClusterRole": cluster, **events}


def check_roles(items, values):
    """Yields roles with other rights, or bound to another subject."""
    roles = {item["kind"]: item for item in items if item["kind"] in ("ClusterRole", "Role")}
    rules = {kind: [(rule["resources"], rule["verbs"]) for rule in role["rules"]
                    if rule["apiGroups"] == [""]] for kind, role in roles.items()}
    if rules != wanted_rules(values):
        yield f"the roles allow {rules}, which is not {wanted_rules(values)}"
    account = next(item for item in items if item["kind"] == "DaemonSet"
                   )["spec"]["template"]["spec"]["serviceAccountName"]
    for kind, role in roles.items():
        binding = next(item for item in items if item["kind"] == f"{kind}Binding")
        reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": kind,
                     "name": role["metadata"]["name"]}
        if binding["roleRef"] != reference or binding["subjects"] != [
                {"kind": "ServiceAccount", "name": account, "namespace": "ns"}]:
            yield f"{kind}Binding: binds {binding['roleRef']} to {binding['subjects']}"
        if kind == "Role" and {role["metadata"]["namespace"],
                               binding["metadata"]["namespace"]} != {"default"}:
            yield "Role: events of nodes are in the namespace default"


def check_traffic(items, values):
    """No traffic by who was not given the rights for it, whatever else gave them."""
    config = next(item for item in items if item["kind"] == "ConfigMap"
                  and "rdma-node-agent.yaml" in item["data"])["data"]["rdma-node-agent.yaml"]
    tests = yaml.safe_load(config).get("selftest", {}).get("enabled", True)
    if tests != values["selfTest"]["enabled"]:
        yield "tests ports, or does not, and selfTest says the other way round"


def complaints(items, values):
    pod = next(item for item in items if item["kind"] == "DaemonSet")["spec"]["template"]["spec"]
    yield from check_pod(pod, values)
    yield from check_init(pod)
    yield from check_roles(items, values)
    yield from check_traffic(items, values)
