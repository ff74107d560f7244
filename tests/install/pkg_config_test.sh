#!/bin/sh
# pkg_config_test.sh LIBDIR OUTPUT SOURCE COMPILER FLAGS: compiles a program with what pkg-config says, and runs it.
set -eu
export PKG_CONFIG_PATH="$1/pkgconfig"
# shellcheck disable=SC2046,SC2086  # words are what both are
"$4" $5 -o "$2" "$3" $(pkg-config --cflags --libs paceline-codes) -Wl,-rpath,"$1"
"$2"
for file in "$1"/pkgconfig/paceline-*.pc; do
  pkg-config --exists --print-errors "$(basename "$file" .pc)"
done
