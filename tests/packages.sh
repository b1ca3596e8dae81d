#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Which packages building and testing need, on Debian 12, 13 and unstable, Ubuntu 22.04 and 24.04.
#
#   packages.sh list GROUP          print what is in it
#   packages.sh missing GROUP...    print what is not installed, one name a line
#   packages.sh install GROUP...    install it, as root or with sudo; says what is missing if it cannot
#
# Groups: those of group() below. build-for-ARCHITECTURE builds for that architecture of Debian, which
# dpkg must know (dpkg --add-architecture).
set -euo pipefail

tools="meson ninja-build python3 cmark-gfm"
libraries="pkg-config libc6-dev libibverbs-dev libibumad-dev libibmad-dev libnl-3-dev libhwloc-dev
	libsystemd-dev libmicrohttpd-dev libgnutls28-dev libcrypt-dev libdeflate-dev libjansson-dev
	libyaml-dev libcurl4-openssl-dev liblldpctl-dev libseccomp-dev"
test="ca-certificates clang clang-format curl dnsmasq-base iproute2 libcmocka-dev libfaketime man-db openssl
	prometheus prometheus-alertmanager prometheus-node-exporter python3-prometheus-client python3-yaml"
vm="qemu-system-x86 busybox-static cpio kmod binutils make rdma-core ibverbs-providers
	ibverbs-utils infiniband-diags perftest iproute2 ethtool lldpd pciutils curl jq procps hwloc prometheus-alertmanager"
ibsim="ibsim-utils opensm infiniband-diags"
chart="golang-go golang-github-masterminds-sprig-dev golang-github-masterminds-semver-dev
	golang-k8s-sigs-yaml-dev python3-jsonschema python3-kubernetes"
kernel="mmdebstrap zstd xz-utils"
image="mmdebstrap cpio git binutils"
cross="mmdebstrap qemu-system-arm"
pictures="chromium graphviz pngquant fonts-dejavu-core fonts-liberation2"
systemd="systemd udev debhelper dpkg-dev fakeroot procps"
release="docker-registry minisign skopeo"
rpm="rpm cpio python3-cmarkgfm busybox-static"
fuzz="libclang-rt-dev"
valgrind="valgrind"
plugin="slurmctld slurmd slurm-client munge libmonitoring-plugin-perl"
variables="ucx-utils openmpi-bin"
mpi="python3-mpi4py"
bench="wrk strace prometheus-node-exporter"

group() {
	case $1 in
	build) echo gcc $tools $libraries ;;
	build-for-*) echo crossbuild-essential-${1#build-for-} $tools $(printf "%s:${1#build-for-} " $libraries) ;;
	test) echo $test ;;
	chart) echo $chart ;;
	image) echo $image ;;
	kernel) echo $kernel ;;
	cross) echo $cross ;;
	ibsim) echo $ibsim ;;
	pictures) echo $pictures ;;
	plugin) echo $plugin ;;
	libraries) echo $variables ;;
	mpi) echo $mpi ;;
	vm) echo $vm ;;
	bench) echo $bench ;;
	valgrind) echo $valgrind ;;
	rpm) echo $rpm ;;
	release) echo $release ;;
	fuzz) apt-cache show $fuzz >/dev/null 2>&1 && echo $fuzz || true ;; # in clang itself on Ubuntu 22.04
	systemd) echo $systemd ;;
	*) echo "packages.sh: no group '$1'" >&2 && exit 2 ;;
	esac
}

installed() {
	[ "$(dpkg-query -W -f '${db:Status-Abbrev}' "$1" 2>/dev/null)" = "ii " ]
}

missing() {
	local name package

	for name in "$@"; do
		for package in $(group "$name"); do
			installed "$package" || echo "$package"
		done
	done
}

as_root() {
	if [ "$(id -u)" = 0 ]; then
		"$@"
	else
		sudo -n "$@"
	fi
}

# Debian starts a service when its package is installed. Prometheus and its company are here for our
# tests, and they should not start servers on ports 9090, 9093 and 9100: this file says no while apt runs
# (policy-rc.d, Debian policy 9.3.3).
without_services() {
	local policy=/usr/sbin/policy-rc.d status=0

	[ ! -e $policy ] || { "$@"; return; }
	printf '#!/bin/sh\nexit 101\n' | as_root tee $policy >/dev/null
	as_root chmod +x $policy
	"$@" || status=$?
	as_root rm -f $policy
	return $status
}

apt_install() {
	as_root apt-get update -qq
	without_services as_root env DEBIAN_FRONTEND=noninteractive \
		apt-get install -qq -y --no-install-recommends -o Dpkg::Use-Pty=0 "$@"
}

# apt tells of every package that it unpacks; that is of interest only when something fails.
quietly() {
	local log status=0

	log=$(mktemp)
	"$@" >"$log" 2>&1 || status=$?
	[ $status = 0 ] || cat "$log"
	rm -f "$log"
	return $status
}

install_missing() {
	local packages

	packages=$(missing "$@")
	[ -n "$packages" ] || return 0
	echo "Installing" $packages
	if ! command -v apt-get >/dev/null || ! as_root true 2>/dev/null; then
		echo "This needs packages that only root can install. Please run:"
		echo "  sudo apt-get install --no-install-recommends" $packages
		return 1
	fi
	quietly apt_install $packages </dev/null
}

main() {
	local command=${1:-}

	shift || true
	case $command in
	list) group "$@" ;;
	missing) missing "$@" ;;
	install) install_missing "$@" ;;
	*) echo "usage: packages.sh list|missing|install GROUP..." >&2 && exit 2 ;;
	esac
}

main "$@"
