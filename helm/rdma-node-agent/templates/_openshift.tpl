{{- /* OpenShift admits a pod only if a SecurityContextConstraints (SCC) that its service account may use
permits all that the pod asks for. */ -}}
{{- define "rdma-node-agent.makesConstraints" -}}
{{- $has := .Capabilities.APIVersions.Has "security.openshift.io/v1/SecurityContextConstraints" -}}
{{- $wanted := .Values.openshift.securityContextConstraints -}}
{{- if or (eq $wanted "always") (and $has (eq $wanted "auto")) }}true{{ end -}}
{{- end -}}

{{- /* SELinux type of the pods where they use directories of the node; "" for that of the runtime. */ -}}
{{- define "rdma-node-agent.seLinuxType" -}}
{{- if and (include "rdma-node-agent.makesConstraints" .) (include "rdma-node-agent.usesHostPath" .) -}}
{{- .Values.openshift.seLinuxType -}}
{{- end -}}
{{- end -}}

{{- /* Strategy for groups: these alone, the first of which a pod without any would get. */ -}}
{{- define "rdma-node-agent.onlyGroups" -}}
type: MustRunAs
ranges:
  {{- range . }}
  - min: {{ int . }}
    max: {{ int . }}
  {{- end }}
{{- end -}}

{{- /* A profile as an SCC names it. */ -}}
{{- define "rdma-node-agent.seccompName" -}}
{{- if eq .type "Localhost" -}}
localhost/{{ .localhostProfile }}
{{- else -}}
{{- get (dict "RuntimeDefault" "runtime/default" "Unconfined" "unconfined") .type -}}
{{- end -}}
{{- end -}}
