{{- /* Taking back the labels, conditions and taints of all Nodes, by a Job with rights of its own. */ -}}

{{- define "rdma-node-agent.writesApi" -}}
{{- if has (.backend | default "off") (list "api" "both") }}true{{ end -}}
{{- end -}}

{{- /* The settings with which the agents wrote what is to be taken back, as YAML; "" for nothing. After
an upgrade that switches the API off they are those of the release before, which "lookup" finds. */ -}}
{{- define "rdma-node-agent.settingsToClean" -}}
{{- if not .Values.cleanUp -}}
{{- else if include "rdma-node-agent.kubernetes" . | fromYaml | include "rdma-node-agent.writesApi" -}}
{{- include "rdma-node-agent.kubernetes" . -}}
{{- else if .Release.IsUpgrade -}}
{{- $map := lookup "v1" "ConfigMap" (include "rdma-node-agent.namespace" .) (include "rdma-node-agent.fullname" .) -}}
{{- $before := (get ($map.data | default dict) "rdma-node-agent.yaml" | fromYaml).kubernetes | default dict -}}
{{- if include "rdma-node-agent.writesApi" $before }}{{ toYaml $before }}{{ end -}}
{{- end -}}
{{- end -}}

{{- /* What has happened when the Job runs. */ -}}
{{- define "rdma-node-agent.cleanUpEvent" -}}
{{- $writes := include "rdma-node-agent.kubernetes" . | fromYaml | include "rdma-node-agent.writesApi" -}}
{{ ternary "post-delete" "post-upgrade" (eq $writes "true") }}
{{- end -}}

{{- /* The Nodes that may have an agent, as a selector. */ -}}
{{- define "rdma-node-agent.nodesToClean" -}}
{{- $labels := list -}}
{{- range $key, $value := .Values.nodeSelector }}{{ $labels = append $labels (printf "%s=%s" $key $value) }}{{ end -}}
{{- join "," $labels | default "all" -}}
{{- end -}}
