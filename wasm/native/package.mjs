// Packs libattn, its addon as a package for this platform, and libattn-labs. libattn names the addon as an optional
// dependency: only what is packed names it, so that a checkout installs without it.
//
// usage: node package.mjs FOLDER          (writes *.tgz there; dist/ of both must be built)

import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync } from "node:fs";
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { addonName, libcOf } from "../js/native/name.js";
import { noticeOf, partOf } from "../notice.mjs";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const readJson = (path) => JSON.parse(readFileSync(path, "utf8"));

function writeJson(path, value) {
    writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`);
}

/** Packs the package in `from` into the folder `to`; gives the tarball's path. */
function pack(from, to) {
    const args = ["pack", from, "--json", "--pack-destination", to];
    const [{ filename }] = JSON.parse(execFileSync("npm", args, { encoding: "utf8" }));
    return join(to, filename);
}

/** A package as npm packs it, without what is of the checkout and with what `more` makes of its manifest. */
function packChanged(from, folder, more = () => ({})) {
    const packed = pack(from, folder);
    execFileSync("tar", ["-xzf", packed, "-C", folder]);
    const stage = join(folder, "package");
    const manifest = readJson(join(stage, "package.json"));
    delete manifest.devDependencies;
    delete manifest.scripts;
    writeJson(join(stage, "package.json"), { ...manifest, ...more(manifest) });
    const changed = pack(stage, folder);
    rmSync(stage, { recursive: true });
    return changed;
}

/** libattn as npm packs it, with the platform's package among its optional dependencies. */
function packLibrary(folder, platform) {
    return packChanged(here(".."), folder, ({ version }) => ({
        optionalDependencies: { [platform]: version },
    }));
}

function packAddon(folder, name, version) {
    const stage = join(folder, "addon");
    mkdirSync(stage);
    copyFileSync(here("../dist/libattn.node"), join(stage, "libattn.node"));
    copyFileSync(here("../LICENSE"), join(stage, "LICENSE"));
    // On x86-64 kernels take the compiler's own intrinsics, and the C library is the system's.
    if (process.arch !== "x64")
        writeFileSync(join(stage, "NOTICE"), noticeOf(name, [partOf("SIMDe")]));
    const libc = libcOf(process);
    const [os, cpu] = [[process.platform], [process.arch]];
    const template = readJson(here("package.json"));
    writeJson(join(stage, "package.json"), {
        ...template,
        name,
        version,
        os,
        cpu,
        ...(libc && { libc: [libc] }),
    });
    return pack(stage, folder);
}

/** Packs the three into `to`; gives the tarballs' paths. */
export function packAll(to) {
    const folder = mkdtempSync(join(tmpdir(), "libattn-pack-"));
    const { version } = readJson(here("../package.json"));
    const platform = addonName(process);
    try {
        mkdirSync(to, { recursive: true });
        const tarballs = [
            packLibrary(folder, platform),
            packAddon(folder, platform, version),
            packChanged(here("../labs"), folder),
        ];
        return tarballs.map((from) => {
            const name = basename(from);
            copyFileSync(from, join(to, `${name}.new`));
            renameSync(join(to, `${name}.new`), join(to, name));
            return join(to, name);
        });
    } finally {
        rmSync(folder, { recursive: true });
    }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
    for (const file of packAll(resolve(process.argv[2]))) console.log(file);
}
