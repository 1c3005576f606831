#!/usr/bin/env bash
# Everything that `./dev bench --gradients` does: says and installs what is missing, measures, records the run.
#
# usage: gradients.sh [--quick], which ./dev has looked at
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=wasm/toolchain/needs.sh
. wasm/toolchain/needs.sh
# shellcheck source=bench/peers/alone.sh
. bench/peers/alone.sh

readonly SOURCE=bench/peers
readonly PEERS=build/peers
readonly LOG=build/log/peers-newest.log

alone_in_peers "$SOURCE/gradients.sh" "$@"
want_node
want_program debootstrap debootstrap
install_missing
mkdir -p "$PEERS" build/log
[ -e "$PEERS/sid/.complete" ] ||
    echo "installing: PyTorch and ggml of Debian sid into $PEERS/sid (3 GB)"
"$SOURCE/newest/root.sh" "$PEERS/sid" >"$LOG" 2>&1 || { tail -n 20 "$LOG" >&2 && exit 1; }
export ATTN_PEERS=$PEERS
exec node "$SOURCE/measure/gradients.mjs" build/attn "$@"
