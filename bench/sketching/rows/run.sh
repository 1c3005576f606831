#!/usr/bin/env bash
# What sketches cost on one core, and with --scipy what the same work costs by NumPy and SciPy on OpenBLAS, which are
# installed then. Prints tables and records them in bench/results.
#
# usage: run.sh [--scipy] [SECONDS] [SUBJECT...]
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../../.."
# shellcheck source=wasm/toolchain/needs.sh
. wasm/toolchain/needs.sh
# shellcheck source=bench/measure/openblas.sh
. bench/measure/openblas.sh

# Debian's, whichever else there is.
has_scipy() { /usr/bin/python3 -c "import scipy.sparse, scipy.linalg"; }
# Debian's NumPy takes it in the place of the reference's BLAS and LAPACK, once it is there.
has_openblas() { [[ $(PATH=$PATH:/sbin:/usr/sbin ldconfig -p) == *libopenblas* ]]; }

# The last of those that this process may run on.
last_core() { taskset -cp $$ | grep -o '[0-9]*$'; }

scipy=false
if [ "${1:-}" = --scipy ]; then
    scipy=true
    shift
    want SciPy "python3-numpy python3-scipy" has_scipy
    want OpenBLAS libopenblas0-pthread has_openblas
fi
[[ " $*" != *" -"* ]] || { echo "bench --sketch: no such option: '$*'" >&2 && exit 2; }
want_c
install_missing
mkdir -p build/log
{ cmake --preset native && cmake --build --preset native --target attn_sketch_rows; } \
    >build/log/rows.log 2>&1 || { tail -n 20 build/log/rows.log >&2 && exit 1; }

on=(env -u OPENBLAS_L2_SIZE -u OPENBLAS_CORETYPE OPENBLAS_NUM_THREADS=1)
core_type=$(openblas_core_type)
[ -z "$core_type" ] || on+=("OPENBLAS_CORETYPE=$core_type")
if command -v taskset >/dev/null; then on+=(taskset -c "$(last_core)"); fi
output=build/log/sketch.md
{
    "${on[@]}" build/native/bench/sketching/attn_sketch_rows "$@"
    if $scipy; then
        echo
        "${on[@]}" /usr/bin/python3 bench/sketching/rows/beside.py "$@"
    fi
} | tee "$output"
if $scipy; then set -- --scipy "$@"; fi
! attn_has_node || node bench/report/record.mjs sketch "$@" <"$output"
