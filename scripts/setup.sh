#!/bin/sh
# SPDX-License-Identifier: MIT
# Installs the system packages that the course needs, on Debian-like systems: says what and why first, installs
# nothing else, and does nothing when all are there.
#   setup.sh            install what is missing
#   setup.sh --check    install nothing: exit 1 and say so when something is missing
#   setup.sh --python   also what `make test` needs beyond that
#   setup.sh --list     print the packages with their reasons
#   setup.sh --has X    exit 0 when package X, or what it is wanted for, is there
# SETUP_ROOT=DIR looks for headers and os-release under another root (for tests).
set -eu
root=${SETUP_ROOT:-}

packages() {
    cat <<'LIST'
g++                     compiles C++20 (12 or newer)
libgtest-dev            GoogleTest, which the checks and tests are written with
libopenblas-dev         the BLAS that lesson 03 is measured against
nlohmann-json3-dev      reads and writes JSON
libcli11-dev            reads command lines
libfmt-dev              formats what the programs print
libtomlplusplus-dev     reads lesson.toml and wrong.toml
LIST
    [ "${python:-}" ] && cat <<'LIST'
python3                 the PyTorch reference, for tests only (3.11 or newer)
python3-venv            keeps its packages in .venv, away from the system's
clang-format            formats C++: make format, and a test
LIST
    true
}

# A package is there when the file it is wanted for is, so that hand-made installations count.
is_there() {
    case $1 in
        g++) command -v g++ >/dev/null && return ;;
        libgtest-dev) header gtest/gtest.h && return ;;
        libopenblas-dev) header cblas.h && return ;;
        nlohmann-json3-dev) header nlohmann/json.hpp && return ;;
        libcli11-dev) header CLI/CLI.hpp && return ;;
        libfmt-dev) header fmt/core.h && return ;;
        libtomlplusplus-dev) header toml++/toml.h && return ;;
        clang-format) command -v clang-format >/dev/null && return ;;
        python3) command -v python3 >/dev/null && return ;;
        python3-venv) python3 -c 'import ensurepip, venv' 2>/dev/null && return ;;
    esac
    return 1
}

header() {
    for directory in "$root"/usr/include "$root"/usr/local/include "$root"/usr/include/*-linux-gnu; do
        [ -e "$directory/$1" ] && return 0
    done
    return 1
}

if [ "${1-}" = --has ]; then
    is_there "$2"
    exit
fi

mode=install
python=
for argument in "$@"; do
    case $argument in
        --check) mode=check ;;
        --list) mode=list ;;
        --python) python=yes ;;
        *)
            echo "setup.sh: unknown option $argument" >&2
            exit 2
            ;;
    esac
done

if [ "$mode" = list ]; then
    packages
    exit 0
fi

missing=
reasons=
while read -r name reason; do
    if ! is_there "$name"; then
        missing="$missing $name"
        reasons="$reasons$(printf '\n  %-22s  %s' "$name" "$reason")"
    fi
done <<LIST
$(packages)
LIST
[ -n "$missing" ] || exit 0

if [ "$mode" = check ]; then
    echo "missing:$missing. Install with: make setup" >&2
    exit 1
fi

debian_like() {
    command -v apt-get >/dev/null && [ -r "$root/etc/os-release" ] || return 1
    # shellcheck disable=SC1091  # the system's own description of itself
    ids=$(. "$root/etc/os-release" && echo " ${ID:-} ${ID_LIKE:-} ")
    case $ids in
        *" debian "* | *" ubuntu "*) return 0 ;;
    esac
    return 1
}

if ! debian_like; then
    cat >&2 <<TEXT
This system is not Debian-like, so nothing was installed. Install these (Debian's names), then run the same command:
$reasons
TEXT
    exit 1
fi

as_root=
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
        echo "missing:$missing. You are not root and sudo is not there; as root: apt-get install$missing" >&2
        exit 1
    fi
    as_root=sudo
fi

echo "installing system packages, which takes a minute or two:$reasons"
run_apt() {
    DEBIAN_FRONTEND=noninteractive $as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o=Dpkg::Use-Pty=0 "$@"
}
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# shellcheck disable=SC2086  # one word a package
if ! { run_apt update && run_apt install --yes --no-install-recommends $missing; } >"$log" 2>&1 </dev/null; then
    tail -n 5 "$log" >&2
    echo "apt-get failed. Try by hand: ${as_root:+$as_root }apt-get update && ${as_root:+$as_root }apt-get install$missing" >&2
    exit 1
fi
echo "installed:$missing"
