// Makes of js/ what is shipped in dist/: bundled and minified, because comments are half of it. A
// browser's entries are a file each; Node's share chunks, so that an AttnError is one class.
//
// usage: node build.mjs

import { mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

/* What package.json exports, and the threads that these start by name. */
const BUNDLES = [
    ["index"],
    ["thread"],
    ["softmax"],
    ["worker"],
    ["served"],
    [
        "node",
        "thread-node",
        "softmax-node",
        "worker-node",
        "served-node",
        "labs-node",
        "labs-worker-node",
        "native",
    ],
    ["labs"],
    ["labs-worker"],
];

const folder = (name) => fileURLToPath(new URL(name, import.meta.url));
const made = folder("dist/.new/");

async function build(names) {
    const bundle = await rolldown({
        input: Object.fromEntries(names.map((name) => [name, folder(`js/${name}.js`)])),
        platform: "neutral",
        external: /^node:/,
    });
    await bundle.write({
        dir: made,
        format: "es",
        minify: true,
        entryFileNames: "[name].js",
        chunkFileNames: "chunk-[hash].js",
    });
}

rmSync(made, { recursive: true, force: true });
mkdirSync(made, { recursive: true });
for (const names of BUNDLES) await build(names);

// Chunks first, so that no entry is there without what it imports; the old ones go last.
const list = (where) =>
    readdirSync(where, { recursive: true }).filter((name) => name.endsWith(".js"));
const files = list(made);
const order = [...files.filter((name) => name.startsWith("chunk-")), ...files];
for (const name of new Set(order)) renameSync(`${made}${name}`, folder(`dist/${name}`));
rmSync(made, { recursive: true });
for (const name of list(folder("dist/"))) {
    if (!files.includes(name)) rmSync(folder(`dist/${name}`));
}
