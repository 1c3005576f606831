// What packages and pages say of other people's work in them: the file NOTICE. JavaScript: of the modules that a
// bundler has put in, and of what their packages depend on, with each package's own licence. C: of the libraries that
// the linker has put in, by its maps in dist/, with the texts in licences/. What has no text is an error.

import { existsSync, readFileSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";

const folder = (name) => fileURLToPath(new URL(name, import.meta.url));

/* What a library of the toolchains' has in it. */
const LIBRARIES = [
    [/emscripten.*\/libc(_\w+)*\.a$/, ["musl", "Emscripten"]],
    [/\/lib(stubs|standalonewasm)[\w-]*\.a$/, ["Emscripten"]],
    [/\/libcompiler_rt[\w-]*\.a$/, ["compiler-rt", "Emscripten"]],
    [/wasi.*\/libc\.a$/, ["musl", "wasi-libc"]],
    [/\/libclang_rt\.builtins[\w-]*\.a$/, ["compiler-rt"]],
];

const ADDRESSES = {
    musl: "https://musl.libc.org",
    Emscripten: "https://emscripten.org",
    SIMDe: "https://github.com/simd-everywhere/simde",
    "compiler-rt": "https://compiler-rt.llvm.org",
    "wasi-libc": "https://github.com/WebAssembly/wasi-libc",
};

/** A part in C: its name, where it is from, its notice. */
export const partOf = (name) => ({
    name,
    address: ADDRESSES[name],
    text: readFileSync(folder(`licences/${name}.txt`), "utf8"),
});

/** The libraries of a linker's map; the project's own have no absolute paths. */
export function librariesIn(map) {
    return [...new Set([...map.matchAll(/\s(\/\S+\.a)\(/g)].map(([, library]) => library))];
}

/** The names of what is in a library. */
export function partsIn(library) {
    const found = LIBRARIES.find(([pattern]) => pattern.test(library));
    if (!found)
        throw new Error(
            `NOTICE: no licence is known of ${library}, which is linked: see notice.mjs`,
        );
    return found[1];
}

function mapOf(module) {
    const map = module.replace(".wasm", ".map");
    if (!existsSync(map))
        throw new Error(`NOTICE: ${map} is missing: build the module anew (./dev wasm)`);
    return readFileSync(map, "utf8");
}

/** What is in C in the modules of dist/. */
export function linkedParts(dist = folder("dist/")) {
    const modules = readdirSync(dist).filter((name) => name.endsWith(".wasm"));
    const libraries = new Set(modules.flatMap((name) => librariesIn(mapOf(`${dist}${name}`))));
    const names = new Set(["SIMDe", ...[...libraries].flatMap(partsIn)]);
    return [...names].map(partOf);
}

/** The folder of the package that a module is of, or null for our own. */
function packageFolder(id) {
    return id.match(/^\0?(.*\/node_modules\/(@[^/]+\/)?[^/]+)\//)?.[1] ?? null;
}

/** A folder of a package's dependency, which is in its own node_modules or in those around it. */
function dependencyFolder(where, name) {
    const around = where.slice(0, where.lastIndexOf("/node_modules/"));
    return [`${where}/node_modules/${name}`, `${around}/node_modules/${name}`].find(existsSync);
}

/** The packages that one depends on: what it ships may have been bundled of them before. */
function dependenciesOf(where) {
    const { dependencies = {} } = JSON.parse(readFileSync(`${where}/package.json`, "utf8"));
    return Object.keys(dependencies).map((name) => {
        const found = dependencyFolder(where, name);
        if (!found) throw new Error(`NOTICE: ${name}, which ${where} depends on, is not installed`);
        return found;
    });
}

function packagePart(where) {
    const manifest = JSON.parse(readFileSync(`${where}/package.json`, "utf8"));
    const { name, version, homepage, repository } = manifest;
    const file = readdirSync(where).find((each) => /^(licen[cs]e|copying)(\.\w+)?$/i.test(each));
    if (!file)
        throw new Error(
            `NOTICE: the package ${name}, which is bundled, has no licence in ${where}`,
        );
    const address = homepage ?? repository?.url ?? repository;
    // Vite's goes on with those of what Vite itself has in it.
    const [text] = readFileSync(`${where}/${file}`, "utf8").split(
        "# Licenses of bundled dependencies",
    );
    return { name: `${name} ${version}`, address, text };
}

/** The packages of modules, and those that bundlers have added modules of. */
export function bundledParts(ids) {
    const own = [...ids].map(packageFolder).filter((where) => where !== null);
    const bundlers = [...ids].map((id) => id.match(/^\0(vite|rolldown)\//)?.[1]).filter(Boolean);
    const added = bundlers.map((name) => folder(`../node_modules/${name}`));
    return [...new Set([...own, ...own.flatMap(dependenciesOf), ...added])].map(packagePart);
}

/** The modules of which something is in a bundler's output. */
export function modulesIn(output) {
    return output
        .flatMap(({ modules = {} }) => Object.entries(modules))
        .filter(([, { renderedLength }]) => renderedLength > 0)
        .map(([id]) => id);
}

const inOrder = ({ name: a }, { name: b }) => a.localeCompare(b, "en");

/** The NOTICE of a work that has these parts. */
export function noticeOf(work, parts) {
    const sorted = parts.toSorted(inOrder);
    const names = sorted.map(({ name }) => `    ${name}\n`).join("");
    const sections = sorted.map(
        ({ name, address, text }) => `${"-".repeat(80)}\n${name}\n${address}\n\n${text.trim()}\n`,
    );
    const first = `${work} is licensed under the Apache License 2.0. It contains parts of these works, under their licences:`;
    return [`${first}\n\n${names}`, ...sections].join("\n");
}
