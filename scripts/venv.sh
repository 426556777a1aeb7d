#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# venv.sh REQUIREMENTS STAMP [WHAT]: makes .venv from the requirements, and does nothing when the stamp holds their hash.
# WHAT says what they are, and how large.
# TORCH_INDEX=URL takes torch, and only torch, from that package index.
set -eu
requirements=$1 stamp=$2 what=${3:-}
wanted=$(sha256sum "$requirements" | cut -d' ' -f1)
if [ "$(cat "$stamp" 2>/dev/null)" = "$wanted" ] && .venv/bin/python -c '' 2>/dev/null; then
    touch "$stamp"
    exit 0
fi

[ -n "$what" ] || "${BASH_SOURCE%/*}/setup.sh" --python

# Tests and dumps use what Python 3.11 brought; NVIDIA's packages hold no Python.
least=11 for='the tests; the lessons need no Python'
[ -z "$what" ] || least=9 for="NVIDIA's packages"
of_version() { "$1" -c "import sys; sys.exit(sys.version_info < (3, $least))" 2>/dev/null; }
python= without=
for candidate in python3 python3.14 python3.13 python3.12 python3.11; do
    of_version "$candidate" || continue
    if "$candidate" -c 'import ensurepip, venv' 2>/dev/null; then
        python=$candidate
        break
    fi
    without=${without:-$candidate}
done
if [ -z "$python" ]; then
    how="${BASH_SOURCE%/*}/setup.sh --how"
    if [ -n "$without" ]; then
        echo "$without has no venv, which is a package of its own: $($how "$without-venv"), then the same command" >&2
    elif found=$(python3 --version 2>&1); then
        echo "Python 3.$least or newer is needed for $for. This is $found: a newer release of your system has one" \
            "(Debian 12, Ubuntu 24.04)" >&2
    else
        echo "python3 is not there, which is needed for $for: $($how python3 python3-venv), then the same command" >&2
    fi
    exit 1
fi

started=$SECONDS
echo "making .venv: ${what:-the Python packages of $requirements}; this can take minutes …"
if ! .venv/bin/python -c 'import pip' 2>/dev/null || ! of_version .venv/bin/python; then
    "$python" -m venv --clear .venv
fi
# Of 10,000 modules the tests import a fifth: those are compiled when they are imported.
reason=$(mktemp)
trap 'rm -f "$reason"' EXIT
pip() {
    .venv/bin/python -m pip -qq --disable-pip-version-check "$@" 2>"$reason" && return
    if grep -q 'after connection broken by' "$reason"; then
        echo "no package index was reached for $requirements: with a network the command can be repeated as it is" >&2
    else
        cat "$reason" >&2
        echo "the Python packages of $requirements could not be installed; pip's reason is above. The command can be" \
            "repeated as it is" >&2
    fi
    exit 1
}
if [ -n "${TORCH_INDEX:-}" ]; then
    pip install --no-compile --index-url "$TORCH_INDEX" --no-deps "$(grep '^torch==' "$requirements")"
fi
pip install --no-compile --requirement "$requirements"
# NVIDIA's packages have libcudart.so.13, for programs to load, and no lib64: nvcc links with -lcudart from there.
for folder in .venv/lib/python3*/site-packages/nvidia/cu*; do
    [ -x "$folder/bin/nvcc" ] || continue
    ln -sfn lib "$folder/lib64"
    for library in "$folder"/lib/lib*.so.*; do
        [ ! -e "$library" ] || ln -sfn "${library##*/}" "${library%%.so.*}.so"
    done
done
# Matplotlib reads all fonts when it is first imported, and says so in the notebook whose cell that is, if it takes long.
.venv/bin/python -c 'import matplotlib.font_manager' 2>/dev/null || true
echo "$wanted" >"$stamp"
echo "made .venv in $((SECONDS - started)) s"
