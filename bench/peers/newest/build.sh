#!/usr/bin/env bash
# Builds the programs of this folder with the compiler and the libraries of where it runs.
#
# usage: build.sh FOLDER
set -euo pipefail

here=$(dirname "${BASH_SOURCE[0]}")
gcc -O3 -march=native -D_POSIX_C_SOURCE=200809L -I"$here/.." -I"$here/../../../core" \
    "$here"/ggml.c "$here"/../{task,worker}.c -o "$1/ggml" -lggml -lggml-base -lm
