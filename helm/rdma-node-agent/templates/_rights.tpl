{{- /* What the pods may do follows from what is switched on, and is decided here and nowhere else.
Helpers answer "true" or "", which "if" takes as no. */ -}}

{{- define "rdma-node-agent.needsDeviceFiles" -}}
{{- if or .Values.verbs.enabled .Values.umad.enabled .Values.selfTest.enabled .Values.probe.enabled }}true{{ end -}}
{{- end -}}

{{- define "rdma-node-agent.isPrivileged" -}}
{{- if and (include "rdma-node-agent.needsDeviceFiles" .) (eq .Values.deviceFiles.by "privileged") }}true{{ end -}}
{{- end -}}

{{- define "rdma-node-agent.writesNfdFile" -}}
{{- if has (include "rdma-node-agent.backend" .) (list "nfd" "both") }}true{{ end -}}
{{- end -}}

{{- /* Talks to the API server about its node, as the pod's service account. */ -}}
{{- define "rdma-node-agent.usesApi" -}}
{{- $api := has (include "rdma-node-agent.backend" .) (list "api" "both") -}}
{{- if and $api (not .Values.config.kubernetes.kubeconfig) }}true{{ end -}}
{{- end -}}

{{- /* Has the taint a limit that the chart enforces, by Leases? */ -}}
{{- define "rdma-node-agent.limitsTaint" -}}
{{- $kubernetes := .Values.config.kubernetes -}}
{{- $wanted := and $kubernetes.taint (not $kubernetes.taint_dry_run) (not $kubernetes.taint_leases) -}}
{{- if and $wanted (include "rdma-node-agent.usesApi" .) (not (kindIs "invalid" .Values.taintLimit)) }}true{{ end -}}
{{- end -}}

{{- /* Names of the Leases, as a JSON list. */ -}}
{{- define "rdma-node-agent.leases" -}}
{{- $names := list -}}
{{- range until (int .Values.taintLimit) }}{{ $names = append $names (printf "%s-taint-%d" (include "rdma-node-agent.fullname" $) .) }}{{ end -}}
{{- toJson $names -}}
{{- end -}}

{{- define "rdma-node-agent.needsToken" -}}
{{- if or (include "rdma-node-agent.usesApi" .) (include "rdma-node-agent.listedService" .) }}true{{ end -}}
{{- end -}}

{{- define "rdma-node-agent.hostPID" -}}
{{- if or .Values.users.enabled .Values.follow.enabled }}true{{ end -}}
{{- end -}}

{{- /* For files that root owns: umad, unless a group may use them, and NFD's directory. An added
capability takes effect only for root, because Kubernetes sets no ambient capabilities. */ -}}
{{- define "rdma-node-agent.needsRoot" -}}
{{- $umad := and .Values.umad.enabled (kindIs "invalid" .Values.umad.group) -}}
{{- $capability := include "rdma-node-agent.capabilities" . | fromJsonArray -}}
{{- if or $umad $capability (include "rdma-node-agent.writesNfdFile" .) }}true{{ end -}}
{{- end -}}

{{- /* Capabilities to add, as a JSON list. */ -}}
{{- define "rdma-node-agent.capabilities" -}}
{{- $names := list -}}
{{- $probe := and .Values.probe.enabled .Values.probe.ipcLock -}}
{{- if or .Values.selfTest.enabled $probe }}{{ $names = append $names "IPC_LOCK" }}{{ end -}}
{{- if .Values.ethtool.enabled }}{{ $names = append $names "NET_ADMIN" }}{{ end -}}
{{- if and .Values.probe.enabled .Values.probe.priority }}{{ $names = append $names "SYS_NICE" }}{{ end -}}
{{- if .Values.follow.enabled }}{{ $names = append $names "SYS_PTRACE" }}{{ end -}}
{{- toJson $names -}}
{{- end -}}

{{- /* Groups that may use files of the node, as a JSON list. */ -}}
{{- define "rdma-node-agent.groups" -}}
{{- $groups := list -}}
{{- if and .Values.umad.enabled (not (kindIs "invalid" .Values.umad.group)) -}}
{{- $groups = append $groups (int .Values.umad.group) -}}
{{- end -}}
{{- if and .Values.kernelLog.journal (not (kindIs "invalid" .Values.kernelLog.group)) -}}
{{- $groups = append $groups (int .Values.kernelLog.group) -}}
{{- end -}}
{{- toJson (uniq $groups) -}}
{{- end -}}

{{- define "rdma-node-agent.uid" -}}
{{- ternary 0 (int .Values.runAsUser) (include "rdma-node-agent.needsRoot" . | eq "true") -}}
{{- end -}}

{{- define "rdma-node-agent.podSecurityContext" -}}
{{- $uid := include "rdma-node-agent.uid" . | int -}}
{{- $own := dict
  "runAsNonRoot" (ne $uid 0)
  "runAsUser" $uid
  "runAsGroup" $uid
  "seccompProfile" (dict "type" "RuntimeDefault") -}}
{{- with include "rdma-node-agent.groups" . | fromJsonArray -}}
{{- $_ := set $own "supplementalGroups" . -}}
{{- end -}}
{{- with include "rdma-node-agent.seLinuxType" . -}}
{{- $_ := set $own "seLinuxOptions" (dict "type" .) -}}
{{- end -}}
{{- $context := mergeOverwrite $own .Values.podSecurityContext -}}
{{- if and .Values.kernelLog.journal (kindIs "invalid" .Values.kernelLog.group) (ne (int $context.runAsUser) 0) -}}
{{- fail "kernelLog.journal: set kernelLog.group to the ID of the group systemd-journal on your nodes" -}}
{{- end -}}
{{- if and .Values.ethtool.enabled (ne (int $context.runAsUser) 0) -}}
{{- fail "ethtool.enabled: podSecurityContext.runAsUser is not root, for whom alone NET_ADMIN takes effect" -}}
{{- end -}}
{{- if and .Values.follow.enabled (ne (int $context.runAsUser) 0) -}}
{{- fail "follow.enabled: podSecurityContext.runAsUser is not root, for whom alone SYS_PTRACE takes effect" -}}
{{- end -}}
{{- if and .Values.probe.enabled .Values.probe.ipcLock (ne (int $context.runAsUser) 0) -}}
{{- fail "probe.ipcLock: podSecurityContext.runAsUser is not root, for whom alone IPC_LOCK takes effect; set probe.ipcLock to false" -}}
{{- end -}}
{{- if and .Values.probe.enabled .Values.probe.priority (ne (int $context.runAsUser) 0) -}}
{{- fail "probe.priority: podSecurityContext.runAsUser is not root, for whom alone SYS_NICE takes effect" -}}
{{- end -}}
{{- $reads := and (include "rdma-node-agent.probeSecret" .) (ne (int $context.runAsUser) 0) -}}
{{- if and $reads (not (hasKey $context "fsGroup")) -}}
{{- $_ := set $context "fsGroup" (int $context.runAsGroup) -}}
{{- end -}}
{{- toYaml $context -}}
{{- end -}}

{{- /* "privileged" includes all capabilities and devices, so nothing can be dropped; the API rejects
it together with allowPrivilegeEscalation: false. For a user other than root it only adds the
devices. */ -}}
{{- define "rdma-node-agent.securityContext" -}}
readOnlyRootFilesystem: true
{{- if include "rdma-node-agent.isPrivileged" . }}
privileged: true
{{- else }}
allowPrivilegeEscalation: false
capabilities:
  drop: [ALL]
  {{- with include "rdma-node-agent.capabilities" . | fromJsonArray }}
  add: [{{ join ", " . }}]
  {{- end }}
{{- end }}
{{- end -}}

{{- define "rdma-node-agent.resources" -}}
{{- $resources := deepCopy .Values.resources -}}
{{- if and (include "rdma-node-agent.needsDeviceFiles" .) (eq .Values.deviceFiles.by "plugin") -}}
{{- $resource := required "deviceFiles.resource: name the device plugin's resource" .Values.deviceFiles.resource -}}
{{- range list "requests" "limits" -}}
{{- $_ := set $resources . (merge (dict $resource 1) (get $resources . | default dict)) -}}
{{- end -}}
{{- end -}}
{{- toYaml $resources -}}
{{- end -}}
