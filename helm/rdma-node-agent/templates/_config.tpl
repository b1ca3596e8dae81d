{{- /* The agent's configuration file: settings from the values, and settings that follow from the pod. */ -}}
{{- define "rdma-node-agent.config" -}}
{{- $host := .Values.listenHost -}}
{{- if contains ":" $host -}}
{{- $host = printf "[%s]" $host -}}
{{- end -}}
{{- $own := dict
  "http" (dict "listen" (list (printf "%s:%d" $host (int .Values.port))))
  "state" (dict "directory" (ternary "" "/var/lib/rdma-node-agent" (eq .Values.state.type "none"))) -}}
{{- if .Values.profiles -}}
{{- $_ := set $own "expect" (dict "profile" "/etc/rdma-node-agent/profiles.yaml") -}}
{{- end -}}
{{- include "rdma-node-agent.checkWeb" . -}}
{{- if include "rdma-node-agent.webSecret" . -}}
{{- /* unix socket for commands in the container, which have neither certificate nor password */ -}}
{{- $_ := set $own "http" (dict
  "listen" (append $own.http.listen "unix:/run/rdma-node-agent/http.sock")
  "web_config_file" (include "rdma-node-agent.webConfigFile" .)) -}}
{{- end -}}
{{- if not .Values.selfTest.enabled -}}
{{- /* device files alone do not enable self-test traffic */ -}}
{{- $_ := set $own "selftest" (dict "enabled" false) -}}
{{- end -}}
{{- if .Values.follow.enabled -}}
{{- $_ := set $own "follow" (dict "enabled" true) -}}
{{- end -}}
{{- $_ := set $own "kubernetes" (dict "backend" (include "rdma-node-agent.backend" .)) -}}
{{- if include "rdma-node-agent.limitsTaint" . -}}
{{- $leases := printf "%s/%s" (include "rdma-node-agent.namespace" .) (include "rdma-node-agent.fullname" .) -}}
{{- $_ := set $own.kubernetes "taint_leases" $leases -}}
{{- end -}}
{{- include "rdma-node-agent.checkTaint" . -}}
{{- if .Values.probe.enabled -}}
{{- include "rdma-node-agent.checkProbe" . -}}
{{- $_ := set $own "probe" (include "rdma-node-agent.probeConfig" . | fromYaml) -}}
{{- end -}}
{{- mergeOverwrite (omit (deepCopy .Values.config) "probe") $own | toYaml -}}
{{- end -}}
