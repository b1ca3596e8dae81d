{{- /* A headless Service of all agents. Those that are not ready are listed too: their metrics show the
reason, and the members that probe each other must not change with it. */ -}}
{{- define "rdma-node-agent.serviceSpec" -}}
clusterIP: None
publishNotReadyAddresses: true
selector:
  {{- include "rdma-node-agent.selector" . | nindent 2 }}
ports:
  - name: metrics
    port: {{ .Values.port }}
    targetPort: metrics
    protocol: TCP
    {{- if include "rdma-node-agent.usesTls" . }}
    appProtocol: https # what the agents read from the EndpointSlices
    {{- end }}
{{- end -}}
