#!/usr/bin/env bash
# report: several runs on one page, figures; tables and event files of train, also of a run that was killed.
. "$(dirname "$0")/support.sh" "$@"

page=$scratch/page.html
report=(report --out "$page")

# runs and simulations side by side
expect 0 'report:' "${train[@]}" --scheme uncoded,gc:s=1 --delays constant:base=0.002 --csv --run-dir "$scratch/first"
expect 0 'report:' "${train[@]}" --scheme relay --batch 32 --run-dir "$scratch/second"
expect 0 'relay' "${simulate[@]}" --scheme uncoded,relay --jobs 20 --save "$scratch/simulated.json"
expect 0 'limit' compare --profile "$profile" --slope 1 --schemes uncoded,relay:T=1 --jobs 20 --seeds 2 \
  --report "$scratch/compare.html" --save "$scratch/compared.json"
expect 0 "report: $page" "${report[@]}" "$scratch/first" "$scratch/second" "$scratch/simulated.json" "$scratch/compared.json"
for what in '<h1>4 runs</h1>' 'second and first differ in batch (32, 64), delays (none, constant:base=0.002): their times, losses' 'simulated: ' 'compared (comparison)' 'id="run3-bars"'; do
  grep -qF "$what" "$page" || fail "no '$what' on the page"
done
expect 0 "report: $page" "${report[@]}" "$scratch/first/" # one run: its own page
[ "$(grep '<h1>' "$page")" = "$(grep '<h1>' "$scratch/first/report.html")" ] || fail "the page of one run is not its report.html"

# what is no whole run is named, and left out
mkdir -p "$scratch/going" "$scratch/half" "$scratch/empty"
echo '{}' > "$scratch/going/metrics.jsonl"
head -c 500 "$scratch/first/report.json" > "$scratch/half/report.json"
sed 's/"format":1/"format":99/' "$scratch/first/report.json" > "$scratch/newer.json"
sed 's/"format":1,//' "$scratch/first/report.json" > "$scratch/older.json"
sed 's/"rounds":6/"round":6/' "$scratch/first/report.json" > "$scratch/damaged.json"
while IFS=: read -r name words; do
  expect 2 "$scratch/$name$words" "${report[@]}" "$scratch/$name"
  expect 2 "$words" "${report[@]}" "$scratch/first" "$scratch/$name"
  expect 2 '1 of 2 runs are left out' "${report[@]}" "$scratch/first" "$scratch/$name"
  grep -qF "Left out: $scratch/$name" "$page" || fail "the page does not say that $name is left out"
done <<'END'
missing:: there is no such run
empty:: is not the folder of a run
going:: has no report.json: the run goes on
half:/report.json: is no whole JSON
newer.json:: has format 99; this paceline reads 1
older.json:: is no report, or of an older paceline
damaged.json:: is damaged: key 'rounds' not found
END
expect 2 'RUN is required' report
expect 2 "$scratch/nowhere/page.html" report "$scratch/first" --out "$scratch/nowhere/page.html"
expect 2 'figure-format' "${report[@]}" "$scratch/first" --figures "$scratch/figures" --figure-format gif

# figures: pictures where there is gnuplot, else data, scripts and one line
expect 0 'report:' "${report[@]}" "$scratch/first" "$scratch/simulated.json" --figures "$scratch/figures" --figure-format svg,png
names='times loss response-1 response-4'
for name in $names; do
  [ -s "$scratch/figures/$name.dat" ] && [ -s "$scratch/figures/$name.gp" ] || fail "no $name.dat, $name.gp"
done
if command -v gnuplot > /dev/null; then
  for name in $names; do
    grep -q '</svg>' "$scratch/figures/$name.svg" || fail "no whole $name.svg"
    [ "$(head -c 4 "$scratch/figures/$name.png" | tail -c 3)" = PNG ] || fail "no $name.png"
  done
  ! grep -vE 'missing or undefined|^$' "$scratch/figures/gnuplot.log" || fail "gnuplot complains"
fi
checks=$((checks + 1))
(PATH=/nowhere "$program" "${report[@]}" "$scratch/first" --figures "$scratch/undrawn") > "$scratch/out" 2> "$scratch/err" ||
  fail "no gnuplot is an error"
grep -q 'gnuplot is not installed (Debian: gnuplot-nox)' "$scratch/err" || fail "does not say that there is no gnuplot"
[ -s "$scratch/undrawn/loss.gp" ] || fail "no scripts without gnuplot"

# tables: a row per round, a row per job
[ "$(wc -l < "$scratch/first/metrics.csv")" = "$(($(wc -l < "$scratch/first/metrics.jsonl") + 1))" ] || fail "metrics.csv"
[ "$(wc -l < "$scratch/first/losses.csv")" = 13 ] || fail "losses.csv has not 2 x 6 jobs: $(cat "$scratch/first/losses.csv")"

# event files, read by other code; a killed run that goes on says every step once
if command -v python3 > /dev/null; then
  events() { # events RUN TAG: "order first last count"
    python3 "$source/tests/apps/read_events.py" "$scratch/events" | awk -v run="$1" -v tag="$2" '$1 == run && $2 == tag { print $3, $4, $5, $6 }'
  }
  going=("${train[@]}" --updates 40 --scheme uncoded --delays constant:base=0.01 --tensorboard "$scratch/events")
  "$program" "${going[@]}" --checkpoint "$scratch/kept" --checkpoint-every 20 > "$scratch/out" 2> "$scratch/err" &
  child=$!
  for _ in $(seq 400); do
    ls "$scratch"/kept/checkpoint-*/COMPLETE > /dev/null 2>&1 && break
    sleep 0.02
  done
  sleep 0.1 # rounds that will be played again
  kill -KILL $child
  wait $child 2> /dev/null
  expect 0 'goes on from' "${going[@]}" --resume "$scratch/kept"
  [ "$(ls "$scratch"/events/1-uncoded/model-0/*tfevents* | wc -l)" = 2 ] || fail "not two event files"
  for model in 0 1; do
    [ "$(events 1-uncoded/model-$model loss)" = 'in-order 0 39 40' ] || fail "losses: $(events 1-uncoded/model-$model loss)"
    [ "$(events 1-uncoded/model-$model accuracy)" = 'in-order 39 39 1' ] || fail "accuracy of model $model"
  done
  for tag in round_seconds stragglers seconds_per_job; do
    [ "$(events 1-uncoded $tag)" = 'in-order 0 79 80' ] || fail "$tag: $(events 1-uncoded $tag)"
  done
else
  echo "no python3: event files are not read"
fi
expect 2 'cannot make the folder' "${train[@]}" --scheme uncoded --tensorboard /dev/null/events

finish
