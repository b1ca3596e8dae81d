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

{{- define "rdma-node-agent.toldMounts" -}}
- name: config
  mountPath: /etc/rdma-node-agent
  readOnly: true
{{- if include "rdma-node-agent.writesNfdFile" . }}
- name: nfd
  mountPath: {{ .Values.config.kubernetes.nfd_directory }}
{{- end }}
{{- with .Values.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end -}}
