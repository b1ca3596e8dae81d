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
