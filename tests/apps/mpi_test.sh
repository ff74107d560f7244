#!/usr/bin/env bash
# Plays a cluster on one machine with real processes, which get stopped and killed: mpi_test.sh PROGRAM MPIRUN CASE
# Rank 0 is the master; 4 ranks host the workers. Ends with 77 where there is no mpirun.
set -u
program=$1
mpirun=$2
case=$3
command -v "$mpirun" > /dev/null || { echo "no $mpirun: MPI is not tested"; exit 77; }
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
scratch=$(mktemp -d)
failures=0

fail() {
  failures=$((failures + 1))
  echo "FAILED: $1" >&2
  [ ! -s "$scratch/err" ] || head -n 20 "$scratch/err" >&2
}

train=("$program" train --model softmax --data synthetic --batch 256 --models 4 --run-dir "$scratch/run")
ranks() { # ranks N ARGUMENTS...: trains on N ranks; standard output and error go to files, the exit code to $code
  local n=$1
  shift
  timeout 60 "$mpirun" --oversubscribe -n "$n" "${train[@]}" "$@" > "$scratch/out" 2> "$scratch/err"
  code=$?
}
start() { # start ARGUMENTS...: trains in the background on 5 ranks, and waits until rounds are played
  rm -f "$scratch/run/metrics.jsonl"
  "$mpirun" --oversubscribe "${launcher[@]}" -n 5 "${train[@]}" "$@" > "$scratch/out" 2> "$scratch/err" &
  launched=$!
  for _ in $(seq 200); do
    [ "$(grep -c . "$scratch/run/metrics.jsonl" 2> /dev/null)" -ge 5 ] 2> /dev/null && return
    sleep 0.05
  done
  fail "no rounds after 10 s"
}
launcher=()
processes() { pgrep -f -- "train .*--run-dir $scratch/run" | grep -vx "$launched"; }
process_of_rank() { # the process that the launcher started as that rank
  local pid
  for pid in $(processes); do
    tr '\0' '\n' < "/proc/$pid/environ" | grep -qx "OMPI_COMM_WORLD_RANK=$1" && echo "$pid"
  done
}
finish() { # finish SECONDS: waits for the launcher no longer than that
  local limit=$(($1 * 20))
  while kill -0 "$launched" 2> /dev/null && [ $limit -gt 0 ]; do
    sleep 0.05
    limit=$((limit - 1))
  done
  [ $limit -gt 0 ] || fail "still there after $1 s"
  kill -9 "$launched" 2> /dev/null
  wait "$launched"
  code=$?
  sleep 0.3
  local left
  left=$(processes | xargs -r ps -o stat=,args= -p | grep -v '^Z')
  [ -z "$left" ] || fail "left behind: $left"
}
expect_code() { [ "$code" = "$1" ] || fail "exit code $code instead of $1"; }
expect_text() { grep -qF -- "$1" "$scratch/out" "$scratch/err" || fail "no '$1'"; }
own_lines() { grep -c '^paceline: ' "$scratch/err"; }
trap 'rm -rf "$scratch"' EXIT
# A rank of 4 holds every fourth of the groups' workers: any three ranks hold all of the data.
steady=(--workers 16 --scheme gc:s=7,code=repetition --delays constant:base=0.01)

case $case in
  weights) # the same losses as in one process, to the last digit; all schemes exact with 64 workers a rank
    for transport in local mpi; do
      for messages in float32 float16; do
        small=(--workers 8 --scheme uncoded --updates 6 --messages $messages)
        if [ $transport = local ]; then
          "${train[@]}" "${small[@]}" > "$scratch/out" 2> "$scratch/err" || fail "local"
        else
          ranks 5 "${small[@]}"
          expect_code 0
          expect_text "8 workers on 4 ranks, 2 each; this is rank 0 of 5, started by mpirun"
        fi
        grep -o '"losses":[^]]*' "$scratch/run/metrics.jsonl" > "$scratch/$transport-$messages"
      done
    done
    for messages in float32 float16; do
      cmp -s "$scratch/local-$messages" "$scratch/mpi-$messages" || fail "other losses than in one process, $messages"
    done
    cmp -s "$scratch/mpi-float32" "$scratch/mpi-float16" && fail "float16 rounds nothing"
    ranks 5 --workers 256 --updates 3 --verify \
      --scheme uncoded,gc:s=3,m-sgc:B=1,W=2,lambda=4,relay,partial:r=2,gc:code=short-messages,s=3
    expect_code 0
    [ "$(awk '/^(uncoded|gc|m-sgc|relay|partial)/ { n += $NF < 1e-5 } END { print n }' "$scratch/out")" = 6 ] ||
      fail "gradients are off: $(cat "$scratch/out")"
    ;;
  frozen) # a stopped rank costs what a straggler costs
    start "${steady[@]}" --delays constant:base=0.02 --updates 60
    stopped=$(process_of_rank 2)
    kill -STOP "$stopped"
    sleep 0.5
    before=$(grep -c . "$scratch/run/metrics.jsonl")
    sleep 2.5
    during=$(($(grep -c . "$scratch/run/metrics.jsonl") - before))
    kill -CONT "$stopped"
    [ "$during" -ge 10 ] || fail "only $during rounds while a rank was stopped"
    finish 20
    expect_code 0
    expect_text "rank 2 ("
    expect_text "its workers count as stragglers until it answers"
    expect_text "answers again"
    ;;
  killed) # without a launcher that carries on the run ends, and says who died
    start "${steady[@]}" --updates 2000
    kill -9 "$(process_of_rank 3)"
    finish 10
    [ "$code" != 0 ] || fail "exit code 0"
    grep -q '^paceline: rank 3 (.*has died; the run was interrupted' "$scratch/err" || fail "nobody says who died"
    ;;
  recovered) # with one the run goes on without it
    launcher=(--enable-recovery)
    start "${steady[@]}" --updates 60
    kill -9 "$(process_of_rank 3)"
    finish 20
    expect_text "has died: its workers count as stragglers"
    expect_text "gc:s=7"
    [ -s "$scratch/run/report.html" ] || fail "no report"
    ;;
  frozen_end) # a rank that is stopped when the run is over is named, and holds nobody
    start "${steady[@]}" --updates 25
    stopped=$(process_of_rank 1)
    kill -STOP "$stopped"
    finish 20
    expect_text "gc:s=7"
    grep -q '^paceline: rank 1 (.*no answer within .* at the end' "$scratch/err" || fail "nobody says who did not answer"
    ;;
  interrupted)
    start "${steady[@]}" --updates 2000
    kill -INT "$launched"
    finish 8
    [ "$code" != 0 ] || fail "exit code 0"
    expect_text "the run was interrupted"
    [ "$(own_lines)" -le 2 ] || fail "more than a line: $(cat "$scratch/err")"
    ;;
  chaos) # twenty faults of all kinds over 200 jobs: every gradient stays exact, whoever is needed
    ranks 3 --workers 8 --updates 50 --verify --scheme uncoded,gc:s=3,code=repetition --inject random:count=20,seed=1
    expect_code 0
    expect_text "20 faults injected"
    [ "$(awk '/^(uncoded|gc)/ { n += $NF < 1e-5 } END { print n }' "$scratch/out")" = 2 ] ||
      fail "gradients are off: $(cat "$scratch/out")"
    grep -q '"event":"fault"' "$scratch/run/metrics.jsonl" || fail "the metrics do not name the faults"
    ;;
  resumed) # asked to stop by the launcher's user, it goes on with the same weights
    whole=(--workers 8 --scheme uncoded --delays constant:base=0.01 --updates 40 --checkpoint-every 40)
    ranks 3 "${whole[@]}" --checkpoint "$scratch/whole"
    expect_code 0
    start "${whole[@]}" --checkpoint "$scratch/stopped"
    kill -USR1 "$launched"
    finish 20
    expect_code 138
    expect_text "--resume goes on from"
    ranks 3 "${whole[@]}" --checkpoint "$scratch/stopped" --resume
    expect_code 0
    expect_text "goes on from"
    last() { ls -d "$1"/checkpoint-* | tail -n 1; }
    cmp "$(last "$scratch/whole")/weights.safetensors" "$(last "$scratch/stopped")/weights.safetensors" ||
      fail "other weights than without a stop"
    ;;
  servers) # two ranks hold the parameters: the losses of one process, to the last digit, and all gradients exact
    for messages in float32 float16; do
      small=(--workers 8 --scheme uncoded --updates 6 --messages $messages)
      losses() { grep -o '"losses":[^]]*' "$scratch/run/metrics.jsonl" > "$scratch/$1-$messages"; }
      "${train[@]}" "${small[@]}" > "$scratch/out" 2> "$scratch/err" || fail "local"
      losses local
      ranks 5 "${small[@]}" --servers 2
      expect_code 0
      expect_text "8 workers on 2 ranks, 4 each, parameters on 2 more; this is rank 0 of 5, started by mpirun"
      losses servers
      cmp -s "$scratch/local-$messages" "$scratch/servers-$messages" || fail "other losses than in one process, $messages"
    done
    ranks 5 --workers 16 --updates 3 --verify --servers 2 \
      --scheme uncoded,gc:s=3,m-sgc:B=1,W=2,lambda=4,relay,partial:r=2,gc:code=short-messages,s=3
    expect_code 0
    [ "$(awk '/^(uncoded|gc|m-sgc|relay|partial)/ { n += $NF < 1e-5 } END { print n }' "$scratch/out")" = 6 ] ||
      fail "gradients are off: $(cat "$scratch/out")"
    ;;
  server_killed) # without a server the run ends, says which one is gone and how to go on, and does, with another number
    lasting=(--workers 8 --scheme gc:s=1 --delays constant:base=0.01 --checkpoint "$scratch/lasting")
    launcher=(--enable-recovery)
    start "${lasting[@]}" --updates 2000 --servers 2 --checkpoint-every 5
    kill -9 "$(process_of_rank 2)"
    finish 10 # with 0: mpirun was told to forgive
    grep -q '^paceline: rank 2 (.*, parameter server) has died, and its part of the parameters is lost; --resume goes on' \
      "$scratch/err" || fail "nobody says which server died"
    ranks 4 "${lasting[@]}" --updates 60 --servers 1 --resume
    expect_code 0
    expect_text "goes on from"
    launcher=()
    rm -rf "$scratch/lasting"
    start "${lasting[@]}" --updates 2000 --servers 2
    kill -9 "$(process_of_rank 1)"
    finish 10
    [ "$code" != 0 ] || fail "exit code 0"
    grep -q '^paceline: rank 1 (.*, parameter server) has died' "$scratch/err" || fail "nobody says who died"
    ;;
  server_resumed) # asked to stop, it goes on with the same weights, whoever holds them
    whole=(--workers 8 --scheme uncoded --delays constant:base=0.01 --updates 40 --checkpoint-every 40)
    ranks 3 "${whole[@]}" --checkpoint "$scratch/whole"
    expect_code 0
    start "${whole[@]}" --servers 2 --checkpoint "$scratch/stopped"
    kill -USR1 "$launched"
    finish 20
    expect_code 138
    expect_text "--resume goes on from"
    ranks 4 "${whole[@]}" --servers 1 --checkpoint "$scratch/stopped" --resume
    expect_code 0
    expect_text "goes on from"
    last() { ls -d "$1"/checkpoint-* | tail -n 1; }
    cmp "$(last "$scratch/whole")/weights.safetensors" "$(last "$scratch/stopped")/weights.safetensors" ||
      fail "other weights than without servers and a stop"
    ;;
  watched) # rank 0 alone has the live page; where it cannot have it, all ranks end
    ranks 3 --workers 4 --updates 5 --dashboard :0
    expect_code 0
    [ "$(grep -c '^paceline: dashboard: http://127.0.0.1:' "$scratch/err")" = 1 ] || fail "not one page"
    ranks 3 --workers 4 --updates 5 --dashboard 192.0.2.1:8080
    expect_code 2
    [ "$(own_lines)" = 1 ] || fail "$(own_lines) lines"
    ;;
  refused) # one line, whoever finds the mistake
    ranks 3 --scheme gcc:s=1
    expect_code 2
    expect_text "did you mean 'gc'"
    [ "$(own_lines)" = 1 ] || fail "$(own_lines) lines"
    ranks 3 --shceme gc
    expect_code 2
    [ "$(own_lines)" = 1 ] || fail "$(own_lines) lines"
    ranks 3 --workers 9 --workers-per-rank 4
    expect_code 2
    expect_text "4 workers per rank are too few for 9 workers on 2 ranks; at least 5"
    ranks 3 --servers 2
    expect_code 2
    expect_text "servers=2 is not allowed for 3 ranks: rank 0 is the master, and at least one more hosts workers; 0 ... 1"
    ranks 3 --servers 1 --transport local
    expect_code 2
    expect_text "--servers 1 cannot be used with --transport local"
    [ "$(own_lines)" = 1 ] || fail "$(own_lines) lines"
    timeout 20 "${train[@]}" --servers 1 > "$scratch/out" 2> "$scratch/err"
    code=$?
    expect_code 2
    expect_text "--servers 1 needs a launcher"
    timeout 60 "$mpirun" --oversubscribe -n 2 "${train[@]}" --updates 2 : -n 1 "${train[@]}" --updates 2 --seed 2 \
      > "$scratch/out" 2> "$scratch/err"
    code=$?
    expect_code 2
    expect_text "rank 2 ("
    expect_text "was started with other options than the master"
    timeout 20 "${train[@]}" --transport mpi > "$scratch/out" 2> "$scratch/err"
    code=$?
    expect_code 2
    expect_text "--transport mpi needs a launcher"
    ;;
  *)
    fail "unknown case $case"
    ;;
esac
[ $failures = 0 ] && echo "$case: as it should be"
exit $((failures > 0))
