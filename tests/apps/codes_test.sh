#!/usr/bin/env bash
# codes and code; runs with approximate codes.
. "$(dirname "$0")/support.sh" "$@"

expect 0 'stochastic-block' codes
expect 0 '"nearest_workers": 13' codes --workers 16 --stragglers 3 --json
expect 0 'gc:code=graph,s=3' codes --workers 16 --stragglers 3
expect 0 '"mean_residual"' code graph:r=4 --workers 16 --stragglers 3 --json --export "$scratch/G.mtx"
grep -q '^16 8 32$' "$scratch/G.mtx" || fail "code --export wrote something else"
expect 0 'under attack 0.025' code biplane --workers 16 --stragglers 3
expect 2 'the nearest: 13 or 21' code projective-plane --workers 16 --stragglers 3
expect 0 'gc:code=tree,s=3' codes --workers 20 --stragglers 3
expect 0 '"rounds"' simulate --workers 20 --delays exponential:base=0.1,mean=0.1,slope=1 --scheme gc:s=1,code=tree --json
expect 0 'verify' train --model softmax --data synthetic --models 2 --updates 3 --batch 64 --workers 6 --verify \
  --scheme gc:s=1,code=tree --delays constant:base=0.002 --run-dir "$scratch/tree"
expect 2 'the nearest: 12 with b = 3, 20 with b = 4' code tree --workers 16 --stragglers 1
expect 2 "did you mean 'graph'" code grahp --workers 16 --stragglers 3
expect 2 'cannot keep its promise' code real-mds --workers 64 --stragglers 15
expect 0 'leaves a residual of' "${simulate[@]}" --scheme gc:s=6,code=biplane
expect 0 'gc:s=1,code=erasurehead' "${train[@]}" --scheme gc:s=1,code=erasurehead,r=2,gc:s=1,code=pairs \
  --delays constant:base=0.002 --verify
grep -q '"residual"' "$scratch/run/metrics.jsonl" || fail "metrics.jsonl has no residual"

finish
