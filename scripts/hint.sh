#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# hint.sh LESSON [OP]: the hints folded under `## Hints` and `### OP` on the lesson's page, one more each time. Without
# OP, those of the first exercise that does not pass yet. How many were shown is kept in results/hints.
set -eu
lesson=$1 op=${2-}
number=${lesson%%_*}
page=lessons/$lesson/README.md
if [ ! -r "$page" ]; then
    echo "$page is not there; git restore $page brings it back" >&2
    exit 1
fi

if [ -z "$op" ]; then
    passed=
    if [ -e results/results.jsonl ]; then
        passed=$(build/tools/progress --passed "$lesson")
    fi
    open=
    for op in $(awk '/^## / {hints = /^## Hints/} hints && /^### / {gsub(/^### *|`/, ""); print $1}' "$page"); do
        if ! grep -qx "$op" <<<"$passed"; then
            open=$op
            break
        fi
    done
    if [ -n "$op" ] && [ -z "$open" ]; then
        echo "lesson $number · every exercise passes"
        echo "make hint-lesson$number ONLY=$op shows its hints all the same"
        exit 0
    fi
fi

# Prints hint $1 as plain text; how many there are with `count`.
hint() {
    awk -v want="$1" -v op="$op" '
        /^```/ { code = !code; next }
        !code && /^## / { hints = /^## Hints/; of_op = ""; next }
        !code && /^### / { of_op = $2; gsub(/`/, "", of_op); next }
        !hints || of_op != op { next }
        /<details>/ { number++; shown = number == want }
        shown {
            line = $0
            gsub(/<\/?(details|summary)[^>]*>/, "", line)
            gsub(/&lt;/, "<", line); gsub(/&gt;/, ">", line); gsub(/&amp;/, "\\&", line)
            # Blank lines only between lines that are printed, one at a time.
            if (line ~ /[^ ]/) { if (blank && printed) print ""; print line; printed = 1; blank = 0 } else blank = 1
        }
        /<\/details>/ { shown = 0 }
        END { if (want == "count") print number + 0 }' "$page" | fold -s -w 80 | sed "s, *$,,"
}

total=$(hint count)
if [ "$total" -eq 0 ]; then
    if [ -n "$op" ] && grep -qsE '^[[:space:]]*// >>> given[[:space:]]*$' "solutions/$lesson/$op".{cpp,cu,cuh}; then
        echo "$op is given in lesson $number: there is nothing to write"
        exit 0
    fi
    echo "$page has no hints for ${op:-this lesson}"
    exit 0
fi
state=results/hints/${number}_$op
seen=$(cat "$state" 2>/dev/null || echo 0)
if [ "$seen" -ge "$total" ]; then
    echo "lesson $number · $op · no more hints; the $total again:"
    for i in $(seq "$total"); do
        echo
        hint "$i"
    done
    exit 0
fi
next=$((seen + 1))
echo "lesson $number · $op · hint $next of $total"
echo
hint "$next"
mkdir -p "${state%/*}"
echo "$next" >"$state"
if [ "$next" -lt "$total" ]; then
    echo
    echo "more    make hint-lesson$number ONLY=$op"
fi
