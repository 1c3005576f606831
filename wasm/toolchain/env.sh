# Sourced by ./dev, or by hand (`. wasm/toolchain/env.sh`): PATH and the variables that
# CMakePresets.json and wasi.cmake read. Installs nothing; `./dev wasm` installs what it points at.
# shellcheck shell=bash

export ATTN_CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/libattn
attn_own_emscripten=$ATTN_CACHE/emscripten-3.1.69
attn_own_node=$ATTN_CACHE/node-24
attn_own_simde=$ATTN_CACHE/simde-0.8.2

# Our own copies exist only where ./dev found the system's absent or too old.
attn_prepend_path() {
    case ":$PATH:" in
    *":$1:"*) ;;
    *) [ ! -d "$1" ] || export PATH="$1:$PATH" ;;
    esac
}

attn_first_program() {
    local name
    for name in "$@"; do
        command -v "$name" && return
    done
    echo "$1"
}

attn_set_environment() {
    attn_prepend_path "$attn_own_node/bin"
    if [ -d "$attn_own_emscripten" ]; then
        unset EM_CONFIG EM_CACHE
        attn_prepend_path "$attn_own_emscripten/root/usr/share/emscripten"
    fi
    ATTN_NODE=$(attn_first_program node)
    ATTN_BROWSER=${ATTN_BROWSER:-$(attn_first_program chromium chromium-browser google-chrome)}
    ATTN_WASI_CC=${ATTN_WASI_CC:-clang-19}
    ATTN_SIMDE_INCLUDE=${ATTN_SIMDE_INCLUDE:-$attn_own_simde/include}
    ATTN_EMSCRIPTEN=$(dirname "$(attn_first_program emcc)")
    export ATTN_NODE ATTN_BROWSER ATTN_WASI_CC ATTN_SIMDE_INCLUDE ATTN_EMSCRIPTEN
}

attn_set_environment
