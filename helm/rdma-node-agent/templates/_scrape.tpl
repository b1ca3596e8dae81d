{{- /* What a PodMonitor and a ServiceMonitor have in common. Call with (list $ VALUES). */ -}}
{{- define "rdma-node-agent.monitor" -}}
{{- $root := first . -}}
{{- $namespace := include "rdma-node-agent.namespace" $root -}}
{{- with last . -}}
jobLabel: {{ .jobLabel }}
{{- if ne (.namespace | default $namespace) $namespace }}
namespaceSelector:
  matchNames: [{{ $namespace }}]
{{- end }}
selector:
  matchLabels:
    {{- include "rdma-node-agent.selector" $root | nindent 4 }}
{{- with .podTargetLabels }}
podTargetLabels:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .attachMetadata }}
attachMetadata:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .sampleLimit }}
sampleLimit: {{ int . }}
{{- end }}
{{- end -}}
{{- end -}}

{{- /* One endpoint of a PodMonitor or ServiceMonitor. Call with (list $ VALUES). */ -}}
{{- define "rdma-node-agent.scrape" -}}
{{- $tls := include "rdma-node-agent.usesTls" (first .) -}}
{{- with last . -}}
port: metrics
path: /metrics
{{- if .honorLabels }}
honorLabels: true
{{- end }}
{{- if $tls }}
scheme: https
{{- end }}
{{- with .tlsConfig }}
tlsConfig:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .basicAuth }}
basicAuth:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .interval }}
interval: {{ . }}
{{- end }}
{{- with .scrapeTimeout }}
scrapeTimeout: {{ . }}
{{- end }}
relabelings:
  # the name of the node, not the address of a pod: alerts are about nodes
  - sourceLabels: [__meta_kubernetes_pod_node_name]
    targetLabel: instance
  {{- with .relabelings }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with .metricRelabelings }}
metricRelabelings:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}
{{- end -}}

{{- /* The address of a page of an agent. Call with (list $ URL), as it is in the rules: the instance is the
name of its node, see above, to which the port is added. */ -}}
{{- define "rdma-node-agent.agentUrl" -}}
{{- $scheme := include "rdma-node-agent.scheme" (first .) -}}
{{- last . | replace "http://" (print $scheme "://") | replace "instance }}" "instance | stripPort }}"
  | replace "instance\" }}" "instance\" | stripPort }}"
  | replace "}}/" (printf "}}:%v/" (first .).Values.port) -}}
{{- end -}}

{{- /* The address of a runbook, by the values. Call with (list $ URL), as it is in the rules. Without a base
URL the agent serves it. A base URL that ends in # is that of one document with a section for each
alert, whose anchors are in lower case in most renderers of Markdown. */ -}}
{{- define "rdma-node-agent.runbook" -}}
{{- $name := base (last .) -}}
{{- with (first .).Values.prometheusRule.runbookBaseUrl -}}
{{ ternary (print . (lower $name)) (print (trimSuffix "/" .) "/" $name) (hasSuffix "#" .) }}
{{- else -}}
{{- include "rdma-node-agent.agentUrl" . -}}
{{- end -}}
{{- end -}}

{{- /* An annotation of an alert, by the values. Call with (list $ NAME TEXT). */ -}}
{{- define "rdma-node-agent.annotation" -}}
{{- $root := first . -}}
{{- $name := index . 1 -}}
{{- if eq $name "runbook_url" -}}
{{- include "rdma-node-agent.runbook" (list $root (last .)) -}}
{{- else if eq $name "page_url" -}}
{{- include "rdma-node-agent.agentUrl" (list $root (last .)) -}}
{{- else if eq $name "dashboard_url" -}}
{{- print (trimSuffix "/" $root.Values.prometheusRule.grafanaUrl) (last .) -}}
{{- else -}}
{{- last . -}}
{{- end -}}
{{- end -}}
