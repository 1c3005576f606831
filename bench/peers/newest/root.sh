#!/usr/bin/env bash
# Makes a folder with Debian's newest packages of PyTorch, ggml, oneDNN and OpenBLAS, nothing of which touches this
# system: 3 GB, by the mirror and with the settings that apt has here. Needs root.
#
# usage: root.sh ROOT
set -euo pipefail

here=$(dirname "${BASH_SOURCE[0]}")
root=$1
# PyTorch takes whichever BLAS there is; alone it brings the reference one.
readonly packages=(python3-torch python3-numpy libopenblas-pthread-dev libdnnl-dev libggml-dev gcc libc6-dev)

# The first Debian archive among apt's sources.
# shellcheck disable=SC2016 # these are apt's variables
mirror() {
    apt-get indextargets --format '$(SITE) $(LABEL)' 'Created-By: Packages' |
        awk '$2 == "Debian" { print $1; exit }'
}

# Debootstrap's own mounts end with the namespace.
make_root() {
    local from
    from=$(mirror)
    [ -n "$from" ] || { echo "apt has no Debian archive among its sources" >&2 && exit 1; }
    rm -rf "$root"
    mkdir -p "$(dirname "$root")"
    unshare --mount -- debootstrap --variant=minbase sid "$root" "$from"
    cp -r /etc/apt/apt.conf.d/. "$root/etc/apt/apt.conf.d/"
    cp -L /etc/resolv.conf "$root/etc/resolv.conf"
}

install_packages() {
    "$here/enter.sh" "$root" env DEBIAN_FRONTEND=noninteractive \
        apt-get -y --no-install-recommends install "${packages[@]}"
    echo "${packages[*]}" >"$root/.complete"
}

[ -e "$root/.complete" ] || make_root
[ "$(cat "$root/.complete" 2>/dev/null)" = "${packages[*]}" ] || install_packages
