{{- /* Which nodes get an agent, beyond nodeSelector; "" for all. */ -}}
{{- define "rdma-node-agent.affinity" -}}
{{- if and .Values.rdmaNodes.only .Values.affinity -}}
{{- fail "affinity: rdmaNodes.only makes one, so that there cannot be another; write its terms into affinity and switch it off" -}}
{{- else if .Values.rdmaNodes.only -}}
nodeAffinity:
  requiredDuringSchedulingIgnoredDuringExecution:
    nodeSelectorTerms:
      {{- range .Values.rdmaNodes.labels }}
      - matchExpressions:
          - key: {{ . }}
            operator: In
            values: ["true"]
      {{- end }}
{{- else if .Values.affinity -}}
{{- toYaml .Values.affinity -}}
{{- end -}}
{{- end -}}

{{- /* Taints of a node must neither keep its agent off nor evict it: what set the taint has to see that
the node is well again. The values may tolerate a taint already. */ -}}
{{- define "rdma-node-agent.tolerations" -}}
{{- $taints := list -}}
{{- with .Values.config.kubernetes -}}
{{- if .taint }}{{ $taints = append $taints (dict "key" .taint "effect" (.taint_effect | default "NoSchedule")) }}{{ end -}}
{{- end -}}
{{- with .Values.nodeReadinessRule -}}
{{- if .enabled }}{{ $taints = append $taints .taint }}{{ end -}}
{{- end -}}
{{- $all := .Values.tolerations -}}
{{- range $taint := $taints -}}
{{- $known := false -}}
{{- range $all -}}
{{- $every := and (not .key) (eq (.operator | default "Equal") "Exists") -}}
{{- if and $every (eq (.effect | default $taint.effect) $taint.effect) }}{{ $known = true }}{{ end -}}
{{- end -}}
{{- if not $known }}{{ $all = append $all (dict "key" $taint.key "operator" "Exists" "effect" $taint.effect) }}{{ end -}}
{{- end -}}
{{- toYaml $all -}}
{{- end -}}

{{- /* The agent refuses these settings, too, in its log. */ -}}
{{- define "rdma-node-agent.checkTaint" -}}
{{- with include "rdma-node-agent.kubernetes" . | fromYaml -}}
{{- if and .taint (not (has .backend (list "api" "both"))) -}}
{{- fail "config.kubernetes.taint: no other backend sets taints; set config.kubernetes.backend to api or both" -}}
{{- else if and (ne .device_taints "off") (not (has .backend (list "api" "both"))) -}}
{{- fail "config.kubernetes.device_taints: no other backend sets taints; set config.kubernetes.backend to api or both" -}}
{{- end -}}
{{- end -}}
{{- end -}}
