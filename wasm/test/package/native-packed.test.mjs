/*
 * The addon as users get it: both tarballs of `./dev package` in an empty project without a network,
 * and libattn alone, as where there is no package for the platform.
 */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { packAll } from "../../native/package.mjs";
import { makeProject, outputOf, readmeExample } from "./projects.mjs";

const folder = mkdtempSync(join(tmpdir(), "libattn-native-"));
after(() => rmSync(folder, { recursive: true }));
const [library, addon] = packAll(join(folder, "tarballs"));

/** What README's example prints in a project with these tarballs. */
function outputWith(name, ...tarballs) {
    const project = join(folder, name);
    makeProject(project, ...tarballs);
    writeFileSync(join(project, "example.js"), readmeExample("libattn/native"));
    return outputOf(project, "example.js");
}

test("with the platform's package it is native", () => {
    assert.match(outputWith("both", library, addon), /^native \w+ null\n524288\n$/);
});

test("libattn alone serves in WebAssembly, and says why", () => {
    const output = outputWith("alone", library);
    const { platform, arch } = process;
    assert.match(
        output,
        /^(relaxed|simd) \S+ @libattn\/.* not installed; .*not installed\n524288\n$/,
    );
    assert.ok(output.includes(`@libattn/${platform}-${arch}: not installed`), output);
});
