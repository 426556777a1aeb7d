#!/bin/sh
# SPDX-License-Identifier: MIT
# Where CUDA's programs are: the one place that decides it. On PATH, else beside nvcc, else in a toolkit's usual
# folders, else in .venv. To find one takes nothing but the shell.
#   cuda.sh TOOL       the path of nvcc, ncu, compute-sanitizer, …; exit status 1 where it is not there
#   cuda.sh --path     these folders, as they go after PATH
#   cuda.sh --include  the folder of nvcc's headers, --lib that of its libraries; nothing where every compiler looks there
#   cuda.sh --cublas [PYTHON]  nothing if nvcc's toolkit has cuBLAS's headers; else the package nvidia/* of that Python
#                      (python3) that has include/cublas_v2.h and lib/libcublas*.so.N, N being nvcc's major version; exit
#                      status 1 if there is none
#   cuda.sh --cupti [PYTHON]  nothing if libcupti.so.N lies with nvcc's libraries, where programs find it; else its path in
#                      the toolkit's extras/ or in such a package; exit status 1 if there is none
#   cuda.sh --toolkit  what objects are compiled with: nvcc's version and path, its host compiler, the C library
#   cuda.sh --compiles whether nvcc and its host compiler go together, by compiling an empty file: silent, or one line that
#                      says what mends it, and exit status 1
#   cuda.sh --in-venv  what makes the nvcc in .venv the one that is taken, in one line, where another comes first
# NVCC_CXX=g++-13 is nvcc's host compiler. SETUP_ROOT=DIR has the usual folders under another root, SETUP_VENV=DIR is taken
# for .venv (for tests).
set -eu
root=${SETUP_ROOT:-}
venv=${SETUP_VENV:-${0%/*}/../.venv}
oldest_host=11

# One folder a line. A glob that matches nothing stays a pattern, which is no folder. The newest toolkit is the first.
folders() {
    newest_first=
    for folder in "$root"/usr/local/cuda-[0-9] "$root"/usr/local/cuda-[0-9].* "$root"/usr/local/cuda-[0-9][0-9]*; do
        newest_first="$folder/bin
$newest_first"
    done
    for folder in ${CUDA_HOME:+"$CUDA_HOME/bin"} ${CUDA_PATH:+"$CUDA_PATH/bin"} "$root/usr/local/cuda/bin"; do
        [ ! -d "$folder" ] || echo "$folder"
    done
    while read -r folder; do
        [ ! -d "$folder" ] || echo "$folder"
    done <<FOLDERS
$newest_first
$root/opt/cuda/bin
$root/usr/lib/nvidia-cuda-toolkit/bin
FOLDERS
    # Nsight Compute by itself; nvidia-smi under WSL2.
    for folder in "$root/opt/cuda/nsight_compute" "$root"/opt/nvidia/nsight-compute/* "$root/usr/lib/wsl/lib" \
        "$venv"/lib/python3*/site-packages/nvidia/cu*/bin; do
        [ ! -d "$folder" ] || (cd "$folder" && pwd)
    done
}

# The folder in which nvcc lies once links are followed: ncu and the others may be there.
beside_nvcc() {
    nvcc=$(find_tool nvcc) && nvcc=$(realpath "$nvcc" 2>/dev/null) && echo "${nvcc%/*}" || true
}

find_tool() {
    command -v "$1" && return
    found=$({ [ "$1" = nvcc ] || beside_nvcc; folders; } | while read -r folder; do
        if [ -f "$folder/$1" ] && [ -x "$folder/$1" ]; then
            echo "$folder/$1"
            break
        fi
    done)
    [ -n "$found" ] && echo "$found"
}

# Prints the first folder that holds a file: of those that nvcc's dry run names after -I or -L, quoted or not, then of those
# that a toolkit has. The dry run of Debian's own nvcc, whose files lie with the system's, names none.
holding() { # the letter, the file, the toolkit's folders
    nvcc=$(find_tool nvcc) || return 1
    said=$("$nvcc" --dryrun -x cu -c /dev/null -o /dev/null 2>&1 || true)
    # An nvcc on PATH may be a script that executes the toolkit's own.
    toolkit=$(echo "$said" | sed -n 's/^#\$ *TOP *= *//p')
    [ -d "$toolkit" ] || toolkit=$(realpath "$nvcc" | sed 's|/[^/]*/[^/]*$||')
    said=$(echo "$said" | sed -n 's/^#\$ *\(INCLUDES\|LIBRARIES\) *=//p' | tr '" \t' '\n\n\n' | sed -n "s/^-$1//p")
    cd "${toolkit:-/}" # for the globs in $3
    for folder in $said $3; do
        case $folder in
            */stubs | */stubs/) continue ;;
            /*) ;;
            *) folder=$toolkit/$folder ;;
        esac
        if [ -e "$folder/$2" ]; then
            echo "$folder"
            return
        fi
    done
}
header_folders="include targets/*/include"
library_folders="lib64 targets/*/lib lib"

# As holding, silent where every compiler looks.
folder_with() {
    found=$(holding "$@") || return 1
    [ -n "$found" ] || return 0
    case $(realpath "$found") in
        /usr/include | /usr/lib | /usr/lib64 | /usr/lib/*-linux-gnu | /lib | /lib64 | /lib/*-linux-gnu) ;;
        *) echo "$found" ;;
    esac
}

# Prints the first of the packages nvidia/* of Python $1 that holds all the other arguments. Their parent is a namespace, whose
# parts lie in several places.
package_with() {
    python=$1
    shift
    "$python" -c 'import glob, nvidia; print(*(f for p in nvidia.__path__ for f in sorted(glob.glob(p + "/*"))), sep="\n")' \
        2>/dev/null | while read -r package; do
        for file; do [ -e "$package/$file" ] || continue 2; done
        echo "$package"
        break
    done
}

# The libraries of another major version than nvcc's do not go with what it compiles.
major_version() {
    nvcc=$(find_tool nvcc) && "$nvcc" --version | sed -n 's/.*release \([0-9]*\)\..*/\1/p'
}

cublas() {
    major=$(major_version) || return 1
    [ -z "$(holding I cublas_v2.h "$header_folders")" ] || return 0
    package=$(package_with "$1" include/cublas_v2.h "lib/libcublas.so.$major" "lib/libcublasLt.so.$major")
    [ -n "$package" ] && echo "$package"
}

cupti() {
    major=$(major_version) || return 1
    file=libcupti.so.$major
    [ -z "$(holding L "$file" "$library_folders")" ] || return 0
    beside=$(holding L "$file" extras/CUPTI/lib64)
    [ -z "$beside" ] || { echo "$beside/$file" && return; }
    package=$(package_with "$1" "lib/$file")
    [ -n "$package" ] && echo "$package/lib/$file"
}

toolkit() {
    nvcc=$(find_tool nvcc) || return 1
    host=${NVCC_CXX:-${NVCC_CCBIN:-g++}}
    echo "$nvcc, $("$nvcc" --version | sed -n 's/.*release [^,]*, //p')"
    echo "$host, $("$host" --version 2>/dev/null | head -n 1)"
    glibc
}

# What the two compilers say of an empty file, in one line. The words are those of nvcc and of CUDA's headers.
compiles() {
    nvcc=$(find_tool nvcc) || {
        echo "nvcc is not there: make setup NVCC=1, or install the CUDA toolkit, 12.4 or newer"
        return 1
    }
    release=$("$nvcc" --version | sed -n 's/.*release \([0-9.]*\).*/\1/p')
    case $release in [1-9].* | 1[01].* | 12.[0-3])
        echo "nvcc is $release, $nvcc; CUDA 12.4 or newer is needed: put that one's bin/ first on PATH (make setup NVCC=1" \
            "brings one, and says where)"
        return 1
        ;;
    esac
    host=${NVCC_CXX:-${NVCC_CCBIN:-g++}}
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
    echo '#include <cuda_runtime.h>' >"$folder/empty.cu"
    try() {
        LC_ALL=C "$nvcc" -std=c++20 ${NVCC_CXX:+-ccbin "$NVCC_CXX"} "$@" -c "$folder/empty.cu" -o "$folder/empty.o" 2>&1
    }
    if said=$(try); then
        case $said in *'-std=c++20 flag is not supported'*) ;; *) return 0 ;; esac
    fi
    found="$host $("$host" -dumpfullversion 2>/dev/null || true)"
    how="${0%/*}/setup.sh --how"
    # An older compiler does not help where CUDA's headers do not go with the C library either.
    case $said in *'unsupported GNU version'*)
        others=$(try -allow-unsupported-compiler) || case $others in
            *'exception specification is incompatible'* | *__Float32x4_t*) said=$others ;;
        esac
        ;;
    esac
    case $said in
        *'unsupported GNU version'*)
            newest=$(echo "$said" | sed -n 's/.*gcc versions later than \([0-9]*\) are not supported.*/\1/p' | head -n 1)
            taken=$newest
            while [ "$taken" -ge "$oldest_host" ] && ! command -v "g++-$taken" >/dev/null; do taken=$((taken - 1)); done
            [ "$taken" -ge "$oldest_host" ] || first="$($how "g++-$newest"), then " taken=$newest
            echo "nvcc $release takes g++ up to $newest, and this is $found: ${first:-}make … NVCC_CXX=g++-$taken"
            ;;
        *'No supported gcc/g++ host compiler'*) # Debian's nvcc has a g++ of its own, which looks for one that it takes
            newest=$(sed -n 's/.*gcc versions later than \([0-9]*\) are not supported.*/\1/p' \
                "$root/usr/include/crt/host_config.h" | head -n 1)
            echo "nvcc $release takes g++ up to $newest, and there is none: $($how "g++-$newest")"
            ;;
        *'exception specification is incompatible'*)
            case $said in *rsqrt*) newer=13.2 ;; *) newer=13 ;; esac
            echo "CUDA $release does not compile on this $(glibc): CUDA $newer does; put its bin/ first on PATH"
            ;;
        *__Float32x4_t* | *__SVFloat32_t*)
            echo "CUDA $release does not compile on this $(glibc) of ARM: CUDA 12.5 does; put its bin/ first on PATH"
            ;;
        *'-std=c++20 flag is not supported'*)
            echo "nvcc's host compiler, $found, is too old: $($how "g++-$oldest_host"), then make … NVCC_CXX=g++-$oldest_host"
            ;;
        *'cannot execute '* | *'host compiler properties'*)
            # Without a name nvcc takes gcc, which compiles C++ where g++ is installed.
            missing=$(echo "$said" | sed -n 's/^\([^ :]*\): No such file or directory$/\1/p' | head -n 1)
            host=${missing:-$host}
            echo "nvcc's host compiler, $host, is not there: $($how "$host"), or NVCC_CXX= names another"
            ;;
        *'fatal error: '*': No such file or directory'*)
            missing=$(echo "$said" | sed -n 's/.*fatal error: \(.*\): No such file or directory.*/\1/p' | head -n 1)
            echo "nvcc $release misses $missing, a header of its own: install all of the CUDA toolkit"
            ;;
        *)
            why=$(echo "$said" | grep -m 1 -iE 'error|fatal' || echo "$said" | tail -n 1)
            echo "nvcc $release cannot compile an empty file: ${why#"$folder/"}"
            ;;
    esac
    return 1
}

in_venv() {
    for mine in "$venv"/lib/python3*/site-packages/nvidia/cu*/bin; do
        [ -x "$mine/nvcc" ] || continue
        taken=$(find_tool nvcc)
        [ "$taken" -ef "$mine/nvcc" ] || echo "make takes $taken, which comes first; for the one in .venv:" \
            "export PATH=$(cd "$mine" && pwd):\$PATH"
    done
}

glibc() {
    getconf GNU_LIBC_VERSION 2>/dev/null || echo 'C library'
}

case ${1-} in
    --path)
        folders | while read -r folder; do
            case ":$PATH:" in
                *":$folder:"*) ;;
                *) printf ':%s' "$folder" ;;
            esac
        done
        ;;
    --include) folder_with I cuda_runtime.h "$header_folders" ;;
    --lib) folder_with L libcudart.so "$library_folders" ;;
    --cublas) cublas "${2:-python3}" ;;
    --cupti) cupti "${2:-python3}" ;;
    --toolkit) toolkit ;;
    --compiles) compiles ;;
    --in-venv) in_venv ;;
    [!-]*) find_tool "$1" ;;
    *)
        sed -n '3,/^set/s/^# \{0,1\}//p' "$0" >&2
        exit 2
        ;;
esac
