#!/usr/bin/env bash
# Puts the headers of SIMDe 0.8.2 into a folder of their own, for the WebAssembly builds: Debian 12's
# 0.7.4 lacks operations we use, and -I/usr/include would mix the host's headers in.
#
# usage: install-simde.sh PREFIX          (afterwards: PREFIX/include/simde)
set -euo pipefail
# shellcheck source=wasm/toolchain/common.sh
. "$(dirname "$0")/common.sh"

main() {
    [ $# -eq 1 ] || die "usage: install-simde.sh PREFIX"
    [ ! -d "$1" ] || exit 0
    begin_stage "$1"
    fetch_packages libsimde-dev
    mkdir "$stage/include"
    mv "$stage/debian/usr/include/simde" "$stage/include/simde"
    rm -rf "$stage/debian"
    publish_stage "$1"
}

main "$@"
