#!/usr/bin/env bash
# Measures rows beside their peers and records the run in bench/results, before anybody else measures.
#
# usage: table.sh peers|softmax|linear|sparse OPTION... FAMILY...
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=bench/peers/alone.sh
. bench/peers/alone.sh
alone_in_peers bench/peers/table.sh "$@"

bench/peers/run.sh "${@:2}"
ATTN_PEERS=build/peers exec node bench/report/record.mjs "$@"
