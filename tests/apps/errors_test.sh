#!/usr/bin/env bash
# Wrong names, numbers and files: one line that names the nearest right choice.
. "$(dirname "$0")/support.sh" "$@"

# names
expect 2 "did you mean 'train'" trian
expect 0 '"transports": [' version --json
expect 0 'transports  local' --version
expect 2 "did you mean '--scheme'" simulate --shceme x
expect 2 "did you mean 'gc'" "${simulate[@]}" --scheme gcc:s=1
expect 2 "did you mean 'lambda'" "${simulate[@]}" --scheme m-sgc:B=1,W=2,lamda=4
expect 2 "did you mean 'published'" "${simulate[@]}" --scheme uncoded --close publishd:mu=1
expect 2 "did you mean 'adam'" "${train[@]}" --optimizer adm:lr=1
expect 2 "did you mean 'softmax'" train --data synthetic --model softmx
expect 2 "did you mean 'float16'" "${train[@]}" --messages floar16
expect 2 "device 'gpu' cannot be used" "${train[@]}" --device gpu

# numbers
expect 2 '0 <= s <= 15' "${simulate[@]}" --scheme gc:s=16
expect 2 'B must divide W-1' "${simulate[@]}" --scheme sr-sgc:B=2,W=4,lambda=3
expect 2 'B' "${simulate[@]}" --scheme m-sgc:B=2,W=2,lambda=3
expect 2 'jobs >= 1' "${simulate[@]}" --scheme uncoded --jobs 0
expect 2 'jobs' "${simulate[@]}" --scheme uncoded --jobs many
expect 2 'models >= 2' "${train[@]}" --models 1 --scheme m-sgc:B=1,W=2,lambda=1
expect 2 'at least 1' "${train[@]}" --updates 0
expect 2 '--batch 2000000000 is more than the 8192 training samples' "${train[@]}" --scheme auto --batch 2000000000
expect 2 "code 'repetition' keeps it" "${train[@]}" --workers 256 --scheme gc:s=64,code=cyclic

expect 2 "cannot keep its promise with bfloat16 messages" "${train[@]}" --workers 64 --scheme gc:s=7,code=mds --messages bfloat16

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

finish
