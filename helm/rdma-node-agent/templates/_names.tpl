{{- /* The name of the objects, short enough for suffixes. */ -}}
{{- define "rdma-node-agent.fullname" -}}
{{- $name := .Values.nameOverride | default .Chart.Name -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" -}}
{{- else if contains $name .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- /* Selector labels of the pods. They must never change: a DaemonSet's selector is immutable. */ -}}
{{- define "rdma-node-agent.selector" -}}
app.kubernetes.io/name: {{ .Values.nameOverride | default .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- /* Labels of an object: those of the chart, then those of the values. Call with (list $ LABELS). */ -}}
{{- define "rdma-node-agent.labels" -}}
{{- $root := first . -}}
{{- $own := dict
  "app.kubernetes.io/version" $root.Chart.AppVersion
  "app.kubernetes.io/managed-by" $root.Release.Service -}}
{{- $selector := include "rdma-node-agent.selector" $root | fromYaml -}}
{{- mergeOverwrite $own $root.Values.commonLabels (last .) $selector | toYaml -}}
{{- end -}}

{{- /* Name, namespace and labels of an object. Call with (list $ SUFFIX LABELS). */ -}}
{{- define "rdma-node-agent.metadata" -}}
{{- $root := first . -}}
name: {{ include "rdma-node-agent.fullname" $root }}{{ index . 1 }}
namespace: {{ $root.Release.Namespace }}
labels:
  {{- include "rdma-node-agent.labels" (list $root (last .)) | nindent 2 }}
{{- end -}}

{{- define "rdma-node-agent.serviceAccountName" -}}
{{- $standard := ternary (include "rdma-node-agent.fullname" .) "default" .Values.serviceAccount.create -}}
{{- .Values.serviceAccount.name | default $standard -}}
{{- end -}}

{{- /* Likewise for a cluster-scoped object: its name distinguishes releases in different namespaces. */ -}}
{{- define "rdma-node-agent.clusterMetadata" -}}
name: {{ include "rdma-node-agent.clusterName" . }}
labels:
  {{- include "rdma-node-agent.labels" (list . dict) | nindent 2 }}
{{- end -}}

{{- define "rdma-node-agent.eventPolicyMetadata" -}}
name: {{ include "rdma-node-agent.clusterName" . }}-events
labels:
  {{- include "rdma-node-agent.labels" (list . dict) | nindent 2 }}
{{- end -}}

{{- define "rdma-node-agent.clusterName" -}}
{{ .Release.Namespace }}-{{ include "rdma-node-agent.fullname" . }}
{{- end -}}

{{- /* The service account as the subject of a binding. */ -}}
{{- define "rdma-node-agent.subject" -}}
kind: ServiceAccount
name: {{ include "rdma-node-agent.serviceAccountName" . }}
namespace: {{ .Release.Namespace }}
{{- end -}}

{{- define "rdma-node-agent.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}
{{ .repository }}@{{ .digest }}
{{- else -}}
{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}
{{- end -}}
{{- end -}}
{{- end -}}
