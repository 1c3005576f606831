#!/usr/bin/env bash
# Everything that `./dev bench --peers` does: says and installs what is missing, builds, measures.
#
# usage: run.sh [--quick] [--seconds S] [--newest | --own] [--against COMMIT] [FAMILY or ROW...]
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=wasm/toolchain/needs.sh
. wasm/toolchain/needs.sh
# shellcheck source=bench/measure/openblas.sh
. bench/measure/openblas.sh
# shellcheck source=bench/peers/alone.sh
. bench/peers/alone.sh

readonly SOURCE=bench/peers
readonly PEERS=build/peers

has_onednn() {
    echo '#include <oneapi/dnnl/dnnl.h>' | gcc -E -x c -
}

# run_logged LOG COMMAND...: shows the end of the log when the command fails.
run_logged() {
    local log=$1
    shift
    "$@" >"$log" 2>&1 || { tail -n 20 "$log" >&2 && exit 1; }
}

# In a folder of their own, so that nothing lands among the sources. 0.5 GB on disk, or 30 MB for what draws the figures,
# which is all that libattn alone needs. The install scripts would only fetch what GPUs need.
install_peers() {
    mkdir -p "$PEERS"
    cp "$SOURCE/package.json" "$SOURCE/package-lock.json" .npmrc "$PEERS"
    if $with_peers; then
        npm_ci "$PEERS" --ignore-scripts
    elif [ ! -d "$PEERS/node_modules/jsdom" ]; then
        npm ci --prefix "$PEERS" --ignore-scripts --omit=dev
    fi
}

build_programs() {
    run_logged build/log/peers.log cmake -S "$SOURCE" -B "$PEERS/c" -G Ninja -D PEERS=$with_peers
    run_logged build/log/peers.log cmake --build "$PEERS/c"
}

# PyTorch, ggml, oneDNN and OpenBLAS in a folder with a newer system: 3 GB.
build_newest() {
    [ -e "$PEERS/sid/.complete" ] ||
        echo "installing: PyTorch, ggml, oneDNN and OpenBLAS of Debian sid into $PEERS/sid (3 GB)"
    run_logged build/log/peers-newest.log "$SOURCE/newest/root.sh" "$PEERS/sid"
    run_logged build/log/peers-newest.log "$SOURCE/newest/enter.sh" "$PEERS/sid" \
        "$PWD/$SOURCE/newest/build.sh" "$PWD/$PEERS/c"
}

# The commit of --against, in either form of the option, the last one as options.mjs has it.
commit_before() {
    local commit=
    while [ $# -gt 0 ]; do
        case $1 in
        --against) commit=${2:-"''"} ;;
        --against=*) commit=${1#*=} commit=${commit:-"''"} ;;
        esac
        shift
    done
    [ -n "$commit" ] || return 0
    git rev-parse --quiet --verify "$commit^{commit}" ||
        { echo "bench: --against $commit: this clone has no such commit" >&2 && exit 2; }
}

# An earlier commit beside this one: its sources, its program in C, package and addon.
build_before() {
    local before=$PEERS/before log=build/log/peers-before.log
    [ "$(cat "$before/.complete" 2>/dev/null)" != "$1" ] || return 0
    echo "building commit $1 beside this one"
    rm -rf "$before"
    mkdir -p "$before/source"
    git archive "$1" | tar -x -C "$before/source"
    run_logged "$log" cmake -S "$SOURCE" -B "$before/c" -G Ninja -D PEERS=OFF -D SOURCES="$PWD/$before/source"
    run_logged "$log" cmake --build "$before/c" --target peer_libattn
    (cd "$before/source" && ./dev web && ./dev step addon) \
        >"$log" 2>&1 || { tail -n 20 "$log" >&2 && exit 1; }
    echo "$1" >"$before/.complete"
}

# Relaxed SIMD needs Node.js 22 or newer.
install_newer_node() {
    peers_node=$(command -v node)
    if attn_node_is_at_least 22; then return; fi
    install_node 24
    peers_node=$(attn_node_folder 24)/bin/node
}

with_peers=true
[[ " $* " != *" --own "* ]] || with_peers=false
before=$(commit_before "$@")
! attn_has_node || node "$SOURCE/measure/options.mjs" "$@"
alone_in_peers "$SOURCE/run.sh" "$@"
want_c
want_node
want_browser
if $with_peers; then
    want OpenBLAS libopenblas-dev pkg-config --exists openblas
    want oneDNN libdnnl-dev has_onednn
fi
[[ " $* " != *" --newest "* ]] || want_program debootstrap debootstrap
install_missing
install_newer_node
install_peers
build_programs
[[ " $* " != *" --newest "* ]] || build_newest
[ -z "$before" ] || build_before "$before"

core_type=${OPENBLAS_CORETYPE:-$(openblas_core_type)}
[ -z "$core_type" ] || export OPENBLAS_CORETYPE=$core_type
export ATTN_PEERS=$PEERS
"$peers_node" "$SOURCE/measure/run.mjs" "$@"
cat "$PEERS/results.md"
