#!/usr/bin/env bash
# Timelines of train and simulate against the format's schema; skipped with a message where there is nothing to check it.
. "$(dirname "$0")/support.sh" "$@"
python3 -c 'import jsonschema' 2> /dev/null || { echo "no python3-jsonschema: timelines are not checked"; exit 77; }

expect 0 'report:' "${train[@]}" --scheme uncoded,m-sgc:B=1,W=2,lambda=1 --timeline --inject kill:worker=1,at=1,for=1
expect 0 'relay' "${simulate[@]}" --scheme gc:s=3,relay --jobs 20 --timeline "$scratch/simulated.json"
check() { # check FILE: 0 where it agrees with the schema
  python3 - "$source/tests/apps/timeline.schema.json" "$1" <<'PYTHON'
import json, sys
import jsonschema
schema, timeline = (json.load(open(path)) for path in sys.argv[1:3])
errors = list(jsonschema.Draft7Validator(schema).iter_errors(timeline))
for error in errors[:3]:
    print("/".join(map(str, error.absolute_path)), error.message, file=sys.stderr)
sys.exit(bool(errors))
PYTHON
}
for file in "$scratch/run/timeline.json" "$scratch/simulated.json"; do
  checks=$((checks + 1))
  check "$file" || fail "$file does not agree with the schema"
done
# and the schema does refuse what is wrong
sed '0,/"ph":"X"/s//"ph":"Y"/' "$scratch/simulated.json" > "$scratch/wrong.json"
! check "$scratch/wrong.json" 2> /dev/null || fail "the schema lets an unknown phase pass"

finish
