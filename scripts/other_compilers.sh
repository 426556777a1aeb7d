#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What `make test-compilers` runs: compiles the tree with each g++ that the course takes and this machine's is not, links
# it, and checks a lesson on the CPU and one on the CPU device. A compiler comes from PATH, else from this system's packages,
# unpacked into build/compilers, else from a tree of Debian 13, which needs root and debootstrap. Nothing is installed.
what="g++"
. "${BASH_SOURCE%/*}/apart.sh"
versions=${VERSIONS:-11 12 13 14}
folder=$root/build/compilers
goals=(check-lesson01 check-lesson06 for-gxx SOLUTION=1)
mkdir -p "$folder"

# Sets $bin to the folder of g++-$1 where this system has it, or its packages.
of_this_system() {
    bin=
    if command -v "g++-$1" >/dev/null; then return 0; fi
    bin=$folder/gxx-$1/usr/bin
    if [ -x "$bin/g++-$1" ]; then return 0; fi
    rm -rf "$folder/gxx-$1" "$folder/debs"
    mkdir -p "$folder/debs"
    if (cd "$folder/debs" && apt-get -qq download "g++-$1" "gcc-$1" "cpp-$1" "libgcc-$1-dev" "libstdc++-$1-dev") \
        >"$log" 2>&1 </dev/null; then
        for package in "$folder"/debs/*.deb; do dpkg-deb -x "$package" "$folder/gxx-$1"; done
    fi
    rm -rf "$folder/debs"
    [ -x "$bin/g++-$1" ] || return 1
    # Programs run with the library that this system has, which is newer.
    local libraries=$folder/gxx-$1/usr/lib/$(uname -m)-linux-gnu
    mkdir -p "$libraries"
    ln -s "/usr/lib/$(uname -m)-linux-gnu/libstdc++.so.6" "$libraries"
}

# Makes $folder/trixie: Debian 13, with what the course is compiled with.
debian_13() {
    [ ! -e "$folder/trixie/complete" ] || return 0
    [ "$(id -u)" = 0 ] || skip "a tree of Debian 13 needs root"
    debian_in "$folder/apt" trixie main
    unpack_into "$folder/debootstrap" debootstrap
    echo "unpacking Debian 13 into build/compilers, 200 MB to download …"
    rm -rf "$folder/trixie"
    DEBOOTSTRAP_DIR=$folder/debootstrap/usr/share/debootstrap sh "$folder/debootstrap/usr/sbin/debootstrap" --variant=minbase \
        --include="make,g++,g++-12,g++-13,g++-14,$(scripts/setup.sh --list | awk '$1 != "g++" {print $1}' | paste -sd,)" \
        trixie "$folder/trixie" "$mirror" >"$log" 2>&1 </dev/null || skip "debootstrap does not make a tree of Debian 13 here"
    rm -rf "$folder/trixie/var/cache/apt/archives" "$folder/apt" "$folder/debootstrap"
    # g++ 14 has built its libraries, which want its libstdc++: programs run with that one, so all link with it.
    for older in "$folder"/trixie/usr/lib/gcc/*/1[123]/libstdc++.so; do
        ln -sf "/usr/lib/$(uname -m)-linux-gnu/libstdc++.so.6" "$older"
    done
    touch "$folder/trixie/complete"
}

try() {
    what="g++ $1"
    log=$folder/$1.log
    if of_this_system "$1"; then
        copy_tree "$folder/tree-$1"
        echo "compiling everything with $what …"
        PATH=${bin:+$bin:}$PATH make_in "$folder/tree-$1" -k CXX="g++-$1" "${goals[@]}"
    else
        debian_13
        copy_tree "$folder/trixie/tree-$1"
        echo "compiling everything with $what, in Debian 13 …"
        make_apart unshare --mount --propagation private sh -c \
            'mount -t proc proc "$0/proc" && exec chroot "$0" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin make "$@"' \
            "$folder/trixie" -C "/tree-$1" -k CXX="g++-$1" "${goals[@]}"
    fi
    echo "$what: everything compiles and links; the checks of lessons 01 and 06 pass"
}

failed=
for version in $versions; do
    if [ "$(g++ -dumpversion | cut -d. -f1)" = "$version" ]; then
        echo "g++ $version is this machine's: make test compiles with it"
        continue
    fi
    set +e
    (set -e && try "$version")
    [ $? = 0 ] || failed=yes
    set -e
done
[ -z "$failed" ]
