#!/usr/bin/env bash
# train and probe: what they write, and how they end.
. "$(dirname "$0")/support.sh" "$@"

# several schemes, verified
expect 0 'verify' "${train[@]}" --scheme uncoded,gc:s=1,code=mds,sr-sgc:B=1,W=2,lambda=2,m-sgc:B=1,W=2,lambda=1,relay \
  --delays constant:base=0.002 --verify
# messages of another length, and one by one
expect 0 'verify' "${train[@]}" --scheme gc:code=short-messages,s=1,m=2,nested:s=1,partial:r=2,partial:r=3,m=2,partial-gc:s=1,own=2,clusters:clusters=2,s=1 \
  --delays bursty:base=0.002,slope=0.004,slow=5,bad=0.2,good=0.3 --verify
for file in metrics.jsonl config.json report.html; do
  [ -s "$scratch/run/$file" ] || fail "train left no $file"
done
expect 0 'report:' "${train[@]}" --scheme gc:s=1 --timeline
for what in '"name":"round 0"' '"name":"worker 3"' '"name":"decode"' '"name":"job 5"'; do
  grep -qF "$what" "$scratch/run/timeline.json" || fail "no $what in timeline.json"
done

# steps with gradients that lack too much are skipped: in the metrics and in the report
expect 0 'skipped' "${train[@]}" --scheme gc:code=repetition,s=1,gc:code=erasurehead,r=1,residual=0.3 --skip-above 0.2 \
  --delays bursty:base=0.002,slow=8,bad=0.5,good=0.5
grep -q '"residual":0.25,"skipped":true' "$scratch/run/metrics.jsonl" || fail "no step was skipped"
[ "$(grep -c '"skipped":true' "$scratch/run/metrics.jsonl")" = "$(awk '/erasurehead/ { print $NF }' "$scratch/out")" ] ||
  fail "the report counts other steps than the metrics"
expect 2 'skip-above' "${train[@]}" --skip-above -1

# a LibTorch network, where this build has them: the plugin is found
if "$program" train --help | grep -q mlp; then
  expect 0 'per job' train --model mlp --data synthetic --models 1 --updates 1 --batch 64 --workers 2 --scheme uncoded \
    --run-dir "$scratch/run"
fi

# faults on purpose: said, recorded, made good
expect 0 '2 faults injected, 1 answers discarded, 2 orders sent again' "${train[@]}" --scheme uncoded --verify \
  --inject kill:worker=1,at=1,for=1 --inject nan:worker=2,at=3
grep -q '"event":"fault","round":1,"worker":1,"what":"is killed' "$scratch/run/metrics.jsonl" || fail "no fault recorded"
expect 2 "did you mean 'kill'" "${train[@]}" --inject kil:worker=1,at=1

# auto: measures uncoded, switches once, names every round's scheme, keeps the gradients exact
expect 0 'auto: round' "${train[@]}" --scheme auto --updates 400 --verify \
  --delays bursty:base=0.004,slow=8,bad=0.1,good=0.5
grep -q '"auto: uncoded' "$scratch/run/metrics.jsonl" || fail "auto does not name the scheme of a round"

# probe: a known cluster, measured, is found again
probe=(probe --model softmax --data synthetic --batch 64 --workers 4 --rounds 4 --out "$scratch/probe")
expect 0 "wrote $scratch/probe-load0.5.csv" "${probe[@]}" --loads 0,0.5,1 --delays constant:base=0.02,slope=0.02
probed=()
for load in 0.015625 0.5 1; do probed+=(--profile "$scratch/probe-load$load.csv"); done
expect 0 'and 2 more loads' simulate "${probed[@]}" --scheme gc:s=1 --jobs 10
expect 0 '"slope"' delays "$scratch"/probe-load*.csv --json
# Answers are at most milliseconds late on a busy machine, never early.
awk -F '[:,]' '/"slope":/ { slope = $2 } /"intercept":/ { base = $2 }
  END { exit !(base > 0.0199 && base < 0.025 && slope > 0.015 && slope < 0.025) }' "$scratch/out" ||
  fail "probe did not find base 0.02, slope 0.02: $(grep -E '"(slope|intercept)"' "$scratch/out")"
expect 2 'load 2 is not allowed' "${probe[@]}" --loads 2
expect 2 '32 of 64 samples' "${probe[@]}" --loads 0.5,0.501
expect 1 'no answer within 0.05 s from workers 0, 1, 2, 3' "${probe[@]}" --patience 0.05 --delays constant:base=10
expect 2 'there is no folder' "${probe[@]}" --out /nowhere/at/all

# a full disk ends the run with a reason
mkdir "$scratch/full"
ln -s /dev/full "$scratch/full/metrics.jsonl"
expect 1 'No space left' "${train[@]}" --run-dir "$scratch/full"

# Ctrl-C: one line, files closed, exit code 130
"$program" train --model softmax --data synthetic --models 2 --updates 5000 --workers 4 --scheme uncoded \
  --delays constant:base=0.05 --run-dir "$scratch/stopped" > "$scratch/out" 2> "$scratch/err" &
child=$!
for _ in $(seq 200); do # until the first round is written
  [ -s "$scratch/stopped/metrics.jsonl" ] && break
  sleep 0.05
done
kill -INT $child
wait $child
code=$?
checks=$((checks + 1))
[ $code = 130 ] || fail "exit code $code instead of 130 after Ctrl-C"
grep -q 'interrupted' "$scratch/err" || fail "no word of the interruption: $(cat "$scratch/err")"
tail -n 1 "$scratch/stopped/metrics.jsonl" | grep -q '}$' || fail "metrics.jsonl ends in half a line"

finish
