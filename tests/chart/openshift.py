# SPDX-License-Identifier: Apache-2.0
"""Does the SecurityContextConstraints admit the pods, as openshift/apiserver-library-go judges them
(pkg/securitycontextconstraints), and nothing that they do not ask for?"""
import renderer
from profiles import PROFILES
from renderer import OPENSHIFT, only

ALWAYS = {"openshift": {"securityContextConstraints": "always"}}
SECCOMP = {"RuntimeDefault": "runtime/default", "Unconfined": "unconfined"}
# Further values, of which each changes what pods ask for.
VALUES = [
    {"follow": {"enabled": True}}, {"umad": {"enabled": True}}, {"state": {"type": "emptyDir"}},
    {"podSecurityContext": {"seccompProfile": {"type": "Unconfined"}, "fsGroup": 17,
                            "seLinuxOptions": {"type": "own_t"}}},
    {"podSecurityContext": {"seccompProfile": {"type": "Localhost", "localhostProfile": "a.json"}}},
    {"extraVolumes": [{"name": "a", "csi": {"driver": "x"}}]},
    {"extraContainers": [{"name": "a", "image": "b"}], "runAsUser": 4711},
]


# -- What pods ask for ----------------------------------------------------------------------------

def containers_of(pod):
    return pod["containers"] + pod.get("initContainers", [])


def users_of(pod):
    return {container.get("securityContext", {}).get("runAsUser", pod["securityContext"]["runAsUser"])
            for container in containers_of(pod)}


def kinds_of(pod):
    kinds = {kind for volume in pod["volumes"] for kind in set(volume) - {"name"}}
    return kinds | ({"projected"} if pod["automountServiceAccountToken"] else set())


def added_by(pod):
    return {name for container in containers_of(pod) for name in
            container.get("securityContext", {}).get("capabilities", {}).get("add", [])}


def is_privileged(pod):
    return any(container.get("securityContext", {}).get("privileged") for container in containers_of(pod))


def dropped_by_all(pod):
    return set.intersection(*(set(container.get("securityContext", {}).get("capabilities", {}).get(
        "drop", [])) for container in pod["containers"]))


def seccomp_of(pod):
    profile = pod["securityContext"]["seccompProfile"]
    return SECCOMP.get(profile["type"]) or f"localhost/{profile['localhostProfile']}"


def allows(strategy, values):
    """Is each within the ranges? An SCC without a limit has none."""
    return strategy["type"] == "RunAsAny" or all(
        any(low["min"] <= value <= low["max"] for low in strategy["ranges"]) for value in values)


# -- The constraints ------------------------------------------------------------------------------

def wanted(pod):
    """The fields that have to be exactly what a pod asks for."""
    return {"allowHostNetwork": pod["hostNetwork"], "allowHostPID": pod.get("hostPID", False),
            "allowHostIPC": False, "allowHostPorts": True,
            "allowHostDirVolumePlugin": "hostPath" in kinds_of(pod),
            "allowPrivilegedContainer": is_privileged(pod),
            "allowPrivilegeEscalation": is_privileged(pod),
            "seccompProfiles": [seccomp_of(pod)], "defaultAddCapabilities": [], "priority": 0}


def complaints_of_user(strategy, pod):
    users = users_of(pod)
    limits = ({strategy["uid"]} if strategy["type"] == "MustRunAs" else
              {strategy["uidRangeMin"], strategy["uidRangeMax"]})
    if limits != {min(users), max(users)}:
        yield f"runAsUser {strategy}, and the pods run as {users}"


def complaints_of_groups(constraints, pod):
    context = pod["securityContext"]
    groups = context.get("supplementalGroups", [])
    if not allows(constraints["supplementalGroups"], groups):
        yield f"supplementalGroups {constraints['supplementalGroups']} do not allow {groups}"
    extra = {low["min"] for low in constraints["supplementalGroups"]["ranges"]} - set(groups)
    if extra != {context["runAsGroup"]} - set(groups):
        yield f"supplementalGroups allow {extra}, for which no pod asks"
    if "fsGroup" in context and constraints["fsGroup"] != {
            "type": "MustRunAs", "ranges": [{"min": context["fsGroup"], "max": context["fsGroup"]}]}:
        yield f"fsGroup is {constraints['fsGroup']}, and that of pods {context['fsGroup']}"


def complaints_of(constraints, pod):
    yield from (f"{key} is {constraints[key]}, and the pods ask for {value}"
                for key, value in wanted(pod).items() if constraints[key] != value)
    if set(constraints["volumes"]) != kinds_of(pod):
        yield f"volumes {constraints['volumes']}, and the pods have {kinds_of(pod)}"
    if set(constraints["allowedCapabilities"]) != added_by(pod):
        yield f"capabilities {constraints['allowedCapabilities']}, and the pods add {added_by(pod)}"
    required = set(constraints["requiredDropCapabilities"])
    if required != (set() if is_privileged(pod) else {"ALL"}):
        yield f"the pods have to drop {required}"
    chart_alone = all("securityContext" in container for container in pod["containers"])
    if constraints["readOnlyRootFilesystem"] != chart_alone:
        yield f"readOnlyRootFilesystem is {constraints['readOnlyRootFilesystem']}"
    yield from complaints_of_user(constraints["runAsUser"], pod)
    yield from complaints_of_groups(constraints, pod)
    given = pod["securityContext"].get("seLinuxOptions")
    if constraints["seLinuxContext"] != {"type": "RunAsAny" if given else "MustRunAs"}:
        yield f"seLinuxContext {constraints['seLinuxContext']}, and that of the pods is {given}"
    if bool(given) != ("hostPath" in kinds_of(pod)):
        yield f"SELinux: {given}, with the volumes {kinds_of(pod)}"


def complaints_of_binding(items):
    name = only(items, "SecurityContextConstraints")["metadata"]["name"]
    role, binding = only(items, "Role", "-scc"), only(items, "RoleBinding", "-scc")
    account = only(items, "DaemonSet")["spec"]["template"]["spec"]["serviceAccountName"]
    if role["rules"] != [{"apiGroups": ["security.openshift.io"], "verbs": ["use"],
                          "resources": ["securitycontextconstraints"], "resourceNames": [name]}]:
        yield f"the role is {role['rules']}"
    if binding["roleRef"]["name"] != role["metadata"]["name"] or [
            subject["name"] for subject in binding["subjects"]] != [account]:
        yield f"binds {binding['roleRef']} to {binding['subjects']}"


def complaints(ours):
    for values in [*PROFILES.values(), *VALUES]:
        items = ours.objects(renderer.overlay(values, ALWAYS))
        pod = only(items, "DaemonSet")["spec"]["template"]["spec"]
        found = [*complaints_of(only(items, "SecurityContextConstraints"), pod),
                 *complaints_of_binding(items)]
        yield from (f"{values}: {text}" for text in found)
    for name, served in (("auto", True), ("always", True), ("never", False)):
        items = ours.objects({"openshift": {"securityContextConstraints": name}}, OPENSHIFT)
        if served != any(item["kind"] == "SecurityContextConstraints" for item in items):
            yield f"{name}: not as it says, on OpenShift"
    if any(item["kind"] == "SecurityContextConstraints" for item in ours.objects({})):
        yield "auto: is made where the cluster does not know it"
    types = [only(ours.objects(values), "DaemonSet")["spec"]["template"]["spec"]["securityContext"].get(
        "seLinuxOptions") for values in (
            {**ALWAYS, "podSecurityContext": {"seLinuxOptions": {"type": "own_t"}}},
            {"openshift": {**ALWAYS["openshift"], "seLinuxType": ""}}, {})]
    if types != [{"type": "own_t"}, None, None]:
        yield f"SELinux: {types}"
