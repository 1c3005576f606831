#!/usr/bin/env bash
# Puts Emscripten 3.1.69 into one folder that all clones share.
#
# Debian 12 ships Emscripten 3.1.6, which cannot make relaxed SIMD or working ES modules. Debian 13's
# runs on Debian 12 once Binaryen's tools have the C library they were built against beside them.
# Its system libraries come built, in a cache that emcc never writes to: parallel builds are safe.
# Beforehand on the system: clang-19, lld-19, llvm-19, python3, node.
#
# usage: install-emscripten.sh PREFIX          (afterwards: PREFIX/debian/usr/share/emscripten/emcc)
set -euo pipefail
# shellcheck source=wasm/toolchain/common.sh
. "$(dirname "$0")/common.sh"

readonly VERSION=3.1.69
readonly PACKAGES=(emscripten binaryen node-acorn libc6 libstdc++6 libgcc-s1)

# Start Binaryen's tools with their own loader. The wrappers find their folder by themselves,
# because it is renamed at the end.
wrap_binaryen() {
    local tool name loader
    loader=$(cd "$stage/debian" && find . -name 'ld-linux*.so.*' | sort | head -n 1)
    [ -n "$loader" ] || die "no dynamic loader in the unpacked packages"
    mkdir -p "$stage/binaryen/bin"
    for tool in "$stage"/debian/usr/bin/wasm*; do
        name=$(basename "$tool")
        cat >"$stage/binaryen/bin/$name" <<WRAPPER
#!/bin/sh
debian=\$(cd "\$(dirname "\$0")/../../debian" && pwd)
exec "\$debian/$loader" --library-path "\$(echo "\$debian"/usr/lib/*-linux-gnu*)" "\$debian/usr/bin/$name" "\$@"
WRAPPER
        chmod +x "$stage/binaryen/bin/$name"
    done
}

# emcc reads this Python file, which lies beside it, and exports its path as EM_CONFIG first.
configure_emcc() {
    local emscripten=$stage/debian/usr/share/emscripten
    # Emscripten's JavaScript passes import acorn and look for it only beside themselves.
    ln -sfn ../nodejs "$emscripten/node_modules"
    cat >>"$emscripten/.emscripten" <<'CONFIG'

# libattn: this copy is not installed in /usr
import os
import shutil
BINARYEN_ROOT = os.path.realpath(os.path.dirname(os.environ['EM_CONFIG']) + '/../../../../binaryen')
NODE_JS = shutil.which('node') or 'node'
CONFIG
}

# Sizes and times are of this very version. Debian's release may get another one: then it is to be tried first.
check_version() {
    local found
    found=$(tr -d '"[:space:]' <"$stage/debian/usr/share/emscripten/emscripten-version.txt")
    [ "$found" = "$VERSION" ] || die "Debian $SUITE has Emscripten $found, and $VERSION is wanted"
}

# One program through every stage: compiler, linker, Binaryen, JavaScript passes, node.
prove() {
    local dir=$stage/proof flag
    mkdir "$dir"
    echo 'int main(void) { return 7; }' >"$dir/a.c"
    for flag in -O0 -msimd128 -mrelaxed-simd; do
        (unset EM_CONFIG EM_CACHE && cd "$dir" &&
            "$stage/debian/usr/share/emscripten/emcc" -O2 "$flag" -sEXPORT_ES6 a.c -o a.mjs &&
            grep -q WebAssembly a.mjs) || die "emcc $flag does not work"
    done
    rm -rf "$dir"
}

main() {
    [ $# -eq 1 ] || die "usage: install-emscripten.sh PREFIX"
    [ ! -d "$1" ] || exit 0
    begin_stage "$1"
    fetch_packages "${PACKAGES[@]}"
    check_version
    wrap_binaryen
    configure_emcc
    prove
    publish_stage "$1"
}

main "$@"
