#!/usr/bin/env bash
# completion_test.sh PROGRAM SOURCE_DIR: what bash completes.
. "$(dirname "$0")/support.sh" "$@"
. "$source/tools/completion.bash"

completes() { # completes EXPECTED WORDS...: the last word is being typed
  local expected=$1
  shift
  COMP_WORDS=("$program" "$@")
  COMP_CWORD=$#
  COMPREPLY=()
  _paceline
  checks=$((checks + 1))
  [ "${COMPREPLY[*]}" = "$expected" ] || fail "'$*' completes to '${COMPREPLY[*]}' instead of '$expected'"
}

completes "simulate" simu
completes "--workers" codes --work
completes "relay" simulate --scheme rel
completes "--version" --ver

finish
