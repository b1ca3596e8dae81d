# SPDX-License-Identifier: Apache-2.0
"""Typical values, each with the expected manifests in expected/; and values that must be rejected."""
import re

import yaml

from renderer import CHART, ROOT, read


def documented(page, owner):
    """The block of YAML with that first line in a document."""
    return re.search(rf"```yaml\n# {owner}\n(.*?)```", read(f"{ROOT}/{page}"), re.S)[1]


PRODUCTION = "agent/probe/production.md"

PROFILES = {
    "default": {},
    # the examples of the chart
    **{name: yaml.safe_load(read(f"{CHART}/{name}.yaml"))
       for name in ("values-roce", "values-infiniband", "values-cloud")},
    # neither labels nor monitoring, whatever the cluster has
    "off": {"config": {"kubernetes": {"backend": "off"}}, "podMonitor": {"enabled": False},
            "prometheusRule": {"enabled": False}, "priorityClassName": ""},
    "verbs": {"verbs": {"enabled": True}},
    "umad": {"umad": {"enabled": True}},
    "umad-group": {"umad": {"enabled": True, "group": 2010},
                   "deviceFiles": {"by": "plugin", "resource": "rdma/hca"}},
    "self-test": {"selfTest": {"enabled": True}},
    "ethtool": {"ethtool": {"enabled": True}},
    "follow": {"follow": {"enabled": True}, "users": {"enabled": True}},
    "kernel-log": {"kernelLog": {"journal": "/var/log/journal", "group": 190}},
    "ethtool-and-self-test": {
        "ethtool": {"enabled": True}, "selfTest": {"enabled": True},
        "deviceFiles": {"by": "plugin", "resource": "rdma/hca"}},
    "plugin": {
        "verbs": {"enabled": True}, "umad": {"enabled": True}, "selfTest": {"enabled": True},
        "deviceFiles": {"by": "plugin", "resource": "rdma/rdma_shared_device_a"}},
    "monitoring": {
        "podMonitor": {"enabled": True, "labels": {"release": "prometheus"}, "interval": "30s",
                       "metricRelabelings": [{"action": "labeldrop", "regex": "pod"}]},
        "prometheusRule": {"enabled": True, "labels": {"release": "prometheus"},
                           "runbookBaseUrl": "https://wiki.test/rdma/",
                           "grafanaUrl": "https://grafana.test/"},
        "dashboards": {"enabled": True, "labels": {"grafana_dashboard": "yes"}}},
    "service-monitor": {
        "serviceMonitor": {"enabled": True, "scrapeTimeout": "5s", "jobLabel": "tier", "honorLabels": True,
                           "relabelings": [{"targetLabel": "cluster", "replacement": "a"}]}},
    "https": {
        "web": {"secretName": "rdma-web", "tls": True},
        "prometheusRule": {"enabled": True},
        "podMonitor": {"enabled": True,
                       "tlsConfig": {"ca": {"secret": {"name": "rdma-ca", "key": "ca.crt"}}},
                       "basicAuth": {"username": {"name": "rdma-login", "key": "user"},
                                     "password": {"name": "rdma-login", "key": "password"}}}},
    # a certificate of cert-manager
    "certificate": {
        "web": {"certificateSecret": "rdma-tls", "clientCertificates": True},
        "podMonitor": {"enabled": True, "tlsConfig": {"serverName": "rdma.test"}}},
    "client-certificates": {
        "web": {"secretName": "rdma-web", "tls": True, "clientCertificates": True},
        "serviceMonitor": {"enabled": True, "tlsConfig": {"insecureSkipVerify": True}}},
    # what the strictest of clusters asks for: no write to the node, no root anywhere
    "hardening": {
        "state": {"type": "none"}, "listenHost": "127.0.0.1", "serviceAccount": {"create": False},
        "networkPolicy": {"enabled": True, "from": [
            {"namespaceSelector": {"matchLabels": {"name": "monitoring"}}}]},
        "image": {"repository": "registry.test:5000/rdma-node-agent",
                  "digest": "sha256:" + "0123456789abcdef" * 4}},
    "everything": {
        "nameOverride": "rna", "commonLabels": {"team": "fabric"}, "podLabels": {"tier": "node"},
        "image": {"repository": "registry.test/rna", "tag": "1.0", "pullPolicy": "Always"},
        "imagePullSecrets": [{"name": "registry"}],
        "config": {"poll": {"state": "500ms"}, "lanes": {"max": 4},
                   "devices": {"exclude": ["mlx5_bond_*", "0000:3b:*"]},
                   "metrics": {"gid_info": False}, "log": {"level": "debug"}},
        "port": 9879, "listenHost": "fd00::1", "runAsUser": 65534,
        "state": {"type": "emptyDir"}, "priorityClassName": "",
        "resources": {"limits": {"memory": "1Gi", "cpu": "2"}},
        "tolerations": [{"operator": "Exists"}],
        "minReadySeconds": 5, "extraInitContainers": [{"name": "wait", "image": "wait:1"}],
        "extraObjects": [
            {"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "b"},
             "metadata": {"name": "more", "namespace": "ns"}},
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}-text\n"
            "  namespace: {{ .Release.Namespace }}\ndata: {a: b}\n"],
        "nodeSelector": {"pool": "gpu"}, "rdmaNodes": {"only": True, "labels": ["a/one", "a/two"]},
        "updateStrategy": {"type": "OnDelete", "rollingUpdate": None},
        "terminationGracePeriodSeconds": 30, "livenessProbe": {"initialDelaySeconds": 1},
        "podAnnotations": {"prometheus.io/scrape": "true"},
        "podSecurityContext": {"seLinuxOptions": {"type": "spc_t"}},
        "extraArgs": ["--root=/host"], "extraEnv": [{"name": "TZ", "value": "UTC"}],
        "extraVolumes": [{"name": "host", "hostPath": {"path": "/"}}],
        "extraVolumeMounts": [{"name": "host", "mountPath": "/host", "readOnly": True}],
        "serviceAccount": {"name": "given", "annotations": {"a": "b"}},
        "service": {"enabled": True}, "networkPolicy": {"enabled": True}},
    # several charts in a release, with settings for all; monitoring in another namespace
    "umbrella": {
        "global": {"imageRegistry": "mirror.test/", "imagePullSecrets": ["mirror", {"name": "registry"}]},
        "image": {"registry": "registry.test"}, "imagePullSecrets": [{"name": "registry"}],
        "commonAnnotations": {"owner": "fabric"}, "revisionHistoryLimit": 2, "dnsPolicy": "ClusterFirst",
        "extraContainers": [{"name": "proxy", "image": "proxy:1", "ports": [{"containerPort": 8443}]}],
        "serviceAccount": {"annotations": {"a": "b"}},
        "podMonitor": {"enabled": True, "namespace": "monitoring", "sampleLimit": 20000,
                       "attachMetadata": {"node": True}, "podTargetLabels": ["tier"]},
        "prometheusRule": {"enabled": True, "namespace": "monitoring"},
        "dashboards": {"enabled": True, "namespace": "monitoring"}},
    "openshift": {
        "openshift": {"securityContextConstraints": "always"},
        "config": {"kubernetes": {"backend": "api"}}},
    "openshift-probes": {
        "openshift": {"securityContextConstraints": "always"}, "users": {"enabled": True},
        "probe": {"enabled": True, "ipcLock": False}, "umad": {"enabled": True, "group": 2010}},
    "openshift-without-host": {
        "openshift": {"securityContextConstraints": "always"}, "state": {"type": "none"}},
    "node-feature-rule": {"nodeFeatureRule": {"enabled": True}, "rdmaNodes": {"only": True}},
    "api": {"config": {"kubernetes": {"backend": "api"}}},
    "nfd": {"config": {"kubernetes": {"backend": "nfd", "nfd_directory": "/etc/nfd/features.d"}}},
    "both": {"config": {"kubernetes": {
        "backend": "both", "taint": "example.org/rdma-down", "conditions": False, "events": False,
        "label_prefix": "rdma.example.org", "roce_key": "example.org/roce"}},
        "apiServer": {"host": "fd00::10", "port": 6443}, "taintLimit": 1},
    "limit": {
        "config": {"kubernetes": {"backend": "api", "taint": "example.org/rdma-down",
                                  "taint_effect": "NoExecute"}},
        "taintLimit": 2, "nodeReadinessRule": {"enabled": True, "taint": {"effect": "NoExecute"}}},
    "dry-run": {"config": {"kubernetes": {"backend": "api", "taint": "example.org/rdma-down",
                                          "taint_dry_run": True}}},
    "kubeconfig": {"config": {"kubernetes": {
        "backend": "api", "kubeconfig": "/etc/kube/config"}},
        "extraVolumes": [{"name": "kube", "secret": {"secretName": "kube"}}],
        "extraVolumeMounts": [{"name": "kube", "mountPath": "/etc/kube"}]},
    "node-readiness": {
        "config": {"kubernetes": {"backend": "api"}}, "nodeReadinessRule": {"enabled": True}},
    "node-readiness-of-some": {
        "config": {"kubernetes": {"backend": "both", "kubeconfig": "/etc/kube/config"}},
        "rdmaNodes": {"only": True},
        "nodeReadinessRule": {
            "enabled": True, "conditions": ["RdmaPortDown"], "enforcementMode": "bootstrap-only",
            "nodeSelector": {"feature.node.kubernetes.io/rdma.available": "true"}, "dryRun": True,
            "taint": {"key": "readiness.k8s.io/fabric", "effect": "NoExecute"}}},
    "profiles": {"profiles": """version: 1
profiles:
  - name: gpu-node
    match: {gpus: 8}
    node: {acs: off}
    devices:
      - {model: MT4129, count: 8, rate: 400G, pkeys: [0x8001]}
"""},
    "probe": {
        "probe": {"enabled": True}, "config": {"probe": {
            "traffic_class": 106, "period": "1s", "bandwidth": True, "bandwidth_port": 10990,
            "bandwidth_window": ["Sat 02:00-04:00"]}},
        "networkPolicy": {"enabled": True, "from": [
            {"namespaceSelector": {"matchLabels": {"name": "monitoring"}}}]}},
    "probe-roce": yaml.safe_load(documented(PRODUCTION, "values of this chart: RoCE")),
    "probe-infiniband": yaml.safe_load(documented(PRODUCTION, "values of this chart: InfiniBand")),
    # the fewest rights: neither root nor a token
    "probe-dns": {
        "probe": {"enabled": True, "members": "dns", "secretName": "fabric", "ipcLock": False},
        "deviceFiles": {"by": "plugin", "resource": "rdma/hca"}},
    "probe-host": {
        "probe": {"enabled": True, "members": "none"}, "listenHost": "127.0.0.1",
        "networkPolicy": {"enabled": True, "from": [{"podSelector": {}}]},
        "deviceFiles": {"by": "plugin", "resource": "rdma/hca"}},
    # releases that share a fabric
    "probe-with-others": {
        "probe": {"enabled": True}, "web": {"secretName": "rdma-web", "tls": True},
        "config": {"kubernetes": {"backend": "api"}, "probe": {
            "members_kubernetes": "fabric/agents", "secret_file": "/fabric/secret"}},
        "service": {"enabled": True},
        "extraVolumes": [{"name": "fabric", "secret": {"secretName": "fabric", "defaultMode": 256}}],
        "extraVolumeMounts": [{"name": "fabric", "mountPath": "/fabric"}]},
    "probe-file": {
        "probe": {"enabled": True, "secretName": "fabric"}, "config": {"probe": {
            "members_file": "/fabric/members.json"}},
        "extraVolumes": [{"name": "fabric", "configMap": {"name": "fabric"}}],
        "extraVolumeMounts": [{"name": "fabric", "mountPath": "/fabric"}]},
    "affinity": {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
        "nodeSelectorTerms": [{"matchExpressions": [{"key": "gpu", "operator": "Exists"}]}]}}}},
}

# Profiles that need EndpointSlices, which a cluster has since 1.21.
WITH_SLICES = {"probe", "probe-roce", "probe-infiniband", "probe-with-others", "openshift-probes",
               "values-roce", "values-infiniband"}

PROBE = {"enabled": True}

# Values, the key at fault, and what has to be said of it.
REFUSED = [
    ({"prot": 1}, "", "prot"),
    ({"port": "10879"}, "port", "integer"),
    ({"web": {"tls": True}}, "web.tls", "web.secretName"),
    ({"web": {"secretName": "x", "clientCertificates": True}}, "web.clientCertificates", "web.tls"),
    ({"web": {"tls": "yes"}}, "web.tls", "boolean"),
    ({"port": 0}, "port", "minimum"),
    ({"image": {"tag": 1.0}}, "image.tag", "string"),
    ({"image": {"tga": "x"}}, "image", "tga"),
    ({"image": {"digest": "sha256:abc"}}, "image.digest", "match"),
    ({"image": {"pullPolicy": "Sometimes"}}, "image.pullPolicy", "Sometimes"),
    ({"config": {"pol": {}}}, "config", "pol"),
    ({"config": {"poll": {"sate": "1s"}}}, "config.poll", "sate"),
    ({"config": {"poll": {"state": 1}}}, "config.poll.state", "string"),
    ({"config": {"poll": {"state": "often"}}}, "config.poll.state", "often"),
    ({"config": {"lanes": {"max": 1}}}, "config.lanes.max", "minimum"),
    ({"config": {"log": {"level": "loud"}}}, "config.log.level", "loud"),
    ({"config": {"http": {"listen": [":1"]}}}, "config.http", "listen"),
    ({"config": {"state": {"directory": "/x"}}}, "config", "state"),
    ({"config": {"kubernetes": {"backend": False}}}, "config.kubernetes.backend", "string"),
    ({"config": {"kubernetes": {"backend": "API"}}}, "config.kubernetes.backend", "API"),
    ({"config": {"kubernetes": {"node_name": "n1"}}}, "config.kubernetes", "node_name"),
    ({"config": {"kubernetes": {"label_prefix": "my labels/"}}}, "config.kubernetes.label_prefix",
     "my labels/"),
    ({"config": {"kubernetes": {"roce_key": "a/b/c"}}}, "config.kubernetes.roce_key", "a/b/c"),
    ({"config": {"kubernetes": {"taint": "it's"}}}, "config.kubernetes.taint", "it's"),
    ({"config": {"kubernetes": {"nfd_directory": "nfd"}}}, "config.kubernetes.nfd_directory", "nfd"),
    ({"config": {"kubernetes": {"backend": "off", "taint": "a/b"}}}, "config.kubernetes.taint",
     "config.kubernetes.backend"),
    ({"podMonitor": {"enabled": "yes"}}, "podMonitor.enabled", "yes"),
    ({"prometheusRule": {"enabled": "yes"}}, "prometheusRule.enabled", "yes"),
    ({"podMonitor": {"jobLabel": ""}}, "podMonitor.jobLabel", ""),
    ({"minReadySeconds": -1}, "minReadySeconds", "minimum"),
    ({"extraObjects": [1]}, "extraObjects.0", "string"),
    ({"extraInitContainers": [{"image": "a"}]}, "extraInitContainers.0", "name"),
    ({"config": {"kubernetes": {"backend": "nfd", "taint": "a/b"}}}, "config.kubernetes.taint",
     "config.kubernetes.backend"),
    ({"config": {"kubernetes": {"backend": "off", "device_taints": "taint"}}}, "config.kubernetes.device_taints",
     "config.kubernetes.backend"),
    ({"taintLimit": 0}, "taintLimit", "minimum"),
    ({"taintLimit": "10%"}, "taintLimit", "integer"),
    ({"cleanUp": "yes"}, "cleanUp", "boolean"),
    ({"web": {"secretName": "x", "certificateSecret": "y"}}, "web.certificateSecret", "web.secretName"),
    ({"probe": {"enabled": True, "members": "dns"}, "web": {"certificateSecret": "x"}},
     "probe.members", "web.tls"),
    ({"openshift": {"securityContextConstraints": True}}, "openshift.securityContextConstraints",
     "string"),
    ({"openshift": {"seLinuxType": "spc t"}}, "openshift.seLinuxType", "spc t"),
    ({"namespaceOverride": "a.b"}, "namespaceOverride", "a.b"),
    ({"dnsPolicy": "None"}, "dnsPolicy", "None"),
    ({"extraContainers": [{"name": "a"}]}, "extraContainers.0", "image"),
    ({"revisionHistoryLimit": -1}, "revisionHistoryLimit", "minimum"),
    ({"commonAnnotations": {"a": 1}}, "commonAnnotations.a", "string"),
    ({"global": {"imagePullSecrets": [1]}}, "global.imagePullSecrets.0", "string"),
    ({"podMonitor": {"sampleLimit": -1}}, "podMonitor.sampleLimit", "minimum"),
    ({"podMonitor": {"attachMetadata": {"pod": True}}}, "podMonitor.attachMetadata", "pod"),
    ({"nodeFeatureRule": {"label": "rdma"}}, "nodeFeatureRule.label", "rdma"),
    ({"nodeFeatureRule": {"modules": ["a b"]}}, "nodeFeatureRule.modules.0", "a b"),
    ({"prometheusRule": {"enabled": True, "alerts": {"RdmaPortDwn": {"enabled": False}}}},
     "prometheusRule.alerts.RdmaPortDwn", "no such alert"),
    ({"prometheusRule": {"enabled": True, "alerts": {"RdmaPortDown/info": {"for": "1m"}}}},
     "prometheusRule.alerts.RdmaPortDown/info", "no such alert"),
    ({"prometheusRule": {"alerts": {"RdmaPortDown": {"for": "soon"}}}},
     "prometheusRule.alerts.RdmaPortDown.for", "soon"),
    ({"prometheusRule": {"alerts": {"RdmaPortDown": {"severty": "info"}}}},
     "prometheusRule.alerts.RdmaPortDown", "severty"),
    ({"admissionPolicy": True}, "admissionPolicy", "string"),
    ({"listenHost": "node1"}, "listenHost", "node1"),
    ({"state": {"type": "pvc"}}, "state.type", "pvc"),
    ({"state": {"path": "relative"}}, "state.path", "relative"),
    ({"verbs": True}, "verbs", "object"),
    ({"umad": {"group": "rdma"}}, "umad.group", "rdma"),
    ({"kernelLog": {"journal": "var/log/journal"}}, "kernelLog.journal", "var/log/journal"),
    ({"kernelLog": {"journal": "/"}}, "kernelLog.journal", "/"),
    ({"kernelLog": {"journal": "/var/log/journal"}}, "kernelLog.journal", "kernelLog.group"),
    ({"kernelLog": {"group": "systemd-journal"}}, "kernelLog.group", "systemd-journal"),
    ({"deviceFiles": {"by": "magic"}}, "deviceFiles.by", "magic"),
    ({"verbs": {"enabled": True}, "deviceFiles": {"by": "plugin"}}, "deviceFiles.resource", "plugin"),
    ({"ethtool": True}, "ethtool", "object"),
    # it reads interfaces of the node, of whose network no value takes the pods off
    ({"ethtool": {"enabled": True}, "hostNetwork": False}, "", "hostNetwork"),
    ({"ethtool": {"enabled": True}, "podSecurityContext": {"runAsUser": 10879}}, "ethtool.enabled",
     "podSecurityContext.runAsUser"),
    ({"follow": True}, "follow", "object"),
    ({"follow": {"enabled": True}, "podSecurityContext": {"runAsUser": 10879}}, "follow.enabled",
     "podSecurityContext.runAsUser"),
    ({"probe": True}, "probe", "object"),
    ({"probe": {"members": "multicast"}}, "probe.members", "multicast"),
    ({"probe": {"secretName": "my secret"}}, "probe.secretName", "my secret"),
    ({"config": {"probe": {"traffic_class": 256}}}, "config.probe.traffic_class", "maximum"),
    ({"probe": PROBE, "listenHost": "127.0.0.2"}, "probe.enabled", "listenHost 127.0.0.2"),
    ({"probe": PROBE, "listenHost": "::1"}, "probe.enabled", "listenHost ::1"),
    ({"probe": PROBE, "web": {"secretName": "x", "tls": True, "clientCertificates": True}},
     "probe.enabled", "web.clientCertificates"),
    ({"probe": {**PROBE, "members": "dns"}, "web": {"secretName": "x", "tls": True}},
     "probe.members", "web.tls"),
    ({"probe": PROBE, "config": {"watch": {"events": False}}}, "probe.enabled", "watch.events"),
    ({"probe": {**PROBE, "members": "none"}, "config": {"probe": {"host_mesh": False}}},
     "probe.members", "host_mesh"),
    ({"probe": PROBE, "config": {"probe": {"members_dns": "a.test", "members_file": "/m"}}},
     "config.probe.members_dns", "config.probe.members_file"),
    ({"probe": {**PROBE, "secretName": "x"}, "config": {"probe": {"secret_file": "/s"}}},
     "probe.secretName", "config.probe.secret_file"),
    ({"probe": PROBE, "podSecurityContext": {"runAsUser": 10879}}, "probe.ipcLock",
     "podSecurityContext.runAsUser"),
    ({"probe": {**PROBE, "ipcLock": False, "priority": True},
      "podSecurityContext": {"runAsUser": 10879}}, "probe.priority", "podSecurityContext.runAsUser"),
    ({"tolerations": [{"operator": "Exist"}]}, "tolerations.0.operator", "Exist"),
    ({"podLabels": {"a": 1}}, "podLabels.a", "string"),
    ({"podMonitor": {"enabled": True}, "serviceMonitor": {"enabled": True}},
     "serviceMonitor.enabled", "podMonitor"),
    ({"podMonitor": {"interval": "half a minute"}}, "podMonitor.interval", "half a minute"),
    ({"prometheusRule": {"runbookBaseUrl": "wiki"}}, "prometheusRule.runbookBaseUrl", "wiki"),
    ({"prometheusRule": {"grafanaUrl": "grafana"}}, "prometheusRule.grafanaUrl", "grafana"),
    ({"rdmaNodes": {"only": True}, "affinity": {"nodeAffinity": {}}}, "affinity", "rdmaNodes.only"),
    ({"extraVolumes": [{}]}, "extraVolumes.0", "name"),
    ({"config": {"kubernetes": {"backend": "off"}}, "nodeReadinessRule": {"enabled": True}},
     "nodeReadinessRule.enabled", "config.kubernetes.backend"),
    ({"config": {"kubernetes": {"backend": "api", "conditions": False}},
      "nodeReadinessRule": {"enabled": True}}, "nodeReadinessRule.enabled", "conditions"),
    ({"config": {"kubernetes": {"backend": "api"}}, "rdmaNodes": {"only": True},
      "nodeReadinessRule": {"enabled": True}}, "nodeReadinessRule.nodeSelector", "rdmaNodes.only"),
    ({"nodeReadinessRule": {"conditions": []}}, "nodeReadinessRule.conditions", ""),
    ({"nodeReadinessRule": {"conditions": ["Ready"]}}, "nodeReadinessRule.conditions.0", "Ready"),
    ({"nodeReadinessRule": {"taint": {"key": "rdma-node-agent/down"}}}, "nodeReadinessRule.taint.key",
     "rdma-node-agent/down"),
    ({"nodeReadinessRule": {"taint": {"effect": "Evict"}}}, "nodeReadinessRule.taint.effect", "Evict"),
    ({"nodeReadinessRule": {"enforcementMode": "once"}}, "nodeReadinessRule.enforcementMode", "once"),
]
