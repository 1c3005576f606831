/*
 * The addon as users get it: both tarballs of `./dev package` in an empty project without a network,
 * and libattn alone, as where there is no package for the platform.
 */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { after, test } from "node:test";
import { addonName } from "../../js/native/name.js";
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
    assert.match(
        output,
        /^(relaxed|simd) \S+ @libattn\/.* not installed; .*not installed\n524288\n$/,
    );
    assert.ok(output.includes(`${addonName(process)}: not installed`), output);
});

/* A process as addonName() reads one. */
const onLinux = (arch, header) => ({
    platform: "linux",
    arch,
    report: { getReport: () => ({ header }) },
});
const PROCESSES = {
    "@libattn/linux-x64-glibc": onLinux("x64", { glibcVersionRuntime: "2.36" }),
    "@libattn/linux-x64-musl": onLinux("x64", {}),
    "@libattn/linux-arm64-glibc": onLinux("arm64", { glibcVersionRuntime: "2.17" }),
    "@libattn/linux-arm64-musl": onLinux("arm64", {}),
    "@libattn/darwin-arm64": { platform: "darwin", arch: "arm64" },
    "@libattn/win32-x64": { platform: "win32", arch: "x64" },
};

test("each platform and C library has a package of its own", () => {
    for (const [name, process] of Object.entries(PROCESSES)) assert.equal(addonName(process), name);
    assert.equal(Object.keys(PROCESSES).includes(addonName(process)), true, addonName(process));
    const [file] = basename(addon).split(/-\d/);
    assert.equal(file, addonName(process).replace("@", "").replace("/", "-"));
});

test("the package for the other C library may be there too, and is left alone", () => {
    const others = Object.keys(PROCESSES).filter((name) => name !== addonName(process));
    const tarballs = others.map((name) => {
        const stage = join(folder, "others", name);
        mkdirSync(stage, { recursive: true });
        const manifest = { name, version: "0.1.0", main: "index.js" };
        writeFileSync(join(stage, "package.json"), JSON.stringify(manifest));
        writeFileSync(join(stage, "index.js"), 'throw new Error("of another platform");');
        return stage;
    });
    assert.match(outputWith("all", library, addon, ...tarballs), /^native \w+ null\n524288\n$/);
    const without = outputWith("others only", library, ...tarballs);
    assert.ok(without.includes(`${addonName(process)}: not installed`), without);
    assert.doesNotMatch(without, /of another platform/);
});
