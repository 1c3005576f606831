# Sourced by ../dev: the steps of `./dev test`. For each: what it does (step_NAME), what it needs (want_for), what it
# builds on (built_before), and what it leaves to `./dev test --all` (left_out).
# shellcheck shell=bash

# shellcheck disable=SC2034 # dev reads it
readonly TEST_STEPS=(native wasm lint web page sanitize package clang wasi qemu avx512 node readme mpi)

# `./dev test` takes a part of what is repeated over tiers, compilers and sizes; `./dev test --all` takes everything.
takes_all() {
    [ "${ATTN_TEST_ALL:-}" = 1 ]
}

# share PART ALL: the part of long sweeps that is run (ATTN_TEST_SHARE), here and with --all.
share() {
    if takes_all; then export ATTN_TEST_SHARE=$2; else export ATTN_TEST_SHARE=$1; fi
}

on_x86_64() {
    [ "$(uname -m)" = x86_64 ]
}

has_avx512() {
    grep -qw avx512_vnni /proc/cpuinfo 2>/dev/null
}

has_amx() {
    grep -qw amx_bf16 /proc/cpuinfo 2>/dev/null
}

# --- building ---

# alone NAME COMMAND...: one at a time in this checkout, where the system has locks for that.
alone() {
    local lock=build/.$1.lock
    mkdir -p build
    if command -v flock >/dev/null; then flock "$lock" "${@:2}"; else "${@:2}"; fi
}

# A configured folder stays as it is (CMake itself notices changed lists) until the presets change.
build_preset() {
    [ "build/$1/build.ninja" -nt CMakePresets.json ] || alone "$1" cmake --preset "$1"
    alone "$1" cmake --build --preset "$1"
}

# test_preset PRESET [CTEST-OPTION...]
test_preset() {
    build_preset "$1"
    ctest --preset "$1" --parallel "$(getconf _NPROCESSORS_ONLN)" "${@:2}"
}

# npm_script PACKAGE SCRIPT: a folder's name would take the workspaces below it, too.
npm_script() {
    alone "npm-${1##*/}" npm run "$2" --workspace "$1"
}

# Copied under another name first: whoever runs build/attn meanwhile sees the old or the new one, and steps beside each
# other may both do it. It finds the trained models beside itself.
publish_attn() {
    local name
    [ -e build/models ] || ln -s ../bench/labs/models build/models || [ -e build/models ]
    for name in attn attn-mpi; do
        [ -x "build/native/bench/$name" ] || continue
        cp "build/native/bench/$name" "build/.$name.$$"
        mv -f "build/.$name.$$" "build/$name"
    done
}

# The command line, for tests that compare with it, without waiting for its own tests.
build_attn() {
    build_preset native
    publish_attn
}

# The command line alone, without the tests of native.
build_command() {
    [ build/native/build.ninja -nt CMakePresets.json ] || alone native cmake --preset native
    alone native cmake --build build/native --target attn_cli
    publish_attn
}

# What tells one tier from another: the vocabulary, the tile, and each backend on it.
readonly KERNEL_TESTS='^(simd|tile|dots|bf16|softmax_precision|backends|softmax|linear|sparse|sketch|conformance|conformance_linear)\.|^(semantics_features|softmax_values|sparse_patterns)\.(avx512bf16|amx)$'

# The same of AArch64: where a tier is one below it but for some products, those.
readonly AARCH64_TESTS='^(simd|tile|dots|backends|softmax|linear|sparse|sketch|conformance|conformance_linear)\.neon$|^(dots|bf16|softmax_precision)\.|^semantics_quantised\.neondot$|^semantics_features\.neonbf16$|^tier_of_'

# kernel_tests [TESTS]: the options that choose them, unless everything is run.
kernel_tests() {
    takes_all || printf '%s\n' --tests-regex "${1:-$KERNEL_TESTS}"
}

# --- the steps ---

# Over MPI, too, where there is one.
step_build() {
    build_preset native
    if has_mpi && alone native cmake --preset mpi; then
        alone native cmake --build build/native --target attn_cli_mpi
    fi
    publish_attn
}

# Of the objects that native has.
step_addon() {
    alone native cmake --preset addon
    alone native cmake --build --preset addon
}

c_sources() {
    find core plugins mpi tests bench wasm \( -name node_modules -o -name dist -o -name build \) -prune \
        -o -type f \( -name '*.c' -o -name '*.h' \) -print0
}

shell_scripts() {
    printf '%s\0' dev .ci/run
    find . \( -name node_modules -o -name build -o -name .git \) -prune \
        -o -type f -name '*.sh' -print0
}

step_lint() {
    c_sources | xargs -0 clang-format --dry-run -Werror
    shell_scripts | xargs -0 shellcheck --external-sources
    npx prettier --check .
    npx eslint .
    node --test tests/papers.test.mjs tests/toolchain.test.mjs bench/peers/*.test.mjs bench/peers/*/*.test.mjs bench/report/*.test.mjs
    npx tsc -p web --noEmit
}

step_format() {
    c_sources | xargs -0 clang-format -i
    npx prettier --write .
}

# Everything by gcc, on all tiers that this machine has.
step_native() {
    share 0.1 1
    test_preset native
    publish_attn
}

# Everything by clang, with the sanitizers of addresses and of undefined behaviour; and the small build, which has code
# of its own.
step_sanitize() {
    local options=(--exclude-regex '^(sketching_scores|reasoning_|language_(probe|writing)|labs_(listed|figures|separation_(figures|formula))|(labs|language|nn)_.*\.(scalar|avx512)$|cli\.(lab|sketch))')
    ! takes_all || options=()
    share 0.05 0.1
    test_preset sanitize "${options[@]}"
    test_preset small
}

# What clang makes of the kernels.
step_clang() {
    share 0.05 0.1
    if takes_all; then
        test_preset clang
    else
        [ build/clang/build.ninja -nt CMakePresets.json ] || cmake --preset clang
        cmake --build --preset clang --target attn_tier_tests
        ctest --preset clang --parallel "$(getconf _NPROCESSORS_ONLN)" --tests-regex "$KERNEL_TESTS"
    fi
}

# Attention over MPI, of the objects that native has: two ranks; --all: one to eight, with the sanitizers, and once more
# with MPICH.
step_mpi() {
    if ! has_mpi; then
        echo "SKIPPED: there is no MPI (Debian: libopenmpi-dev openmpi-bin)"
        return
    fi
    local options=(--tests-regex '\.2$')
    ! takes_all || options=()
    share 0.1 1
    alone native cmake --preset mpi
    alone native cmake --build --preset mpi
    publish_attn
    ctest --preset mpi "${options[@]}"
    takes_all || return 0
    share 0.1 0.1 # the ranks of MPICH do not sleep while they wait, and here they are more than cores
    alone sanitize cmake --preset mpi-sanitize
    alone sanitize cmake --build --preset mpi-sanitize
    ctest --preset mpi-sanitize --tests-regex '\.[23]$'
    if ! command -v mpicc.mpich >/dev/null; then
        echo "SKIPPED: there is no MPICH (Debian: libmpich-dev mpich)"
        return
    fi
    build_preset mpich
    ctest --preset mpich
}

# AArch64, and x86 processors that have no more than a tier: the choice of tiers and the instructions of each.
step_qemu() {
    on_x86_64 || return 0
    local options
    mapfile -t options < <(kernel_tests "$AARCH64_TESTS")
    share 0.05 0.1
    build_preset native
    tests/qemu.sh build/native
    test_preset aarch64 "${options[@]}"
}

# AVX-512's kernels by instructions of AVX2, and AMX's in plain C. Where the processor has AVX-512, step native has run
# those as they are, and where it has AMX, all.
step_avx512() {
    local options
    mapfile -t options < <(kernel_tests)
    on_x86_64 || return 0
    share 0.05 0.25
    if ! has_avx512 || takes_all; then
        test_preset avx512 "${options[@]}"
    elif ! has_amx; then
        alone avx512 cmake --preset avx512
        alone avx512 cmake --build build/avx512 --target test_semantics_features test_softmax_values test_sparse_patterns
        ctest --preset avx512 --tests-regex '^(semantics_features|softmax_values|sparse_patterns)\.amx$'
    fi
}

# Everything on WebAssembly's SIMD; with relaxed SIMD, and without any, what has kernels.
step_wasi() {
    local options
    mapfile -t options < <(kernel_tests)
    local long=(--exclude-regex '^(sketching_(alone|scores)|reasoning_|labs_(separation_)?figures)')
    ! takes_all || long=()
    share 0.05 0.2
    test_preset wasi "${long[@]}"
    test_preset wasi-relaxed "${options[@]}"
    test_preset wasi-scalar "${options[@]}"
}

step_wasm() {
    local preset
    for preset in wasm wasm-relaxed wasm-scalar wasm-threads wasm-softmax wasi; do
        build_preset "$preset"
    done
    npm_script libattn build
    npm_script libattn-labs build
}

# With the figures of the shipped runs.
step_web() {
    build_command
    build/attn lab draw bench/labs/figures -o build/figures
    npm_script @libattn/web build
}

# The packages in this machine's Node.js, in browsers, and in bundlers.
step_package() {
    share 0.3 1
    build_attn
    step_addon
    npm_script libattn test
    npm_script libattn-labs test
}

# What of the package depends on Node.js, in the other one: how modules, threads and the addon load.
step_node() {
    local tests=(wasm/test/{engine/{functions,lifetime,loader,memory,threads},native/{native,native-process},worker/worker}.test.mjs)
    ! takes_all || tests=(wasm/test/{arguments,attention,data,engine,native,plugins,types,worker}/*.test.mjs wasm/labs/test/*.test.mjs)
    share 0.1 0.2
    step_addon
    "$(attn_node_folder "$(other_node_major)")/bin/node" --test --test-reporter=spec \
        --test-concurrency="$(getconf _NPROCESSORS_ONLN)" "${tests[@]}"
}

step_page() {
    share 0.3 1
    build_attn
    npm_script @libattn/web test
}

# The examples of README.md.
step_readme() {
    build_preset native
    node --test tests/readme/readme.test.mjs
}

step_tarballs() { node wasm/native/package.mjs build/package; }

# do_step NAME: get-NAME is a download (wasm/toolchain/needs.sh).
do_step() {
    case $1 in
    get-*) download "${1#get-}" ;;
    *) "step_$1" ;;
    esac
}

# --- what they need, and what comes before them ---

want_for() {
    case $1 in
    build | native) want_c ;;
    clang) want_clang ;;
    sanitize) want_sanitizers ;;
    addon) want_c && want_npm_packages ;;
    mpi) want_c && want_mpi ;;
    qemu) ! on_x86_64 || { want_c && want_simde && want_qemu; } ;;
    avx512) ! on_x86_64 || { want_c && want_simde; } ;;
    wasi) want_c && want_wasi ;;
    plugin) want_wasi && want_emscripten ;;
    wasm | web) want_c && want_wasi && want_emscripten && want_npm_packages ;;
    package) want_for web && want_bundlers && want_browser ;;
    page | readme) want_for web && want_browser ;;
    node) want_for web && want_other_node ;;
    lint | format)
        want_program clang-format clang-format
        want_program shellcheck shellcheck
        want_npm_packages
        ;;
    esac
}

# What a step takes as another has built it.
built_before() {
    case $1 in
    package | node | web | readme | tarballs) echo wasm ;;
    page) echo wasm web ;;
    mpi) if takes_all; then echo native sanitize; else echo native; fi ;;
    esac
}

# In words, where a step does less than with --all.
left_out() {
    case $1 in
    native) echo "nine tenths of the cases of long sweeps" ;;
    sanitize) echo "the longest labs, and half of the cases that --all runs" ;;
    clang) echo "all but the kernels, and half of their cases" ;;
    qemu) echo "all but the kernels, and half of their cases" ;;
    avx512)
        if has_avx512; then
            echo "the emulation but AMX's, as this processor has AVX-512"
        else
            echo "all but the kernels, and half of their cases"
        fi
        ;;
    wasi) echo "the longest labs, and three quarters of the cases that --all runs; relaxed and scalar: all but the kernels" ;;
    package) echo "two thirds of what is repeated over many cases" ;;
    mpi) echo "more than two ranks, nine tenths of the cases, the sanitizers, and MPICH" ;;
    node) echo "what does not load modules, threads or the addon" ;;
    page) echo "two thirds of what is repeated over many pages" ;;
    esac
}
