#!/usr/bin/env bash
# train --dashboard: the live page of a run, as a browser and Prometheus meet it.
. "$(dirname "$0")/support.sh" "$@"

if "$program" "${train[@]}" --scheme uncoded --dashboard :0 2>&1 | grep -q 'this build has no dashboard'; then
  expect 2 'install libcpp-httplib-dev' "${train[@]}" --dashboard :0
  finish
fi

expect 2 "dashboard address '8080' is not allowed" "${train[@]}" --dashboard 8080
expect 2 'from 0 to 65535' "${train[@]}" --dashboard :65536
expect 2 'no address of this machine' "${train[@]}" --dashboard 192.0.2.1:8080

# watch ARGUMENTS...: trains in the background; $port is where its page is, $child its process
watch() {
  "$program" train --model softmax --data synthetic --models 2 --batch 64 --workers 4 --scheme gc:s=1 \
    --run-dir "$scratch/watched" --dashboard :0 "$@" > "$scratch/out" 2> "$scratch/err" &
  child=$!
  port=
  for _ in $(seq 400); do # until rounds are played
    port=$(sed -n 's|^paceline: dashboard: http://127.0.0.1:\([0-9]*\)/$|\1|p' "$scratch/err")
    [ -n "$port" ] && request 'GET /metrics' | grep -q '^paceline_rounds_total [1-9]' && return
    sleep 0.05
  done
  fail "no page after 20 s: $(cat "$scratch/err")"
}
request() { # request 'GET /path': all that the server answers
  (exec 3<> "/dev/tcp/127.0.0.1/$port" && printf '%s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n' "$1" >&3 &&
    tr -d '\r' <&3) 2> /dev/null
}
answers() { # answers 'GET /path' TEXT
  checks=$((checks + 1))
  request "$1" > "$scratch/answer"
  grep -qaF -- "$2" "$scratch/answer" || fail "no '$2' in the answer to '$1': $(head -c 300 "$scratch/answer")"
}

watch --updates 5000 --delays constant:base=0.02
answers 'GET /' 'HTTP/1.1 200'
answers 'GET /' 'Content-Type: text/html; charset=utf-8'
answers 'GET /' 'Paceline live'
answers 'GET /state' 'Content-Type: application/json'
answers 'GET /state' '"title":"2 x softmax on synthetic classes, 4 workers"'
answers 'GET /state' '"label":"gc:s=1,code=repetition"'
answers 'GET /state' '"jobs":10000,'
answers 'GET /metrics' 'Content-Type: text/plain; version=0.0.4'
answers 'GET /metrics' 'paceline_loss{model="softmax 1"}'
answers 'GET /metrics' 'paceline_scheme_waiting_for_all_seconds'
answers 'HEAD /' 'HTTP/1.1 200'
answers 'GET /elsewhere' 'HTTP/1.1 404'
answers 'POST /state' 'HTTP/1.1 405'

# what is new: a few rounds, not all
first=$(request 'GET /state')
id=$(echo "$first" | grep -o '"id":"[0-9]*"' | tr -dc 0-9)
rounds=$(echo "$first" | grep -o '"rounds":[0-9]*,"jobs"' | tr -dc 0-9)
answers "GET /state?run=$id&scheme=1&since=$rounds&stride=1" '"anew":false'

# this machine only
checks=$((checks + 1))
listens=$(awk -v port="$(printf %04X "$port")" '$4 == "0A" { split($2, at, ":"); if (at[2] == port) print at[1] }' /proc/net/tcp)
[ "$listens" = 0100007F ] || fail "it listens on '$listens', not on the loopback alone"
[ -z "$(awk -v port="$(printf %04X "$port")" '$4 == "0A" && $2 ~ (":" port "$")' /proc/net/tcp6 2> /dev/null)" ] ||
  fail "it listens on IPv6, too"

# a port in use is found before anything runs
rm -rf "$scratch/second"
expect 2 "port $port is in use" train --model softmax --data synthetic --run-dir "$scratch/second" --dashboard ":$port"
[ -e "$scratch/second" ] && fail "a run began though its port was in use"

# Ctrl-C ends the run as ever, and the page with it
kill -INT $child
wait $child
code=$?
checks=$((checks + 1))
[ $code = 130 ] || fail "exit code $code instead of 130 after Ctrl-C: $(cat "$scratch/err")"
[ -z "$(request 'GET /')" ] || fail "the page is still there"

# a run that ends by itself
watch --updates 20 --delays constant:base=0.03
wait $child
code=$?
checks=$((checks + 1))
[ $code = 0 ] || fail "exit code $code of a run that was watched: $(cat "$scratch/err")"
grep -q 'gc:s=1' "$scratch/out" || fail "no report"
[ -z "$(request 'GET /')" ] || fail "the page is still there"

finish
