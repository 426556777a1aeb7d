# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# For scripts that try the tree with compilers other than this machine's, in build/: sourced by other_toolkit.sh and
# other_compilers.sh. What cannot be had is skipped, by a line that says why, and is not a failure.
set -eu
root=$PWD

skip() {
    echo "skipped: $what: $1"
    exit 0
}

fail() {
    echo "failed: $what: $1" >&2
    exit 1
}

# apt-get with lists, cache and sources of its own in folder $apt: needs no root and leaves the system's as they are.
apt_apart() {
    LC_ALL=C apt-get -qq -o Debug::NoLocking=1 -o "APT::Sandbox::User=$(id -un)" -o Acquire::Retries=2 \
        -o "Dir::State::lists=$apt/lists" -o "Dir::Cache=$apt/cache" -o "Dir::Etc::sourcelist=$apt/sources.list" \
        -o Dir::Etc::sourceparts=/dev/null -o APT::Update::Post-Invoke-Success::=true "$@" </dev/null
}

# Makes folder $1 for apt_apart, with the parts $3 of Debian's release $2 from the first of this system's mirrors that has
# it, whose address is then $mirror. Skips where none has.
debian_in() {
    apt=$1
    local keys=/usr/share/keyrings/debian-archive-keyring.gpg
    command -v apt-get dpkg-deb >/dev/null || skip "apt-get is not there"
    [ -r "$keys" ] || skip "Debian's keys are not there ($keys)"
    rm -rf "$apt"
    mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
    for mirror in $(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | awk '!seen[$0]++'); do
        echo "deb [signed-by=$keys] $mirror $2 $3" >"$apt/sources.list"
        apt_apart update >"$apt/log" 2>&1 && ! grep -q '^[EW]:' "$apt/log" && return
    done
    skip "apt's mirrors have no Debian $2 ($3)"
}

# Downloads packages and unpacks them into folder $1.
unpack_into() {
    local folder=$1
    shift
    rm -rf "$apt/debs"
    mkdir -p "$apt/debs" "$folder"
    (cd "$apt/debs" && apt_apart download "$@") >"$apt/log" 2>&1 || skip "apt's mirror does not give $*"
    for package in "$apt"/debs/*.deb; do dpkg-deb -x "$package" "$folder"; done
    rm -rf "$apt/debs"
}

# Lays the tree out in folder $1, beside a build/ that may be there of an earlier run.
copy_tree() {
    mkdir -p "$1"
    find "$1" -mindepth 1 -maxdepth 1 ! -name build -exec rm -rf {} +
    git ls-files -z --cached --others --exclude-standard | xargs -0 ls -d 2>/dev/null | tar -T - -cf - | tar -xf - -C "$1"
}

# Runs a command that is or ends in make, as if it were called by hand. What it says goes to $log, whose errors are shown
# where it fails.
make_apart() {
    env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u MAKEOVERRIDES -u SOL_FRESH -u CUBLAS nice "$@" >"$log" 2>&1 </dev/null && return
    grep -E -m 5 -A 2 '(^|[: ])error[: ]' "$log" >&2 || tail -n 20 "$log" >&2
    fail "${log#"$root"/} has the rest"
}
make_in() {
    local folder=$1
    shift
    make_apart make -C "$folder" "$@"
}
