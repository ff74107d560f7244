#!/usr/bin/env bash
# Time to a given training loss for uncoded, ignored stragglers, exact and approximate codes: softmax (logistic)
# regression on MNIST under the same delays, after the experiments of gradient coding and ErasureHead.
#
#     tools/time_to_loss.sh [PROGRAM]      default: build/release/paceline
#
# Prints a Markdown table. Live: measured in runs with injected delays; simulated: the same updates at the simulator's
# time per update. Means over the seeds, with the least and the most in brackets.
# WORKERS, UPDATES, BATCH, LOSS, DELAYS, STEP, DATA and SEEDS in the environment change the experiment.
set -euo pipefail
cd "$(dirname "$0")/.."
program=${1:-build/release/paceline}
workers=${WORKERS:-12}
updates=${UPDATES:-60}
batch=${BATCH:-2048}
loss=${LOSS:-0.45}
data=${DATA:-data/mnist}
delays=${DELAYS:-bursty:base=0.03,slope=0.12,slow=8,bad=0.04,good=0.25}
step=${STEP:-sgd:lr=0.1,momentum=0.9}
seeds=${SEEDS:-1 2}
runs=$(mktemp -d)
trap 'rm -rf "$runs"' EXIT

# label;scheme
schemes='uncoded, waits for all;uncoded
ignores 2 stragglers;gc:code=erasurehead,r=1,residual=0.17
exact, repetition, s = 2;gc:code=repetition,s=2
exact, cyclic, s = 2;gc:code=cyclic,s=2
approximate, ErasureHead, r = 2, s = 2;gc:code=erasurehead,r=2,s=2
approximate, ErasureHead, r = 2, s = 4;gc:code=erasurehead,r=2,s=4
approximate, graph, r = 4, s = 4;gc:code=graph,r=4,s=4'

[ -x "$program" ] || { echo "time_to_loss: no program at $program; build it, or name it" >&2; exit 2; }
tools/fetch_mnist.sh "$data" >&2
echo "Loss $loss (mean of 5 updates), $workers workers, batch $batch, $step, delays \`$delays\`, seeds $seeds."
echo
echo "| scheme | updates to the loss | s per update, live | s to the loss, live | simulated | left out per update | accuracy after $updates, % |"
echo "|---|---|---|---|---|---|---|"
while IFS=';' read -r label scheme; do
  : > "$runs/rows"
  for seed in $seeds; do
    "$program" train --model softmax --data "$data" --models 1 --updates "$updates" --batch "$batch" \
      --workers "$workers" --optimizer "$step" --delays "$delays" --seed "$seed" --scheme "$scheme" \
      --run-dir "$runs/run" --json > "$runs/report.json" 2> "$runs/err" || { cat "$runs/err" >&2; exit 1; }
    # From the report: "loss":[[{"time":..,"job":..,"loss":..}, ...]] of the one model.
    python3 - "$runs/report.json" "$loss" >> "$runs/rows" <<'PYTHON'
import json, sys
run = json.load(open(sys.argv[1]))["schemes"][0]
target, window, found = float(sys.argv[2]), [], None
for number, point in enumerate(run["loss"][0], 1):
    window = (window + [point["loss"]])[-5:]
    if found is None and len(window) == 5 and sum(window) / 5 <= target:
        found = number, point["time"]
if found is None:
    sys.exit(f"time_to_loss: {run['label']} never reached the loss; raise UPDATES or LOSS")
per_update = run["seconds"] / run["jobs"]
print(found[0], per_update, found[1], found[0] * run["predicted_seconds"] / run["jobs"],
      run["mean_residual"] or 0, 100 * run["mean_accuracy"])
PYTHON
  done
  awk -v label="$label" -v scheme="$scheme" '
    { for (c = 1; c <= 6; ++c) { sum[c] += $c; if (NR == 1 || $c < least[c]) least[c] = $c; if (NR == 1 || $c > most[c]) most[c] = $c } }
    function spread(c, format) { return sprintf(format " (" format "-" format ")", sum[c] / NR, least[c], most[c]) }
    END { printf "| %s (`%s`) | %s | %s | %s | %s | %.3f | %.1f |\n", label, scheme, spread(1, "%.0f"), spread(2, "%.3f"),
          spread(3, "%.1f"), spread(4, "%.1f"), sum[5] / NR, sum[6] / NR }' "$runs/rows"
done <<< "$schemes"
