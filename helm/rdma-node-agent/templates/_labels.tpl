{{- /* Labels of an object: the chart's, then those that the values add. Call with (list $ LABELS). */ -}}
{{- define "rdma-node-agent.labels" -}}
{{- $root := first . -}}
{{- $own := dict
  "app.kubernetes.io/name" $root.Chart.Name
  "app.kubernetes.io/instance" $root.Release.Name
  "app.kubernetes.io/version" $root.Chart.AppVersion
  "app.kubernetes.io/managed-by" $root.Release.Service -}}
{{- mergeOverwrite $own (last .) | toYaml -}}
{{- end -}}
