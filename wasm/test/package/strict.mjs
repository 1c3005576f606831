/* Strict TypeScript in a project. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { copyFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, join } from "node:path";

export const tsc = findTsc();

function findTsc() {
    const require = createRequire(import.meta.url);
    try {
        return join(require.resolve("typescript/package.json"), "../bin/tsc");
    } catch {
        return null;
    }
}

/** Compiles these programs in the project, with these libraries of types. */
export function compile(project, programs, lib) {
    for (const file of programs) copyFileSync(file, join(project, basename(file)));
    const compilerOptions = {
        ...{ strict: true, exactOptionalPropertyTypes: true, noEmit: true, types: [] },
        ...{ module: "nodenext", target: "es2022", lib },
    };
    const files = programs.map((file) => basename(file));
    writeFileSync(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions, files }));
    try {
        execFileSync(process.execPath, [tsc], { cwd: project, encoding: "utf8" });
    } catch (error) {
        assert.fail(error.stdout);
    }
}
