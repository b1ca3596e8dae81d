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

{{- /* Names, namespace and selector of a release cannot change: an upgrade would create other objects,
whose pods find the ports of the nodes in use, or try to change a selector, which is immutable. The
DaemonSet of the release is known by its program, since everything else of it may be what changed.
"lookup" finds nothing in "helm template". With an alias, by which the chart can be in a release twice,
it has another name. */ -}}
{{- define "rdma-node-agent.checkNames" -}}
{{- if and .Release.IsUpgrade (eq .Chart.Name "rdma-node-agent") -}}
{{- $namespace := include "rdma-node-agent.namespace" . -}}
{{- $name := printf "%s/%s" $namespace (include "rdma-node-agent.fullname" .) -}}
{{- $selector := include "rdma-node-agent.selector" . | fromYaml -}}
{{- range $where := uniq (list $namespace .Release.Namespace) -}}
{{- range (lookup "apps/v1" "DaemonSet" $where "").items -}}
{{- $release := get (.metadata.annotations | default dict) "meta.helm.sh/release-name" -}}
{{- $program := first ((first .spec.template.spec.containers).command | default (list "")) -}}
{{- if and (eq $release $.Release.Name) (eq $program "rdma-node-agent") -}}
{{- $known := printf "%s/%s" $where .metadata.name -}}
{{- $differs := not (deepEqual .spec.selector.matchLabels $selector) -}}
{{- if or (ne $known $name) $differs -}}
{{- fail (printf "nameOverride: the DaemonSet of this release is %s (%s=%s), and these values call it %s (%s=%s); leave nameOverride, fullnameOverride and namespaceOverride as they were, or run \"helm uninstall %s\" and install it anew"
  $known "app.kubernetes.io/name" (get .spec.selector.matchLabels "app.kubernetes.io/name")
  $name "app.kubernetes.io/name" (get $selector "app.kubernetes.io/name") $.Release.Name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- /* Labels of an object or of pods: those of the chart, then those of the values. Call with (list $
LABELS). */ -}}
{{- define "rdma-node-agent.labels" -}}
{{- $root := first . -}}
{{- $own := dict
  "app.kubernetes.io/version" $root.Chart.AppVersion
  "app.kubernetes.io/managed-by" $root.Release.Service -}}
{{- $selector := include "rdma-node-agent.selector" $root | fromYaml -}}
{{- mergeOverwrite $own $root.Values.commonLabels (last . | default dict) $selector | toYaml -}}
{{- end -}}

{{- define "rdma-node-agent.namespace" -}}
{{- .Values.namespaceOverride | default .Release.Namespace -}}
{{- end -}}

{{- /* Labels and annotations of an object: those of all objects, then its own. Call with (list $
OWN), a dict with labels and annotations, if there are any. */ -}}
{{- define "rdma-node-agent.marks" -}}
{{- $root := first . -}}
labels:
  {{- include "rdma-node-agent.labels" (list $root (last .).labels) | nindent 2 }}
{{- with merge dict ((last .).annotations | default dict) $root.Values.commonAnnotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- /* Metadata of an object. Call with (list $ SUFFIX OWN), where OWN may have a namespace, too. */ -}}
{{- define "rdma-node-agent.metadata" -}}
{{- $root := first . -}}
name: {{ include "rdma-node-agent.fullname" $root }}{{ index . 1 }}
namespace: {{ (last .).namespace | default (include "rdma-node-agent.namespace" $root) }}
{{ include "rdma-node-agent.marks" (list $root (last .)) }}
{{- end -}}

{{- define "rdma-node-agent.serviceAccountName" -}}
{{- $standard := ternary (include "rdma-node-agent.fullname" .) "default" .Values.serviceAccount.create -}}
{{- .Values.serviceAccount.name | default $standard -}}
{{- end -}}

{{- /* Likewise for a cluster-scoped object: its name distinguishes releases in different namespaces.
With a namespace in OWN it is an object in a namespace that is not that of the release. */ -}}
{{- define "rdma-node-agent.clusterMetadata" -}}
{{- $root := first . -}}
name: {{ include "rdma-node-agent.clusterName" $root }}{{ index . 1 }}
{{- with (last .).namespace }}
namespace: {{ . }}
{{- end }}
{{ include "rdma-node-agent.marks" (list $root (last .)) }}
{{- end -}}

{{- define "rdma-node-agent.clusterName" -}}
{{ include "rdma-node-agent.namespace" . }}-{{ include "rdma-node-agent.fullname" . }}
{{- end -}}

{{- /* The service account as the subject of a binding. */ -}}
{{- define "rdma-node-agent.subject" -}}
kind: ServiceAccount
name: {{ include "rdma-node-agent.serviceAccountName" . }}
namespace: {{ include "rdma-node-agent.namespace" . }}
{{- end -}}

{{- define "rdma-node-agent.image" -}}
{{- with .Values.image -}}
{{- with $.Values.global.imageRegistry | default .registry -}}
{{ trimSuffix "/" . }}/
{{- end -}}
{{- if .digest -}}
{{ .repository }}@{{ .digest }}
{{- else -}}
{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}
{{- end -}}
{{- end -}}
{{- end -}}
