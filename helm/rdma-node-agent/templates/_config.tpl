{{- /* The agent's configuration file: settings from the values, and settings that follow from the pod. */ -}}
{{- define "rdma-node-agent.fullConfig" -}}
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
{{- with .Values.web -}}
{{- if and (or .tls .clientCertificates) (not .secretName) -}}
{{- fail "web.tls: without web.secretName there is no certificate; name a Secret with the key web.yml" -}}
{{- end -}}
{{- if and .clientCertificates (not .tls) -}}
{{- fail "web.clientCertificates: certificates of clients are a part of TLS; set web.tls, too" -}}
{{- end -}}
{{- if .secretName -}}
{{- /* unix socket for commands in the container, which have neither certificate nor password */ -}}
{{- $_ := set $own "http" (dict
  "listen" (append $own.http.listen "unix:/run/rdma-node-agent/http.sock")
  "web_config_file" "/etc/rdma-node-agent-web/web.yml") -}}
{{- end -}}
{{- end -}}
{{- if not .Values.selfTest.enabled -}}
{{- /* device files alone do not enable self-test traffic */ -}}
{{- $_ := set $own "selftest" (dict "enabled" false) -}}
{{- end -}}
{{- if .Values.follow.enabled -}}
{{- $_ := set $own "follow" (dict "enabled" true) -}}
{{- end -}}
{{- if .Values.probe.enabled -}}
{{- include "rdma-node-agent.checkProbe" . -}}
{{- $_ := set $own "probe" (include "rdma-node-agent.probeConfig" . | fromYaml) -}}
{{- end -}}
{{- mergeOverwrite (omit (deepCopy .Values.config) "probe") $own | toYaml -}}
{{- end -}}

{{- /* As above; with cleanUp the agent publishes nothing. */ -}}
{{- define "rdma-node-agent.config" -}}
{{- $config := include "rdma-node-agent.fullConfig" . | fromYaml -}}
{{- if .Values.cleanUp -}}
{{- if eq .Values.config.kubernetes.backend "off" -}}
{{- fail "cleanUp: config.kubernetes.backend is off; leave it as it was, for the rights that cleaning up needs" -}}
{{- end -}}
{{- $_ := set $config.kubernetes "backend" "off" -}}
{{- end -}}
{{- toYaml $config -}}
{{- end -}}
