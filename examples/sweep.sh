#!/usr/bin/env bash
# Eight learning rates trained at once: one model each, same data, a table of their accuracies at the end.
set -euo pipefail
cd "$(dirname "$0")/.."
paceline=${PACELINE:-build/release/paceline}

optimizers=()
for rate in 0.001 0.003 0.01 0.03 0.1 0.3 1 3; do
  optimizers+=(--optimizer "sgd:lr=$rate,momentum=0.9")
done
"$paceline" train --data data/penguins.csv --label species --missing mean --model softmax --models 8 \
  "${optimizers[@]}" --updates 40 --batch 64 --workers 8 --scheme relay:T=3 "$@"
