#!/usr/bin/env bash
# Tables as training data, and what trained models say about other rows.
. "$(dirname "$0")/support.sh" "$@"

penguins=$source/data/penguins.csv
train=(train --model softmax --models 3 --updates 40 --batch 64 --workers 4 --scheme gc:s=1 --run-dir "$scratch/run"
  --optimizer adam:lr=0.05
  --data "$penguins" --missing mean)

# trained, tested, saved
expect 0 'ensemble' "${train[@]}" --label species --verify --json
python3 - "$scratch/out" << 'PYTHON' || fail "the ensemble did not learn the species"
import json, sys
run = json.load(open(sys.argv[1]))["schemes"][0]
assert len(run["accuracy"]) == 3 and run["ensemble_accuracy"] > 0.95, run["accuracy"]
PYTHON
[ -s "$scratch/run/models-1.safetensors" ] || fail "train left no models"

# a sweep names its optimizers and compares its models
expect 0 'softmax 1, sgd:lr=0.3' "${train[@]}" --label species --optimizer sgd:lr=0.3
expect 0 'accuracy on the test set' "${train[@]}" --label species --optimizer sgd:lr=0.3

# models that cannot be written: an error, but the report is there
mkdir -p "$scratch/stuck/models-1.safetensors.tmp"
expect 2 'models-1.safetensors' "${train[@]}" --label species --run-dir "$scratch/stuck"
[ -s "$scratch/stuck/report.html" ] || fail "no report of a run whose models could not be written"

# predictions: of the rows with their class, which is compared, and of rows without it
expect 0 'ensemble: 9' predict "$scratch/run" --data "$penguins" --out "$scratch/predictions.csv"
[ "$(wc -l < "$scratch/predictions.csv")" = 345 ] || fail "not a prediction per row"
head -n 4 "$penguins" | cut -d, -f2- > "$scratch/unlabelled.csv"
expect 0 '1,Adelie,' predict "$scratch/run/models-1.safetensors" --data "$scratch/unlabelled.csv"
[ ! -s "$scratch/err" ] || fail "an accuracy without classes"

# another table to test on
expect 0 'per job' "${train[@]}" --label species --test "$penguins"

# one line each
expect 2 "which column is the class? --label NAME; its columns: species, island" "${train[@]}"
expect 2 "did you mean 'species'" "${train[@]}" --label specis
expect 2 "no number in column 'beak_length_mm'" "${train[@]}" --label species --missing error
expect 2 '--missing: zero not in {error,mean}' "${train[@]}" --label species --missing zero
expect 2 '--test-share 1 is not allowed' "${train[@]}" --label species --test-share 1
expect 2 "cannot read 'none.csv'" train --data none.csv --label x
expect 2 '--label is for tables; --data synthetic is none' train --data synthetic --label x
if "$program" train --help | grep -q mlp; then
  expect 2 'mlp and softmax take any' train --data "$penguins" --label species --missing mean --batch 8 --model small-cnn
fi
printf 'a,b\n1,2\n' > "$scratch/numbers.csv"
expect 2 "unknown column 'island'" predict "$scratch/run" --data "$scratch/numbers.csv"
expect 2 "cannot read 'none'" predict none --data "$penguins"
expect 2 'holds no models-1.safetensors' predict "$scratch" --data "$penguins"
expect 0 'per job' train --model softmax --data synthetic --models 1 --updates 1 --workers 2 --scheme uncoded --run-dir "$scratch/other"
expect 2 'were not trained on a table' predict "$scratch/other" --data "$penguins"
finish
