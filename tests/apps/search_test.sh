#!/usr/bin/env bash
# tune and compare.
. "$(dirname "$0")/support.sh" "$@"

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
expect 0 'gc:code=' tune "${search[@]}" --schemes gc-approximate --storage 2 --max-delay 0 --max-residual 0.1 --jobs 10
expect 2 'max-residual' tune "${search[@]}" --max-residual 2
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

finish
