{{- /* Who may talk to the agents, and how: TLS and the web configuration. */ -}}

{{- define "rdma-node-agent.listensOnLoopback" -}}
{{- if or (hasPrefix "127." .Values.listenHost) (eq .Values.listenHost "::1") }}true{{ end -}}
{{- end -}}

{{- define "rdma-node-agent.usesTls" -}}
{{- if or .Values.web.tls .Values.web.certificateSecret }}true{{ end -}}
{{- end -}}

{{- define "rdma-node-agent.scheme" -}}
{{- ternary "https" "http" (include "rdma-node-agent.usesTls" . | eq "true") -}}
{{- end -}}

{{- /* Name of the Secret with web.yml or with the certificate; "" for none. */ -}}
{{- define "rdma-node-agent.webSecret" -}}
{{- .Values.web.secretName | default .Values.web.certificateSecret -}}
{{- end -}}

{{- /* The web configuration that the chart writes; "" for none. The agent reads a renewed certificate
without a restart. */ -}}
{{- define "rdma-node-agent.webConfig" -}}
{{- if .Values.web.certificateSecret -}}
tls_server_config:
  cert_file: /etc/rdma-node-agent-web/tls.crt
  key_file: /etc/rdma-node-agent-web/tls.key
  {{- if .Values.web.clientCertificates }}
  client_auth_type: RequireAndVerifyClientCert
  client_ca_file: /etc/rdma-node-agent-web/ca.crt
  {{- end }}
{{- end -}}
{{- end -}}

{{- define "rdma-node-agent.webConfigFile" -}}
{{- ternary "/etc/rdma-node-agent/web.yml" "/etc/rdma-node-agent-web/web.yml" (include "rdma-node-agent.webConfig" . | ne "") -}}
{{- end -}}

{{- define "rdma-node-agent.checkWeb" -}}
{{- with .Values.web -}}
{{- if and .secretName .certificateSecret -}}
{{- fail "web.certificateSecret: web.secretName is set as well, and the agent has one web configuration; choose one" -}}
{{- end -}}
{{- if and (or .tls .clientCertificates) (not (or .secretName .certificateSecret)) -}}
{{- fail "web.tls: without web.certificateSecret or web.secretName there is no certificate; name a Secret with one" -}}
{{- end -}}
{{- if and .clientCertificates (not (include "rdma-node-agent.usesTls" $)) -}}
{{- fail "web.clientCertificates: certificates of clients are a part of TLS; set web.tls, too" -}}
{{- end -}}
{{- end -}}
{{- end -}}
