# Sourced by the install scripts beside it. Each fills a folder `stage` and publishes it under its
# final name; two of them fetch packages of Debian 13 on an older Debian, without root and without
# touching the system: apt is run with lists, cache and sources of its own, and with the mirror and
# the keys that the machine already has.
# shellcheck shell=bash

readonly KEYRING=/usr/share/keyrings/debian-archive-keyring.gpg
readonly SUITE=trixie

die() {
    echo "$(basename "$0"): $*" >&2
    exit 1
}

# The address of Debian's main archive, as this machine is configured to reach it.
# apt prints one line for each list it knows, whichever format the sources are in.
debian_mirror() {
    # shellcheck disable=SC2016 # the $(...) are apt's
    apt-get indextargets --format '$(LABEL)|$(COMPONENT)|$(REPO_URI)' 'Created-By: Packages' |
        awk -F'|' '$1 == "Debian" && $2 == "main" && !found { print $3; found = 1 }'
}

# The empty status file makes apt believe that nothing is installed.
isolated_apt() {
    apt-get -qq \
        -o Dir::Etc::sourcelist="$stage/apt/sources.list" \
        -o Dir::Etc::sourceparts=/dev/null \
        -o Dir::Etc::preferences=/dev/null \
        -o Dir::Etc::preferencesparts=/dev/null \
        -o Dir::State="$stage/apt/state" \
        -o Dir::State::status="$stage/apt/status" \
        -o Dir::Cache="$stage/apt/cache" \
        -o APT::Sandbox::User="$(id -un)" \
        "$@"
}

# fetch_packages NAME...: downloads and unpacks them into $stage/debian.
fetch_packages() {
    local mirror deb
    command -v apt-get >/dev/null || die "needs Debian's apt-get"
    mirror=$(debian_mirror)
    [ -n "$mirror" ] || die "no Debian archive among apt's sources (or apt-get update never ran)"
    [ -r "$KEYRING" ] || die "$KEYRING is missing (package debian-archive-keyring)"
    mkdir -p "$stage"/apt/state/lists/partial "$stage"/apt/cache/archives/partial "$stage"/{debs,debian}
    : >"$stage/apt/status"
    echo "deb [signed-by=$KEYRING] $mirror $SUITE main" >"$stage/apt/sources.list"
    isolated_apt update
    (cd "$stage/debs" && isolated_apt download "$@")
    for deb in "$stage"/debs/*.deb; do
        # The libraries for link-time optimisation are half of Emscripten's size and unused here.
        dpkg-deb --fsys-tarfile "$deb" | tar -x -C "$stage/debian" --exclude '*/wasm32-emscripten/lto*'
    done
    rm -rf "$stage/debs" "$stage/apt"
}

# Everything is made in a folder beside the final one and renamed when it works: an interrupted run
# leaves nothing that looks complete, and of two runs at once the first to finish wins.
begin_stage() {
    mkdir -p "$(dirname "$1")"
    stage=$(mktemp -d "$1.XXXXXX")
    trap 'rm -rf "$stage"' EXIT
    trap 'exit 130' INT TERM
    chmod 755 "$stage"
}

publish_stage() {
    mv -T "$stage" "$1" 2>/dev/null || [ -d "$1" ] || die "cannot write $1"
}
