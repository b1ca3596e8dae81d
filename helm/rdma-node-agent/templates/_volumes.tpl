{{- /* Volumes of the pod, from which _openshift.tpl derives what a pod may mount. */ -}}
{{- define "rdma-node-agent.volumes" -}}
- name: config
  configMap:
    name: {{ include "rdma-node-agent.fullname" . }}
- name: run
  emptyDir:
    medium: Memory
    sizeLimit: 1Mi
{{- with include "rdma-node-agent.webSecret" . }}
- name: web
  secret:
    secretName: {{ . }}
    defaultMode: 0444 # only this container can see them
{{- end }}
{{- with include "rdma-node-agent.probeSecret" . }}
- name: probe
  secret:
    secretName: {{ . }}
    # The agent refuses a secret that other users may read. For a user other than root the
    # kubelet assigns it to fsGroup with mode 0440 (roMask in pkg/volume/volume_linux.go).
    defaultMode: 0400
    items:
      - key: secret
        path: secret
{{- end }}
{{- if eq .Values.state.type "hostPath" }}
- name: state
  hostPath:
    path: {{ .Values.state.path }}
    type: DirectoryOrCreate
{{- else if eq .Values.state.type "emptyDir" }}
- name: state
  emptyDir: {}
{{- end }}
{{- if include "rdma-node-agent.isPrivileged" . }}
- name: device-files
  hostPath:
    path: /dev/infiniband
    type: DirectoryOrCreate
{{- end }}
{{- with .Values.kernelLog.journal }}
- name: journal
  hostPath:
    path: {{ . }}
    type: Directory # one that is made would change where journald writes
{{- end }}
{{- if .Values.users.enabled }}
- name: container-names
  hostPath:
    path: /var/log/containers
    type: Directory # of the kubelet
{{- end }}
{{- if include "rdma-node-agent.writesNfdFile" . }}
- name: nfd
  hostPath:
    path: {{ .Values.config.kubernetes.nfd_directory }}
    type: DirectoryOrCreate
{{- end }}
{{- with .Values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- /* Kinds of these volumes, and that of the token, as a JSON list. */ -}}
{{- define "rdma-node-agent.volumeKinds" -}}
{{- $kinds := list -}}
{{- if include "rdma-node-agent.needsToken" . }}{{ $kinds = append $kinds "projected" }}{{ end -}}
{{- range include "rdma-node-agent.volumes" . | fromYamlArray -}}
{{- $kinds = concat $kinds (keys (omit . "name")) -}}
{{- end -}}
{{- uniq $kinds | sortAlpha | toJson -}}
{{- end -}}

{{- define "rdma-node-agent.usesHostPath" -}}
{{- if has "hostPath" (include "rdma-node-agent.volumeKinds" . | fromJsonArray) }}true{{ end -}}
{{- end -}}
