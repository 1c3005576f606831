#!/usr/bin/env bash
# What ranks cost on this machine, 1, 2 and 4 of them; records tables in bench/results. Called by `./dev bench --mpi`.
#
# usage: run.sh [--quick]
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
length=4096 repeats=9
case "$*" in
'') ;;
--quick) length=2048 repeats=3 ;;
*) echo "bench --mpi: '$*' is not --quick, the one option that there is" >&2 && exit 2 ;;
esac

# Ranks on fewer cores; and OpenMPI runs nothing as root unless it is told to.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_mpi_yield_when_idle=1
mkdir -p build/log
output=build/log/mpi.jsonl
for ranks in 1 2 4; do
    mpiexec -n "$ranks" build/native/bench/attn_mpi_measure "$length" "$repeats"
done | tee "$output"
! command -v node >/dev/null || node bench/report/record.mjs mpi "$@" <"$output"
