{{- /* The change of a rule that the values want; "{}" for none. It goes by the name of the alert, or by
NAME/SEVERITY where several rules have the name. Call with (list $ RULE). */ -}}
{{- define "rdma-node-agent.changeOfRule" -}}
{{- $changes := (first .).Values.prometheusRule.alerts -}}
{{- with last . -}}
{{- $severity := (.labels | default dict).severity | default "" -}}
{{- get $changes (printf "%s/%s" .alert $severity) | default (get $changes (.alert | default "")) | default dict | toYaml -}}
{{- end -}}
{{- end -}}

{{- /* A rules file by the values: alerts that are off are left out, others changed. The templates in
texts are for Prometheus, not for Helm. Call with (list $ TEXT). */ -}}
{{- define "rdma-node-agent.rules" -}}
{{- $root := first . -}}
{{- $content := last . | fromYaml -}}
{{- range $group := $content.groups -}}
{{- $rules := list -}}
{{- range $rule := $group.rules -}}
{{- $change := include "rdma-node-agent.changeOfRule" (list $root $rule) | fromYaml -}}
{{- range $name, $text := $rule.annotations -}}
{{- $_ := set $rule.annotations $name (include "rdma-node-agent.annotation" (list $root $name $text)) -}}
{{- end -}}
{{- with $change.for }}{{ $_ := set $rule "for" . }}{{ end -}}
{{- with $change.severity -}}
{{- $_ := set $rule "labels" (merge (dict "severity" .) ($rule.labels | default dict)) -}}
{{- end -}}
{{- if ne (get $change "enabled" | toString) "false" }}{{ $rules = append $rules $rule }}{{ end -}}
{{- end -}}
{{- $_ := set $group "rules" $rules -}}
{{- end -}}
{{- toYaml $content -}}
{{- end -}}

{{- /* A misspelt name would leave the alert as it is. Call with (list $ TEXT). */ -}}
{{- define "rdma-node-agent.checkAlerts" -}}
{{- $known := list -}}
{{- range (last . | fromYaml).groups -}}
{{- range .rules -}}
{{- $known = append $known .alert -}}
{{- if (.labels | default dict).severity }}{{ $known = append $known (printf "%s/%s" .alert .labels.severity) }}{{ end -}}
{{- end -}}
{{- end -}}
{{- range $name, $_ := (first .).Values.prometheusRule.alerts -}}
{{- if not (has $name $known) -}}
{{- fail (printf "prometheusRule.alerts.%s: there is no such alert; files/alerts.yaml of the chart has their names" $name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
