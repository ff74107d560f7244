#!/usr/bin/env bash
# Trains by examples/slurm/train.sbatch in a Slurm of one node, which this test starts in a temporary folder, as root and
# without systemd or cgroups, and stops again: slurm_test.sh PROGRAM SOURCE_DIR. Ends with 77 where there is no Slurm.
set -u
program=$1
batch=$2/examples/slurm/train.sbatch
PATH=$(dirname "$program"):$PATH:/usr/sbin
skip() { echo "$1: Slurm is not tested"; exit 77; }
for command in munged slurmctld slurmd sbatch srun; do
  command -v "$command" > /dev/null || skip "no $command (tools/install_dependencies.sh --slurm)"
done
[ "$(id -u)" = 0 ] || skip "not root"

scratch=$(mktemp -d)
chmod 711 "$scratch" # munged wants its socket to be reachable
cd "$scratch" || exit 1
export SLURM_CONF=$scratch/slurm.conf
failures=0
daemons=()

fail() {
  failures=$((failures + 1))
  echo "FAILED: $1" >&2
}
within() { # within SECONDS COMMAND...: until the command succeeds
  local left=$(($1 * 10))
  shift
  until "$@"; do
    left=$((left - 1))
    [ $left -gt 0 ] || return 1
    sleep 0.1
  done
}

port() { # a free one from $1 on
  local port=$1
  while (exec 3<> "/dev/tcp/127.0.0.1/$port") 2> /dev/null; do port=$((port + 1)); done
  echo "$port"
}
write_configuration() { # of a node with 8 processors, whatever the machine has
  local host controller
  host=$(hostname -s)
  controller=$(port $((20000 + $$ % 10000)))
  cat > slurm.conf << END
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$controller
SlurmdPort=$(port $((controller + 1)))
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$scratch/munge/socket,cred_expire=5
StateSaveLocation=$scratch/state
SlurmdSpoolDir=$scratch/spool
SlurmctldPidFile=$scratch/slurmctld.pid
SlurmdPidFile=$scratch/slurmd.pid
SlurmctldLogFile=$scratch/slurmctld.log
SlurmdLogFile=$scratch/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
SchedulerParameters=sched_min_interval=100000,bf_interval=1
KillWait=2
MinJobAge=600
ReturnToService=2
NodeName=$host NodeAddr=127.0.0.1 CPUs=8
PartitionName=all Nodes=$host Default=YES State=UP
END
}
is_ready() { sinfo --noheader --format=%T 2> /dev/null | grep -qx idle; }
start_slurm() {
  mkdir -m 711 munge
  mkdir state spool
  (umask 077 && head -c 128 /dev/urandom > munge.key)
  write_configuration
  munged --foreground --force --key-file="$scratch/munge.key" --socket="$scratch/munge/socket" \
    --pid-file="$scratch/munged.pid" --seed-file="$scratch/munge.seed" > munged.out 2>&1 &
  daemons+=($!)
  within 10 test -S munge/socket || return 1
  slurmctld -D > slurmctld.out 2>&1 &
  daemons+=($!)
  slurmd -D > slurmd.out 2>&1 &
  daemons+=($!)
  within 30 is_ready
}
is_gone() { ! kill -0 "$1" 2> /dev/null; }
is_queue_empty() { [ -z "$(squeue --noheader 2> /dev/null)" ]; }
left_behind() { # processes that this Slurm has started and that are still there, but for this script
  local found
  for found in $(env -u SLURM_CONF grep -lz "^SLURM_CONF=$SLURM_CONF" /proc/[0-9]*/environ 2> /dev/null); do
    found=${found#/proc/}
    ps -o pid=,args= -p "${found%/environ}"
  done
}
is_nobody_left() { [ -z "$(left_behind)" ]; }
stop_slurm() {
  local daemon
  scancel --quiet --user="$(id -un)" 2> /dev/null
  within 20 is_queue_empty || fail "jobs are left: $(squeue)"
  for daemon in $(printf '%s\n' "${daemons[@]}" | tac); do
    kill -TERM "$daemon" 2> /dev/null
    within 10 is_gone "$daemon" || { fail "a daemon does not end"; kill -KILL "$daemon"; }
    wait "$daemon" 2> /dev/null
  done
  daemons=()
  within 5 is_nobody_left || fail "left behind: $(left_behind)"
}
leave() {
  [ ${#daemons[@]} = 0 ] || stop_slurm
  cd /
  rm -rf "$scratch"
}
trap leave EXIT

train=(--model softmax --data synthetic --batch 256 --models 4 --workers 8 --scheme uncoded)
losses() { grep -o '"losses":[^]]*' "$1/metrics.jsonl"; }
expect_line() { # expect_line LOG TEXT: exactly one line begins with it
  [ "$(awk -v text="paceline: $2" 'index($0, text) == 1' "$1" | wc -l)" = 1 ] || fail "not one line '$2': $(cat "$1")"
}

start_slurm || {
  fail "Slurm does not start: $(tail -n 5 ./*.log ./*.out)"
  exit 1
}

# a job: the same losses as in one process, to the last digit; how it was started is said once
"$program" train "${train[@]}" --updates 6 --run-dir alone > alone.log 2>&1 || fail "alone: $(cat alone.log)"
job=$(timeout 120 sbatch --parsable --wait "$batch" "${train[@]}" --updates 6) ||
  fail "job $job fails: $(cat "paceline-$job.log")"
started="rank 0 of 5, started by srun (SLURM_STEP_NUM_TASKS), in job $job of Slurm (SLURM_JOB_ID)"
expect_line "paceline-$job.log" "8 workers on 4 ranks, 2 each; this is $started"
[ -n "$(losses alone)" ] && [ "$(losses alone)" = "$(losses "paceline-$job/run")" ] || fail "other losses than in one process"

# a job without srun: one process, and a line that says so
command="paceline train ${train[*]} --updates 2 --run-dir wrapped"
job=$(timeout 120 sbatch --parsable --wait --ntasks=5 --output=wrapped.log --wrap "$command") ||
  fail "without srun: $(cat wrapped.log)"
expect_line wrapped.log \
  "started alone, in job $job of Slurm (SLURM_JOB_ID); srun --mpi=pmix starts ranks on its 5 tasks (SLURM_NTASKS)"

# a job whose time is almost up writes a checkpoint, goes back into the queue, and ends with the same weights
whole=("${train[@]}" --updates 60 --delays constant:base=0.02 --checkpoint-every 40)
"$program" train "${whole[@]}" --checkpoint whole --run-dir alone > alone.log 2>&1 || fail "alone: $(cat alone.log)"
job=$(sbatch --parsable "$batch" "${whole[@]}")
has_checkpoint() { ls "paceline-$job"/checkpoints/checkpoint-*/COMPLETE > /dev/null 2>&1; }
is_over() { scontrol show job "$job" | grep -q 'JobState=\(COMPLETED\|FAILED\|CANCELLED\)'; }
within 60 has_checkpoint || fail "no checkpoint: $(cat "paceline-$job.log")"
scancel --signal=USR1 "$job"
within 150 is_over || fail "not over: $(scontrol show job "$job")"
scontrol show job "$job" | grep -q 'JobState=COMPLETED' || fail "not completed: $(scontrol show job "$job")"
expect_line "paceline-$job.log" "goes on from paceline-$job/checkpoints"
last() { ls -d "$1"/checkpoint-* | tail -n 1; }
cmp "$(last whole)/weights.safetensors" "$(last "paceline-$job/checkpoints")/weights.safetensors" ||
  fail "other weights than without a stop"

stop_slurm
[ $failures = 0 ] && echo "a job, one without srun, one that was stopped and went on: as it should be; nothing is left behind"
exit $((failures > 0))
