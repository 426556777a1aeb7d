#!/bin/sh
# SPDX-License-Identifier: MIT
# libbacktrace, which finds the line of a finding on the CPU device, as one object file: g++'s own on Debian, elsewhere what
# g++'s C++ library has of it for std::stacktrace, under names of its own.
#   backtrace.sh CXX OBJECT  writes it; without OBJECT prints the library; exit status 1 where there is none
set -eu
for library in libbacktrace.a libstdc++exp.a libstdc++_libbacktrace.a; do
    file=$("$1" -print-file-name="$library")
    [ -f "$file" ] || continue
    prefix=
    [ "$library" = libbacktrace.a ] || prefix=__glibcxx_
    nm "$file" 2>/dev/null | grep -q " T ${prefix}backtrace_pcinfo$" || continue
    if [ -z "${2-}" ]; then
        echo "$file"
        exit
    fi
    # It asks checker/simt/runtime/base/source.cpp for the modules that it is to read.
    wanted= renamed='--redefine-sym dl_iterate_phdr=simt_debug_modules'
    for name in backtrace_create_state backtrace_pcinfo backtrace_simple; do
        wanted="$wanted -Wl,-u,$prefix$name"
        [ -z "$prefix" ] || renamed="$renamed --redefine-sym $prefix$name=$name"
    done
    # shellcheck disable=SC2086  # one word an option
    "$1" -r -nostdlib -o "$2" $wanted "$file" && objcopy $renamed "$2"
    exit
done
exit 1
