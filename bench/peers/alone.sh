# Sourced by what measures in build/peers: one at a time, as programs, arrays and results lie there by fixed names, and as
# each would slow the other down.
# shellcheck shell=bash

# alone_in_peers SCRIPT OPTION...: begins again as the only one in this checkout, where the system has locks for that.
# What runs keeps no hold of the lock's file, so that no process that is left over keeps others out.
alone_in_peers() {
    local lock=build/.peers.lock
    if [ "${ATTN_ALONE_IN_PEERS:-}" = 1 ] || ! command -v flock >/dev/null; then return; fi
    mkdir -p build
    flock --nonblock "$lock" true || echo "waiting for another run in build/peers" >&2
    ATTN_ALONE_IN_PEERS=1 exec flock --close "$lock" "$@"
}
