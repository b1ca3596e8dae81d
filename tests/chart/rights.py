# SPDX-License-Identifier: Apache-2.0
"""Rules for the pods with any values: each right needs a reason in the values. The values here are
those of a profile, merged over the defaults of the chart."""
import yaml

from renderer import is_hook

REASONS = ("verbs", "umad", "selfTest", "probe")


def by_plugin(values):
    return values["deviceFiles"]["by"] == "plugin"


def wants_device_files(values):
    return any(values[name]["enabled"] for name in REASONS)


def writes_nfd_file(values):
    return values["config"]["kubernetes"]["backend"] in ("nfd", "both")


def uses_api(values):
    settings = values["config"]["kubernetes"]
    return settings["backend"] in ("api", "both") and not settings["kubeconfig"]


def lists_members_in(values):
    """The namespace whose EndpointSlices the agents list; None: they do not."""
    settings, probe = values["config"]["probe"], values["probe"]
    if not probe["enabled"] or values["config"]["kubernetes"]["kubeconfig"]:
        return None
    if settings.get("members_file") or settings.get("members_dns"):
        return None
    if settings.get("members_kubernetes"):
        return settings["members_kubernetes"].split("/")[0]
    return "ns" if probe["members"] == "kubernetes" else None


def wants_root(values):
    by_umad = values["umad"]["enabled"] and values["umad"].get("group") is None
    return by_umad or bool(wanted_capabilities(values)) or writes_nfd_file(values)


def wanted_capabilities(values):
    locks = values["selfTest"]["enabled"] or (
        values["probe"]["enabled"] and values["probe"]["ipcLock"])
    return [name for name, wanted in (("IPC_LOCK", locks), ("NET_ADMIN", values["ethtool"]["enabled"]),
                                 ("SYS_NICE", values["probe"]["enabled"] and values["probe"]["priority"]),
                                 ("SYS_PTRACE", values["follow"]["enabled"]))
            if wanted]


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
    if values["users"]["enabled"]:
        found.add("/var/log/containers")
    if writes_nfd_file(values):
        found.add(values["config"]["kubernetes"]["nfd_directory"])
    return found


def check_pod(pod, values):
    """Yields what a pod may that it must not, or the other way round."""
    context, agent = pod["securityContext"], pod["containers"][0]
    if set(pod) & {"hostIPC", "shareProcessNamespace"} or pod["hostNetwork"] is not True:
        yield "is in other namespaces than that of the network"
    if pod.get("hostPID", False) != (
            values["users"]["enabled"] or values["follow"]["enabled"]):
        yield "sees the processes of the node, or does not"
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
    token = uses_api(values) or lists_members_in(values) is not None
    if pod["automountServiceAccountToken"] != token:
        yield "has a token of the API, or has none"


CONFINED = {"readOnlyRootFilesystem": True, "allowPrivilegeEscalation": False}
INIT_CONTEXTS = {
    "state": {**CONFINED, "runAsNonRoot": False, "runAsUser": 0, "runAsGroup": 0,
              "capabilities": {"drop": ["ALL"], "add": ["CHOWN"]}},
}


def check_init(pod, values):
    """What runs before the agent has other rights: one is root for a moment."""
    others = [container["name"] for container in values["extraInitContainers"]]
    for container in pod.get("initContainers", []):
        if container["name"] in others:
            continue
        name, context = container["name"], container["securityContext"]
        if context != INIT_CONTEXTS[name]:
            yield f"{name}: has {context}, which is not {INIT_CONTEXTS[name]}"
        mounts = {mount["name"] for mount in container["volumeMounts"]}
        if name == "state" and mounts != {"state"}:
            yield f"{name}: has {mounts}"


def wanted_rules(values):
    """What the service account may do: kind and namespace of the role, groups, resources, verbs."""
    settings = values["config"]["kubernetes"]
    if uses_api(values):
        yield "ClusterRole", None, [""], ["nodes"], ["get", "patch"]
        if settings["conditions"]:
            yield "ClusterRole", None, [""], ["nodes/status"], ["patch"]
        if settings["device_taints"] != "off":
            yield "ClusterRole", None, ["resource.k8s.io"], ["resourceslices"], ["list"]
            yield ("ClusterRole", None, ["resource.k8s.io"], ["devicetaintrules"],
                   ["list", "create", "patch", "delete"])
        if settings["taint"] and values["taintLimit"] is not None and not (
                settings.get("taint_dry_run") or settings.get("taint_leases")):
            yield "Role", "ns", ["coordination.k8s.io"], ["leases"], ["list"]
            yield "Role", "ns", ["coordination.k8s.io"], ["leases"], ["patch"]
        if settings["events"]:  # those of nodes are in this namespace
            yield "Role", "default", [""], ["events"], ["create", "patch"]
    if values["openshift"]["securityContextConstraints"] == "always":
        yield "Role", "ns", ["security.openshift.io"], ["securitycontextconstraints"], ["use"]
    namespace = lists_members_in(values)
    if namespace:
        yield "Role", namespace, ["discovery.k8s.io"], ["endpointslices"], ["list"]


def check_roles(items, values):
    """Yields roles with other rights, or bound to another subject."""
    roles = [item for item in items if item["kind"] in ("ClusterRole", "Role")]
    rules = [(role["kind"], role["metadata"].get("namespace"),
              *(rule[key] for key in ("apiGroups", "resources", "verbs")))
             for role in roles for rule in role["rules"]]
    if sorted(map(str, rules)) != sorted(map(str, wanted_rules(values))):
        yield f"the roles allow {rules}, which is not {[*wanted_rules(values)]}"
    account = next(item for item in items if item["kind"] == "DaemonSet"
                   )["spec"]["template"]["spec"]["serviceAccountName"]
    wanted = [(role["kind"], role["metadata"].get("namespace"), role["metadata"]["name"])
              for role in roles]
    bindings = [item for item in items if item["kind"] in ("ClusterRoleBinding", "RoleBinding")]
    if sorted(map(str, wanted)) != sorted(
            str((binding["roleRef"]["kind"], binding["metadata"].get("namespace"),
                 binding["roleRef"]["name"])) for binding in bindings):
        yield f"roles {wanted} have other bindings"
    for binding in bindings:
        if binding["kind"] != f"{binding['roleRef']['kind']}Binding" or binding["subjects"] != [
                {"kind": "ServiceAccount", "name": account, "namespace": "ns"}]:
            yield f"{binding['kind']}: binds {binding['roleRef']} to {binding['subjects']}"


def check_traffic(items, values):
    """No traffic by who was not given the rights for it, whatever else gave them."""
    config = next(item for item in items if item["kind"] == "ConfigMap"
                  and "rdma-node-agent.yaml" in item["data"])["data"]["rdma-node-agent.yaml"]
    settings = yaml.safe_load(config)
    if settings.get("selftest", {}).get("enabled", True) != values["selfTest"]["enabled"]:
        yield "tests ports, or does not, and selfTest says the other way round"
    if settings.get("probe", {}).get("enabled", False) != values["probe"]["enabled"]:
        yield "probes, or does not, and probe says the other way round"


def check_secret(items, values):
    """Yields why the agent would refuse the file with the secret of probes, or could not read it."""
    pod = next(item for item in items if item["kind"] == "DaemonSet")["spec"]["template"]["spec"]
    volume = next((item["secret"] for item in pod["volumes"] if item["name"] == "probe"), None)
    if bool(volume) != (values["probe"]["enabled"] and not values["config"]["probe"].get("secret_file")):
        yield "has a Secret for probes, or has none"
    if not volume:
        return
    if volume["defaultMode"] & 0o7 or not volume["defaultMode"] & 0o400:
        yield f"the secret has mode {volume['defaultMode']:o}"
    if volume["items"] != [{"key": "secret", "path": "secret"}]:
        yield f"the secret is in {volume['items']}"
    if pod["securityContext"]["runAsUser"] != 0 and not pod["securityContext"].get("fsGroup"):
        yield "the secret belongs to root, and the agent is another user"
    users = [(container["name"], mount["mountPath"])
             for container in pod["containers"] + pod.get("initContainers", [])
             for mount in container["volumeMounts"] if mount["name"] == "probe"]
    if users != [("agent", "/etc/rdma-node-agent-probe")]:
        yield f"the secret is mounted by {users}"


# What runs once in a pod of its own: whatever the agents may do on their nodes, it may not.
TOOL_POD = {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
TOOL_ROLES = {
    "clean-up": [([""], ["nodes"], ["list", "get", "patch"]), ([""], ["nodes/status"], ["patch"])],
    "test": [(["discovery.k8s.io"], ["endpointslices"], ["list"])],
}


def check_tool(spec, tool):
    """Yields what such a pod may on its node, or has of it."""
    container, = spec["containers"]
    volumes = [sorted(set(volume) - {"name"}) for volume in spec["volumes"]]
    if spec["securityContext"] != TOOL_POD or container["securityContext"] != {
            **CONFINED, "capabilities": {"drop": ["ALL"]}}:
        yield f"{tool}: has {spec['securityContext']} and {container['securityContext']}"
    if volumes != [["configMap"]] or set(spec) & {"hostNetwork", "hostPID", "priorityClassName"}:
        yield f"{tool}: has {volumes}, or is in namespaces of the node"


def check_hooks(items, values):
    """Yields hooks with other rights, and rights that do not go with them."""
    hooks = [item for item in items if is_hook(item)]
    found = {}
    for item in hooks:
        tool = next((name for name in TOOL_ROLES if item["metadata"]["name"].endswith(f"-{name}")), None)
        if item["kind"] in ("ClusterRole", "Role"):
            found[tool] = [tuple(rule[key] for key in ("apiGroups", "resources", "verbs"))
                           for rule in item["rules"]]
        elif item["kind"] in ("ClusterRoleBinding", "RoleBinding"):
            subject, = item["subjects"]
            if item["roleRef"]["name"] != item["metadata"]["name"] or subject["name"] not in {
                    other["metadata"]["name"] for other in hooks if other["kind"] == "ServiceAccount"}:
                yield f"{tool}: binds {item['roleRef']} to {item['subjects']}"
        elif item["kind"] in ("Job", "Pod"):
            yield from check_tool(item["spec"].get("template", item)["spec"], tool)
        if item["metadata"]["annotations"]["helm.sh/hook-delete-policy"] != (
                "before-hook-creation,hook-succeeded"):
            yield f"{item['kind']}: stays behind"
    cleans = values["cleanUp"] and values["config"]["kubernetes"]["backend"] in ("api", "both")
    tests = values["test"]["enabled"] and not values["listenHost"].startswith("127.")
    wanted = {tool: TOOL_ROLES[tool] for tool, runs in (("clean-up", cleans), ("test", tests)) if runs}
    if found != wanted:
        yield f"the hooks may {found}, which is not {wanted}"


def complaints(items, values):
    yield from check_hooks(items, values)
    items = [item for item in items if not is_hook(item)]
    pod = next(item for item in items if item["kind"] == "DaemonSet")["spec"]["template"]["spec"]
    yield from check_pod(pod, values)
    yield from check_init(pod, values)
    yield from check_roles(items, values)
    yield from check_traffic(items, values)
    yield from check_secret(items, values)
