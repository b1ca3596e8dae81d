# SPDX-License-Identifier: Apache-2.0
"""Does the kind of a manifest have all of its fields? The API server drops unknown fields silently.
The kinds come from python3-kubernetes, whose models are generated from Kubernetes' OpenAPI; kinds
of CRDs are listed here, from their documents."""
import re

from kubernetes.client import models

PLAIN = {"str": str, "int": int, "bool": bool, "float": (int, float)}
# A quantity may be a number; the models know it as a string.
QUANTITIES = ("limits", "requests")
KINDS = {("v1", "ConfigMap"): "V1ConfigMap", ("v1", "Service"): "V1Service",
         ("v1", "Secret"): "V1Secret", ("v1", "ResourceQuota"): "V1ResourceQuota",
         ("v1", "ServiceAccount"): "V1ServiceAccount", ("v1", "Pod"): "V1Pod",
         ("coordination.k8s.io/v1", "Lease"): "V1Lease",
         ("apps/v1", "DaemonSet"): "V1DaemonSet", ("batch/v1", "Job"): "V1Job",
         ("networking.k8s.io/v1", "NetworkPolicy"): "V1NetworkPolicy",
         **{("rbac.authorization.k8s.io/v1", kind): f"V1{kind}"
            for kind in ("ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding")}}

RELABELING = {"sourceLabels", "separator", "targetLabel", "regex", "modulus", "replacement", "action"}
ENDPOINT = {"port", "path", "interval", "scrapeTimeout", "relabelings", "metricRelabelings",
            "scheme", "tlsConfig", "basicAuth", "honorLabels"}
# For a kind that is custom, or newer than the models: the fields of its spec, then those of what is
# in the named lists.
MONITOR = {"jobLabel", "selector", "namespaceSelector", "sampleLimit", "attachMetadata",
           "podTargetLabels"}
CUSTOM = {
    "PodMonitor": (MONITOR | {"podMetricsEndpoints"}, {"podMetricsEndpoints": ENDPOINT}),
    "ServiceMonitor": (MONITOR | {"endpoints"}, {"endpoints": ENDPOINT}),
    # nfd.k8s-sigs.io/v1alpha1 of kubernetes-sigs/node-feature-discovery
    "NodeFeatureRule": ({"rules"}, {"rules": {"name", "labels", "matchAny", "matchFeatures"}}),
    # v1alpha1 of kubernetes-sigs/node-readiness-controller v0.2.0: later ones have more
    "NodeReadinessRule": ({"conditions", "enforcementMode", "nodeSelector", "taint", "dryRun"},
                          {"conditions": {"type", "requiredStatus"}}),
    "PrometheusRule": ({"groups"}, {"groups": {"name", "interval", "rules"}}),
    "ValidatingAdmissionPolicy": (
        {"failurePolicy", "matchConstraints", "matchConditions", "variables", "validations"},
        {"matchConditions": {"name", "expression"}, "variables": {"name", "expression"},
         "validations": {"expression", "message", "messageExpression", "reason"}}),
    "ValidatingAdmissionPolicyBinding": ({"policyName", "validationActions"}, {}),
}
RULE = {"record", "alert", "expr", "for", "keep_firing_for", "labels", "annotations"}


def complaints_of_model(value, name, path):
    model = getattr(models, name)
    if not isinstance(value, dict):
        yield f"{path}: is no {name}"
        return
    attributes = {key: attribute for attribute, key in model.attribute_map.items()}
    for key in sorted(set(value) - set(attributes)):
        yield f"{path}.{key}: no field of {name}"
    known = {key: content for key, content in value.items() if key in attributes}
    for key, content in known.items():
        yield from complaints_of(content, model.openapi_types[attributes[key]], f"{path}.{key}")
    try:
        model(**{attributes[key]: content for key, content in known.items()})
    except ValueError as error:  # a field that it must have, or a value that it cannot have
        yield f"{path}: {error}"


def complaints_of(value, kind, path):
    """Yields what is wrong with a value, for a type as the models write it."""
    inner = re.fullmatch(r"(list|dict)[\[(](?:str, )?(.*)[\])]", kind)
    if inner and not isinstance(value, {"list": list, "dict": dict}[inner[1]]):
        yield f"{path}: {value!r} is no {inner[1]}"
    elif inner:
        quantity = path.endswith(QUANTITIES) and inner[1] == "dict"
        pairs = value.items() if inner[1] == "dict" else enumerate(value)
        for key, content in pairs:
            if not (quantity and isinstance(content, int)):
                yield from complaints_of(content, inner[2], f"{path}.{key}")
    elif kind in PLAIN:
        is_bool = isinstance(value, bool)
        if not isinstance(value, PLAIN[kind]) or (is_bool and kind != "bool"):
            yield f"{path}: {value!r} is no {kind}"
    elif kind != "object":  # an integer or a string, or anything
        yield from complaints_of_model(value, kind, path)


def complaints_of_custom(item, path):
    fields, lists = CUSTOM[item["kind"]]
    yield from complaints_of_model(item["metadata"], "V1ObjectMeta", f"{path}.metadata")
    for key in sorted(set(item["spec"]) - fields):
        yield f"{path}.spec.{key}: no field of {item['kind']}"
    for name, known in lists.items():
        for entry in item["spec"][name]:
            for key in sorted(set(entry) - known):
                yield f"{path}.spec.{name}.{key}: no field of it"
            for rule in entry.get("relabelings", []) + entry.get("metricRelabelings", []):
                yield from (f"{path}: {key}: no field of a relabeling"
                            for key in sorted(set(rule) - RELABELING))
            for rule in entry.get("rules", []):
                yield from (f"{path}: {key}: no field of a rule" for key in sorted(set(rule) - RULE))


# security.openshift.io/v1, in openshift/api: security/v1/types.go. It has no spec. A field whose kind
# is a table has these fields.
RANGES = {"type": str, "ranges": list}
CONSTRAINTS = {
    "priority": int, "volumes": list, "readOnlyRootFilesystem": bool, "seccompProfiles": list,
    **{f"allowHost{name}": bool for name in ("Network", "Ports", "PID", "IPC", "DirVolumePlugin")},
    "allowPrivilegedContainer": bool, "allowPrivilegeEscalation": bool, "allowedCapabilities": list,
    "defaultAddCapabilities": list, "requiredDropCapabilities": list,
    "runAsUser": {"type": str, "uid": int, "uidRangeMin": int, "uidRangeMax": int},
    "seLinuxContext": {"type": str, "seLinuxOptions": dict}, "supplementalGroups": RANGES,
    "fsGroup": RANGES,
}
# Those that it must have.
REQUIRED = {"allowHostDirVolumePlugin", "allowHostIPC", "allowHostNetwork", "allowHostPID",
            "allowHostPorts", "allowPrivilegedContainer", "allowedCapabilities",
            "defaultAddCapabilities", "priority", "readOnlyRootFilesystem",
            "requiredDropCapabilities", "volumes"}


def complaints_of_table(value, table, path):
    for key, content in value.items():
        kind = table.get(key)
        if isinstance(kind, dict) and isinstance(content, dict):
            yield from complaints_of_table(content, kind, f"{path}.{key}")
        elif not kind or isinstance(kind, dict) or type(content) is not kind:
            yield f"{path}.{key}: {content!r} is of no known kind"


def complaints_of_constraints(item, path):
    content = {key: value for key, value in item.items()
               if key not in ("apiVersion", "kind", "metadata")}
    yield from complaints_of_model(item["metadata"], "V1ObjectMeta", f"{path}.metadata")
    yield from complaints_of_table(content, CONSTRAINTS, path)
    yield from (f"{path}.{key}: is missing" for key in sorted(REQUIRED - set(content)))


def complaints(item):
    """Yields what is wrong with the fields of a manifest."""
    kind = KINDS.get((item["apiVersion"], item["kind"]))
    path = f"{item['kind']} {item['metadata']['name']}"
    if kind:
        yield from complaints_of_model(item, kind, path)
    elif item["kind"] in CUSTOM:
        yield from complaints_of_custom(item, path)
    elif item["kind"] == "SecurityContextConstraints":
        yield from complaints_of_constraints(item, path)
    else:
        yield f"{path}: what fields {item['apiVersion']} {item['kind']} has is not known here"
