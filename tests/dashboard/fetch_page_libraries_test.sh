#!/bin/sh
# tools/fetch_page_libraries.sh without a network: a stand-in for npm fails, or brings the wrong files.
set -eu
script=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/bin"

# Runs the script with the stand-in; expects failure, one line that contains $1, and no files.
expect_error() {
  if PATH="$scratch/bin:$PATH" "$script" "$scratch/library" 2>"$scratch/errors"; then
    echo "no failure where '$1' was due"
    exit 1
  fi
  grep -q -- "$1" "$scratch/errors" || { cat "$scratch/errors"; exit 1; }
  [ "$(wc -l <"$scratch/errors")" -eq 1 ] || { echo "more than one line"; exit 1; }
  [ ! -e "$scratch/library" ] || { echo "files appeared"; exit 1; }
}

cat >"$scratch/bin/npm" <<'NPM'
#!/bin/sh
echo "npm error code ECONNREFUSED" >&2
exit 1
NPM
chmod +x "$scratch/bin/npm"
expect_error "npm cannot fetch uplot@1.6.32 (offline?): npm error code ECONNREFUSED"

cat >"$scratch/bin/npm" <<'NPM'
#!/bin/sh
mkdir -p package/dist
for name in dist/uPlot.iife.min.js LICENSE; do echo wrong >package/$name; done
tar -czf archive.tgz package
rm -r package
echo archive.tgz
NPM
expect_error "refused; wrong or missing: uPlot.iife.min.js uPlot.min.css uPlot.LICENSE"
