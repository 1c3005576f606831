#!/usr/bin/env bash
# Puts Node.js of a major version, and npm 11, into one folder that all clones share. Debian 12 has 18;
# its npm, or any other, fetches the newer ones from the npm registry.
#
# usage: install-node.sh PREFIX MAJOR          (afterwards: PREFIX/bin/node, PREFIX/bin/npm)
set -euo pipefail
# shellcheck source=wasm/toolchain/common.sh
. "$(dirname "$0")/common.sh"

main() {
    [ $# -eq 2 ] || die "usage: install-node.sh PREFIX MAJOR"
    [ ! -d "$1" ] || exit 0
    begin_stage "$1"
    (cd "$stage" && echo '{ "private": true }' >package.json &&
        npm install --loglevel error --no-fund --no-audit --no-package-lock "node@$2" npm@11 >/dev/null)
    ln -s node_modules/.bin "$stage/bin"
    PATH=$stage/bin:$PATH npm --version >/dev/null || die "the fetched Node.js does not start"
    publish_stage "$1"
}

main "$@"
