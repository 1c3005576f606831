#!/usr/bin/env bash
# Puts a version of Node.js, and one of npm, into one folder that all clones share. Debian 12 has 18; its npm, or any
# other, fetches the newer ones from the npm registry. env.sh says which.
#
# usage: install-node.sh PREFIX NODE-VERSION NPM-VERSION          (afterwards: PREFIX/bin/node, PREFIX/bin/npm)
set -euo pipefail
# shellcheck source=wasm/toolchain/common.sh
. "$(dirname "$0")/common.sh"

main() {
    [ $# -eq 3 ] || die "usage: install-node.sh PREFIX NODE-VERSION NPM-VERSION"
    [ ! -d "$1" ] || exit 0
    begin_stage "$1"
    (cd "$stage" && echo '{ "private": true }' >package.json &&
        npm install --loglevel error --no-fund --no-audit --no-package-lock "node@$2" "npm@$3" >/dev/null)
    ln -s node_modules/.bin "$stage/bin"
    [ "$("$stage/bin/node" --version)" = "v$2" ] || die "Node.js $2 does not start"
    PATH=$stage/bin:$PATH npm --version >/dev/null || die "the fetched npm does not start"
    publish_stage "$1"
}

main "$@"
