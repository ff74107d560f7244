#!/usr/bin/env bash
# A recorded delay profile replayed: first simulated, which takes milliseconds, then as a run whose workers answer at
# the recorded times. The two times agree; the run's gradients are exact.
set -euo pipefail
cd "$(dirname "$0")/.."
paceline=${PACELINE:-build/release/paceline}
schemes=gc:s=3,relay:T=3,r0=1
delays=(--profile data/bursty-16x60.csv --slope 0.2)

"$paceline" simulate "${delays[@]}" --scheme "$schemes" --jobs 40
"$paceline" train "${delays[@]}" --scheme "$schemes" --model softmax --data synthetic --models 4 --updates 10 --verify "$@"
