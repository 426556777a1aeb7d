#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# diff.sh LESSON OP...: yours (-) against the solution (+), for each op, or helper, that yours gets right.
set -u
lesson=$1
shift
shown=0
for op in "$@"; do
    yours=$(ls "lessons/$lesson/$op".{cu,cpp,cuh} 2>/dev/null | head -n 1)
    only=" ONLY=$op"
    if [[ $yours = *.cuh ]]; then only=; fi
    if [ "$(cat "build/verdict/$lesson/$op")" != lessons ]; then
        echo "$op: yours does not pass yet; the solution is shown once it does: make check-lesson${lesson%%_*}$only"
        continue
    fi
    shown=$((shown + 1))
    solution=build/solution_text/$lesson/${yours##*/}
    mkdir -p "${solution%/*}"
    build/tools/stubs --print solution "solutions/$lesson/${yours##*/}" >"$solution"
    if git --no-pager diff --no-index --color="$([ -t 1 ] && [ -z "${NO_COLOR-}" ] && echo always || echo never)" \
        "$yours" "$solution"; then
        echo "$op: yours is the solution, letter for letter"
    fi
done
[ "$shown" -gt 0 ]
