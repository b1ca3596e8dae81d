# SPDX-License-Identifier: Apache-2.0
"""What depends on the release before: names that cannot change, and what is taken back when the agents
stop writing to Nodes."""
import copy
import subprocess
import tempfile

import yaml

from renderer import Refused, is_hook, only, parsed

API = {"config": {"kubernetes": {"backend": "api"}}}
OFF = {"config": {"kubernetes": {"backend": "off"}}}


def installed(ours, values, release="rel"):
    """The objects of a release as a cluster has them."""
    items = parsed(ours.run(values))
    for item in items:
        item["metadata"].setdefault("annotations", {})["meta.helm.sh/release-name"] = release
    return [item for item in items if not is_hook(item)]


# -- Names ----------------------------------------------------------------------------------------

# The values before and those of the upgrade, and whether that is refused.
RENAMES = [
    ({}, {}, False),
    ({}, {"config": {"log": {"level": "debug"}}}, False),
    ({"nameOverride": "rna"}, {"nameOverride": "rna"}, False),
    ({}, {"nameOverride": "rna"}, True),
    ({"nameOverride": "rna"}, {}, True),
    ({}, {"fullnameOverride": "rna"}, True),
    ({}, {"namespaceOverride": "other"}, True),
    # the same name, and another selector, which is immutable
    ({"fullnameOverride": "rna"}, {"fullnameOverride": "rna", "nameOverride": "x"}, True),
]


def check_rename(ours, before, values, refused):
    try:
        ours.upgraded(values, installed(ours, before))
        if refused:
            yield f"{before} to {values}: accepted"
    except Refused as error:
        words = ["nameOverride: the DaemonSet of this release is ns/", "helm uninstall rel"]
        if not refused or any(word not in str(error) for word in words):
            yield f"{before} to {values}: {error}"


def check_names(ours):
    for row in RENAMES:
        yield from check_rename(ours, *row)
    foreign = copy.deepcopy(installed(ours, {}))
    only(foreign, "DaemonSet")["spec"]["template"]["spec"]["containers"][0]["command"] = ["other"]
    for what, before in (("another release", installed(ours, {}, "other")),
                         ("another program of the release", foreign)):
        try:
            ours.upgraded({"fullnameOverride": "rna"}, before)
        except Refused as error:
            yield f"beside {what}: {error}"
    # helm template, or the first installation
    ours.run({"fullnameOverride": "rna"})


# -- Clean-up -------------------------------------------------------------------------------------

KINDS = {"ServiceAccount", "ConfigMap", "ClusterRole", "ClusterRoleBinding", "Job"}


def hooks(text):
    return [item for item in parsed(text) if item["metadata"].get("annotations", {}).get(
        "helm.sh/hook", "").startswith("post-")]


def text_of(found):
    return only(found, "ConfigMap")["data"]["rdma-node-agent.yaml"]


def settings_of(found):
    return yaml.safe_load(text_of(found))["kubernetes"]


def check_event(what, found, event):
    if {item["kind"] for item in found} != (KINDS if event else set()):
        yield f"{what}: the hooks are {[item['kind'] for item in found]}"
    yield from (f"{what}: {item['kind']} is for {item['metadata']['annotations']['helm.sh/hook']}"
                for item in found if item["metadata"]["annotations"]["helm.sh/hook"] != event)


def check_command(binary, spec, text):
    """The command exists, and takes its settings; it ends where it would call the API server."""
    container, = spec["containers"]
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(text)
        file.flush()
        done = subprocess.run([binary, *container["args"], "--config", file.name], env={}, text=True,
                              check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 1 or "KUBERNETES_SERVICE_HOST" not in done.stdout:
        yield f"{container['args']}: status {done.returncode}, {done.stdout}"


def check_clean_up(ours, binary):
    told = {"config": {"kubernetes": {"backend": "api", "label_prefix": "old.test/",
                                      "kubeconfig": "/etc/kube/config"}}}
    before = installed(ours, told)
    found = hooks(ours.run(told))
    yield from check_event("api", found, "post-delete")
    yield from check_command(binary, only(found, "Job")["spec"]["template"]["spec"], text_of(found))
    if settings_of(found).get("kubeconfig") or settings_of(found)["label_prefix"] != "old.test/":
        yield f"api: cleans up with {settings_of(found)}"
    yield from check_event("an upgrade with api", hooks(ours.upgraded(told, before)), "post-delete")
    off = hooks(ours.upgraded(OFF, before))
    yield from check_event("switched off", off, "post-upgrade")
    if off and settings_of(off)["label_prefix"] != "old.test/":
        yield f"switched off: cleans up with {settings_of(off)}"
    for what, text in (("off", ours.run(OFF)), ("still off", ours.upgraded(OFF, installed(ours, OFF))),
                       ("not wanted", ours.run({**API, "cleanUp": False})),
                       ("nfd", ours.run({"config": {"kubernetes": {"backend": "nfd"}}}))):
        yield from check_event(what, hooks(text), None)


def check_nodes(ours):
    """The Nodes that agents were on, by the selector of the agents."""
    for labels, wanted in (({}, "kubernetes.io/os=linux"),
                           ({"pool": "gpu"}, "kubernetes.io/os=linux,pool=gpu"),
                           ({"kubernetes.io/os": None}, "all")):
        found = hooks(ours.run({**API, "nodeSelector": labels}))
        container, = only(found, "Job")["spec"]["template"]["spec"]["containers"]
        if container["args"] != ["kube", "cleanup", f"--nodes={wanted}"]:
            yield f"nodeSelector {labels}: {container['args']}"


def check_notes(ours):
    for what, text, words in (
            ("api", ours.notes(API), ["--namespace ns --timeout", "Job rel-rdma-node-agent-clean-up"]),
            ("not wanted", ours.notes({**API, "cleanUp": False}), ["kube cleanup --nodes=all"]),
            ("nfd", ours.notes({"config": {"kubernetes": {"backend": "nfd"}}}), ["expire an hour"]),
            ("switched off", ours.upgraded(OFF, installed(ours, API), "-notes"),
             ["wrote until now"])):
        yield from (f"{what}: NOTES.txt does not say {word!r}" for word in words if word not in text)


# -- Test -----------------------------------------------------------------------------------------

def check_test(ours, binary):
    """The pod finds the agents by a Service of its own, which selects them."""
    items = ours.objects({**OFF, "web": {"certificateSecret": "x"}})
    found = [item for item in items if is_hook(item)]
    service, pod = only(found, "Service"), only(found, "Pod")
    name = f"ns/{service['metadata']['name']}"
    if yaml.safe_load(text_of(found)) != {"probe": {"members_kubernetes": name}}:
        yield f"the test asks for {text_of(found)}, and the Service is {name}"
    daemon_set = only(items, "DaemonSet")["spec"]
    if service["spec"]["selector"] != daemon_set["selector"]["matchLabels"] or (
            service["spec"]["ports"][0]["appProtocol"] != "https"):
        yield f"the Service of the test is {service['spec']}"
    yield from check_command(binary, pod["spec"], text_of(found))


def complaints(ours, binary):
    yield from check_test(ours, binary)
    yield from check_names(ours)
    yield from check_clean_up(ours, binary)
    yield from check_nodes(ours)
    yield from check_notes(ours)
