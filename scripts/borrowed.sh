#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# `make test-borrowed`: builds, by one make, all that `make gpu-report` runs, where there is little more than nvcc, g++ and
# Python. A mount namespace hides git, every make, .venv and what setup.sh installs. A copy of the tree is there, with .deps
# as `make setup LOCAL=gpu` and `make lease-check` leave it. cuBLAS comes from a Python package, the card is made up. The
# parts simt and libs are left out, for the reasons in the last line.
what="a borrowed machine"
. "${BASH_SOURCE%/*}/apart.sh"
folder=$root/build/borrowed
tree=$folder/tree
log=$folder/log
mkdir -p "$folder/deps"

[ "$(id -u)" = 0 ] || skip "hiding packages needs root"
unshare --mount true 2>/dev/null || skip "mount namespaces are not allowed here"
scripts/cuda.sh nvcc >/dev/null || skip "nvcc is not there"
SETUP_DEPS=$folder/deps scripts/setup.sh --local --gpu >"$log" 2>&1 || skip "$(tail -n 1 "$log")"
SETUP_DEPS=$folder/deps scripts/lease_check.sh >"$log" 2>&1 || fail "make lease-check: $(tail -n 1 "$log")"
parts=$(sed -n 's/^report_parts := //p' make/report.mk)
parts=$(tr ' ' '\n' <<<"$parts" | grep -vxE 'simt|libs' | paste -sd' ')
rm -rf "$tree/build"
copy_tree "$tree"
cp -a "$folder/deps" "$tree/.deps"

# Prints what is hidden: programs, headers and libraries of the system.
to_hide() {
    type -aP git make gmake clang-format || true
    for place in /usr/include /usr/local/include /usr/include/*-linux-gnu; do
        ls -d "$place"/{gtest,gmock,fmt,nlohmann,CLI,toml++,boost,openblas*,cblas*} 2>/dev/null || true
    done
    for place in /usr/lib /usr/local/lib /usr/lib64 /usr/lib/*-linux-gnu; do
        ls -d "$place"/lib{gtest,gmock,fmt,tomlplusplus,openblas,blas,boost}* 2>/dev/null || true
    done
}

cat >"$folder/inside.sh" <<'INSIDE'
set -eu
while read -r path; do
    if [ ! -e "$path" ]; then continue; fi # it lay in a folder that is hidden
    if [ -d "$path" ]; then mount -t tmpfs none "$path"; else mount --bind /dev/null "$path"; fi
done <"$folder/hidden"
cd "$tree"
for program in git clang-format; do ! [ -x "$(command -v "$program")" ] || { echo "$program is not hidden"; exit 1; }; done
[ "$(command -v make)" = "$tree/.deps/bin/make" ] || { echo "make is $(command -v make)"; exit 1; }
for header in gtest/gtest.h fmt/format.h nlohmann/json.hpp CLI/CLI.hpp toml++/toml.h boost/version.hpp cblas.h; do
    ! g++ -fsyntax-only -include "$header" -x c++ /dev/null 2>/dev/null || { echo "$header is not hidden"; exit 1; }
done
one_make() { make -k -j"$(nproc)" DEVICE=gpu LOCAL=gpu gpu_seen=/dev/nvidia0 PARTS="$parts" "$@"; }
TIMEFORMAT='%0R s, %0U + %0S s of processor time'
{ time one_make report-programs; } 2>&1 || failed=yes
one_make -s --eval='named: ; @printf "%s\n" $(report_programs)' named >"$folder/named" 2>/dev/null
[ -s "$folder/named" ] || { echo "error: make names no programs"; exit 1; }
missing=$(while read -r program; do [ -e "$program" ] || echo "$program"; done <"$folder/named")
[ -z "$missing" ] || { echo "error: not built:" $missing; exit 1; }
[ -z "${failed-}" ] || { echo "error: make failed, though all programs are there"; exit 1; }
[ "$(sed q build/gpu/card)" = 90a ] || { echo "error: built for sm_$(sed q build/gpu/card)"; exit 1; }
for program in build/gpu/check/lesson*; do "$program" --describe >/dev/null || { echo "error: $program does not start"; exit 1; }; done
INSIDE

echo "building all that make gpu-report runs, for sm_90a, where little is installed …"
packages=$(find "$root/build/cublas" -mindepth 1 -maxdepth 1 -type d 2>/dev/null | paste -sd:)
to_hide | xargs -r realpath | sort -u >"$folder/hidden"
make_apart unshare --mount --propagation private env -i PATH="$PATH:$tree/.deps/bin" HOME="$folder" folder="$folder" tree="$tree" \
    parts="$parts" PYTHONPATH="$packages" SOL_LIBCUDA="$root/build/tests/fakes/cuda_driver.so" \
    FAKE_CARD="90 13000 NVIDIA H100" bash "$folder/inside.sh"
took=$(grep -E '^[0-9]+ s, .* of processor time$' "$log")
echo "one make builds $(wc -l <"$folder/named") programs for sm_90a where little is installed: $took ($(nproc) processors)"
kernels=$(find checker/simt/tests/kernels -name '*.cu' | wc -l)
echo "not tried there: simt ($kernels kernels, 2 s of nvcc each), libs (its CPU device's side needs boost.context, which LOCAL=gpu" \
    "leaves out)"
