# Sourced by ./dev: what each step needs, and how to get what is missing.
#
# Debian's packages come through apt; what Debian 12 has only in versions too old (Node.js,
# Emscripten, SIMDe) goes into one cache folder of the user's, shared by all clones. On a system
# without apt the same list is printed by program and nothing is installed.
# shellcheck shell=bash

here=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source=wasm/toolchain/env.sh
. "$here/env.sh"

missing_names=()
missing_packages=()
wants_node=false
downloads=() # what else has to be fetched: names that download() knows

# want_download NAME: notes it where it is missing.
want_download() {
    case " ${downloads[*]} " in *" $1 "*) return ;; esac # asked before
    has_download "$1" || downloads+=("$1")
}

# want NAME "DEBIAN-PACKAGE..." CHECK...: notes NAME as missing when CHECK fails.
want() {
    local name=$1 packages=$2
    shift 2
    case " ${missing_names[*]} " in *" $name "*) return ;; esac # asked before
    "$@" >/dev/null 2>&1 && return
    missing_names+=("$name")
    # shellcheck disable=SC2206 # several packages in one word
    missing_packages+=($packages)
}

want_program() {
    want "$1" "$2" command -v "$1"
}

has_emcc() {
    [ -d "$attn_own_emscripten" ] ||
        { command -v emcc >/dev/null && attn_at_least 3.1.69 "$(emcc -dumpversion 2>/dev/null)"; }
}

has_simde() {
    [ -d "$ATTN_SIMDE_INCLUDE/simde" ]
}

# wasi_file KIND NAME: does the WASI compiler know where NAME is?
wasi_file() {
    [ -e "$("$ATTN_WASI_CC" --target=wasm32-wasi "-print-$1=$2")" ]
}

wasi_runtime() {
    [ -e "$("$ATTN_WASI_CC" --target=wasm32-wasi -print-libgcc-file-name)" ]
}

has_lapack() {
    [ "$(uname)" = Darwin ] || pkg-config --exists openblas || pkg-config --exists lapack
}

want_c() {
    want_program gcc gcc
    want_program g++ g++
    want_program cmake cmake
    want_program ninja ninja-build
    want_program git git
    want_program pkg-config pkg-config
    want cmocka libcmocka-dev pkg-config --exists cmocka
    want "LAPACK (OpenBLAS or any)" libopenblas-dev has_lapack
    ! has_apt || want "definitions of locales" locales test -e /usr/share/i18n/locales/de_DE
    [ "$(uname -m)" = x86_64 ] || want_simde # the kernels are written in x86's intrinsics
}

can_sanitize() {
    echo 'int main(void) { return 0; }' | clang -fsanitize=address,undefined -x c - -o /dev/null
}

want_clang() {
    want_c
    want_program clang clang
}

want_sanitizers() {
    want_clang
    want "clang's sanitizers" libclang-rt-dev can_sanitize
}

has_mpi() {
    command -v mpicc >/dev/null && command -v mpiexec >/dev/null
}

# Beside the steps that do without, and no step fails for want of it. With --all also the second of both on Debian.
want_mpi() {
    ! has_apt || want_download mpi
}

mpi_packages() {
    echo libopenmpi-dev openmpi-bin
    [ "${ATTN_TEST_ALL:-}" != 1 ] || echo libmpich-dev mpich
}

install_mpi() {
    local packages
    mapfile -t packages < <(mpi_packages | tr ' ' '\n')
    apt_install "${packages[@]}" ||
        { as_root apt-get -qq -o DPkg::Lock::Timeout=300 update && apt_install "${packages[@]}"; } ||
        echo "not installed: ${packages[*]}"
}

want_qemu() {
    want_program qemu-x86_64 qemu-user
    want_program aarch64-linux-gnu-gcc "gcc-aarch64-linux-gnu libc6-dev-arm64-cross"
}

want_simde() {
    want_download simde
    has_apt || want "SIMDe 0.8 or newer, in a folder named by ATTN_SIMDE_INCLUDE" "" has_simde
}

want_node() {
    wants_node=true
    # An old npm is enough: it fetches the Node.js that is needed.
    if attn_has_node; then return; fi
    if has_apt; then want_program npm npm; else want "Node.js 20.19 or newer, with npm" "" false; fi
}

want_other_node() {
    want_node
    want_download other-node
}

want_npm_packages() {
    want_node
    want_download npm
}

want_bundlers() {
    want_npm_packages
    want_download bundlers
}

want_wasi() {
    want_node
    want_simde
    want "clang 19 or newer (as clang-19, or named by ATTN_WASI_CC)" clang-19 command -v "$ATTN_WASI_CC"
    want "lld, of the same version" lld-19 wasi_file prog-name wasm-ld
    want "llvm-ar, of the same version" llvm-19 wasi_file prog-name llvm-ar
    want "wasi-libc" wasi-libc wasi_file file-name libc.a
    want "compiler-rt for wasm32-wasi" libclang-rt-19-dev-wasm32 wasi_runtime
}

want_emscripten() {
    want_download emscripten
    has_apt || want "Emscripten 3.1.69 or newer (emcc)" "" has_emcc
    has_emcc || want_program python3 python3
}

# Debian has Chromium without its windows as a package of its own, which opens a page in two thirds of the time.
# Whoever names a browser in CHROMIUM has one (web/test/support/browser.mjs).
want_browser() {
    [ -z "${CHROMIUM:-}" ] || return 0
    if is_debian; then
        want_program chromium-headless-shell "chromium-headless-shell fonts-liberation"
    else
        want "Chromium" "chromium fonts-liberation" has_chromium
    fi
}

has_chromium() {
    command -v "$(attn_first_program chromium-headless-shell chromium chromium-browser google-chrome)"
}

is_debian() {
    has_apt && grep -qx 'ID=debian' /etc/os-release 2>/dev/null
}

has_apt() {
    command -v apt-get >/dev/null
}

# The package is for Node.js 20 and later, and only later ones have relaxed SIMD: tests run in both.
other_node_major() {
    if attn_node_is_at_least 22; then echo 20; else echo 24; fi
}

install_node() {
    local folder
    folder=$(attn_node_folder "$1")
    [ -d "$folder" ] && return
    echo "installing: Node.js $(attn_node_version "$1") into $folder"
    "$here/install-node.sh" "$folder" "$(attn_node_version "$1")" "$attn_npm_version"
}

as_root() {
    if [ "$(id -u)" = 0 ]; then env "$@"; else sudo -n env "$@"; fi
}

apt_install() {
    as_root DEBIAN_FRONTEND=noninteractive apt-get -qq -y -o DPkg::Lock::Timeout=300 \
        install --no-install-recommends "$@"
}

refuse_missing() {
    echo "dev: missing on this system:" >&2
    printf '  %s\n' "${missing_names[@]}" >&2
    exit 1
}

install_packages() {
    [ ${#missing_names[@]} -gt 0 ] || return 0
    has_apt || refuse_missing
    local packages log=build/log/apt.log
    mapfile -t packages < <(printf '%s\n' "${missing_packages[@]}" | sort -u)
    if [ "$(id -u)" != 0 ] && ! sudo -n true 2>/dev/null; then
        echo "dev: packages are missing; as root, run this line and then ./dev again:" >&2
        echo "apt-get update && apt-get install -y --no-install-recommends ${packages[*]}" >&2
        exit 1
    fi
    echo "installing: ${packages[*]}"
    # The lists may be absent (a fresh container) or name versions that are gone.
    apt_install "${packages[@]}" >"$log" 2>&1 ||
        { as_root apt-get -qq -o DPkg::Lock::Timeout=300 update && apt_install "${packages[@]}"; } \
            >>"$log" 2>&1 ||
        { tail -n 20 "$log" >&2 && exit 1; }
}

has_npm_packages() {
    cmp -s "$1/package-lock.json" "$1/node_modules/.attn-lock.json"
}

# npm_ci FOLDER [OPTION...]: npm ci removes node_modules first, and with it the copy of the lock file that
# tells it is complete.
npm_ci() {
    (
        # Two at once would remove each other's files.
        if command -v flock >/dev/null; then exec 9>build/.npm-ci.lock && flock 9; fi
        ! has_npm_packages "$1" || exit 0
        npm ci --prefix "$1" "${@:2}"
        cp "$1/package-lock.json" "$1/node_modules/.attn-lock.json"
    )
}

readonly BUNDLERS=wasm/test/package/bundlers

has_download() {
    case $1 in
    emscripten) has_emcc ;;
    simde) has_simde ;;
    other-node) [ -d "$(attn_node_folder "$(other_node_major)")" ] ;;
    npm) has_npm_packages . ;;
    bundlers) has_npm_packages $BUNDLERS ;;
    mpi) has_mpi && { [ "${ATTN_TEST_ALL:-}" != 1 ] || command -v mpicc.mpich >/dev/null; } ;;
    esac
}

describe_download() {
    case $1 in
    emscripten) echo "Emscripten 3.1.69 (250 MB to fetch, 0.8 GB on disk) into $attn_own_emscripten" ;;
    simde) echo "SIMDe 0.8.2 into $attn_own_simde" ;;
    other-node) echo "Node.js $(attn_node_version "$(other_node_major)") into $(attn_node_folder "$(other_node_major)")" ;;
    npm) echo "npm packages of package-lock.json" ;;
    bundlers) echo "npm packages of $BUNDLERS/package-lock.json" ;;
    mpi) mpi_packages | tr '\n' ' ' ;;
    esac
}

download() {
    case $1 in
    emscripten) "$here/install-emscripten.sh" "$attn_own_emscripten" ;;
    simde) "$here/install-simde.sh" "$attn_own_simde" ;;
    other-node) install_node "$(other_node_major)" ;;
    npm) npm_ci . ;;
    bundlers) npm_ci $BUNDLERS --ignore-scripts ;;
    mpi) install_mpi ;;
    esac
}

# Debian's packages and Node.js, which other downloads need.
install_system() {
    mkdir -p build/log
    install_packages
    if $wants_node && ! attn_has_node; then install_node 24; fi
    attn_set_environment
}

# All that has been noted as missing, one after another.
install_missing() {
    local name
    install_system
    for name in "${downloads[@]}"; do
        echo "installing: $(describe_download "$name")"
        download "$name" >"build/log/get-$name.log" 2>&1 || { tail -n 20 "build/log/get-$name.log" >&2 && exit 1; }
    done
    downloads=()
    attn_set_environment
}
