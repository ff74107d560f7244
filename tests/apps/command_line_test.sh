#!/usr/bin/env bash
# Plays a user of the program: command_line_test.sh PROGRAM SOURCE_DIR
# Every line of `expect` is: exit code, a text that standard error or output must hold, then the arguments.
set -u
program=$1
source=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failures=0
checks=0

fail() {
  failures=$((failures + 1))
  echo "FAILED: $1" >&2
}

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

profile=$source/data/bursty-16x60.csv
simulate=(simulate --profile "$profile" --slope 1)
train=(train --model softmax --data synthetic --models 2 --updates 3 --batch 64 --workers 4 --run-dir "$scratch/run")

# what is right
expect 0 '"total_seconds"' "${simulate[@]}" --scheme gc:s=3 --json
expect 0 '"clairvoyant_seconds"' "${simulate[@]}" --scheme relay --json
expect 0 '"load": 0.25,' "${simulate[@]}" --scheme uncoded --workers 4 --json # the profile's first four columns
expect 0 'm-sgc' schemes
expect 0 'stochastic-block' codes
expect 0 '"nearest_workers": 13' codes --workers 16 --stragglers 3 --json
expect 0 'gc:code=graph,s=3' codes --workers 16 --stragglers 3
expect 0 '"mean_residual"' code graph:r=4 --workers 16 --stragglers 3 --json --export "$scratch/G.mtx"
grep -q '^16 8 32$' "$scratch/G.mtx" || fail "code --export wrote something else"
expect 0 'under attack 0.025' code biplane --workers 16 --stragglers 3
expect 2 'the nearest: 13 or 21' code projective-plane --workers 16 --stragglers 3
expect 2 "did you mean 'graph'" code grahp --workers 16 --stragglers 3
expect 2 'cannot keep its promise' code real-mds --workers 64 --stragglers 15
expect 0 'leaves a residual of' "${simulate[@]}" --scheme gc:s=6,code=biplane
expect 0 'gc:s=1,code=erasurehead' "${train[@]}" --scheme gc:s=1,code=erasurehead,r=2,gc:s=1,code=pairs \
  --delays constant:base=0.002 --verify
grep -q '"residual"' "$scratch/run/metrics.jsonl" || fail "metrics.jsonl has no residual"
expect 0 'verify' "${train[@]}" --scheme uncoded,gc:s=1,code=mds,sr-sgc:B=1,W=2,lambda=2,m-sgc:B=1,W=2,lambda=1,relay \
  --delays constant:base=0.002 --verify
for file in metrics.jsonl config.json report.html; do
  [ -s "$scratch/run/$file" ] || fail "train left no $file"
done

# auto: measures uncoded, switches once, names every round's scheme, keeps the gradients exact
expect 0 'auto: round' "${train[@]}" --scheme auto --updates 120 --verify \
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

# delays: forms of files, several loads, fits
printf 'worker,step,ms\n0,1,10\n1,1,20\n0,2,11\n1,2,19\n' > "$scratch/long.csv"
printf '# load=0.1\n1.0,2.0\n1.5,2.5\n' > "$scratch/low.csv"
printf '# load=0.6\n2.0,3.0\n2.5,3.5\n' > "$scratch/high.csv"
printf '1.0,2000\n1.0,2000\n' > "$scratch/mixed.csv"
expect 0 'straggle again' delays "$profile"
expect 0 '"again"' delays "$profile" --json
expect 0 'bursty:base=' delays "$profile"
expect 0 '2 rounds, 2 workers' delays "$scratch/long.csv" --columns seconds=ms --unit ms
expect 0 '2 loads: 1.55 s + 2 s per unit of load' delays "$scratch/high.csv" "$scratch/low.csv"
expect 0 'in another unit' delays "$scratch/mixed.csv"
expect 0 'and 1 more loads' simulate --profile "$scratch/low.csv" --profile "$scratch/high.csv" --scheme uncoded
expect 0 'total s' simulate --profile "$scratch/long.csv" --columns seconds=ms --unit ms --proportional --scheme uncoded
expect 0 'total s' simulate --workers 8 --scheme uncoded \
  --delays '0.9*lognormal:base=0.1,median=0.02,sigma=1+0.1*pareto:base=0.1,scale=0.2,shape=2'
expect 2 "did you mean 'worker'" delays "$scratch/long.csv" --columns worke=a
expect 2 'no column for the seconds' delays "$scratch/long.csv"
expect 2 '--unit fortnight' delays "$scratch/long.csv" --unit fortnight
expect 2 'both have load 0.1' delays "$scratch/low.csv" "$scratch/low.csv"

# bounds
expect 0 '7/928' bounds --workers 256 --lambda 27
expect 0 '"fraction": "2/485"' bounds --workers 256 --lambda 27 --json
expect 0 'm-sgc:B=2,W=5,lambda=1' bounds --workers 8 --B 1,2,3 --W 2,5
expect 2 'B=2 is not allowed; 1 <= B <= 1' bounds --workers 8 --B 2
expect 2 'lambda=9 is not allowed; 0 <= lambda <= 8' bounds --workers 8 --lambda 1,9
expect 2 'has B < W' bounds --workers 8 --B 3,4 --W 2,3

# names
expect 2 "did you mean 'train'" trian
expect 2 "did you mean '--scheme'" simulate --shceme x
expect 2 "did you mean 'gc'" "${simulate[@]}" --scheme gcc:s=1
expect 2 "did you mean 'lambda'" "${simulate[@]}" --scheme m-sgc:B=1,W=2,lamda=4
expect 2 "did you mean 'published'" "${simulate[@]}" --scheme uncoded --close publishd:mu=1
expect 2 "did you mean 'adam'" "${train[@]}" --optimizer adm:lr=1
expect 2 "did you mean 'softmax'" train --data synthetic --model softmx
expect 2 "device 'gpu' cannot be used" "${train[@]}" --device gpu

# numbers
expect 2 '0 <= s <= 15' "${simulate[@]}" --scheme gc:s=16
expect 2 'B must divide W-1' "${simulate[@]}" --scheme sr-sgc:B=2,W=4,lambda=3
expect 2 'B' "${simulate[@]}" --scheme m-sgc:B=2,W=2,lambda=3
expect 2 'jobs >= 1' "${simulate[@]}" --scheme uncoded --jobs 0
expect 2 'jobs' "${simulate[@]}" --scheme uncoded --jobs many
expect 2 'models >= 2' "${train[@]}" --models 1 --scheme m-sgc:B=1,W=2,lambda=1
expect 2 'at least 1' "${train[@]}" --updates 0
expect 2 "code 'repetition' keeps it" "${train[@]}" --workers 256 --scheme gc:s=64,code=cyclic

# files
expect 2 '16 columns' "${simulate[@]}" --scheme uncoded --workers 17
expect 2 'no-such-file.csv' simulate --scheme uncoded --profile "$scratch/no-such-file.csv"
printf '1.0,2.0\n1.0,\n' > "$scratch/missing.csv"
expect 2 'line 2, column 2' simulate --scheme uncoded --profile "$scratch/missing.csv"
printf '1.0,2.0\n1.0,-3\n' > "$scratch/negative.csv"
expect 2 '-3' simulate --scheme uncoded --profile "$scratch/negative.csv"
printf '1.0,2.0\n1.0,fast\n' > "$scratch/text.csv"
expect 2 'fast' simulate --scheme uncoded --profile "$scratch/text.csv"
expect 2 'train-images-idx3-ubyte' train --data "$scratch" --run-dir "$scratch/run"
expect 2 '/proc/nowhere' "${train[@]}" --run-dir /proc/nowhere

# tuning and comparing
search=(--profile "$profile" --slope 1 --jobs 20)
compare=(compare "${search[@]}" --seeds 2 --report "$scratch/compare.html")
expect 0 '"ratio_to_limit"' "${compare[@]}" --schemes gc:s=3,relay:T=1 --json
expect 0 'clairvoyant limit' "${compare[@]}" --schemes uncoded,gc --jobs-per-round 1 --slope-factor 4 --shuffle-workers
[ -s "$scratch/compare.html" ] || fail "compare left no page"
expect 2 "did you mean 'gc'" "${compare[@]}" --schemes gcc
expect 2 'auto, or 1 ... 4' "${compare[@]}" --schemes gc --jobs-per-round 5
expect 2 'chunks of 1/n' "${compare[@]}" --schemes gc --storage none
expect 0 '"advice"' tune "${search[@]}" --schemes uncoded,gc --max-delay 0 --json
expect 0 's per job' tune "${search[@]}" --schemes uncoded,gc --storage 2 --max-delay 0
expect 2 "did you mean 'uncoded'" tune "${search[@]}" --schemes uncodet
expect 2 'too few' tune "${search[@]}" --folds 40

# the published search: totals are those of `simulate` by the published rules
published=(tune --published --profile "$profile" --slope 1)
expect 0 'by the rules of the program behind the SGC paper' "${published[@]}"
expect 0 '50 jobs' "${published[@]}"
expect 0 '"rules": "published"' "${published[@]}" --mu 0.5 --jobs 20 --json
texts=($(sed -n 's/.*"text": "\(.*\)".*/\1/p' "$scratch/out"))
totals=($(sed -n 's/.*"total_seconds": \([0-9.]*\).*/\1/p' "$scratch/out"))
[ "${#texts[@]} ${#totals[@]}" = "4 4" ] || fail "${#texts[@]} schemes, ${#totals[@]} totals of the published search"
for k in "${!texts[@]}"; do
  expect 0 '"total_seconds"' "${simulate[@]}" --scheme "${texts[k]}" --close published:mu=0.5 --jobs 20 --json
  played=$(sed -n 's/.*"total_seconds": \([0-9.]*\).*/\1/p' "$scratch/out")
  awk -v a="${totals[k]}" -v b="$played" 'BEGIN { exit !((a - b) ^ 2 < 1e-12) }' ||
    fail "${texts[k]}: ${totals[k]} s by the search, $played s by simulate"
done
expect 2 '--folds excludes --published' "${published[@]}" --folds 3
expect 2 '--mu requires --published' tune "${search[@]}" --mu 1
expect 2 'needs --profile' tune --published
expect 2 '--most-slots below 60' "${published[@]}" --most-slots 60

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

echo "$checks command lines, $failures failures"
[ $failures = 0 ]
