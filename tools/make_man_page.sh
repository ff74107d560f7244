#!/usr/bin/env bash
# Makes the man page of the program from what it says about itself: tools/make_man_page.sh PROGRAM > paceline.1
set -euo pipefail
program=$1

more=$(mktemp)
trap 'rm -f "$more"' EXIT
for command in $("$program" --help | sed -n '/^Subcommands:/,/^$/s/^  \([a-z][a-z-]*\) .*/\1/p'); do
  printf '[%s]\n.nf\n' "paceline $command"
  # A line that begins with a dot or a quote would be a command of the page.
  "$program" "$command" --help | sed -e '/^More: /d' -e 's/\\/\\\\/g' -e "s/^[.']/\\\\\&&/"
  printf '.fi\n\n'
done > "$more"
help2man --no-info --no-discard-stderr --section=1 --include="$more" \
  --name="trains several models at once on workers that are slow or fail" "$program"
