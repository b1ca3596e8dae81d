{{- /* What follows from the cluster where a value is auto, decided here and nowhere else. Helpers answer
"true" or "", but for the backend. */ -}}

{{- /* Can ValidatingAdmissionPolicies hold each agent to its own node? */ -}}
{{- define "rdma-node-agent.hasPolicy" -}}
{{- $has := .Capabilities.APIVersions.Has "admissionregistration.k8s.io/v1/ValidatingAdmissionPolicy" -}}
{{- if or (eq .Values.admissionPolicy "always") (and $has (eq .Values.admissionPolicy "auto")) }}true{{ end -}}
{{- end -}}

{{- define "rdma-node-agent.backend" -}}
{{- $automatic := ternary "api" "off" (include "rdma-node-agent.hasPolicy" . | eq "true") -}}
{{- $wanted := .Values.config.kubernetes.backend -}}
{{- ternary $automatic $wanted (eq $wanted "auto") -}}
{{- end -}}

{{- /* The agent's settings for Kubernetes. */ -}}
{{- define "rdma-node-agent.kubernetes" -}}
{{- merge (dict "backend" (include "rdma-node-agent.backend" .)) .Values.config.kubernetes | toYaml -}}
{{- end -}}

{{- /* Is an object of the Prometheus operator to be created? Call with (list $ VALUE KIND). */ -}}
{{- define "rdma-node-agent.creates" -}}
{{- $has := (first .).Capabilities.APIVersions.Has (print "monitoring.coreos.com/v1/" (last .)) -}}
{{- $wanted := index . 1 | toString -}}
{{- if or (eq $wanted "true") (and $has (eq $wanted "auto")) }}true{{ end -}}
{{- end -}}

{{- define "rdma-node-agent.makesRules" -}}
{{- include "rdma-node-agent.creates" (list . .Values.prometheusRule.enabled "PrometheusRule") -}}
{{- end -}}

{{- /* Agents that listen on loopback only cannot be scraped. */ -}}
{{- define "rdma-node-agent.makesPodMonitor" -}}
{{- $else := or .Values.serviceMonitor.enabled (include "rdma-node-agent.listensOnLoopback" .) -}}
{{- if not (and $else (eq (toString .Values.podMonitor.enabled) "auto")) -}}
{{- include "rdma-node-agent.creates" (list . .Values.podMonitor.enabled "PodMonitor") -}}
{{- end -}}
{{- end -}}

{{- define "rdma-node-agent.publishes" -}}
{{- if ne (include "rdma-node-agent.backend" .) "off" }}true{{ end -}}
{{- end -}}

{{- define "rdma-node-agent.isScraped" -}}
{{- if or (include "rdma-node-agent.makesPodMonitor" .) .Values.serviceMonitor.enabled .Values.podAnnotations }}true{{ end -}}
{{- end -}}

{{- /* A container with all devices and the capabilities of root can open /dev/kmsg. */ -}}
{{- define "rdma-node-agent.readsKernelLog" -}}
{{- $opens := and (include "rdma-node-agent.isPrivileged" .) (include "rdma-node-agent.needsRoot" .) -}}
{{- if or .Values.kernelLog.journal $opens }}true{{ end -}}
{{- end -}}

{{- define "rdma-node-agent.opensVerbs" -}}
{{- if or .Values.verbs.enabled .Values.selfTest.enabled .Values.probe.enabled }}true{{ end -}}
{{- end -}}

{{- /* Is a function of functions.yaml on? Call with (list $ ROW). */ -}}
{{- define "rdma-node-agent.isOn" -}}
{{- $root := first . -}}
{{- $row := last . -}}
{{- if $row.helper -}}
{{- include $row.helper $root -}}
{{- else -}}
{{- $found := $root.Values -}}
{{- range splitList "." $row.value }}{{ $found = get ($found | default dict) . }}{{ end -}}
{{- if and $found (ne (toString $found) "off") }}true{{ end -}}
{{- end -}}
{{- end -}}
