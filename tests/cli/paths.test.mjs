// A program that is given away says nothing of where it was built, and finds its models wherever it is.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, cpSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { isWasi, plugin, program, shim, withFiles } from "./command.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));
const options = { skip: isWasi && "a module finds no files beside it" };

/* Also in what is built for debugging, as the template is beside a program with sanitizers. */
const reason = (name, file) =>
    !file ? "not built" : name === "program" && !shim && "sanitizers keep the names of sources";
for (const [name, file] of Object.entries({ program, plugin, shim }))
    test(`the ${name} has no path of its sources in it`, { skip: reason(name, file) }, () => {
        const bytes = readFileSync(file);
        for (const path of [root, dirname(program)]) assert.ok(!bytes.includes(path), path);
    });

/* [name, PATH] of starts where the system does not tell where a program lies. */
const untold = (folder) => [
    [join(folder, "bin/attn"), "/nowhere"],
    ["bin/attn", "/nowhere"],
    ["attn", `/nowhere::${join(folder, "bin")}:/nowhere`],
];

test("models are found from the program, installed or beside it", options, () => {
    withFiles({}, (folder) => {
        mkdirSync(join(folder, "bin"));
        const moved = join(folder, "bin/attn");
        copyFileSync(program, moved);
        const question = ["lab", "solve", "arithmetic", "3 + 4 * 2"];
        const solve = (called = moved, env = {}) =>
            spawnSync(called, question, { cwd: folder, env: { ...process.env, ...env } });
        assert.match(`${solve().stderr}`, /there is no model of arithmetic/);
        for (const place of ["share/attn/models", "bin/models"]) {
            cpSync(join(root, "bench/labs/models"), join(folder, place), { recursive: true });
            const { status, stdout } = solve();
            assert.equal(status, 0, place);
            assert.match(`${stdout}`, /= 1 <eos>/);
            for (const [called, PATH] of shim ? untold(folder) : []) {
                const env = { PATH, LD_PRELOAD: shim, ATTN_SHIM_NO_PROC: "1" };
                const { status, stderr } = solve(called, env);
                assert.equal(status, 0, `${place}, as ${called}: ${stderr}`);
            }
            rmSync(join(folder, place), { recursive: true });
        }
    });
});
