#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# watch.sh LESSON [ONLY=op] [VERBOSE=1]: checks the lesson now and whenever one of its files is saved. Ctrl-C ends it.
set -u
lesson=$1
shift
unset MAKEFLAGS MAKELEVEL MFLAGS
trap 'echo; exit 0' INT

saved() { stat -c '%n %Y %s' "lessons/$lesson"/*.{cpp,cu,cuh} 2>/dev/null; }

seen=
while true; do
    now=$(saved)
    if [ "$now" != "$seen" ]; then
        seen=$now
        if [ -t 1 ]; then printf '\033[H\033[2J\033[3J'; fi
        make --no-print-directory "check-lesson${lesson%%_*}" "$@" || true
        echo "watching lessons/$lesson; Ctrl-C ends"
    fi
    sleep 0.2
done
