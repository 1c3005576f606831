#!/usr/bin/env bash
# Builds a plugin from its C files: OUT.wasm is a side module, for loadPlugin() in JavaScript; OUT.so
# a shared object for this machine, for `attn --plugin`. A file after --kernels is written against core/simd and
# compiled once for each instruction set. Other arguments go to the compiler.
#
# usage: build-plugin.sh FILE.c... [--kernels FILE.c]... -o OUT.wasm|OUT.so [COMPILER OPTION...]
set -euo pipefail

die() {
    echo "build-plugin: $*" >&2
    exit 2
}

# compiler_for OUT: sets `compiler`, and `linking`, what it takes besides to link. Symbols are hidden so that a plugin of
# several files needs no addresses of its own filled in; 64-bit integers cross imports as they are.
compiler_for() {
    case $1 in
    *.wasm) compiler=(emcc -msimd128 -sSIDE_MODULE) linking=(-sWASM_BIGINT) ;;
    *.so) compiler=("${CC:-cc}" -fPIC) linking=(-shared) ;;
    *) die "-o '$1': a name that ends in .wasm or .so" ;;
    esac
    compiler+=(-O2 -fvisibility=hidden -I"$core/include")
}

# tiers: of what the compiler makes code for, lines of name, bits, rows and columns of the tile, and flags
# (core/simd/tiers.h).
tiers() {
    printf '%s\n' '#include "simd/tiers.h"' '#define LINE(name, code, ...) attn_tier name __VA_ARGS__' 'ATTN_TIERS(LINE, )' |
        "${compiler[@]}" -I"$core" -E -P -x c - | grep -o 'attn_tier [^"]*"[^"]*"' |
        sed 's/^attn_tier //; s/[,"]/ /g'
}

# compile_kernels FILE.c OPTION...: one object for each tier, added to `objects`. Else gcc loads, for a tier without
# vectors, behind what a loop reads.
compile_kernels() {
    local file=$1 name bits rows columns flags object
    shift
    [ -d "${ATTN_SIMDE_INCLUDE:-}" ] && set -- "$@" -isystem "$ATTN_SIMDE_INCLUDE"
    while read -r name bits rows columns flags; do
        object=$stage/${#objects[@]}.o
        [ "$bits" != 0 ] || flags+=" -fno-tree-vectorize"
        # shellcheck disable=SC2086 # several flags in one word
        "${compiler[@]}" "$@" -O3 $flags -I"$core" -DATTN_SMALL=0 -DATTN_TIER="$name" \
            -DATTN_SIMD_BITS="$bits" -DATTN_TILE_ROWS="$rows" -DATTN_TILE_COLUMNS="$columns" -c "$file" -o "$object"
        objects+=("$object")
    done < <(tiers)
    [ ${#objects[@]} -gt 0 ] || die "no instruction sets for $file"
}

main() {
    local out='' arguments=() kernels=() objects=() options=() argument
    core=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../../core
    while [ $# -gt 0 ]; do
        if [ "$1" = -o ]; then
            [ $# -ge 2 ] || die "-o needs a name"
            out=$2
            shift
        elif [ "$1" = --kernels ]; then
            [ $# -ge 2 ] || die "--kernels needs a file"
            kernels+=("$2")
            shift
        else
            arguments+=("$1")
        fi
        shift
    done
    if [ -z "$out" ] || [ ${#arguments[@]} = 0 ]; then
        die "usage: FILE.c... [--kernels FILE.c]... -o OUT.wasm|OUT.so [COMPILER OPTION...]"
    fi
    compiler_for "$out"
    # Renamed into place, so that nobody loads half a file.
    stage=$(mktemp -d "$(dirname "$out")/.plugin.XXXXXX")
    trap 'rm -rf "$stage"' EXIT
    for argument in "${arguments[@]}"; do
        case $argument in *.c | *.o | *.a | -l*) ;; *) options+=("$argument") ;; esac
    done
    for argument in "${kernels[@]}"; do compile_kernels "$argument" "${options[@]}"; done
    [ ${#kernels[@]} = 0 ] || arguments+=(-I"$core" "${objects[@]}")
    "${compiler[@]}" "${linking[@]}" "${arguments[@]}" -o "$stage/$(basename "$out")" -lm
    mv -f "$stage/$(basename "$out")" "$out"
}

main "$@"
