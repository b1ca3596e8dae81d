{{- /* The agent's configuration file: the settings of the values, and those that the pod decides. */ -}}
{{- define "rdma-node-agent.config" -}}
{{- $host := .Values.listenHost -}}
{{- if contains ":" $host -}}
{{- $host = printf "[%s]" $host -}}
{{- end -}}
{{- $own := dict
  "http" (dict "listen" (list (printf "%s:%d" $host (int .Values.port))))
  "state" (dict "directory" (ternary "" "/var/lib/rdma-node-agent" (eq .Values.state.type "none"))) -}}
{{- mergeOverwrite (deepCopy .Values.config) $own | toYaml -}}
{{- end -}}
