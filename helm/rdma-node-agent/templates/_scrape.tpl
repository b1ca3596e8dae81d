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

{{- /* A line "runbook_url: ..." of the rules, by the values. Call with (list $ LINE). Without a base URL
the agent serves it: the instance is the name of its node, see above, to which the port is added. A
base URL that ends in # is that of one document with a section for each alert, whose anchors are in
lower case in most renderers of Markdown. */ -}}
{{- define "rdma-node-agent.runbook" -}}
{{- $values := (first .).Values -}}
{{- $name := base (last .) -}}
{{- with $values.prometheusRule.runbookBaseUrl -}}
runbook_url: {{ ternary (print . (lower $name)) (print (trimSuffix "/" .) "/" $name) (hasSuffix "#" .) }}
{{- else -}}
{{- $scheme := ternary "https" "http" $values.web.tls -}}
{{- last . | replace "http://" (print $scheme "://") | replace "instance }}" "instance | stripPort }}"
  | replace "instance\" }}" "instance\" | stripPort }}"
  | replace (print "/runbooks/" $name) (printf ":%v/runbooks/%s" $values.port $name) -}}
{{- end -}}
{{- end -}}
