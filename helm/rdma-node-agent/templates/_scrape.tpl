{{- /* One endpoint of a PodMonitor or ServiceMonitor. Call with (list $ VALUES). */ -}}
{{- define "rdma-node-agent.scrape" -}}
{{- $web := (first .).Values.web -}}
{{- with last . -}}
port: metrics
path: /metrics
{{- if $web.tls }}
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
