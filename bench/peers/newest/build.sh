#!/usr/bin/env bash
# Builds the programs of this folder with the compiler and the libraries of where it runs.
#
# usage: build.sh FOLDER
set -euo pipefail

here=$(dirname "${BASH_SOURCE[0]}")
sources=$here/../c
folder=$1

# build PROGRAM SOURCE... FLAG...
build() {
    local program=$1
    shift
    gcc -O3 -march=native -D_POSIX_C_SOURCE=200809L -I"$sources" -I"$here/../../../core" \
        "$@" "$sources"/{task,worker}.c -o "$folder/$program" -lm
}

build ggml "$here/ggml.c" -lggml -lggml-base
build openblas "$sources"/{openblas,blocks}.c -ffast-math -fopenmp -lopenblas
build onednn "$sources"/{onednn,onednn3,blocks}.c -ffast-math -fopenmp -ldnnl
