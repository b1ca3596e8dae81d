# SPDX-License-Identifier: Apache-2.0
"""What has to hold of the pods whatever the values: no right without a reason that the values
give."""

REASONS = ("verbs", "umad", "selfTest")


def is_on(values, name):
    return values.get(name, {}).get("enabled", False)


def by_plugin(values):
    return values.get("deviceFiles", {}).get("by") == "plugin"


def wants_device_files(values):
    return any(is_on(values, name) for name in REASONS)


def wants_root(values):
    by_umad = is_on(values, "umad") and values["umad"].get("group") is None
    return by_umad or is_on(values, "selfTest")


def wanted_context(values):
    """The securityContext that the agent's container has to have, as the whole of it."""
    if wants_device_files(values) and not by_plugin(values):
        return {"readOnlyRootFilesystem": True, "privileged": True}
    capabilities = {"drop": ["ALL"], **({"add": ["IPC_LOCK"]} if is_on(values, "selfTest") else {})}
    return {"readOnlyRootFilesystem": True, "allowPrivilegeEscalation": False,
            "capabilities": capabilities}


def wanted_host_paths(values):
    state = values.get("state", {})
    found = {item["hostPath"]["path"] for item in values.get("extraVolumes", [])}
    if state.get("type", "hostPath") == "hostPath":
        found.add(state.get("path", "/var/lib/rdma-node-agent"))
    if wants_device_files(values) and not by_plugin(values):
        found.add("/dev/infiniband")
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
    if pod["automountServiceAccountToken"]:
        yield "has a token of the API"


def check_init(pod):
    """The one container that is root for a moment."""
    for container in pod.get("initContainers", []):
        context = container["securityContext"]
        if context["capabilities"] != {"drop": ["ALL"], "add": ["CHOWN"]}:
            yield f"{container['name']}: has the capabilities {context['capabilities']}"
        if context["allowPrivilegeEscalation"] or not context["readOnlyRootFilesystem"]:
            yield f"{container['name']}: is not confined"
        mounts = [mount["name"] for mount in container["volumeMounts"]]
        if mounts != ["state"]:
            yield f"{container['name']}: has {mounts}"


def complaints(items, values):
    pod = next(item for item in items if item["kind"] == "DaemonSet")["spec"]["template"]["spec"]
    yield from check_pod(pod, values)
    yield from check_init(pod)
