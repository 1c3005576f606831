#!/usr/bin/env bash
# Builds the programs of this folder with the compiler and the libraries of where it runs.
#
# usage: build.sh FOLDER
set -euo pipefail

here=$(dirname "${BASH_SOURCE[0]}")
sources=$here/../c
folder=$1

compile() {
    gcc -O3 -march=native -D_POSIX_C_SOURCE=200809L -I"$sources" -I"$here/../../../core" "$@"
}

# build PROGRAM SOURCE... FLAG...
build() {
    compile "${@:2}" "$sources"/{task,worker}.c -o "$folder/$1" -lm
}

# The softmax between products is ours to compile, and fast; what reads tasks counts on IEEE 754.
blocks=$folder/blocks.o
compile -ffast-math -c "$sources/blocks.c" -o "$blocks"
build ggml "$here/ggml.c" -lggml -lggml-base
build openblas "$sources/openblas.c" "$blocks" -fopenmp -lopenblas
build onednn "$sources"/{onednn,onednn3}.c "$blocks" -fopenmp -ldnnl
