#!/usr/bin/env bash
# The table of plugins/sketch/README.md on one core, and with --scipy the same by NumPy and SciPy, which are
# installed then.
#
# usage: run.sh [--scipy] [SECONDS] [SUBJECT...]
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../../.."
# shellcheck source=wasm/toolchain/needs.sh
. wasm/toolchain/needs.sh

# Debian's, whichever else there is.
has_scipy() { /usr/bin/python3 -c "import scipy.sparse, scipy.linalg"; }

scipy=false
if [ "${1:-}" = --scipy ]; then
    scipy=true
    shift
    want SciPy "python3-numpy python3-scipy" has_scipy
    install_missing
fi
export OPENBLAS_NUM_THREADS=1
if command -v taskset >/dev/null; then pinned=(taskset -c 1); else pinned=(); fi
"${pinned[@]}" build/native/bench/sketching/attn_sketch_rows "$@"
if $scipy; then
    echo
    "${pinned[@]}" /usr/bin/python3 bench/sketching/rows/beside.py "${1:-1}"
fi
