/* Empty projects with the package in them as npm installs it from its tarball, without a network. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { patience } from "../../../web/test/support/rest.mjs";

export const packageFolder = fileURLToPath(new URL("../..", import.meta.url));
export const labsFolder = join(packageFolder, "labs");

function npm(cwd, ...args) {
    return execFileSync("npm", args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

/** Packs libattn, or the package in another folder: the tarball's path, and the paths of the files in it. */
export function pack(to, from = packageFolder) {
    const [packed] = JSON.parse(npm(to, "pack", from, "--json", "--pack-destination", to));
    return { tarball: join(to, packed.filename), files: packed.files.map(({ path }) => path) };
}

/** Makes the folder a project that has installed these tarballs. */
export function makeProject(folder, ...tarballs) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }');
    npm(folder, "install", "--offline", "--no-audit", "--no-fund", ...tarballs);
}

/** What a script of the project prints. */
export function outputOf(folder, script) {
    return execFileSync(process.execPath, [script], {
        ...{ cwd: folder, encoding: "utf8", timeout: patience },
        stdio: ["ignore", "pipe", "pipe"],
    });
}

/** The packages' manual: README.md, what it points to in docs/, and that of libattn-labs. */
export function manual() {
    const pages = readdirSync(join(packageFolder, "docs")).map((name) => join("docs", name));
    return ["README.md", ...pages.sort(), "labs/README.md"]
        .map((page) => readFileSync(join(packageFolder, page), "utf8"))
        .join("\n");
}

/** The example in the package's manual that has this text. */
export function readmeExample(text, language = "js") {
    const blocks = manual().matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, "gms"));
    for (const [, block] of blocks) if (block.includes(text)) return block;
    throw new Error(`the manual has no example with ${text}`);
}
