#!/usr/bin/env bash
# The x86 tiers on processors that have no more than that: programs of a native build under QEMU's
# user emulation. A tier that is chosen without being there, or an instruction of a higher tier in
# code that all share, shows here and nowhere else.
#
# usage: qemu.sh BUILD-FOLDER
set -euo pipefail

export TESTS=$1/tests
readonly PROGRAMS=(test_sparse semantics/test_semantics_hidden semantics/test_semantics_numbers
    semantics/test_semantics_decode test_backends test_softmax test_linear stream/test_stream_stream
    test_tile test_simd)
readonly SKIPPED=77
# Instructions and choices are the same in most cases of a sweep; what they compute, native tests hold.
export ATTN_TEST_SHARE=${ATTN_TEST_SHARE:-0.05}
# QEMU computes fused multiply-adds in software: the C library's exp, of which oracles are full, does without.
export GLIBC_TUNABLES=glibc.cpu.hwcaps=-FMA,-FMA4,-AVX2

# on CPU TIER PROGRAM: QEMU warns of features that it does not emulate; the program's words matter.
on() {
    echo "--- $1, $2: $3"
    ATTN_CPU=$2 qemu-x86_64 -cpu "$1" "$TESTS/$3" 2> >(grep -v 'TCG doesn.t support' >&2)
}
export -f on

# Lines of what is to pass. Sketches draw the same in all tiers, and their statistics would take minutes of
# emulated multiply-adds.
wanted() {
    printf 'Haswell avx2 %s\n' "${PROGRAMS[@]}"
    printf 'Nehalem sse4 %s\n' "${PROGRAMS[@]}" test_sketch
}

# lacks CPU TIER: the processor does not take it.
lacks() {
    local status=0
    on "$1" "$2" test_simd || status=$?
    [ "$status" = "$SKIPPED" ] && return
    echo "a $1 took the tier $2 (status $status)" >&2
    return 1
}

lacks Nehalem avx2
lacks Haswell avx512
wanted | xargs -P "$(getconf _NPROCESSORS_ONLN)" -L 1 bash -c 'on "$@"' on
