{{- /* Environment of each container of the agent: name of the Node, address of the API server, and its
own name, which stands in the commands of runbooks. */ -}}
{{- define "rdma-node-agent.env" -}}
- name: NODE_NAME
  valueFrom:
    fieldRef:
      fieldPath: spec.nodeName
- name: POD_NAME
  valueFrom:
    fieldRef:
      fieldPath: metadata.name
- name: POD_NAMESPACE
  valueFrom:
    fieldRef:
      fieldPath: metadata.namespace
{{- with .Values.apiServer }}
{{- if .host }}
- name: KUBERNETES_SERVICE_HOST
  value: {{ .host | quote }}
- name: KUBERNETES_SERVICE_PORT
  value: {{ .port | quote }}
{{- end }}
{{- end }}
{{- with .Values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "rdma-node-agent.pullSecrets" -}}
{{- $secrets := list -}}
{{- range concat .Values.global.imagePullSecrets .Values.imagePullSecrets -}}
{{- $secrets = append $secrets (ternary (dict "name" .) . (kindIs "string" .)) -}}
{{- end -}}
{{- with uniq $secrets -}}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end -}}
{{- end -}}

{{- /* With hostNetwork the default is the DNS of the node, which does not know the cluster. */ -}}
{{- define "rdma-node-agent.dnsPolicy" -}}
{{- $wanted := ternary "ClusterFirstWithHostNet" "" (eq (include "rdma-node-agent.probeMembers" .) "dns") -}}
{{- .Values.dnsPolicy | default $wanted -}}
{{- end -}}
