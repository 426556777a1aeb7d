#!/bin/sh
# SPDX-License-Identifier: MIT
# Installs the system packages that the course needs, by apt-get, dnf or pacman: says what and why first, installs
# nothing else, and does nothing when all are there. Packages go by Debian's names here.
#   setup.sh            install what is missing
#   setup.sh --local    without root: unpack all but g++ into .deps, where every build finds them first
#   setup.sh --check    install nothing: exit 1 and say so when something is missing
#   setup.sh --list     print the packages with their reasons
#   setup.sh --has X    exit 0 when package X, or what it is wanted for, is there
#   setup.sh --how X    the command that installs package X on this system, such as g++-13
#   --gpu               with any of these: only what the programs for a GPU are built with
#   --python            with any but --local: also what `make test` needs
# CXX=g++-11 is the compiler, where it is not to be g++.
# SETUP_ROOT=DIR looks for headers and os-release under another root (for tests), SETUP_DEPS=DIR is taken for .deps.
set -eu
root=${SETUP_ROOT:-}
compiler=${CXX:-g++}
deps=${SETUP_DEPS:-$(cd "$(dirname "$0")/.." && pwd)/.deps}

packages() {
    cat <<'LIST'
g++                     compiles C++20 (11 or newer)
libgtest-dev            GoogleTest, which the checks and tests are written with
LIST
    [ "${gpu:-}" ] || cat <<'LIST'
libopenblas-dev         the BLAS that lesson 03 is measured against
libboost-context-dev    switches between the CPU device's threads
LIST
    cat <<'LIST'
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
        g++) command -v "$compiler" >/dev/null && return ;;
        libgtest-dev) header gtest/gtest.h && return ;;
        libopenblas-dev) header cblas.h || header openblas/cblas.h && return ;;
        nlohmann-json3-dev) header nlohmann/json.hpp && return ;;
        libcli11-dev) header CLI/CLI.hpp && return ;;
        libfmt-dev) header fmt/core.h && return ;;
        libtomlplusplus-dev) header toml++/toml.h && return ;;
        libboost-context-dev) header boost/context/detail/fcontext.hpp && return ;;
        clang-format) command -v clang-format >/dev/null && return ;;
        python3) command -v python3 >/dev/null && return ;;
        python3-venv) python3 -c 'import ensurepip, venv' 2>/dev/null && return ;;
    esac
    return 1
}

header() {
    [ -e "$deps/usr/include/$1" ] && return 0
    [ "$mode" = local ] && return 1
    for directory in "$root"/usr/include "$root"/usr/local/include "$root"/usr/include/*-linux-gnu; do
        [ -e "$directory/$1" ] && return 0
    done
    return 1
}

# ---- what installs packages here, and what it calls them ----------------------------------------------------------------

# apt, dnf or pacman, by what the system says it is; nothing on others.
manager() {
    [ -r "$root/etc/os-release" ] || return 0
    # shellcheck disable=SC1091  # the system's own description of itself
    ids=$(. "$root/etc/os-release" && echo " ${ID:-} ${ID_LIKE:-} ")
    case $ids in
        *" debian "* | *" ubuntu "*) command -v apt-get >/dev/null && echo apt || true ;;
        *" fedora "*) command -v dnf >/dev/null && echo dnf || true ;;
        *" arch "*) command -v pacman >/dev/null && echo pacman || true ;;
    esac
}

# Debian's name, Fedora's, Arch's. python3-venv is part of Python there.
names() {
    cat <<'LIST'
g++                     gcc-c++             gcc
libgtest-dev            gtest-devel         gtest
libopenblas-dev         openblas-devel      blas-openblas
libboost-context-dev    boost-devel         boost
nlohmann-json3-dev      json-devel          nlohmann-json
libcli11-dev            cli11-devel         cli11
libfmt-dev              fmt-devel           fmt
libtomlplusplus-dev     tomlplusplus-devel  tomlplusplus
python3                 python3             python
python3-venv            python3             python
clang-format            clang-tools-extra   clang
LIST
}

# A package by the name that it has here. Compilers of one release are g++-13, gcc13-c++ and gcc13.
name_here() {
    case $(manager) in
        dnf) column=2 versioned="gcc${1#g++-}-c++" ;;
        pacman) column=3 versioned="gcc${1#g++-}" ;;
        *)
            echo "$1"
            return
            ;;
    esac
    case $1 in
        g++-*) echo "$versioned" ;;
        *) names | awk -v name="$1" -v column="$column" '$1 == name {found = $column} END {print found ? found : name}' ;;
    esac
}

names_here() {
    for name; do name_here "$name"; done | awk '!seen[$0]++' | tr '\n' ' ' | sed 's/ $//'
}

# What makes this user root, where it is not and can be.
becoming_root() {
    [ "$(id -u)" -eq 0 ] || ! command -v sudo >/dev/null || echo 'sudo '
}

# Without a package manager that is known here, the package's name alone.
how() {
    case $(manager) in
        apt) echo "$(becoming_root)apt-get install $(names_here "$@")" ;;
        dnf) echo "$(becoming_root)dnf install $(names_here "$@")" ;;
        pacman) echo "$(becoming_root)pacman -S $(names_here "$@")" ;;
        *) echo "install $*" ;;
    esac
}

mode=install
gpu=
python=
if [ "${1-}" = --has ]; then
    is_there "$2"
    exit
fi
if [ "${1-}" = --how ]; then
    shift
    how "$@"
    exit
fi

for argument in "$@"; do
    case $argument in
        --local) mode=local ;;
        --check) mode=check ;;
        --list) mode=list ;;
        --gpu) gpu=yes ;;
        --python) python=yes ;;
        *)
            echo "setup.sh: unknown option $argument" >&2
            exit 2
            ;;
    esac
done

[ "$mode" != local ] || python= # programs are not unpacked, only what is compiled with

if [ "$mode" = list ]; then
    packages
    exit 0
fi

# An older one than the system's package may be there beside a newer one.
version=$("$compiler" -dumpfullversion 2>/dev/null || true)
if [ "${version%%.*}" -lt 11 ] 2>/dev/null; then
    echo "$compiler $version is too old; 11 or newer is needed: $(how g++-11), then make CXX=g++-11 …" >&2
    exit 1
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
    without_root=
    [ "$(manager)" != apt ] || without_root='; without root: make setup LOCAL=1'
    echo "missing:$missing. Install with: make setup$without_root" >&2
    exit 1
fi

# ---- without root ----------------------------------------------------------------------------------------------------

# apt-get as an ordinary user: cache and status are our own. The status is empty, so that dependencies which this system
# has are named too. $lists is empty for the system's package lists, or the folder of our own.
apt_here() {
    set -- -qq -o Debug::NoLocking=1 -o "APT::Sandbox::User=$(id -un)" -o Acquire::Retries=2 \
        -o Acquire::http::Timeout=20 -o "Dir::State::status=$new/status" -o "Dir::Cache=$new/cache" \
        ${lists:+-o "Dir::State::lists=$lists"} "$@"
    LC_ALL=C apt-get "$@" </dev/null
}

# Downloads packages $1 and what they depend on into $new/debs, but for what every g++ brings and GoogleTest's source.
download() {
    # shellcheck disable=SC2086  # one word a package
    names=$(apt_here --simulate --no-install-recommends install $1 |
        sed -n 's/^Inst \([^ ]*\).*/\1/p' | grep -Evx 'libc6|libgcc-s1|libstdc\+\+6|googletest' |
        grep -Evx 'libc6-dev|libc-dev-bin|linux-libc-dev|libstdc\+\+-[0-9]+-dev|libgcc-[0-9]+-dev' |
        grep -Evx '(libasan|libtsan|liblsan|libubsan|libitm)[0-9]+|libcc1-0|lib(crypt|nsl|tirpc)-dev|libssl3' |
        grep -Evx 'libboost-(atomic|chrono|date-time|serialization|system|thread).*')
    # shellcheck disable=SC2086
    [ -n "$names" ] && (cd "$new/debs" && apt_here download $names)
}

# Lays the unpacked packages out for a compiler: no folder a machine type, no links into /etc, nothing that no build
# reads. Licences stay.
lay_out() {
    for folder in "$1"/lib/*-linux-gnu; do
        [ -d "$folder" ] || continue
        mv "$folder"/* "$1/lib"
        rmdir "$folder"
    done
    for folder in "$1"/lib/openblas-* "$1"/include/*-linux-gnu/openblas-*; do
        [ -d "$folder" ] || continue
        find "$folder" ! -type d ! -name 'libopenblas*.so*' ! -name '*.h' -delete
        case $folder in
            */lib/*) mv "$folder"/*.so* "$1/lib" ;;
            *) mv "$folder"/*.h "$1/include" ;;
        esac
    done
    # Of Boost, what boost.context's switch includes: its -dev package holds the headers of all of Boost, 150 MB.
    if [ -d "$1/include/boost" ]; then
        find "$1/include/boost" -mindepth 1 -maxdepth 1 ! -name config ! -name config.hpp ! -name context \
            ! -name cstdint.hpp ! -name detail -exec rm -r {} +
        find "$1" -name 'libboost_*' ! -name 'libboost_context*' -delete
    fi
    rm -rf "$1"/src "$1"/lib/cmake "$1"/lib/pkgconfig "$1"/lib/openblas-* "$1"/include/*-linux-gnu
    find "$1/share" ! -type d ! -path '*/doc/*/copyright' -delete
    find "$1" -type d -empty -delete
}

stop() {
    grep -m 2 -E '^(E|W: Failed|dpkg-deb)' "$new/log" >&2 || tail -n 2 "$new/log" >&2
    echo "$1; the command can be repeated as it is" >&2
    exit 1
}

# Only a whole tree gets the name that builds look for; what an interrupted run left is thrown away by the next.
unpack_here() {
    new=$deps/new
    rm -rf "$new"
    mkdir -p "$new/debs" "$new/cache/archives/partial" "$new/lists/partial"
    : >"$new/status"
    lists=
    if ! download "$1" >"$new/log" 2>&1; then
        # This system's package lists are missing or old.
        lists=$new/lists
        { apt_here update && download "$1"; } >"$new/log" 2>&1 || stop "the packages could not be downloaded"
    fi
    for package in "$new"/debs/*.deb; do
        dpkg-deb -x "$package" "$new/tree" >>"$new/log" 2>&1 || stop "${package##*/} could not be unpacked"
    done
    lay_out "$new/tree/usr"
    [ ! -e "$deps/usr" ] || mv "$deps/usr" "$new/old"
    mv "$new/tree/usr" "$deps/usr"
    rm -rf "$new"
}

if [ "$mode" = local ]; then
    case $missing in
        *" g++"*)
            echo "g++ is not there, and LOCAL=1 does not bring one: load the module that has g++ 11 or newer, or ask" \
                "who runs this machine" >&2
            exit 1
            ;;
    esac
    if [ "$(manager)" != apt ]; then
        echo "LOCAL=1 unpacks Debian's packages, and this system is not Debian-like; install (Debian's names):$missing" >&2
        exit 1
    fi
    echo "unpacking packages into .deps, which takes a few seconds:$reasons"
    # shellcheck disable=SC2046  # one line of words
    unpack_here "$(echo $(packages | sed 's/ .*//' | grep -vx 'g++'))"
    echo "unpacked into .deps: $(du -sm "$deps" | cut -f1) MB"
    exit 0
fi

# ---- as root ---------------------------------------------------------------------------------------------------------

manager=$(manager)
if [ -z "$manager" ]; then
    cat >&2 <<TEXT
This system has neither apt-get, nor dnf, nor pacman, so nothing was installed. Install these (Debian's names), then run
the same command:
$reasons
TEXT
    exit 1
fi
# shellcheck disable=SC2086  # one word a package
wanted=$(names_here $missing)
# shellcheck disable=SC2086
how=$(how $missing)

as_root=$(becoming_root)
if [ "$(id -u)" -ne 0 ] && [ -z "$as_root" ]; then
    without_root=
    [ "$manager" != apt ] || without_root='Without root: make setup LOCAL=1; '
    echo "missing: $wanted. You are not root and sudo is not there. ${without_root}as root: $how" >&2
    exit 1
fi

echo "installing system packages, which takes a minute or two:$reasons"
[ "$manager" = apt ] || echo "by the names that they have here: $wanted"
run_apt() {
    DEBIAN_FRONTEND=noninteractive $as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o=Dpkg::Use-Pty=0 "$@"
}
# shellcheck disable=SC2086  # one word a package
install_packages() {
    case $manager in
        apt) run_apt update && run_apt install --yes --no-install-recommends $wanted ;;
        dnf) $as_root dnf --quiet --assumeyes install $wanted ;;
        # Without -y of its own: a new list of packages beside old packages is what Arch does not support.
        pacman) $as_root pacman -S --noconfirm --needed $wanted ;;
    esac
}
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! install_packages >"$log" 2>&1 </dev/null; then
    tail -n 5 "$log" >&2
    case $manager in
        apt)
            echo "apt-get failed. Try by hand: ${as_root}apt-get update && $how;" \
                "without root: make setup LOCAL=1" >&2
            ;;
        *) echo "$manager failed. Try by hand: $how" >&2 ;;
    esac
    exit 1
fi
echo "installed: $wanted"
