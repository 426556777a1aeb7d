#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What is here and what is not, each with ok or the command that mends it. Exit status 1 only when something is missing
# that the lessons need; what only tests or a GPU need is marked and does not count.
set -u
cd "$(dirname "$0")/.." || exit 2
missing=0

row() { printf '  %-17s  %-7s  %s\n' "$1" "$2" "$3"; }
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
compiler=${CXX:-g++}
if have "$compiler"; then
    version=$("$compiler" -dumpfullversion)
    if [ "${version%%.*}" -ge 11 ]; then
        # A library that a newer g++ built wants that one's libstdc++, which an older one does not link with.
        if echo 'int main() {}' | LC_ALL=C "$compiler" -x c++ - -o /dev/null -Wl,--no-as-needed -lfmt 2>&1 |
            grep -qE 'undefined reference .*@(CXXABI|GLIBCXX)_'; then
            required "$compiler" "$version does not link this system's libfmt, which a newer g++ built" \
                'make without CXX=; NVCC_CXX= is for nvcc alone'
        else
            row "$compiler" ok "$version"
        fi
    else
        required "$compiler" "$version is too old; 11 or newer is needed" "$(scripts/setup.sh --how g++-11), then: make CXX=g++-11 …"
    fi
    scripts/backtrace.sh "$compiler" >/dev/null && row libbacktrace ok "names the line of the CPU device's findings" ||
        optional libbacktrace "not there: the CPU device's findings name no line" 'g++ 13 or newer, or one that has libbacktrace.a'
else
    required "$compiler" 'not there' "$([ "$compiler" = g++ ] && echo make setup || scripts/setup.sh --how "$compiler")"
fi
if have make; then
    version=$(make --version | sed -n '1s/[^0-9]*//p')
    if printf '4.2\n%s\n' "$version" | sort -CV; then
        row make ok "$version"
    else
        required make "$version is too old; 4.2 or newer is needed" "$(scripts/setup.sh --how make)"
    fi
else
    required make 'not there' "$(scripts/setup.sh --how make)"
fi
have git && row git ok "$(git --version | cut -d' ' -f3)" || required git 'not there' "$(scripts/setup.sh --how git)"
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
    optional gdb 'not there: make debug-lesson05 opens it' "$(scripts/setup.sh --how gdb)"
have clang-format && row clang-format ok "$(clang-format --version | sed 's/.*version //')" ||
    optional clang-format 'not there; the format test is skipped' "$(scripts/setup.sh --how clang-format)"

echo "Only for times on a GPU (every lesson can be done without one)"
root=${SETUP_ROOT:-} # another root, for tests
under_wsl() { grep -qi microsoft "$root/proc/version" 2>/dev/null; }
in_container() { [ -e "$root/.dockerenv" ] || [ -e "$root/run/.containerenv" ]; }
driver_mend() { # the release that is wanted
    if under_wsl; then
        echo "install NVIDIA's driver $1 or newer in Windows, and none here; then, in Windows: wsl --shutdown"
    elif in_container; then
        echo "start the container with --gpus all, on a host that has NVIDIA's driver $1 or newer"
    else
        # shellcheck disable=SC1091  # the system's own description of itself
        case " $(. "$root/etc/os-release" 2>/dev/null && echo "${ID:-} ${ID_LIKE:-}") " in
            *' ubuntu '*) echo "sudo ubuntu-drivers install (it must bring $1 or newer), then restart" ;;
            *) echo "install NVIDIA's driver $1 or newer as your system's documentation says, then restart" ;;
        esac
    fi
}
nvcc=$(scripts/cuda.sh nvcc)
toolkit=
[ -z "$nvcc" ] || toolkit=$("$nvcc" --version | sed -n 's/.*release \([0-9.]*\).*/\1/p')
# What CUDA 12 and 13 ask of a driver at least; a newer minor release of CUDA runs on that too. Without a toolkit it is what
# `make setup NVCC=1` brings, CUDA 13.
case $toolkit in 12.*) least=525 ;; *) least=580 ;; esac

# The cards, in the order that make gives CUDA too. CUDA_VISIBLE_DEVICES names the one that is taken.
if smi=$(scripts/cuda.sh nvidia-smi); then
    cards=$(timeout 20 "$smi" --query-gpu=index,uuid,name,driver_version,memory.total,compute_cap --format=csv,noheader 2>/dev/null) || cards=
fi
driver_cuda=
capability_taken=
if [ -n "${cards:-}" ]; then
    driver_cuda=$(timeout 20 "$smi" | sed -n 's/.*CUDA[A-Z ]* Version: *\([0-9][0-9.]*\).*/\1/p' | head -n 1)
    chosen=${CUDA_VISIBLE_DEVICES-0}
    chosen=${chosen%%,*}
    others=
    visible=
    while IFS=, read -r index uuid name driver memory capability; do
        uuid=${uuid# }
        capability=${capability//[ .]/}
        taken=
        if [ "$index" = "$chosen" ] || { [ -n "$chosen" ] && [ "${uuid#"$chosen"}" != "$uuid" ]; }; then
            visible=yes
            case $cards in *$'\n'*) taken=' (make takes this one)' ;; esac
            case $capability in *[!0-9]*) ;; *) capability_taken=$capability ;; esac
        else
            others=${others:-$index}
        fi
        row gpu ok "${name# }, driver$driver${driver_cuda:+ for CUDA $driver_cuda},$memory, sm_$capability$taken"
    done <<<"$cards"
    if [ -z "$visible" ]; then
        optional '' "CUDA_VISIBLE_DEVICES=${CUDA_VISIBLE_DEVICES-} hides every GPU" 'unset CUDA_VISIBLE_DEVICES'
    elif [ -n "$others" ]; then
        row '' '' "another: CUDA_VISIBLE_DEVICES=$others make …"
    fi
elif [ -n "$smi" ]; then
    why=$(timeout 20 "$smi" 2>&1 | grep -m 1 .)
    optional gpu "nvidia-smi finds none${why:+: $why}" "$(
        if under_wsl; then
            echo "in Windows: wsl --shutdown; if that does not help, install Windows' driver anew"
        elif in_container; then
            echo 'start the container anew; if that does not help, restart its host'
        else
            echo 'restart; if that does not help, install the driver anew'
        fi
    )"
elif [ -e "$root/dev/nvhost-gpu" ] || [ -e "$root/dev/nvmap" ]; then
    row gpu ok "a GPU that shares the system's memory$([ ! -x build/tools/gpu ] || build/tools/gpu --json 2>/dev/null | sed -n 's/.*"name":"\([^"]*\)".*/, \1/p')"
elif cat "$root"/sys/bus/pci/devices/*/vendor 2>/dev/null | grep -qx 0x10de; then
    optional gpu 'a card of NVIDIA is here, and no driver for it' "$(driver_mend "$least")"
elif under_wsl; then
    optional gpu 'no NVIDIA GPU, or no driver for it in Windows' ''
else
    optional gpu 'no NVIDIA GPU' ''
fi

# Where toolkits lie that make does not look into: the newest that is there.
elsewhere() {
    ls -d "$root"/opt/nvidia/hpc_sdk/*/*/cuda/bin/nvcc "$root"/opt/cuda-*/bin/nvcc "$HOME"/cuda*/bin/nvcc \
        "$HOME"/.local/cuda*/bin/nvcc "$HOME"/*conda*/bin/nvcc "$HOME"/*conda*/envs/*/bin/nvcc \
        "$HOME"/*forge*/bin/nvcc "$HOME"/*forge*/envs/*/bin/nvcc 2>/dev/null | sort -V | tail -n 1
}
if [ -z "$nvcc" ]; then
    if lost=$(elsewhere) && [ -n "$lost" ]; then
        optional nvcc "not on PATH, and $lost is" "export PATH=${lost%/nvcc}:\$PATH"
    elif [ -n "$capability_taken" ] && [ "$capability_taken" -lt 75 ]; then
        optional nvcc "not there; the course's kernels are for sm_75 and newer" 'the CPU device checks them all'
    elif [ -n "$driver_cuda" ] && [ "${driver_cuda%%.*}" -lt 13 ]; then
        optional nvcc "not there; the driver is for CUDA $driver_cuda" \
            "install a CUDA toolkit, 12.4 to 12.9; or driver 580 or newer, and then: make setup NVCC=1"
    else
        optional nvcc 'not there' 'make setup NVCC=1'
    fi
elif [ -n "$driver_cuda" ] && [ "${driver_cuda%%.*}" -lt "${toolkit%%.*}" ]; then
    optional nvcc "$toolkit, $nvcc: the driver is for CUDA $driver_cuda" "$(driver_mend "$least")"
elif ! said=$(scripts/cuda.sh --compiles); then
    optional nvcc "${said%%: *}" "${said#*: }"
elif [ -n "$capability_taken" ] && ! "$nvcc" --list-gpu-arch 2>/dev/null | grep -qx "compute_$capability_taken"; then
    if [ "$capability_taken" -lt 75 ] 2>/dev/null; then
        optional nvcc "$toolkit, $nvcc; the course's kernels are for sm_75 and newer" 'the CPU device checks them all'
    else
        optional nvcc "$toolkit, $nvcc, does not know sm_$capability_taken" 'a newer CUDA toolkit, its bin/ first on PATH'
    fi
else
    row nvcc ok "$toolkit, $nvcc"
fi
while read -r tool wants; do
    mend=
    case $tool in
        ncu) mend='install Nsight Compute: a whole CUDA toolkit has it, and developer.nvidia.com/nsight-compute' ;;
        *) mend='make setup NVCC=1' ;;
    esac
    [ -n "$nvcc" ] || mend=
    found=$(scripts/cuda.sh "$tool") && row "$tool" ok "$found" || optional "$tool" "not there; make $wants it" "$mend"
done <<'TOOLS'
nvdisasm sass-lesson05 lists no instructions without
ncu profile-lesson05 wants
compute-sanitizer sanitize-lesson05 wants
TOOLS
if [ "$(id -u)" -ne 0 ] && grep -qsx 'RmProfilingAdminOnly: 1' "$root/proc/driver/nvidia/params"; then
    optional counters 'the driver keeps them to root' 'make profile-lesson05 prints the commands'
fi

echo
if [ "$missing" -eq 0 ]; then
    echo "everything that the lessons need is there"
else
    echo "$missing missing"
    exit 1
fi
