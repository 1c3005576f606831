# Sourced by ./dev, or by hand (`. wasm/toolchain/env.sh`): PATH and the variables that
# CMakePresets.json and wasi.cmake read. Installs nothing; `./dev wasm` installs what it points at.
# shellcheck shell=bash

export ATTN_CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/libattn
attn_own_emscripten=$ATTN_CACHE/emscripten-3.1.69-debian
attn_own_simde=$ATTN_CACHE/simde-0.8.2

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

# The exact version of Node.js that stands for a major one.
attn_node_version() {
    case $1 in
    20) echo 20.20.2 ;;
    24) echo 24.21.0 ;;
    *) echo "no Node.js $1 is pinned: 20 and 24 are" >&2 && return 1 ;;
    esac
}
attn_npm_version=11.21.2

# Where ./dev puts Node.js of a major version: 24 where the system has none or one that is too old, and
# what step `node` and the peers run beside it. With another pin it is another folder.
attn_node_folder() {
    local version
    version=$(attn_node_version "$1") || return
    echo "$ATTN_CACHE/node-$version-npm-$attn_npm_version"
}

# attn_at_least WANTED FOUND: compares dotted versions.
attn_at_least() {
    [ -n "$2" ] && [ "$(printf '%s\n' "$1" "$2" | sort -V | head -n 1)" = "$1" ]
}

attn_node_is_at_least() {
    command -v node >/dev/null && attn_at_least "$1" "$(node --version | tr -d v)"
}

attn_has_node() {
    command -v npm >/dev/null && attn_node_is_at_least 20.19
}

# The interpreter itself: emcc starts one for each file, and where `python3` is a script that looks for it
# (pyenv's), that takes longer than compiling.
attn_python() {
    python3 -c 'import sys; print(sys.executable)' 2>/dev/null
}

attn_set_environment() {
    attn_has_node || attn_prepend_path "$(attn_node_folder 24)/bin"
    # This one exists only where ./dev found the system's absent or too old.
    if [ -d "$attn_own_emscripten" ]; then
        unset EM_CONFIG EM_CACHE
        attn_prepend_path "$attn_own_emscripten/debian/usr/share/emscripten"
    fi
    EMSDK_PYTHON=${EMSDK_PYTHON:-$(attn_python)} || EMSDK_PYTHON=
    ATTN_NODE=$(attn_first_program node)
    ATTN_WASI_CC=${ATTN_WASI_CC:-clang-19}
    ATTN_SIMDE_INCLUDE=${ATTN_SIMDE_INCLUDE:-$attn_own_simde/include}
    ATTN_EMSCRIPTEN=$(dirname "$(attn_first_program emcc)")
    export EMSDK_PYTHON ATTN_NODE ATTN_WASI_CC ATTN_SIMDE_INCLUDE ATTN_EMSCRIPTEN
}

attn_set_environment
