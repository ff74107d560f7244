#!/usr/bin/env bash
# Options from the command line, the environment and files: which one holds, and what is wrong with them.
. "$(dirname "$0")/support.sh" "$@"
cd "$scratch" || exit 1

effective() { # effective LINE ARGUMENTS...: `config --effective` must print this line, blanks squeezed
  local line=$1
  shift
  expect 0 'origin' config --effective "$@"
  tr -s ' ' < out | grep -qxF -- "$line" || fail "no '$line': config --effective $*; $(grep "^${line%% *} " out)"
}

cat > run.toml << 'END'
# four lines of options
workers = 8    # n
scheme = ["uncoded", "gc:s=1,code=mds"]
seed=7
verify = true
END
cat > run.json << 'END'
{"workers": 8,
 "scheme": ["uncoded", "gc:s=1,code=mds"],
 "seed": 7, "verify": true}
END

# the command line before the environment, the environment before the file, the file before the default
effective 'workers - default'
effective 'seed 1 default'
effective 'optimizer adam:lr=0.01 default'
effective 'workers 8 file run.toml:2' --config run.toml
effective 'workers 8 file run.json:1' --config=run.json
PACELINE_WORKERS=6 effective 'workers 6 environment PACELINE_WORKERS' --config run.toml
PACELINE_WORKERS=6 effective 'workers 6 environment PACELINE_WORKERS' --config run.json
PACELINE_WORKERS=6 effective 'workers 4 flag' --config run.toml --workers 4
PACELINE_WORKERS=6 effective 'workers 4 flag' --workers=4 --config run.json
PACELINE_WORKERS=6 effective 'workers 6 environment PACELINE_WORKERS'
PACELINE_WORKERS='' effective 'workers 8 file run.toml:2' --config run.toml
effective 'workers 4 flag' --config run.toml --workers 6 --workers 4

# lists, flags, names with dashes, and the file's own name
effective 'scheme uncoded gc:s=1,code=mds file run.toml:3' --config run.toml
effective 'scheme uncoded gc:s=1,code=mds file run.json:2' --config run.json
PACELINE_SCHEMES=relay effective 'scheme relay environment PACELINE_SCHEMES' --config run.toml
effective 'scheme relay flag' --config run.toml --scheme relay
printf 'scheme = [ # two\n  "uncoded",\n  "gc:s=1"\n]\nseed = 2\n' > lines.toml
effective 'scheme uncoded gc:s=1 file lines.toml:1' --config lines.toml
effective 'seed 2 file lines.toml:5' --config lines.toml
effective 'verify true file run.toml:5' --config run.toml
effective 'verify true file run.json:3' --config run.json
PACELINE_VERIFY=no effective 'verify false environment PACELINE_VERIFY' --config run.toml
PACELINE_RUN_DIR=there effective 'run-dir there environment PACELINE_RUN_DIR'
PACELINE_RESUME=true effective 'resume true environment PACELINE_RESUME'
PACELINE_RESUME=there effective 'resume there environment PACELINE_RESUME'
PACELINE_CONFIG=run.json effective 'workers 8 file run.json:1'
PACELINE_CONFIG=run.json effective 'config run.json environment PACELINE_CONFIG'
PACELINE_CONFIG=no-such-file effective 'config run.toml flag' --config run.toml
PACELINE_SEED=3 expect 0 '"origin": "environment PACELINE_SEED"' config --effective --json
PACELINE_JOBS=5 PACELINE_SHARED=/nowhere effective 'seed 1 default' # of another command; of the tests

# runs: from a file alone, and what the run leaves behind
cat > train.toml << END
model = "softmax"
data = "synthetic"
delays = "constant:base=0.002"
models = 2
updates = 3
batch = 64
workers = 6
scheme = "uncoded"
run-dir = "run"
END
PACELINE_WORKERS=5 expect 0 'uncoded' train --config train.toml --updates 2
saved() { tr -d ' \n' < run/config.json | grep -qF "$1" || fail "run/config.json has no $1"; }
saved '"workers":{"value":"5","origin":"environmentPACELINE_WORKERS"}'
saved '"updates":{"value":"2","origin":"flag"}'
saved '"delays":{"value":"constant:base=0.002","origin":"filetrain.toml:3"}'
saved '"close":{"value":"eager","origin":"default"}'
[ "$(grep -c . run/metrics.jsonl)" = 4 ] || fail "not 4 rounds"
printf '{"profile": "%s", "slope": 1, "scheme": "gc:s=3", "jobs": 10}' "$profile" > simulate.json
expect 0 '"jobs": 10' simulate --config simulate.json --json
PACELINE_JOBS=20 PACELINE_JSON=yes expect 0 '"jobs": 20' simulate --config simulate.json
PACELINE_SEEDS=1 PACELINE_JOBS=5 expect 0 '"ratio_to_limit"' compare --profile "$profile" --slope 1 --schemes uncoded --json
expect 2 '--profile excludes --delays (--profile: file simulate.json:1)' simulate --config simulate.json --delays constant:base=1

# unknown names
bad() { # bad TEXT FILE_CONTENT: one line must hold the text
  printf '%b' "$2" > bad.conf
  expect 2 "$1" train --config bad.conf
}
bad "bad.conf:2: unknown option 'wokers'; did you mean 'workers'?" 'seed = 1\nwokers = 8\n'
bad "bad.conf:3: unknown option 'wokers'; did you mean 'workers'?" '{"seed": 1,\n\n"wokers": 8}'
bad "bad.conf:1: unknown option 'abracadabra'; paceline train --help lists them" 'abracadabra = 1\n'
bad "bad.conf:1: unknown option 'config'" 'config = "other.toml"\n'
bad "section or dotted key 'train' is not known" '[train]\nworkers = 8\n'
PACELINE_WOKERS=8 expect 2 "unknown environment variable 'PACELINE_WOKERS'; did you mean 'PACELINE_WORKERS'?" train
PACELINE_ABRACADABRA=8 expect 2 "unknown environment variable 'PACELINE_ABRACADABRA'; no command has" simulate
PACELINE_ABRACADABRA=8 expect 0 'Train several' train --help
PACELINE_ABRACADABRA=8 expect 0 'm-sgc' schemes

# values that an option cannot take
bad 'bad.conf:1: workers = many is not allowed; a whole number above 0 is expected' 'workers = "many"\n'
bad 'bad.conf:1: workers = true is not allowed; a whole number above 0 is expected' 'workers = true\n'
bad 'bad.conf:1: workers = 0 is not allowed; a whole number above 0 is expected' 'workers = 0\n'
bad 'bad.conf:2: updates = 2.5 is not allowed; a whole number is expected' '{\n"updates": 2.5}'
bad 'bad.conf:1: workers = [[3]] is not allowed; a number, a text' '{"workers": [[3]]}'
bad 'bad.conf:1: workers = 3, 4 is not allowed; one value is expected' 'workers = [3, 4]\n'
bad 'bad.conf:1: delays = bursty:base=0.1, slow=5 is not allowed; one value is expected' 'delays = bursty:base=0.1,slow=5\n'
bad 'bad.conf:1: verify = perhaps is not allowed; true or false is expected' 'verify = "perhaps"\n'
bad 'bad.conf:1: transport = bus is not allowed; bus not in {' 'transport = "bus"\n'
PACELINE_WORKERS=many expect 2 'PACELINE_WORKERS=many is not allowed; a whole number above 0 is expected' train
PACELINE_RANK_LIMIT=-1 expect 2 'PACELINE_RANK_LIMIT=-1 is not allowed; a number above 0 is expected' train
PACELINE_VERIFY=perhaps expect 2 'PACELINE_VERIFY=perhaps is not allowed; true or false is expected' train

# what is no configuration
bad 'bad.conf: workers is given 2 times, in lines 1, 3' 'workers = 3\nseed = 1\nworkers = 4\n'
bad 'bad.conf: workers is given 2 times, in lines 1, 1' '{"workers": 3, "workers": 4}'
bad 'bad.conf:2: scheme is given already at bad.conf:1' 'schemes = "relay"\nscheme = "relay"\n'
bad 'bad.conf:1: run-dir has no value' 'run-dir = ""\n'
bad 'bad.conf:2: a text has no end' 'seed = 1\nrun-dir = "a b#c"\n'
bad 'bad.conf:1: a text has no end' 'run-dir = "a b\nseed = 1\n'
bad 'bad.conf:2: the list that begins here has no end' 'seed = 1\nscheme = ["relay",\nworkers = 8\n'
printf '{"run-dir": "it is # here"}' > quotes.json
effective 'run-dir it is # here file quotes.json:1' --config quotes.json
bad 'bad.conf: parse error at line 2, column 1' '{"workers": 3,\n}'
PACELINE_SCHEME=relay PACELINE_SCHEMES=gc expect 2 'PACELINE_SCHEME and PACELINE_SCHEMES set the same option' train
expect 2 'no-such-file.toml: cannot read: No such file' train --config no-such-file.toml
expect 2 'it is a folder' train --config "$scratch"
expect 2 '--effective is required' config

finish
