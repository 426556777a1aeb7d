#!/bin/sh
# SPDX-License-Identifier: MIT
# `make lease-check`, at the desk, before a card is borrowed. Puts make into .deps/bin, since that machine may have none, says
# what must travel and how large it is, and prints the lines to type there. MAKE=PATH is the make that is taken.
# SETUP_DEPS=DIR is taken for .deps (for tests).
set -eu
deps=${SETUP_DEPS:-.deps}
limit=60000000 # bytes

fail() {
    echo "lease-check: $1" >&2
    exit 1
}

[ -e "$deps/usr/include/gtest/gtest.h" ] || fail ".deps is not there: make setup LOCAL=gpu"
commit=$(git rev-parse HEAD 2>/dev/null) || fail "this folder is no git checkout, so that nothing says which commit is measured"
mkdir -p "$deps/bin"
cp "$(command -v "${MAKE:-make}")" "$deps/bin/make"

# Reads names that end with a zero byte; prints how many files there are, and their bytes.
measure() {
    xargs -0 -r stat -c '%s' 2>/dev/null | awk '{bytes += $1} END {print NR, bytes + 0}'
}
megabytes() {
    awk -v bytes="$1" 'BEGIN {printf "%.1f MB", bytes / 1e6}'
}
row() {
    printf '  %-34s %6s files %10s\n' "$1" "$2" "$(megabytes "$3")"
}

tree=$(git ls-files -z --cached --others --exclude-standard | measure)
packages=$(find "$deps" ! -type d -print0 | measure)
bytes=$((${tree#* } + ${packages#* }))
echo "what travels:"
row "the tree, but for ignored files" "${tree% *}" "${tree#* }"
row ".deps" "${packages% *}" "${packages#* }"

if [ "$bytes" -gt "$limit" ]; then
    why="the largest file is $(git ls-files -z --cached --others --exclude-standard |
        xargs -0 -r ls -dS 2>/dev/null | sed q)"
    [ ! -e "$deps/usr/include/boost" ] || why=".deps is that of LOCAL=1: rm -r .deps && make setup LOCAL=gpu"
    fail "$(megabytes "$bytes") is more than the $(megabytes "$limit") that may travel: $why"
fi

changed=$(git status --porcelain | wc -l)
echo "commit $commit$([ "$changed" -eq 0 ] || echo ", and $changed files that differ from it")"
cat <<TEXT
there, in the folder of the tree, \$OUT being the folder that comes back:
  PATH=\$PATH:\$PWD/.deps/bin make gpu-report LEASE=9m30s OUT=\$OUT COMMIT=$commit
then, for what is left:
  PATH=\$PATH:\$PWD/.deps/bin make gpu-report LEASE=3m OUT=\$OUT COMMIT=$commit
TEXT
