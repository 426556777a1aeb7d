#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What is here and what is not, each with ok or the command that mends it. Exit status 1 only when something is missing
# that the lessons need; what only tests or a GPU need is marked and does not count.
set -u
cd "$(dirname "$0")/.." || exit 2
missing=0

row() { printf '  %-15s  %-7s  %s\n' "$1" "$2" "$3"; }
required() { # name, what is wrong, the mend
    row "$1" MISSING "$2"
    row '' '' "mend: $3"
    missing=$((missing + 1))
}
optional() { # name, what is wrong, the mend
    row "$1" '-' "$2"
    if [ -n "$3" ]; then row '' '' "mend: $3"; fi
}
have() { command -v "$1" >/dev/null 2>&1; }

echo "System"
if [ -r /etc/os-release ]; then
    # shellcheck disable=SC1091  # the system's own description of itself
    row system ok "$(. /etc/os-release && echo "$PRETTY_NAME") $(uname -m)$(grep -qi microsoft /proc/version && echo ', WSL2')"
else
    row system ok "$(uname -sm)"
fi

cpu=$(sed -n 's/^\(model name\|Model\)[[:space:]]*: //p' /proc/cpuinfo 2>/dev/null | head -n 1)
if [ -z "$cpu" ] && have lscpu; then cpu=$(LC_ALL=C lscpu | sed -n 's/^Model name: *//p' | head -n 1); fi
row cpu ok "${cpu:-$(uname -m)}, $(nproc) processors"
features=$(sed -n 's/^\(flags\|Features\)[[:space:]]*: //p' /proc/cpuinfo 2>/dev/null | head -n 1)
vectors=
for extension in sse4_2 avx avx2 fma f16c avx512f avx512_bf16 amx_bf16 asimd asimdhp sve sve2 bf16; do
    case " $features " in *" $extension "*) vectors="${vectors:+$vectors }$extension" ;; esac
done
row vectors ok "${vectors:-none that this script knows}"

memory=$(awk '/^MemTotal/ {total = $2} /^MemAvailable/ {free = $2} END {printf "%.1f GiB, %.1f free", total / 1048576, free / 1048576; exit free < 1048576}' /proc/meminfo) &&
    row memory ok "$memory" ||
    optional memory "$memory: compiling needs about 1 GiB" 'close other programs'
disk=$(df -Pk . | awk 'NR == 2 {printf "%.1f GiB free here", $4 / 1048576; exit $4 < 2097152}') &&
    row disk ok "$disk" ||
    optional disk "$disk: a build needs 1 GiB, .venv up to 8" 'free some space'

echo "To build and check"
if have g++; then
    version=$(g++ -dumpfullversion)
    if [ "${version%%.*}" -ge 12 ]; then
        row g++ ok "$version"
    else
        required g++ "$version is too old; 12 or newer is needed" 'apt-get install g++-12, then: make CXX=g++-12 …'
    fi
else
    required g++ 'not there' 'make setup'
fi
if have make; then
    version=$(make --version | sed -n '1s/[^0-9]*//p')
    if printf '4.2\n%s\n' "$version" | sort -CV; then
        row make ok "$version"
    else
        required make "$version is too old; 4.2 or newer is needed" 'apt-get install make'
    fi
else
    required make 'not there' 'apt-get install make'
fi
have git && row git ok "$(git --version | cut -d' ' -f3)" || required git 'not there' 'apt-get install git'
while read -r package reason; do
    [ "$package" = g++ ] && continue
    if scripts/setup.sh --has "$package"; then
        row "${package%-dev}" ok "$reason"
    else
        required "${package%-dev}" "$package: $reason" 'make setup; without root: make setup LOCAL=1'
    fi
done < <(scripts/setup.sh --list)

echo "Only for tests and generated files"
if python=$(command -v python3); then
    if "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
        row python3 ok "$("$python" --version | cut -d' ' -f2)"
    else
        optional python3 "$("$python" --version) is too old; 3.11 or newer is needed" 'a newer release of your system'
    fi
else
    optional python3 'not there' 'make test installs it'
fi
installed=$(.venv/bin/python - reference/requirements.txt <<'PYTHON' 2>/dev/null
import sys
from importlib.metadata import PackageNotFoundError, version

for line in open(sys.argv[1]):
    name, _, wanted = line.partition("==")
    if line.startswith("#") or not wanted:
        continue
    try:
        found = version(name)
    except PackageNotFoundError:
        found = "missing"
    print(name, found, "ok" if found.split("+")[0] == wanted.strip() else f"wanted-{wanted.strip()}")
PYTHON
)
if [ -z "$installed" ]; then
    optional .venv 'not there' 'make test makes it'
else
    while read -r name found state; do
        if [ "$state" = ok ]; then
            row "$name" ok "$found"
        else
            optional "$name" "$found, ${state/-/ }" 'rm .venv/requirements.sha256; make test'
        fi
    done <<<"$installed"
fi
have gdb && row gdb ok "$(gdb --version | sed -n '1s/.* //p'), for make debug-lesson05" ||
    optional gdb 'not there: make debug-lesson05 opens it' 'apt-get install gdb'
have clang-format && row clang-format ok "$(clang-format --version | sed 's/.*version //')" ||
    optional clang-format 'not there; the format test is skipped' 'apt-get install clang-format'

echo "Only for times on a GPU (every lesson can be done without one)"
if nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null); then
    row nvcc ok "$("$nvcc" --version | sed -n 's/.*release \([0-9.]*\).*/\1/p'), $nvcc"
else
    optional nvcc 'not there' 'make setup NVCC=1'
fi
while read -r tool wants; do
    mend='it comes with the CUDA toolkit'
    [ "$tool" != nvdisasm ] || mend='make setup NVCC=1'
    have "$tool" && row "$tool" ok "$(command -v "$tool")" ||
        optional "$tool" "not there; make $wants it" "$mend"
done <<'TOOLS'
nvdisasm sass-lesson05 lists no instructions without
ncu profile-lesson05 wants
compute-sanitizer sanitize-lesson05 wants
TOOLS
gpus=$(timeout 10 nvidia-smi --query-gpu=name,driver_version,memory.total,compute_cap --format=csv,noheader 2>/dev/null)
if [ -n "$gpus" ]; then
    while IFS=, read -r name driver memory capability; do
        row gpu ok "$name, driver$driver,$memory, sm_${capability//[ .]/}"
    done <<<"$gpus"
elif have nvidia-smi; then
    optional gpu 'nvidia-smi is there but finds none' 'is the driver loaded? nvidia-smi says why not'
else
    optional gpu 'none, or no NVIDIA driver' ''
fi

echo
if [ "$missing" -eq 0 ]; then
    echo "everything that the lessons need is there"
else
    echo "$missing missing"
    exit 1
fi
