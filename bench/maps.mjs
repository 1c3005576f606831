#!/usr/bin/env node
// Linear attention's feature maps beside softmax: error and time, as a Markdown table.
//
// usage: node bench/maps.mjs [ATTN]
//
// ATTN is the command line (default build/attn). Two inputs, causal, H = 4, n = 2048, d = 64: `random` is
// standard normal; in `structured` queries and keys are positions, waves of 16 to 4,096 tokens with some
// noise, so that softmax looks around each query, and values change smoothly. Errors are against exact
// softmax attention, ||O - O*|| / ||O*||.

import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { npy } from "../tests/cli/npy.mjs";

const attn = process.argv[2] ?? "build/attn";
const [H, n, d] = [4, 2048, 64];
const MAPS = ["elu1", "lin", "relu", "relu2", "exp", "favor", "taylor2"];

let state = 20240229;
function uniform() {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state + 0.5) / 2 ** 32;
}
const normal = () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());

/** An array of f(token, column). */
function fill(f) {
    return npy(
        [H, n, d],
        Array.from({ length: H * n * d }, (_, i) => f(Math.floor(i / d) % n, i % d)),
    );
}

function position(token, column) {
    const angle = (2 * Math.PI * token) / (16 * 2 ** ((column >> 1) / 4));
    return 1.5 * (column & 1 ? Math.sin(angle) : Math.cos(angle)) + 0.3 * normal();
}

const inputs = {
    random: { q: fill(normal), k: fill(normal), v: fill(normal) },
    structured: {
        q: fill(position),
        k: fill(position),
        v: fill((token, column) => Math.sin(token / 100 + column) + 0.1 * normal()),
    },
};

const folder = mkdtempSync(join(tmpdir(), "attn-maps-"));
const rows = new Map(["softmax", ...MAPS].map((name) => [name, []]));
try {
    for (const arrays of Object.values(inputs)) {
        const files = Object.entries(arrays).flatMap(([name, bytes]) => {
            const file = join(folder, `${name}.npy`);
            writeFileSync(file, bytes);
            return [`--${name}`, file];
        });
        for (const [name, cells] of rows) {
            const backend =
                name === "softmax" ? ["softmax"] : ["linear", "--set", `feature_map=${name}`];
            const args = ["compare", ...files, "--causal", "--json", "--backends", ...backend];
            const { error, ms } = JSON.parse(execFileSync(attn, args, { encoding: "utf8" }))
                .rows[0];
            cells.push(error.toPrecision(2), ms.toPrecision(3));
        }
    }
} finally {
    rmSync(folder, { recursive: true });
}
console.log("| | random: error | ms | structured: error | ms |");
console.log("|---|---|---|---|---|");
for (const [name, cells] of rows) console.log(`| ${name} | ${cells.join(" | ")} |`);
