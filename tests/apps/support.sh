# What the command-line tests share. A test is called as  NAME_test.sh PROGRAM SOURCE_DIR  and plays a user of the
# program: exit codes, one line per error, what is left behind. It sources this file first and calls `finish` last.
set -u
program=$1
source=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failures=0
checks=0

profile=$source/data/bursty-16x60.csv
simulate=(simulate --profile "$profile" --slope 1)
train=(train --model softmax --data synthetic --models 2 --updates 3 --batch 64 --workers 4 --run-dir "$scratch/run")

fail() {
  failures=$((failures + 1))
  echo "FAILED: $1" >&2
}

# expect EXIT_CODE TEXT ARGUMENTS...: standard error or output must hold the text.
expect() {
  local code=$1 text=$2
  shift 2
  timeout 60 "$program" "$@" > "$scratch/out" 2> "$scratch/err"
  local got=$?
  checks=$((checks + 1))
  [ "$got" = "$code" ] || fail "exit code $got instead of $code: paceline $*; $(head -n 2 "$scratch/err")"
  grep -qF -- "$text" "$scratch/out" "$scratch/err" || fail "no '$text': paceline $*; $(head -n 2 "$scratch/err")"
  if [ "$code" != 0 ]; then
    local lines
    lines=$(grep -c . "$scratch/err")
    [ "$lines" -le 2 ] || fail "$lines lines of error: paceline $*"
  fi
}

finish() {
  echo "$checks command lines, $failures failures"
  [ $failures = 0 ]
  exit
}
