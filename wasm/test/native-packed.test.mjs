/*
 * The addon as users get it: both tarballs of `./dev package` in an empty project without a network,
 * and libattn alone, as where there is no package for the platform.
 */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { packAll } from "../native/package.mjs";

const folder = mkdtempSync(join(tmpdir(), "libattn-native-"));
after(() => rmSync(folder, { recursive: true }));
const [library, addon] = packAll(join(folder, "tarballs"));

/** README's example of libattn/native. */
function example() {
    const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
    const found = /^```js\n([^`]*?"libattn\/native".*?)^```/ms.exec(readme);
    assert.ok(found, "README.md has no example of libattn/native");
    return found[1];
}

/** What README's example prints in a project with these tarballs. */
function outputWith(name, ...tarballs) {
    const project = join(folder, name);
    const options = { cwd: project, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] };
    mkdirSync(project);
    writeFileSync(join(project, "package.json"), '{ "private": true, "type": "module" }');
    const flags = ["--offline", "--no-audit", "--no-fund"];
    execFileSync("npm", ["install", ...flags, ...tarballs], options);
    writeFileSync(join(project, "example.js"), example());
    return execFileSync(process.execPath, ["example.js"], { ...options, timeout: 20_000 });
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
