# Sourced by what measures OpenBLAS: the core type that it is told for this processor, in OPENBLAS_CORETYPE, or
# nothing.
# shellcheck shell=bash

# By itself OpenBLAS knows no processor that is younger than its release, and takes a very old one.
openblas_core_type() {
    case " $(grep -m 1 ^flags /proc/cpuinfo 2>/dev/null) " in
    *" avx512vl "*) echo SkylakeX ;;
    *" avx2 "*) echo Haswell ;;
    esac
}
