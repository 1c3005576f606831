#!/usr/bin/env bash
# Puts the pinned Node.js of a major version, and npm, into one folder that all clones share. Debian 12 has 18;
# its npm, or any other, fetches the newer ones from the npm registry.
#
# usage: install-node.sh PREFIX MAJOR          (afterwards: PREFIX/bin/node, PREFIX/bin/npm)
set -euo pipefail
# shellcheck source=wasm/toolchain/common.sh
. "$(dirname "$0")/common.sh"

readonly NPM=11.21.2

# The exact version that tests run in.
node_of() {
    case $1 in
        20) echo 20.20.2 ;;
        24) echo 24.21.0 ;;
        *) die "no Node.js $1 is pinned: 20 and 24 are" ;;
    esac
}

main() {
    [ $# -eq 2 ] || die "usage: install-node.sh PREFIX MAJOR"
    local version
    version=$(node_of "$2")
    [ ! -d "$1" ] || exit 0
    begin_stage "$1"
    (cd "$stage" && echo '{ "private": true }' >package.json &&
        npm install --loglevel error --no-fund --no-audit --no-package-lock "node@$version" "npm@$NPM" >/dev/null)
    ln -s node_modules/.bin "$stage/bin"
    [ "$("$stage/bin/node" --version)" = "v$version" ] || die "Node.js $version does not start"
    PATH=$stage/bin:$PATH npm --version >/dev/null || die "the fetched npm does not start"
    publish_stage "$1"
}

main "$@"
