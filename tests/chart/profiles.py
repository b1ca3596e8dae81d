# SPDX-License-Identifier: Apache-2.0
"""Values that people will use, each with the manifests that it has to become, in expected/; and
values that have to be refused."""

PROFILES = {
    "default": {},
    "verbs": {"verbs": {"enabled": True}},
    "umad": {"umad": {"enabled": True}},
    "umad-group": {"umad": {"enabled": True, "group": 2010},
                   "deviceFiles": {"by": "plugin", "resource": "rdma/hca"}},
    "self-test": {"selfTest": {"enabled": True}},
    "plugin": {
        "verbs": {"enabled": True}, "umad": {"enabled": True}, "selfTest": {"enabled": True},
        "deviceFiles": {"by": "plugin", "resource": "rdma/rdma_shared_device_a"}},
    "monitoring": {
        "podMonitor": {"enabled": True, "labels": {"release": "prometheus"}, "interval": "30s",
                       "metricRelabelings": [{"action": "labeldrop", "regex": "pod"}]},
        "prometheusRule": {"enabled": True, "labels": {"release": "prometheus"},
                           "runbookBaseUrl": "https://wiki.test/rdma/"},
        "dashboards": {"enabled": True, "labels": {"grafana_dashboard": "yes"}}},
    "service-monitor": {
        "serviceMonitor": {"enabled": True, "scrapeTimeout": "5s",
                           "relabelings": [{"targetLabel": "cluster", "replacement": "a"}]}},
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
    "affinity": {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
        "nodeSelectorTerms": [{"matchExpressions": [{"key": "gpu", "operator": "Exists"}]}]}}}},
}

# Values, the key at fault, and what has to be said of it.
REFUSED = [
    ({"prot": 1}, "", "prot"),
    ({"port": "10879"}, "port", "integer"),
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
    ({"listenHost": "node1"}, "listenHost", "node1"),
    ({"state": {"type": "pvc"}}, "state.type", "pvc"),
    ({"state": {"path": "relative"}}, "state.path", "relative"),
    ({"verbs": True}, "verbs", "object"),
    ({"umad": {"group": "rdma"}}, "umad.group", "rdma"),
    ({"deviceFiles": {"by": "magic"}}, "deviceFiles.by", "magic"),
    ({"verbs": {"enabled": True}, "deviceFiles": {"by": "plugin"}}, "deviceFiles.resource", "plugin"),
    ({"tolerations": [{"operator": "Exist"}]}, "tolerations.0.operator", "Exist"),
    ({"podLabels": {"a": 1}}, "podLabels.a", "string"),
    ({"podMonitor": {"enabled": True}, "serviceMonitor": {"enabled": True}},
     "serviceMonitor.enabled", "podMonitor"),
    ({"podMonitor": {"interval": "half a minute"}}, "podMonitor.interval", "half a minute"),
    ({"prometheusRule": {"runbookBaseUrl": "wiki"}}, "prometheusRule.runbookBaseUrl", "wiki"),
    ({"rdmaNodes": {"only": True}, "affinity": {"nodeAffinity": {}}}, "affinity", "rdmaNodes.only"),
    ({"extraVolumes": [{}]}, "extraVolumes.0", "name"),
]
