#!/usr/bin/env node
// Runs every case of one of ONNX's operators in a folder of conformance cases.
//
// usage: node run.mjs OPERATOR[,OPERATOR] PROGRAM [ARGUMENT...]
//
// The command is called once for each case, with the case as further arguments (attention.c,
// linear_attention.c); a PROGRAM.wasm in this process, under WASI. The folder is $ATTN_CONFORMANCE, or ../shared/conformance beside the repository; its manifest.json
// lists the cases. Exit status: 0 all agree, 1 one does not, 77 there is no such folder or tier.

import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

import { wasiProgram } from "../wasi/run.mjs";

const SKIPPED = 77;
const repository = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
const folder = resolve(repository, process.env.ATTN_CONFORMANCE || "../shared/conformance");
const [operators, program, ...programArguments] = process.argv.slice(2);

// What FlexAttention does to scores is a graph, of which the manifest has the operators alone; those of
// its cases that are attributes of Attention, with their constants.
const graphs = { "score_mod=<graph:Div,Tanh,Mul>": "softcap=20" };

function skip(reason) {
    console.log(`SKIPPED: ${reason}`);
    process.exit(SKIPPED);
}

// "name=file", with the type where the file has another one.
function arrayArgument({ name, file, onnx_dtype: type }) {
    return `${name}${type === "bfloat16" ? ":bfloat16" : ""}=${resolve(folder, file)}`;
}

function argumentsOf({ node, inputs, outputs }) {
    const attributes = Object.entries(node.attributes)
        .map(([name, value]) => `${name}=${value}`)
        .map((text) => graphs[text] ?? text);
    const arrays = [...inputs, ...outputs].filter(({ name }) => name !== "");
    return [...attributes, ...arrays.map(arrayArgument)];
}

function isWanted({ node }) {
    return operators.split(",").includes(node?.op) && !("prob_mod" in node.attributes);
}

if (program === undefined) {
    console.error("usage: run.mjs OPERATOR PROGRAM [ARGUMENT...]");
    process.exit(2);
}
const manifest = resolve(folder, "manifest.json");
if (!existsSync(manifest)) skip(`${manifest} does not exist; ATTN_CONFORMANCE names its folder`);
const cases = JSON.parse(readFileSync(manifest, "utf8")).cases.filter(isWanted);

const start = program.endsWith(".wasm")
    ? wasiProgram(program)
    : (args) => spawnSync(program, args, { encoding: "utf8" });
let failures = 0;
for (const example of cases) {
    const run = start([...programArguments, ...argumentsOf(example)]);
    if (run.status === SKIPPED) skip(run.stdout.trim());
    if (run.status !== 0) failures++;
    console.log(`${run.status === 0 ? "ok  " : "FAIL"} ${example.name}: ${run.stdout?.trim()}`);
    if (run.status !== 0) console.log(run.error?.message ?? run.stderr.trim());
}
console.log(`${cases.length - failures} of ${cases.length} ${operators} cases agree`);
process.exit(failures > 0 || cases.length === 0 ? 1 : 0);
