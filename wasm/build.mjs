// Makes of js/ what is shipped in dist/: bundled and minified, because comments are half of it. A
// browser's entries are a file each. Node's share one more, so that an AttnError is one class there:
// one, because each file that is imported takes Node a millisecond.
//
// usage: node build.mjs          (dist/libattn.simd.wasm must be built)

import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from "node:fs";
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
    ["inline"],
];

const folder = (name) => fileURLToPath(new URL(name, import.meta.url));
mkdirSync(folder("dist"), { recursive: true });
const made = `${mkdtempSync(folder("dist/.new-"))}/`; // of its own, because builds may run beside each other

/* Sources and bundles see the modules of dist/ from different folders. */
const beside = {
    name: "beside",
    transform: (code) => code.replaceAll(`new URL("../dist/`, `new URL("./`),
};

async function build(names) {
    const bundle = await rolldown({
        input: Object.fromEntries(names.map((name) => [name, folder(`js/${name}.js`)])),
        platform: "neutral",
        external: /^node:/,
        moduleTypes: { ".wasm": "base64" },
        plugins: [beside],
    });
    await bundle.write({
        dir: made,
        format: "es",
        minify: true,
        entryFileNames: "[name].js",
        chunkFileNames: "shared-[hash].js",
        codeSplitting: { groups: [{ name: "shared", minShareCount: 2 }] },
    });
}

const list = (where) => readdirSync(where).filter((name) => name.endsWith(".js"));

/** What is shared first, so that no entry is there without what it imports; the old ones go last. */
function publish() {
    const files = list(made);
    const order = [...files.filter((name) => name.startsWith("shared-")), ...files];
    for (const name of new Set(order)) renameSync(`${made}${name}`, folder(`dist/${name}`));
    for (const name of list(folder("dist/"))) {
        if (!files.includes(name)) rmSync(folder(`dist/${name}`), { force: true });
    }
}

try {
    for (const names of BUNDLES) await build(names);
    publish();
} finally {
    rmSync(made, { recursive: true });
}
