#!/usr/bin/env bash
# Checkpoints of train: a run that was killed, asked to stop or lost its newest checkpoint ends with the same weights.
. "$(dirname "$0")/support.sh" "$@"

any=(train --model softmax --data synthetic --models 2 --updates 40 --batch 64 --workers 4
  --delays constant:base=0.01 --run-dir "$scratch/run")
run=("${any[@]}" --scheme uncoded)

newest() { ls -d "$1"/checkpoint-* | tail -n 1; }
same_weights() { # same_weights FOLDER WHAT
  checks=$((checks + 1))
  cmp -s "$(newest "$scratch/whole")/weights.safetensors" "$(newest "$1")/weights.safetensors" || fail "other weights: $2"
}
wait_for_checkpoint() { # wait_for_checkpoint FOLDER: until there is a whole one
  for _ in $(seq 400); do
    ls "$1"/checkpoint-*/COMPLETE > /dev/null 2>&1 && return
    sleep 0.02
  done
  fail "no checkpoint in $1"
}
stopped() { # stopped SIGNAL FOLDER: starts a run, sends it the signal after the first checkpoint; its exit code to $code
  "$program" "${run[@]}" --checkpoint "$2" --checkpoint-every 20 > "$scratch/out" 2> "$scratch/err" &
  local child=$!
  wait_for_checkpoint "$2"
  kill -"$1" $child
  wait $child 2> /dev/null
  code=$?
  checks=$((checks + 1))
}

# nobody disturbs it
expect 0 'uncoded' "${run[@]}" --checkpoint "$scratch/whole" --checkpoint-every 20 --keep 2
[ "$(ls "$scratch/whole" | wc -l)" = 2 ] || fail "not two checkpoints: $(ls "$scratch/whole")"
expect 2 'holds checkpoints of an earlier run' "${run[@]}" --checkpoint "$scratch/whole"

# killed
stopped KILL "$scratch/killed"
[ $code = 137 ] || fail "exit code $code after kill -9"
expect 0 'goes on from' "${run[@]}" --checkpoint "$scratch/killed" --resume
same_weights "$scratch/killed" "killed"

# asked to stop, in every way
for how in TERM:143 USR1:138 INT:130; do
  signal=${how%:*}
  stopped "$signal" "$scratch/$signal"
  [ $code = "${how#*:}" ] || fail "exit code $code after SIG$signal: $(cat "$scratch/err")"
  grep -q 'the run was interrupted;.*--resume goes on from' "$scratch/err" || fail "SIG$signal: $(cat "$scratch/err")"
  expect 0 'goes on from' "${run[@]}" --resume "$scratch/$signal"
  same_weights "$scratch/$signal" "SIG$signal"
done

# the newest one is damaged: the one before is taken, and that is said
stopped KILL "$scratch/damaged"
cp -r "$(newest "$scratch/damaged")" "$scratch/damaged/checkpoint-000099"
printf 'x' | dd of="$scratch/damaged/checkpoint-000099/weights.safetensors" bs=1 seek=3000 conv=notrunc 2> /dev/null
timeout 60 "$program" "${run[@]}" --resume "$scratch/damaged" > "$scratch/out" 2> "$scratch/err" || fail "damaged"
grep -q 'checkpoint-000099 is left out: weights.safetensors is not what was written' "$scratch/err" || fail "not said"
same_weights "$scratch/damaged" "damaged"

# another cluster, another scheme: from the last finished jobs; other models: refused
stopped KILL "$scratch/other"
expect 0 'workers is 4 there and 6 here: every model begins at its last finished job' \
  "${run[@]}" --workers 6 --resume "$scratch/other"
stopped KILL "$scratch/scheme"
expect 0 'scheme is uncoded there and gc:s=1,code=repetition here' \
  "${any[@]}" --scheme gc:s=1,code=repetition --verify --resume "$scratch/scheme"
expect 2 'seed is 1 there and 2 here' "${run[@]}" --seed 2 --resume "$scratch/other"
expect 2 '--resume needs a folder' "${run[@]}" --resume
expect 2 'there is no whole checkpoint' "${run[@]}" --resume "$scratch/run"
expect 0 'has no checkpoint yet: starts from the beginning' "${run[@]}" --checkpoint "$scratch/new" --resume
same_weights "$scratch/new" "new"

# a disk that takes no checkpoint does not end the run
"$program" "${run[@]}" --checkpoint "$scratch/gone" --checkpoint-every 20 > "$scratch/out" 2> "$scratch/err" &
child=$!
wait_for_checkpoint "$scratch/gone"
rm -rf "$scratch/gone"
touch "$scratch/gone"
wait $child || fail "a lost folder ends the run: $(cat "$scratch/err")"
grep -q 'no checkpoint is written: cannot make' "$scratch/err" || fail "a lost folder is not reported"
mkdir "$scratch/small"
if mount -t tmpfs -o size=16k tmpfs "$scratch/small" 2> /dev/null; then
  timeout 60 "$program" "${run[@]}" --checkpoint "$scratch/small" > "$scratch/out" 2> "$scratch/err" ||
    fail "a full disk ends the run: $(cat "$scratch/err")"
  grep -q 'no checkpoint is written: .*No space left on device' "$scratch/err" || fail "a full disk is not reported"
  umount "$scratch/small"
fi

finish
