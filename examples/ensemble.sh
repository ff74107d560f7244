#!/usr/bin/env bash
# An ensemble on data of one's own, a CSV file with a label column: five models that start differently are trained at
# once, tested, saved, and asked together about rows without a label.
set -euo pipefail
cd "$(dirname "$0")/.."
paceline=${PACELINE:-build/release/paceline}
run=$(mktemp -d)
trap 'rm -rf "$run"' EXIT

"$paceline" train --data data/penguins.csv --label species --missing mean --model softmax --models 5 --optimizer adam:lr=0.05 \
  --updates 60 --batch 64 --workers 8 --scheme relay:T=3 "$@" --run-dir "$run"
head -n 6 data/penguins.csv | cut -d, -f2- > "$run/unlabelled.csv"
"$paceline" predict "$run" --data "$run/unlabelled.csv"
