#!/usr/bin/env bash
# What a share of the sweeps' cases (support/test.h) leaves uncovered: the branches of core/ and
# plugins/ that the C tests take with all cases and not with ATTN_TEST_SHARE.
#
# usage: coverage.sh BUILD-FOLDER SHARE      clang, llvm-profdata and llvm-cov of one version
set -euo pipefail

mkdir -p "$1"
build=$(cd "$1" && pwd) share=$2
source=$(cd "$(dirname "$0")/.." && pwd)
version=$(clang --version | sed -n 's/.*clang version \([0-9]*\).*/\1/p')
tools=${LLVM_TOOLS:-/usr/lib/llvm-$version/bin}
readonly build share source version tools
flags="-O1 -fprofile-instr-generate -fcoverage-mapping"

cmake -S "$source" -B "$build" -G Ninja -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ \
    -DATTN_BUILD_TOOLS=OFF -DCMAKE_BUILD_TYPE=Debug \
    -DCMAKE_C_FLAGS_DEBUG="$flags" -DCMAKE_CXX_FLAGS_DEBUG="$flags" >/dev/null
cmake --build "$build" >/dev/null

# Branches of an export, one a line: file, line and column, and which way.
# shellcheck disable=SC2016 # JavaScript
readonly LIST='
    const [file, which, source] = process.argv.slice(1);
    const files = JSON.parse(fs.readFileSync(file)).data[0].files.map((of) => ({
        ...of,
        name: path.relative(source, of.filename),
    }));
    for (const { name, branches } of files.filter(({ name }) => /^(core|plugins)\//.test(name)))
        for (const [line, column, , , yes, no] of branches)
            for (const [way, count] of Object.entries({ yes, no }))
                if (which === "all" || count > 0)
                    console.log(`${name}:${line}:${column} ${way}`);'

# run NAME: the tests' branches, one a line, in NAME.taken and NAME.all.
run() {
    local which
    rm -rf "$build/profiles"
    LLVM_PROFILE_FILE=$build/profiles/%m.profraw ctest --test-dir "$build" --output-on-failure \
        --parallel "$(getconf _NPROCESSORS_ONLN)" --exclude-regex '^(cli|install|labs|locale|symbols)' >"$build/$1.log"
    "$tools/llvm-profdata" merge --sparse "$build"/profiles/*.profraw -o "$build/$1.profdata"
    local objects=()
    while IFS= read -r program; do
        objects+=(--object "$program")
    done < <(find "$build/tests" -name 'test_*' -type f -executable)
    "$tools/llvm-cov" export --instr-profile="$build/$1.profdata" "${objects[@]}" \
        >"$build/$1.json"
    for which in taken all; do
        node --eval "$LIST" "$build/$1.json" "$which" "$source" | sort -u >"$build/$1.$which"
    done
    echo "$1: $(wc -l <"$build/$1.taken") of $(wc -l <"$build/$1.all") branches"
}

run whole
ATTN_TEST_SHARE=$share run share
lost=$(comm -23 "$build/whole.taken" "$build/share.taken")
echo "${lost:-no branch is lost}"
[ -z "$lost" ]
