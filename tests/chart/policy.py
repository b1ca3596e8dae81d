# SPDX-License-Identifier: Apache-2.0
"""The admission policy: its expressions are evaluated (evaluate.mjs) for changes of a node that an
agent makes, and for changes that it must not make."""
import copy
import json
import subprocess

import renderer
from renderer import HERE, NAMESPACE

PACKAGE = "@marcbachmann/cel-js@8.0.0"
SHA512 = ("a1a4eb033886af7cc32c588cb7fc8b5379d9b9131ac325900795f56b423bb3d7"
          "86cb7258cd7f65f195d71f231deb89f36de5456537b0b944a1c2c65074ae9408")
VALUES = {"config": {"kubernetes": {"backend": "api", "taint": "example.org/rdma-down",
                                    "device_taints": "report",
                                    "label_prefix": "rdma.example.org", "roce_key": "roce",
                                    "former_names": ["old.example/", "old.test/roce", "old/down"]}}}
AGENT = f"system:serviceaccount:{NAMESPACE}:rel-rdma-node-agent"
NODE = {
    "apiVersion": "v1", "kind": "Node",
    "metadata": {"name": "n1", "uid": "1-2", "resourceVersion": "7",
                 "labels": {"pool": "gpu", "roce": "true", "old.example/health": "ok",
                            "old.test/roce": "true"}, "annotations": {"volumes": "true"},
                 "managedFields": [{"manager": "kubelet", "operation": "Update"},
                                   {"manager": "kubectl-label", "operation": "Update"}]},
    "spec": {"podCIDR": "10.0.0.0/24", "providerID": "x://1",
             "taints": [{"key": "gpu", "effect": "NoSchedule"},
                        {"key": "old/down", "effect": "NoSchedule"}]},
    "status": {"capacity": {"cpu": "8"}, "images": [{"names": ["a:1"], "sizeBytes": 5}],
               "conditions": [{"type": "Ready", "status": "True"},
                              {"type": "RdmaPortDown", "status": "False"}]},
}
OWN, LABELS, TAINT, CONDITIONS, FIELDS = (
    "of its own pod", "own labels", "own taint", "own conditions", "managed fields of the kubelet")
METADATA, SPEC, STATUS = ("else in metadata", "else in spec", "else in status")


def put(path, value):
    """A change of a node: value at path; None takes it away."""
    def change(node):
        for key in path[:-1]:
            node = node[key]
        if value is None:
            del node[path[-1]]
        else:
            node[path[-1]] = value
    return change


def taint(key, effect="NoSchedule"):
    return lambda node: node["spec"]["taints"].append({"key": key, "effect": effect})


def nothing(_node):
    pass


# What is changed, and why that is refused, if it is.
CHANGES = [
    (nothing, None),
    (put(("metadata", "labels", "roce"), None), None),
    (put(("metadata", "labels", "roce"), "false"), None),
    (put(("metadata", "labels", "rdma.example.org/health"), "ok"), None),
    (put(("metadata", "managedFields", 1), {"manager": "rdma-node-agent", "operation": "Apply"}), None),
    (put(("metadata", "managedFields", 0), {"manager": "rdma-node-agent", "operation": "Apply"}), FIELDS),
    (put(("metadata", "managedFields"), None), FIELDS),
    (put(("metadata", "labels", "old.example/health"), None), None),
    (put(("metadata", "labels", "old.test/roce"), None), None),
    (put(("spec", "taints", 1), None), None),
    (put(("metadata", "labels", "old.example/health"), "down"), LABELS),
    (put(("metadata", "labels", "old.example/more"), "1"), LABELS),
    (put(("metadata", "labels", "old.test/roce"), "false"), LABELS),
    (put(("spec", "taints", 1, "effect"), "NoExecute"), TAINT),
    (put(("metadata", "annotations", "rdma-node-agent/labels"), "roce"), METADATA),
    (put(("status", "conditions", 1), {"type": "RdmaPortDown", "status": "True"}), None),
    (put(("status", "conditions", 1), None), None),
    (taint("example.org/rdma-down"), None),
    (put(("metadata", "labels", "pool"), "cpu"), LABELS),
    (put(("metadata", "labels", "pool"), None), LABELS),
    (put(("metadata", "labels"), None), LABELS),
    (put(("metadata", "labels", "rdma.example.orgs/health"), "ok"), LABELS),
    (put(("metadata", "labels", "node-role.kubernetes.io/control-plane"), ""), LABELS),
    (put(("metadata", "annotations", "volumes"), "false"), METADATA),
    (put(("metadata", "annotations"), None), METADATA),
    (put(("metadata", "finalizers"), ["x"]), METADATA),
    (put(("metadata", "ownerReferences"), [{"uid": "1"}]), METADATA),
    (put(("spec", "unschedulable"), True), SPEC),
    (put(("spec", "providerID"), "x://2"), SPEC),
    (put(("spec", "podCIDR"), None), SPEC),
    (taint("another"), TAINT),
    (taint("example.org/rdma-down", "NoExecute"), TAINT),
    (put(("spec", "taints"), None), TAINT),
    (put(("spec", "taints", 0, "effect"), "NoExecute"), TAINT),
    (put(("status", "conditions", 0, "status"), "False"), CONDITIONS),
    (put(("status", "conditions", 0), None), CONDITIONS),
    (put(("status", "capacity", "cpu"), "9"), STATUS),
    (put(("status", "images", 0, "sizeBytes"), 6), STATUS),
    (put(("status", "capacity"), None), STATUS),
    (put(("status", "somethingNew"), 1), STATUS),
]

BOUND = {"authentication.kubernetes.io/node-name": ["n1"]}
ELSEWHERE = {"authentication.kubernetes.io/node-name": ["n2"]}


def request(change=nothing, username=AGENT, extra=None):
    after = copy.deepcopy(NODE)
    change(after)
    extra = {"extra": extra} if extra else {}
    return {"object": after, "oldObject": NODE,
            "request": {"userInfo": {"username": username, **extra}}}


def cases():
    """(what it is, the request, why it is refused; "" for not at all, None: not judged)."""
    for number, (change, why) in enumerate(CHANGES):
        yield f"change {number}", request(change, extra=BOUND), why or ""
    mine = put(("metadata", "labels", "roce"), "false")
    yield "another node", request(mine, extra=ELSEWHERE), OWN
    yield "a token of no pod", request(mine), OWN
    yield "a token of a pod of no node", request(mine, extra={"other": ["n1"]}), OWN
    yield "another client", request(put(("metadata", "labels", "pool"), "x"), "kubelet"), None


IN_OWN_NAME = "use its own name"
EVENT = {
    "apiVersion": "v1", "kind": "Event", "metadata": {
        "name": "n1.rdma-07", "namespace": "default", "managedFields": [
            {"manager": "rdma-node-agent", "operation": "Update", "apiVersion": "v1",
             "time": "2026-11-29T12:00:00Z"}]},
    "involvedObject": {"apiVersion": "v1", "kind": "Node", "name": "n1", "uid": "1-2"},
    "type": "Warning", "reason": "RdmaPortDown", "message": "mlx5_0/1: down", "count": 1,
    "source": {"component": "rdma-node-agent", "host": "n1"},
    "reportingComponent": "rdma-node-agent", "reportingInstance": "n1",
}
OF_NODE, IN_NAME, OF_OWN, OF_64, SHORT, SELDOM = (
    "of the node of its own pod", "in its own name", "its own Events", "64 different", "1024 characters",
    "once in five minutes")


def at(moment):
    """The time at which an Event was written last."""
    return put(("metadata", "managedFields", 0, "time"), f"2026-11-29T{moment}Z")


def other(path, value):
    """An old Event that differs so."""
    return lambda event: (put(path, value)(event), at("11:00:00")(event))


def event_request(change=nothing, before=None, username=AGENT, extra=None, manager="rdma-node-agent"):
    after = copy.deepcopy(EVENT)
    change(after)
    if before:
        old = copy.deepcopy(EVENT)
        before(old)
    return {"object": after, "oldObject": old if before else None,
            "request": {"userInfo": {"username": username, **({"extra": extra} if extra else {})},
                        "options": {"fieldManager": manager}}}


def event_cases():
    """As cases(), for the policy of Events."""
    yield "a new Event", event_request(extra=BOUND), ""
    yield "one more of it", event_request(put(("count",), 2), at("11:54:59"), extra=BOUND), ""
    yield "one more at once", event_request(put(("count",), 2), at("11:55:01"), extra=BOUND), SELDOM
    for name in ("n1.7", "n1.rdma-64", "n1.rdma-7", "n1.rdma-007", "n1.x.rdma-07", "n2.rdma-07", "n1"):
        yield f"named {name}", event_request(put(("metadata", "name"), name), extra=BOUND), OF_64
    yield "a long one", event_request(put(("message",), "x" * 1025), extra=BOUND), SHORT
    yield "as someone else", event_request(manager="kubectl", extra=BOUND), IN_OWN_NAME
    yield "of another node", event_request(put(("involvedObject", "name"), "n2"), extra=BOUND), OF_NODE
    yield "of a pod", event_request(put(("involvedObject", "kind"), "Pod"), extra=BOUND), OF_NODE
    yield "in another's name", event_request(put(("reportingComponent",), "kubelet"), extra=BOUND), IN_NAME
    yield "by another", event_request(put(("source", "component"), "kubelet"), extra=BOUND), IN_NAME
    yield "of another instance", event_request(put(("reportingInstance",), "n2"), extra=BOUND), IN_NAME
    yield "another's", event_request(
        before=other(("reportingComponent",), "kubelet"), extra=BOUND), OF_OWN
    yield "that of no one", event_request(
        before=other(("reportingInstance",), None), extra=BOUND), OF_OWN
    yield "another client", event_request(put(("reportingComponent",), "x"), username="kubelet"), None


RULE = {
    "apiVersion": "resource.k8s.io/v1", "kind": "DeviceTaintRule",
    "metadata": {"name": "rdma-node-agent-0123456789abcdef", "labels": {"rdma-node-agent/node": "n1"}},
    "spec": {"deviceSelector": {"driver": "dra.net", "pool": "n1", "device": "pci-0000-1a-00-0"},
             "taint": {"key": "rdma.example.org/unhealthy", "value": "port-down", "effect": "None"}},
}
NODE_OF_IT = {"apiVersion": "v1", "kind": "Node", "name": "n1", "uid": "1-2"}
OF_DEVICES, OTHERS_RULE, ITS_TAINT, WITH_NODE, DRIVERS = (
    "write rules for the devices of its own node", "change rules for the devices of its own node",
    "its own taint", "go with its own node", "of the drivers in deviceTaintDrivers")


def rule_request(change=nothing, before=None, after=True, username=AGENT, extra=BOUND):
    """change: of the new rule; before: of the one that there is, if any; after: there is a new one."""
    new, old = copy.deepcopy(RULE), copy.deepcopy(RULE)
    change(new)
    (before or nothing)(old)
    return {"object": new if after else None, "oldObject": old if before else None,
            "request": {"userInfo": {"username": username, **({"extra": extra} if extra else {})}}}


def rule_cases():
    """As cases(), for the policy of DeviceTaintRules."""
    pool = ("spec", "deviceSelector", "pool")
    yield "a new rule", rule_request(), ""
    yield "as it was", rule_request(before=nothing), ""
    yield "with an effect", rule_request(put(("spec", "taint", "effect"), "NoSchedule")), ITS_TAINT
    yield "of a GPU", rule_request(put(("spec", "deviceSelector", "driver"), "gpu.nvidia.com")), DRIVERS
    yield "gone", rule_request(before=nothing, after=False), ""
    yield "of another pool", rule_request(put(pool, "n2")), OF_DEVICES
    yield "of every pool", rule_request(put(pool, None)), OF_DEVICES
    yield "of every device", rule_request(put(("spec", "deviceSelector"), None)), OF_DEVICES
    yield "of another name", rule_request(put(("metadata", "name"), "by-hand")), OF_DEVICES
    yield "another's pool", rule_request(before=put(pool, "n2")), OTHERS_RULE
    yield "another's, gone", rule_request(before=put(pool, "n2"), after=False), OTHERS_RULE
    yield "by hand, gone", rule_request(before=put(("metadata", "name"), "x"), after=False), OTHERS_RULE
    yield "another taint", rule_request(put(("spec", "taint", "key"), "x/y")), ITS_TAINT
    yield "that evicts", rule_request(put(("spec", "taint", "effect"), "NoExecute")), ITS_TAINT
    owner = ("metadata", "ownerReferences")
    yield "that goes with the node", rule_request(put(owner, [NODE_OF_IT])), ""
    yield "that goes with another", rule_request(put(owner, [{**NODE_OF_IT, "name": "n2"}])), WITH_NODE
    yield "by no pod", rule_request(extra=None), OF_DEVICES
    yield "another client", rule_request(put(pool, "n2"), username="kubelet"), None


LEASE = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
         "metadata": {"name": "rel-rdma-node-agent-taint-0", "namespace": "ns", "uid": "3-4",
                      "resourceVersion": "9", "labels": {"rdma-node-agent/leases": "rel-rdma-node-agent"},
                      "managedFields": [{"manager": "helm", "operation": "Update", "apiVersion":
                                         "coordination.k8s.io/v1", "time": "2026-11-01T00:00:00Z"}]}}
NOW = "2026-11-29T12:00:00Z"
FOR_OWN, STILL_HELD, FROM_NOW = (
    "for the node of its own pod only", "another node still holds", "from now on")


def held(node, renewed="2026-11-29T12:00:00.000000Z", seconds=5400):
    return {"holderIdentity": node, "renewTime": renewed, "acquireTime": renewed,
            "leaseDurationSeconds": seconds}


def lease_request(after, before=None, change=nothing, manager="rdma-node-agent", **options):
    """after, before: the spec, None for one without. The API server sets the time of the update."""
    old, new = copy.deepcopy(LEASE), copy.deepcopy(LEASE)
    for lease, spec in (new, after), (old, before):
        if spec:
            lease["spec"] = spec
    new["metadata"]["managedFields"].append(
        {"manager": "rdma-node-agent", "operation": "Update",
         "apiVersion": "coordination.k8s.io/v1", "time": NOW})
    change(new)
    user = {"username": options.get("username", AGENT), "extra": options.get("extra", BOUND)}
    return {"object": new, "oldObject": old,
            "request": {"userInfo": user, "options": {"kind": "UpdateOptions", "fieldManager": manager}}}


def lease_cases():
    """As cases(), for the policy of Leases. A Lease of 5400 seconds ends at 12:00 if it was renewed at
    10:30."""
    early, late = "2026-11-29T10:29:58.000000Z", "2026-11-29T10:30:02.000000Z"
    yield "a free one", lease_request(held("n1")), ""
    yield "one of no holder", lease_request(held("n1"), {"holderIdentity": ""}), ""
    yield "again", lease_request(held("n1"), held("n1", late)), ""
    yield "its own that has ended", lease_request(held("n1"), held("n1", early)), ""
    yield "given back", lease_request({}, held("n1", late)), ""
    yield "given back as an empty name", lease_request({"holderIdentity": ""}, held("n1", late)), ""
    yield "another's that has ended", lease_request(held("n1"), held("n2", early)), ""
    yield "another's", lease_request(held("n1"), held("n2", late)), STILL_HELD
    yield "another's, of later", lease_request(held("n1", "2026-11-29T12:04:00.000000Z"),
                                               held("n2", late)), STILL_HELD
    yield "one without times", lease_request(held("n1"), {"holderIdentity": "a person"}), STILL_HELD
    yield "for another", lease_request(held("n2")), FOR_OWN
    yield "another's given back", lease_request({}, held("n2", early)), FOR_OWN
    yield "by no pod", lease_request(held("n1"), extra={}), FOR_OWN
    yield "of tomorrow", lease_request(held("n1", "2026-11-30T12:00:00.000000Z")), FROM_NOW
    yield "of yesterday", lease_request(held("n1", "2026-11-28T12:00:00.000000Z")), FROM_NOW
    yield "for ever", lease_request(held("n1", seconds=10 ** 8)), FROM_NOW
    yield "without an end", lease_request({"holderIdentity": "n1"}), FROM_NOW
    yield "out of the list", lease_request(held("n1"), change=put(("metadata", "labels"), {})), METADATA
    yield "an owner", lease_request(held("n1"), change=put(("metadata", "finalizers"), ["x"])), METADATA
    yield "as someone else", lease_request(held("n1"), manager="kubectl"), IN_OWN_NAME
    forged = {"manager": "rdma-node-agent", "operation": "Apply", "time": "2027-01-01T00:00:00Z",
              "apiVersion": "coordination.k8s.io/v1"}
    yield "with a forged time", lease_request(
        held("n1"), held("n2", late), lambda lease: lease["metadata"]["managedFields"].insert(0, forged)
    ), STILL_HELD
    yield "another client", lease_request(held("n2"), held("n3", late), username="kubelet"), None


def verdicts(policy, requests):
    """What the policy says of each; None where the language is not to be had."""
    found = subprocess.run([f"{HERE}/npm.sh", PACKAGE, SHA512], text=True, stdout=subprocess.PIPE,
                           check=False)
    if found.returncode == 77:
        return None
    done = subprocess.run(["node", f"{HERE}/evaluate.mjs", found.stdout.strip()], text=True,
                          input=json.dumps({"policy": policy, "requests": requests}),
                          stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def complaints(ours):
    policies = {item["spec"]["matchConstraints"]["resourceRules"][0]["resources"][0]: item
                for item in ours.objects({**VALUES, "taintLimit": 2}) if item["kind"] == "ValidatingAdmissionPolicy"}
    yield from complaints_of(policies["nodes"], cases())
    yield from complaints_of(policies["events"], event_cases())
    yield from complaints_of(policies["devicetaintrules"], rule_cases())
    yield from complaints_of(policies["leases"], lease_cases())


def complaints_of(policy, cases_of_it):
    names, requests, wanted = zip(*cases_of_it)
    said = verdicts(policy, requests)
    if said is None:
        print("skipped: the admission policy's meaning, since there is no npm to fetch CEL with")
        return
    for name, messages, why in zip(names, said, wanted):
        good = messages == [] if why == "" else messages is None if why is None else (
            messages is not None and len(messages) == 1 and why in messages[0])
        if not good:
            yield f"policy: {name}: wanted {why!r}, and it says {messages}"
