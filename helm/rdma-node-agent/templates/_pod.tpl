{{- /* Environment of each container that calls the Kubernetes API: name of the Node, address of the
API server. */ -}}
{{- define "rdma-node-agent.env" -}}
- name: NODE_NAME
  valueFrom:
    fieldRef:
      fieldPath: spec.nodeName
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
