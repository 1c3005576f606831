#!/usr/bin/env bash
# Builds a plugin from its C files: OUT.wasm is a side module, for loadPlugin() in JavaScript; OUT.so
# a shared object for this machine, for `attn --plugin`. Other arguments go to the compiler.
#
# usage: build-plugin.sh FILE.c... -o OUT.wasm|OUT.so [COMPILER OPTION...]
set -euo pipefail

die() {
    echo "build-plugin: $*" >&2
    exit 2
}

# compiler_for OUT: sets `compiler`. Symbols are hidden so that a plugin of several files needs no
# addresses of its own filled in; 64-bit integers cross imports as they are.
compiler_for() {
    local include
    include=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../../core/include
    case $1 in
    *.wasm) compiler=(emcc -msimd128 -sSIDE_MODULE -sWASM_BIGINT) ;;
    *.so) compiler=("${CC:-cc}" -shared -fPIC) ;;
    *) die "-o '$1': a name that ends in .wasm or .so" ;;
    esac
    compiler+=(-O2 -fvisibility=hidden -I"$include")
}

main() {
    local out='' arguments=()
    while [ $# -gt 0 ]; do
        if [ "$1" = -o ]; then
            [ $# -ge 2 ] || die "-o needs a name"
            out=$2
            shift
        else
            arguments+=("$1")
        fi
        shift
    done
    if [ -z "$out" ] || [ ${#arguments[@]} = 0 ]; then
        die "usage: FILE.c... -o OUT.wasm|OUT.so [COMPILER OPTION...]"
    fi
    compiler_for "$out"
    # Renamed into place, so that nobody loads half a file.
    stage=$(mktemp -d "$(dirname "$out")/.plugin.XXXXXX")
    trap 'rm -rf "$stage"' EXIT
    "${compiler[@]}" "${arguments[@]}" -o "$stage/$(basename "$out")" -lm
    mv -f "$stage/$(basename "$out")" "$out"
}

main "$@"
