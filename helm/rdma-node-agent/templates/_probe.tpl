{{- /* Probes between nodes: who the members are, who knows their secret, and what cannot work. */ -}}

{{- /* Settings of config.probe that name the source of the members, as a JSON list. */ -}}
{{- define "rdma-node-agent.probeSources" -}}
{{- $found := list -}}
{{- range list "members_file" "members_dns" "members_kubernetes" -}}
{{- if get $.Values.config.probe . }}{{ $found = append $found . }}{{ end -}}
{{- end -}}
{{- toJson $found -}}
{{- end -}}

{{- /* The value probe.members, if that and no setting is the source; "" otherwise and without probes. */ -}}
{{- define "rdma-node-agent.probeMembers" -}}
{{- if and .Values.probe.enabled (not (include "rdma-node-agent.probeSources" . | fromJsonArray)) -}}
{{- .Values.probe.members -}}
{{- end -}}
{{- end -}}

{{- /* Agents of other nodes are probed, and ask this one for its ports. */ -}}
{{- define "rdma-node-agent.hasPeers" -}}
{{- if and .Values.probe.enabled (ne (include "rdma-node-agent.probeMembers" .) "none") }}true{{ end -}}
{{- end -}}

{{- /* TCP port on which other nodes ask for bandwidth tests; "" for none. */ -}}
{{- define "rdma-node-agent.bandwidthPort" -}}
{{- if and (include "rdma-node-agent.hasPeers" .) .Values.config.probe.bandwidth -}}
{{- int .Values.config.probe.bandwidth_port -}}
{{- end -}}
{{- end -}}

{{- /* The Service of the chart lists the members. */ -}}
{{- define "rdma-node-agent.probesService" -}}
{{- if has (include "rdma-node-agent.probeMembers" .) (list "kubernetes" "dns") }}true{{ end -}}
{{- end -}}

{{- /* Name of the Secret with the shared secret; "" if it is in a file of extraVolumes. */ -}}
{{- define "rdma-node-agent.probeSecret" -}}
{{- if and .Values.probe.enabled (not .Values.config.probe.secret_file) -}}
{{- .Values.probe.secretName | default (include "rdma-node-agent.fullname" . | printf "%s-probe") -}}
{{- end -}}
{{- end -}}

{{- /* NAMESPACE/SERVICE whose EndpointSlices the pod's service account lists; "" for none. */ -}}
{{- define "rdma-node-agent.listedService" -}}
{{- if and .Values.probe.enabled (not .Values.config.kubernetes.kubeconfig) -}}
{{- (include "rdma-node-agent.probeConfig" . | fromYaml).members_kubernetes | default "" -}}
{{- end -}}
{{- end -}}

{{- /* The section probe of the agent's configuration; "" without probes. */ -}}
{{- define "rdma-node-agent.probeConfig" -}}
{{- if .Values.probe.enabled -}}
{{- $name := include "rdma-node-agent.fullname" . -}}
{{- $probe := mergeOverwrite (deepCopy .Values.config.probe) (dict "enabled" true) -}}
{{- if include "rdma-node-agent.probeSecret" . -}}
{{- $_ := set $probe "secret_file" "/etc/rdma-node-agent-probe/secret" -}}
{{- end -}}
{{- $members := include "rdma-node-agent.probeMembers" . -}}
{{- if eq $members "kubernetes" -}}
{{- $_ := set $probe "members_kubernetes" (printf "%s/%s" (include "rdma-node-agent.namespace" .) $name) -}}
{{- else if eq $members "dns" -}}
{{- /* the search domains of the pod add the domain of the cluster */ -}}
{{- $_ := set $probe "members_dns" (printf "%s.%s.svc:%d" $name (include "rdma-node-agent.namespace" .) (int .Values.port)) -}}
{{- end -}}
{{- toYaml $probe -}}
{{- end -}}
{{- end -}}

{{- /* Peers ask the agent over HTTP for its ports, without certificate and password. */ -}}
{{- define "rdma-node-agent.checkPeers" -}}
{{- if include "rdma-node-agent.listensOnLoopback" . -}}
{{- fail (printf "probe.enabled: agents of other nodes cannot reach listenHost %s; remove it, or set probe.members to none" .Values.listenHost) -}}
{{- end -}}
{{- if .Values.web.clientCertificates -}}
{{- fail "probe.enabled: agents have no client certificate for each other, which web.clientCertificates requires; switch one of them off, or set probe.members to none" -}}
{{- end -}}
{{- if and (include "rdma-node-agent.usesTls" .) (eq (include "rdma-node-agent.probeMembers" .) "dns") -}}
{{- fail "probe.members: addresses in DNS do not say that the agents use HTTPS (web.tls); set it to kubernetes" -}}
{{- end -}}
{{- end -}}

{{- define "rdma-node-agent.checkProbe" -}}
{{- $sources := include "rdma-node-agent.probeSources" . | fromJsonArray -}}
{{- if gt (len $sources) 1 -}}
{{- fail (printf "config.probe.%s: members have one source, and config.probe.%s is set as well" (last $sources) (first $sources)) -}}
{{- end -}}
{{- if and .Values.probe.secretName .Values.config.probe.secret_file -}}
{{- fail "probe.secretName: config.probe.secret_file is set as well; there is one secret" -}}
{{- end -}}
{{- if eq (get (.Values.config.watch | default dict) "events" | toString) "false" -}}
{{- fail "probe.enabled: config.watch.events is false, and the removal of a device would wait for the prober" -}}
{{- end -}}
{{- if include "rdma-node-agent.hasPeers" . -}}
{{- include "rdma-node-agent.checkPeers" . -}}
{{- else if eq (get .Values.config.probe "host_mesh" | toString) "false" -}}
{{- fail "probe.members: with none, and without config.probe.host_mesh, there is nothing to probe" -}}
{{- end -}}
{{- $listed := (include "rdma-node-agent.probeConfig" . | fromYaml).members_kubernetes -}}
{{- if and $listed (semverCompare "<1.21-0" .Capabilities.KubeVersion.Version) -}}
{{- fail (printf "probe.members: Kubernetes %s has no EndpointSlices of discovery.k8s.io/v1, which 1.21 has; set it to dns" .Capabilities.KubeVersion.Version) -}}
{{- end -}}
{{- end -}}
