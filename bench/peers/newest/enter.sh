#!/usr/bin/env bash
# A command inside the folder that root.sh has made, as its root: with this machine's /proc, /dev and /sys, and
# this checkout at its own place. They are mounted in a namespace of the command's own, so that they are
# gone when it ends, however it ends.
#
# usage: enter.sh ROOT COMMAND...
set -euo pipefail

if [ "${ATTN_ENTERED:-}" != 1 ]; then
    ATTN_ENTERED=1 exec unshare --mount -- "${BASH_SOURCE[0]}" "$@"
fi

root=$1
shift
checkout=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../../..")
for folder in /proc /dev /sys "$checkout"; do
    mkdir -p "$root$folder"
    mount --bind "$folder" "$root$folder"
done
# What other rows say of OpenBLAS is of an older one.
exec env -u ATTN_ENTERED -u OPENBLAS_CORETYPE -u OPENBLAS_L2_SIZE chroot "$root" "$@"
