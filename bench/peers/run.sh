#!/usr/bin/env bash
# The same networks, batches and optimizer trained by Paceline, by a plain MPI allreduce and by PyTorch
# DistributedDataParallel, all under the same recorded delays; prints a Markdown table:
#
#     bench/peers/run.sh [BUILD_DIR]      default: build/release
#
# PyTorch is that of Debian's python3-torch (PYTHON names another one); without it its row is left out, and a line says so.
# WORKERS, MODELS, UPDATES, BATCH, SEED, DELAYS, SLOPE, SCHEMES, REPETITIONS and DATA in the environment change the experiment.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${1:-build/release}
workers=${WORKERS:-8}
models=${MODELS:-4}
updates=${UPDATES:-15}
batch=${BATCH:-256}
seed=${SEED:-1}
delays=${DELAYS:-bursty:base=0.1,slow=6,bad=0.05,good=0.5}
slope=${SLOPE:-0.3}
schemes=${SCHEMES:-uncoded,gc:s=1,relay:T=3,r0=1}
repetitions=${REPETITIONS:-3}
data=${DATA:-data/mnist}
python=${PYTHON:-/usr/bin/python3}
here=bench/peers
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

targets=(paceline paceline_make_profile paceline_peer_start paceline_peer_allreduce)
cmake --build "$build" --target "${targets[@]}" > "$scratch/build.log" 2>&1 ||
  { tail -n 20 "$scratch/build.log" >&2; echo "run.sh: the build in $build failed" >&2; exit 2; }
tools/fetch_mnist.sh "$data" >&2
make_profile=$(find "$build" -name paceline_make_profile -type f)
peers=$(dirname "$(find "$build" -name paceline_peer_start -type f)")
rounds=$((models * updates))
profile=$scratch/delays.csv
"$make_profile" "$delays" "$workers" "$rounds" "$seed" > "$profile"
training=("$data" "$models" "$updates" "$batch" "$seed")
"$peers/paceline_peer_start" "$scratch" "${training[@]}"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMP_NUM_THREADS=1
torch=yes
"$python" -c 'import torch.distributed as d; assert d.is_available()' 2> /dev/null ||
  { torch=no; echo "run.sh: $python has no PyTorch: its row is left out (Debian: python3-torch)" >&2; }

train=("$build/paceline" train --model small-cnn --data "$data" --models "$models" --updates "$updates" --batch "$batch"
  --seed "$seed" --workers "$workers" --profile "$profile" --slope "$slope" --scheme "$schemes" --run-dir "$scratch/run" --json)
ranks=(mpirun --oversubscribe --bind-to none --mca mpi_yield_when_idle 0) # whoever waits here sleeps between two looks
measure() { # measure NAME COMMAND...: of Paceline
  "${@:2}" > "$scratch/report.json" 2> "$scratch/err" || { cat "$scratch/err" >&2; exit 1; }
  python3 "$here/results.py" "$1" "$scratch/report.json" >> "$scratch/results"
}
load=$(cut -d " " -f 1 /proc/loadavg)
# Repetitions are interleaved, so that what else the machine does meets all alike.
for _ in $(seq "$repetitions"); do
  measure "paceline, threads" "${train[@]}"
  measure "paceline, MPI ranks" "${ranks[@]}" -n $((workers + 1)) "${train[@]}" --workers-per-rank 1
  "${ranks[@]}" -n "$workers" "$peers/paceline_peer_allreduce" "$profile" "$slope" "${training[@]}" >> "$scratch/results"
  [ $torch = no ] || {
    rm -f "$scratch/rendezvous"
    "$python" "$here/ddp.py" "$profile" "$slope" "$workers" "$scratch" "$data" "$models" "$updates" "$batch" >> "$scratch/results"
  }
done

echo "$workers workers, $models x small-cnn on MNIST, $updates updates of each, batches of $batch, delays \`$delays\` and $slope s per" \
  "unit of load, $repetitions repetitions; $(getconf _NPROCESSORS_ONLN) processors, load average before it $load."
echo
python3 "$here/table.py" "$scratch/results"
