#!/usr/bin/env bash
# The x86 tiers on processors that have no more than that: programs of a native build under QEMU's
# user emulation. A tier that is chosen without being there, or an instruction of a higher tier in
# code that all share, shows here and nowhere else.
#
# usage: qemu.sh BUILD-FOLDER
set -euo pipefail

readonly TESTS=$1/tests
readonly PROGRAMS=(test_simd test_tile test_softmax test_linear test_sparse test_backends
    semantics/test_semantics_numbers semantics/test_semantics_hidden semantics/test_semantics_decode
    stream/test_stream_stream)
readonly SKIPPED=77
export ATTN_TEST_SHARE=0.1 # of the cases of sweeps: as in the preset aarch64
# QEMU computes fused multiply-adds in software: the C library's exp, of which oracles are full, does without.
export GLIBC_TUNABLES=glibc.cpu.hwcaps=-FMA,-FMA4,-AVX2

# on CPU TIER PROGRAM: QEMU warns of features that it does not emulate; the program's words matter.
on() {
    ATTN_CPU=$2 qemu-x86_64 -cpu "$1" "$TESTS/$3" 2> >(grep -v 'TCG doesn.t support' >&2)
}

# check CPU TIER HIGHER PROGRAM...: all programs with TIER, none with HIGHER.
check() {
    local program status=0
    for program in "${@:4}"; do
        echo "--- $1, $2: $program"
        on "$1" "$2" "$program"
    done
    on "$1" "$3" "$4" || status=$?
    [ "$status" = "$SKIPPED" ] && return
    echo "a $1 took the tier $3 (status $status)" >&2
    return 1
}

# Sketches draw the same in all tiers, and their statistics would take minutes of emulated multiply-adds.
check Nehalem sse4 avx2 "${PROGRAMS[@]}" test_sketch &
first=$!
check Haswell avx2 avx512 "${PROGRAMS[@]}"
wait "$first"
