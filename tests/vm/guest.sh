# SPDX-License-Identifier: Apache-2.0
# What the suites share; sourced by bash inside a VM (see "vm" and "run").
#
# In three parts: the lab (devices to look at), the agent (start it, ask it, stop it), and the
# report (one line per check). Nothing here sleeps and hopes: whatever takes time is polled for,
# with a deadline that is generous, since two busy cores emulate this machine.

set -u
long_form=${RNA_CHECK_ALL:-}

here=$(dirname "${BASH_SOURCE[0]}")

# in_full: whether the long form of the suite was asked for
in_full() {
	[ -n "$long_form" ]
}

# amount LONG SHORT: that of the form that was asked for
amount() {
	if in_full; then echo "$1"; else echo "$2"; fi
}

# --- report -----------------------------------------------------------------------------------
# Test Anything Protocol, read by people and by meson alike.

checks=0
failures=0

ok() {
	checks=$((checks + 1))
	echo "ok $checks - $*"
}

not_ok() {
	checks=$((checks + 1))
	failures=$((failures + 1))
	echo "not ok $checks - $*"
}

note() {
	echo "$*" | sed 's/^/# /'
}

# check TEXT COMMAND...: what the command prints is the reason if it fails. The command runs in
# this shell, not in a substitution, so that it may set variables.
check() {
	local text=$1

	shift
	if "$@" >/run/check.output 2>&1; then
		ok "$text"
	else
		not_ok "$text"
		note "$(tail -n 20 /run/check.output)"
	fi
}

# same TEXT EXPECTED ACTUAL
same() {
	if [ "$2" = "$3" ]; then
		ok "$1: $2"
	else
		not_ok "$1: expected '$2', found '$3'"
	fi
}

# The last line of every suite: plan and status. The kernel has a say as well.
finish() {
	local complaints

	# A host that stands still for a while is no fault of the kernel that it emulates.
	complaints=$(dmesg | grep -E 'BUG:|WARNING:|Oops|general protection|refcount_t|use-after-free' |
		grep -vE 'topology_sane|soft lockup|workqueue lockup' || :)
	if [ -z "$complaints" ]; then
		ok "the kernel did not complain"
	else
		not_ok "the kernel complained"
		note "$complaints"
	fi
	echo "1..$checks"
	[ $failures = 0 ] || note "$failures of $checks failed"
	exit $((failures > 0))
}

# A suite that cannot go on says why, and fails.
bail_out() {
	echo "Bail out! $*"
	exit 1
}

# --- time -------------------------------------------------------------------------------------

now_ms() {
	local now=$EPOCHREALTIME

	echo $((${now/[.,]/} / 1000))
}

# How many times longer a wait may take than its check says: other work on the host can leave a
# fraction of a core for this machine.
patience=3

# within SECONDS COMMAND...: tries several times a second until it succeeds; the output of the last
# try is in /run/within.output. A command with <(...) would be given the same text again and again.
within() {
	local end=$((SECONDS + patience * $1))

	shift
	until "$@" >/run/within.output 2>&1; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.2
	done
}

# expect SECONDS TEXT COMMAND...: the same as a check
expect() {
	local seconds=$1 text=$2

	shift 2
	if within "$seconds" "$@"; then
		ok "$text"
	else
		not_ok "$text (not within $((patience * seconds)) s: $*)"
		note "$(tail -n 20 /run/within.output)"
	fi
}

# took_ms COMMAND...: its duration; the command's status is lost, its output shown as notes
took_ms() {
	local start output

	start=$(now_ms)
	output=$("$@" 2>&1)
	echo $(($(now_ms) - start))
	[ -z "$output" ] || note "$1: $output" >&2
}

# --- the lab ----------------------------------------------------------------------------------

load_modules() {
	modprobe -a ib_uverbs ib_umad rdma_rxe dummy veth virtio_net || bail_out "modprobe failed"
}

load_labhca() {
	insmod /vmshare/labhca.ko || bail_out "labhca does not load"
}

# labhca COMMAND...: see labhca/labhca.c
labhca() {
	echo "$*" >/sys/kernel/debug/labhca
}

# nic N: PCI address of the Nth Ethernet function, from 0, in the order of their addresses
nic() {
	local function class n=0

	for function in /sys/bus/pci/devices/*; do
		read -r class <"$function/class"
		[ "$class" = 0x020000 ] || continue
		if [ $n = "$1" ]; then
			echo "${function##*/}"
			return 0
		fi
		n=$((n + 1))
	done
	return 1
}

# nic_netdev N: its interface; virtio has a device of its own between the function and that
nic_netdev() {
	local directory function

	function=/sys/bus/pci/devices/$(nic "$1")
	for directory in "$function"/{,virtio*/}net/*; do
		[ -d "$directory" ] && echo "${directory##*/}" && return 0
	done
	return 1
}

# new_dummy NAME / new_veth NAME: interfaces that are up; the other end of a veth is NAMEpeer
new_dummy() {
	ip link add "$1" type dummy && ip link set "$1" up
}

new_veth() {
	ip link add "$1" type veth peer name "$1peer" &&
		ip link set "$1" up && ip link set "$1peer" up
}

new_rxe() { # NAME NETDEV
	rdma link add "$1" type rxe netdev "$2"
}

port_file() { # DEVICE FILE, of port 1
	cat "/sys/class/infiniband/$1/ports/1/$2"
}

port_file_is() { # DEVICE FILE TEXT
	[ "$(port_file "$1" "$2")" = "$3" ]
}

ipv4_index() { # DEVICE: the index of its GID of RoCE v2 over IPv4
	local index gid

	for index in 0 1 2 3 4 5; do
		gid=$(cat /sys/class/infiniband/"$1"/ports/1/gids/$index 2>/dev/null)
		[[ $gid == 0000:0000:0000:0000:0000:ffff:* ]] && echo $index && return
	done
}

device_exists() {
	[ -d "/sys/class/infiniband/$1" ]
}

device_gone() {
	! device_exists "$1"
}

# The lab of most suites, on the PCIe tree: two InfiniBand devices and a RoCE device of labhca on
# PCI functions, and rxe on a dummy, a veth, and a virtio NIC.
build_lab() {
	local netdev

	load_modules
	load_labhca
	labhca add mlx5_0 ib "$(nic 0)" || bail_out "labhca: no mlx5_0"
	labhca add mlx5_1 ib "$(nic 1)" || bail_out "labhca: no mlx5_1"
	netdev=$(nic_netdev 2)
	ip link set "$netdev" up
	ip address add 10.5.0.1/24 dev "$netdev"
	labhca add mlx5_2 roce "$(nic 2)" "$netdev" || bail_out "labhca: no mlx5_2"

	new_dummy dummy0 && ip address add 10.9.0.1/24 dev dummy0 && new_rxe rxe0 dummy0 &&
		new_veth veth0 && new_rxe rxe1 veth0 || bail_out "rxe on dummy and veth"
	netdev=$(nic_netdev 3)
	ip link set "$netdev" up && new_rxe rxe2 "$netdev" || bail_out "rxe on $netdev"
}

# reset_lab: removes all that a suite made, so that another one can start in the same VM
reset_lab() {
	local mount module

	pkill -x rdma-node-agent
	within 30 eval '! pgrep -x rdma-node-agent' || return 1
	ip -all netns delete
	for mount in $(awk '$3 == "tmpfs" && $2 ~ "^/sys/" { print $2 }' /proc/mounts); do
		umount "$mount"
	done
	for module in labhca labvf rdma_rxe ib_umad ib_uverbs 8021q bonding dummy veth e1000e virtio_net; do
		[ ! -d "/sys/module/$module" ] || within 30 unload "$module" || return 1
	done
	rm -rf /var/lib/rdma-node-agent /run/rdma-node-agent /run/recording
	dmesg --clear
}

unload() { # MODULE, and those that only it needed
	modprobe -r "$1" 2>/dev/null || rmmod "$1"
}

# In the order of their names, as the agent lists them.
lab_devices="mlx5_0 mlx5_1 mlx5_2 rxe0 rxe1 rxe2"

# --- the agent --------------------------------------------------------------------------------

agent_port=10879
agent_url=http://127.0.0.1:$agent_port
agent_log=/vmshare/agent.log # on the host, so that it outlives the VM
agent_pid=
agent_group= # the control group that it is started in; empty: that of the suite

# The default settings but for the address, and all metrics; suites append to it.
agent_config="http: {listen: [\"127.0.0.1:$agent_port\"]}
metrics: {collectors: full, details: true, gid_info: true, users: true}"

# agent_start: start it and wait until it is ready
agent_start() {
	printf '%s\n' "$agent_config" >/run/agent.yaml
	(
		[ -z "$agent_group" ] || echo $BASHPID >"$agent_group/cgroup.procs"
		exec "$AGENT" run --config /run/agent.yaml
	) >>$agent_log 2>&1 </dev/null &
	agent_pid=$!
	within 90 agent_ready && return 0
	note "$(tail -n 20 $agent_log)"
	bail_out "the agent is not ready after 90 s"
}

# The memory limit of the chart, in bytes.
agent_memory_limit() {
	local mebibytes

	mebibytes=$(sed -n '/^resources:/,/^[a-z]/ { /limits:/,$ s/^ *memory: \([0-9]*\)Mi$/\1/p }' \
		"$here/../../helm/rdma-node-agent/values.yaml")
	[ "$mebibytes" ] && echo $((mebibytes << 20))
}

# agent_in_group GROUP LIMIT: from now on the agent is started in a control group of its own, with a
# limit of memory and no swap.
agent_in_group() {
	echo +memory >/sys/fs/cgroup/cgroup.subtree_control && mkdir "$1" &&
		echo "$2" >"$1/memory.max" && echo 0 >"$1/memory.swap.max" || return 1
	agent_group=$1
}

agent_ready() {
	fetch /readyz
}

agent_alive() {
	kill -0 "$agent_pid" && fetch /healthz
}

# Whether the process is no more, or only waits for its last thread to come back from the kernel.
agent_ended() {
	local state

	state=$(sed -n 's/^State:\s*\(.\).*/\1/p' "/proc/$agent_pid/status" 2>/dev/null)
	[ -z "$state" ] || [ "$state" = Z ]
}

# agent_stop: SIGTERM, then prints the milliseconds until it was gone; 1 if it stays
agent_stop() {
	local start

	start=$(now_ms)
	kill -TERM "$agent_pid" 2>/dev/null
	within 20 agent_ended || return 1
	echo $(($(now_ms) - start))
}

# What its unit allows (TimeoutStopSec), in milliseconds; alone it takes 2 s at most.
stop_limit=10000

# agent_ends: the same as a check
agent_ends() {
	local took

	took=$(agent_stop)
	check "the agent ends when asked ($took ms)" number_is '<' "$took" $stop_limit
}

# fetch PATH: the body; fails on an HTTP error, or after 10 s without an answer. Without curl, which
# takes four times as long to start under emulation, and suites fetch thousands of times.
fetch() {
	local connection code line

	{ exec {connection}<>"/dev/tcp/127.0.0.1/$agent_port"; } || return 1
	printf 'GET %s HTTP/1.0\r\n\r\n' "$1" >&$connection
	read -r -t 10 -u $connection _ code _ || code="no answer"
	if [ "$code" = 200 ]; then
		while read -r -t 10 -u $connection line && [ "${line%$'\r'}" ]; do :; done
		timeout 10 cat <&$connection || code="no end"
	fi
	exec {connection}>&-
	[ "$code" = 200 ] || ! echo "GET $1: $code" >&2
}

# The devices that the agent knows, sorted, on one line.
agent_devices() {
	fetch /metrics | sed -n 's/^rdma_device_info{.*[{,]*device="\([^"]*\)".*/\1/p' | sort | xargs
}

agent_devices_are() {
	[ "$(agent_devices)" = "$1" ]
}

# metric NAME [LABEL=VALUE...]: the value of the one series that has these labels
metric() {
	fetch /metrics | select_metric "$@"
}

# The same from a file or pipe with exposition text; 1 unless exactly one series matches. Good for
# label values without spaces and quotes, which is all that the lab has.
select_metric() {
	local name=$1

	shift
	awk -v name="$name" -v wanted="$*" '
	BEGIN { n = split(wanted, labels, " ") }
	index($0, name "{") == 1 || index($0, name " ") == 1 {
		series = substr($0, length(name) + 1)
		sub(/^[{]/, ",", series)
		for (i = 1; i <= n; i++) {
			equals = index(labels[i], "=")
			key = substr(labels[i], 1, equals - 1)
			value = substr(labels[i], equals + 1)
			if (!index(series, "," key "=\"" value "\""))
				next
		}
		found++
		print $NF
	}
	END { exit found != 1 }'
}

metric_is() { # VALUE NAME [LABEL=VALUE...]
	local expected=$1

	shift
	same_number "$expected" "$(metric "$@")"
}

# has_line PATTERN [PATH]: /metrics or PATH has a line that matches the extended expression
has_line() {
	fetch "${2:-/metrics}" | grep -E -- "$1"
}

has_no_line() { # PATTERN; false as well if the agent does not answer
	local metrics

	metrics=$(fetch /metrics) && ! grep -E -- "$1" <<<"$metrics"
}

has_finding() { # RULE [DEVICE]
	fetch /metrics | select_findings "$@"
}

# Fails as well where the agent has no such rule, or does not answer: who looks for nothing finds it.
no_finding() { # RULE [DEVICE]
	local metrics

	"$AGENT" describe rules | grep -F "| \`$1\` |" && metrics=$(fetch /metrics) &&
		! select_findings "$@" <<<"$metrics"
}

select_findings() { # RULE [DEVICE], from a pipe with exposition text
	grep "^rdma_finding{rule=\"$1\",severity=\"[a-z]*\",device=\"${2:-[^\"]*}\""
}

# 1e+06, 1000000 and 1000000.0 are one number.
same_number() {
	awk -v a="$1" -v b="$2" 'BEGIN { exit !(a != "" && b != "" && a + 0 == b + 0) }'
}

# number_is OPERATOR A B: number_is '<' 1.5 2
number_is() {
	awk -v a="$2" -v b="$3" "BEGIN { exit !(a != \"\" && b != \"\" && a + 0 $1 b + 0) }"
}

# agrees TOPIC DEVICE...: the agent says what the tools of the topic say (tests/hardware)
agrees() {
	local topic=$1

	shift
	"$here/../hardware/compare" "$topic" $agent_url "$@"
}

# --- tenants ----------------------------------------------------------------------------------

# as_tenant NAME SCRIPT [SECONDS]: as uid 65534, in new namespaces with a sysfs of their own, until
# end_tenant; waits until the script is done. Its output is in /run/tenant-NAME.out, its PID in tenant.
as_tenant() {
	local name=$1

	cat >"/run/tenant-$name" <<-EOF
		mount -t sysfs none /sys || exit 1
		$2
		echo ready
		exec sleep 100000
	EOF
	setpriv --reuid 65534 --regid 65534 --clear-groups \
		unshare -Urnm bash "/run/tenant-$name" >"/run/tenant-$name.out" 2>&1 &
	tenant=$!
	within "${3:-60}" grep -qx ready "/run/tenant-$name.out" && return 0
	cat "/run/tenant-$name.out"
	return 1
}

end_tenant() { # PID
	kill -KILL "$1" && { wait "$1" 2>/dev/null || :; }
}

# --- devices that do not answer ----------------------------------------------------------------

stalled() { # COLLECTOR DEVICE
	number_is '>' "$(metric rdma_collector_stalled_seconds "collector=$1" "device=$2")" 0
}

# No series is as good as 0.
not_stalled() { # COLLECTOR DEVICE
	local seconds

	seconds=$(metric rdma_collector_stalled_seconds "collector=$1" "device=$2")
	same_number "${seconds:-0}" 0
}

# The collectors whose MADs wait in the kernel's one queue of a port. Which of them is first is a
# matter of when each is due: that one stalls, and the device is left alone by the others.
mad_collectors="link counters fabric"

stalled_by_mads() { # DEVICE
	local collector

	for collector in $mad_collectors; do
		! stalled $collector "$1" || return 0
	done
	return 1
}

not_stalled_by_mads() { # DEVICE
	local collector

	for collector in $mad_collectors; do
		not_stalled $collector "$1" || return 1
	done
}

# --- what a process keeps open ----------------------------------------------------------------

# remove_module NAME: rmmod refuses a module in use, and the agent may be reading just now
remove_module() {
	local end=$(($(now_ms) + 20000))

	until rmmod "$1"; do
		[ "$(now_ms)" -lt $end ] || return 1
		sleep 0.02
	done
}

# held_by PID: device files of RDMA and RDMA netlink sockets that it has open, one line each
held_by() {
	find "/proc/$1/fd" -printf '%f %l\n' 2>/dev/null | awk '
	BEGIN {
		while ((getline line <"/proc/net/netlink") > 0) {
			count = split(line, fields)
			if (fields[2] == 20) # NETLINK_RDMA; the inode is the last column
				netlink["socket:[" fields[count] "]"]
		}
	}
	index($2, "/dev/infiniband/") == 1 { print "fd " $1 ": " $2 }
	$2 in netlink { print "fd " $1 ": NETLINK_RDMA " $2 }'
}

# held_all_along PID: those that it has open at each of ten looks. What is open for a moment in each
# poll may be open at two looks, for polls have periods; so pauses are all different.
held_all_along() {
	local pause held

	held=$(held_by "$1" | sort)
	for pause in 0.71 0.42 0.13 0.84 0.55 0.26 0.97 0.68 0.39; do
		sleep $pause
		held=$(comm -12 <(echo "$held") <(held_by "$1" | sort))
	done
	echo "$held"
}

open_files_of() {
	ls "/proc/$1/fd" | wc -l
}

threads_of() {
	ls "/proc/$1/task" | wc -l
}

resident_kb_of() {
	sed -n 's/^VmRSS:\s*\([0-9]*\) kB/\1/p' "/proc/$1/status"
}

# Of its own, without pages of files, of which more are read as time goes by.
memory_kb_of() {
	sed -n 's/^RssAnon:\s*\([0-9]*\) kB/\1/p' "/proc/$1/status"
}

# User and system time so far, in milliseconds. The name of a process may hold blanks.
cpu_ms_of() {
	sed 's/.*) //' "/proc/$1/stat" | awk -v tick="$(getconf CLK_TCK)" \
		'{ printf "%d\n", ($12 + $13) * 1000 / tick }'
}
