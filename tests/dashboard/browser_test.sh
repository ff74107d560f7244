#!/bin/sh
# The live page of a large run in a real browser: browser_test.sh FEED DIRECTORY. Ends with 77 where something is missing.
# Leaves dashboard.png and dashboard-dark.png in DIRECTORY.
set -eu
[ -x "$1" ] || { echo "not built: cmake --build BUILD --target paceline_dashboard_feed"; exit 77; }
command -v chromium >/dev/null || { echo "no chromium: the page is not looked at"; exit 77; }
command -v node >/dev/null || { echo "no node: the page is not looked at"; exit 77; }
exec node "$(dirname "$0")/browser_test.mjs" "$@"
