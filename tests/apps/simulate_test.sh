#!/usr/bin/env bash
# simulate, bounds and schemes; files and models of delays.
. "$(dirname "$0")/support.sh" "$@"

# what is right
expect 0 '"total_seconds"' "${simulate[@]}" --scheme gc:s=3 --json
expect 0 '"clairvoyant_seconds"' "${simulate[@]}" --scheme relay --json
expect 0 '"load": 0.25,' "${simulate[@]}" --scheme uncoded --workers 4 --json # the profile's first four columns
expect 0 'm-sgc' schemes
expect 0 'relay' "${simulate[@]}" --scheme gc:s=3,relay --timeline "$scratch/timeline.json"
grep -qF '"pid":2,"name":"process_name","args":{"name":"relay:T=1"}' "$scratch/timeline.json" || fail "no second process"
expect 2 'missing/timeline.json' "${simulate[@]}" --scheme relay --timeline "$scratch/missing/timeline.json"

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
expect 0 'has times at one load' simulate --profile "$scratch/low.csv" --scheme uncoded
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

finish
