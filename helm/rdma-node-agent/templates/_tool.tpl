{{- /* Pods that run a command of the program once, without any right on their node. They, and a Service
that exists for them, lack the selector labels, or Services and monitors would take them for those of
the agents. */ -}}
{{- define "rdma-node-agent.toolLabels" -}}
{{- $own := dict "app.kubernetes.io/name" (printf "rdma-node-agent-%s" (last .)) -}}
{{- merge $own (first .).Values.commonLabels | toYaml -}}
{{- end -}}

{{- /* The spec of such a pod. Call with (list $ TOOL COMMAND); ServiceAccount and ConfigMap have the
name of the release with the tool as a suffix. */ -}}
{{- define "rdma-node-agent.toolSpec" -}}
{{- $tool := index . 1 -}}
{{- $name := printf "%s-%s" (include "rdma-node-agent.fullname" (first .)) $tool -}}
{{- $command := last . -}}
{{- with first . -}}
restartPolicy: Never
serviceAccountName: {{ $name }}
automountServiceAccountToken: true
enableServiceLinks: false
{{- with include "rdma-node-agent.pullSecrets" . }}
{{ . }}
{{- end }}
securityContext:
  runAsNonRoot: true
  seccompProfile:
    type: RuntimeDefault
containers:
  - name: {{ $tool }}
    image: {{ include "rdma-node-agent.image" . }}
    imagePullPolicy: {{ .Values.image.pullPolicy }}
    command: [rdma-node-agent]
    args:
      {{- toYaml $command | nindent 6 }}
    securityContext:
      readOnlyRootFilesystem: true
      allowPrivilegeEscalation: false
      capabilities:
        drop: [ALL]
    resources:
      {{- toYaml .Values.resources | nindent 6 }}
    volumeMounts:
      - name: config
        mountPath: /etc/rdma-node-agent
        readOnly: true
volumes:
  - name: config
    configMap:
      name: {{ $name }}
nodeSelector:
  {{- toYaml .Values.nodeSelector | nindent 2 }}
tolerations:
  {{- toYaml .Values.tolerations | nindent 2 }}
{{- end -}}
{{- end -}}

{{- /* Annotations that make an object a part of such a pod: it exists while the pod runs. Helm creates
hooks of one weight in the order of their names, whatever they are (pkg/action/hooks.go, hookByWeight),
so that the pod needs a higher weight than the rest: (list EVENT WEIGHT). */ -}}
{{- define "rdma-node-agent.hook" -}}
annotations:
  helm.sh/hook: {{ index . 0 }}
  helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
  helm.sh/hook-weight: {{ index . 1 | quote }}
{{- end -}}
