// Makes of js/ what is shipped in dist/: bundled, and for browsers minified, because comments are half of
// it. A browser's entries are a file each, and so is libattn/softmax of Node, which has less in it. Node's
// others share two more, what `libattn` itself is made of and the rest: no more, because each file that is
// imported takes Node a millisecond, and no fewer, because to read the rest takes it two.
//
// usage: node build.mjs          (dist/libattn.simd.wasm must be built)

import {
    copyFileSync,
    mkdirSync,
    mkdtempSync,
    readFileSync,
    readdirSync,
    renameSync,
    rmSync,
    writeFileSync,
} from "node:fs";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { bundledParts, linkedParts, modulesIn, noticeOf } from "./notice.mjs";

/* Node's, which share what they are made of. */
const NODE = [
    "node",
    "worker-node",
    "served-node",
    "data-node",
    "labs-node",
    "labs-worker-node",
    "models-node",
    "training-node",
    "native",
];

/* Those of them that are threads, and start by themselves. */
const THREADS = ["served-node", "labs-worker-node"];

/* What require() gives. */
const REQUIRED = [
    NODE.filter((name) => !THREADS.includes(name)),
    ...[["softmax-node"], ["inline"], ["view"], ["view-words"]],
];

/* What package.json exports, and the threads that these start by name. */
const BUNDLES = [
    ["index"],
    ["thread"],
    ["thread-node"],
    ["softmax"],
    ["softmax-node"],
    ["worker"],
    ["served"],
    NODE,
    ["data"],
    ["labs"],
    ["labs-worker"],
    ["models"],
    ["training"],
    ["inline"],
    ["native-web"],
    ["view"],
    ["view-words"],
];

/* Browsers' entries that have files beside them, which they find by `new URL(..., import.meta.url)`. */
const WITH_FILES = [
    ...["index", "softmax", "worker", "data", "labs", "models", "training", "native-web"],
    ...["view"], // by its neighbours
];

/* Entries that are not a file of their name in js/. One source makes an entry of Node and one of browsers. */
const SOURCES = {
    node: "index",
    thread: "threads/thread",
    served: "worker/served",
    "labs-worker": "labs/labs-worker",
};
const sourceOf = (name) => {
    const plain = name.replace(/-(node|web)$/, "");
    return folder(`js/${SOURCES[plain] ?? plain}.js`);
};

/* Does an entry stand under the condition "node" in package.json, or is it started by one that does? */
const isNode = (name) => NODE.includes(name) || name.endsWith("-node");

/* Entries that others are made of, and that stay files of their own: what they start by name is beside them. */
const ENTRIES = /^\.\.?\/(worker|data|view-words)\.js$/;

const folder = (name) => fileURLToPath(new URL(name, import.meta.url));
mkdirSync(folder("dist"), { recursive: true });
const made = `${mkdtempSync(folder("dist/.new-"))}/`; // of its own, because builds may run beside each other

/* Bundles stand in dist/, beside the modules and beside the threads that they start. */
const beside = (node) => ({
    name: "beside",
    transform: (code) =>
        code
            .replaceAll(/"(\.\.\/)+dist\//g, `"../dist/`)
            .replaceAll(`new URL("../dist/`, `new URL("./`)
            .replaceAll(
                /new URL\("[./]+\/(?:threads|worker|labs)\/([\w-]+)\.js"/g,
                `new URL("./$1${node ? "-node" : ""}.js"`,
            ),
});

/* Where a file of CommonJS is. */
const HERE = "attnHere";
const hereRequired = {
    name: "here",
    transform: (code) => code.replaceAll("import.meta.url", HERE),
};

const EXTERNAL = /^(node:|worker_threads$)/;
const externalOf = (names) => (names.includes("view") ? ENTRIES : EXTERNAL);

const bundle = (names, external = externalOf(names), changes = []) => {
    const node = names.some(isNode);
    return rolldown({
        input: Object.fromEntries(names.map((name) => [name, sourceOf(name)])),
        platform: "neutral",
        resolve: { conditionNames: [node ? "node" : "browser", "import"] },
        external,
        moduleTypes: { ".wasm": "base64" },
        plugins: [beside(node), ...changes],
    });
};

/* The modules that are in what is written. */
const bundled = new Set();
const note = (output) => modulesIn(output).forEach((id) => bundled.add(id));

/** The files that an entry cannot do without. */
async function madeOf(name) {
    const { output } = await (await bundle([name])).generate({ format: "es" });
    return new Set(output.find(({ isEntry }) => isEntry).moduleIds);
}

/** What entries share, as the bundler wants it told. */
async function sharedBy([first]) {
    const own = await madeOf(first);
    return [
        { name: "shared-first", minShareCount: 2, test: (id) => own.has(id), priority: 1 },
        { name: "shared", minShareCount: 2 },
    ];
}

async function build(names) {
    const groups = names.length > 1 ? await sharedBy(names) : [];
    const { output } = await (
        await bundle(names)
    ).write({
        dir: made,
        format: "es",
        minify: !names.some((name) => name.endsWith("-node")), // Node prints the line that threw
        entryFileNames: "[name].js",
        chunkFileNames: "shared-[hash].js",
        codeSplitting: { groups },
    });
    note(output);
    output.filter(({ name }) => WITH_FILES.includes(name)).forEach(writeStaying);
}

/**
 * The entry under the condition "development". Up to version 7 Vite's server bundles dependencies into a
 * folder of its own, without the files beside them. What has a query and no name of JavaScript's stays.
 */
function writeStaying({ name, exports }) {
    const names = exports.join(", ");
    writeFileSync(`${made}${name}.dev.js`, `export { ${names} } from "./${name}.stay.jsx?stay";\n`);
    writeFileSync(`${made}${name}.stay.jsx`, `export { ${names} } from "./${name}.js";\n`);
}

const list = (where) => readdirSync(where).filter((name) => /\.(jsx?|cjs|d\.cts)$/.test(name));

/** What is shared first, so that no entry is there without what it imports; the old ones go last. */
function publish() {
    const files = list(made);
    const rank = (name) => (name.startsWith("shared-") ? 0 : name.endsWith(".dev.js") ? 2 : 1);
    for (const name of files.toSorted((a, b) => rank(a) - rank(b)))
        renameSync(`${made}${name}`, folder(`dist/${name}`));
    for (const name of list(folder("dist/"))) {
        if (!files.includes(name)) rmSync(folder(`dist/${name}`), { force: true });
    }
}

/**
 * For require(), of Node and of test runners that know no ES modules: the same of CommonJS. The threads that they start
 * are the ES modules beside them.
 */
async function buildRequired(names) {
    const bundler = await bundle(names, EXTERNAL, [hereRequired]);
    const { output } = await bundler.write({
        dir: made,
        format: "cjs",
        exports: "named",
        banner: `const ${HERE} = require("node:url").pathToFileURL(__filename).href;`,
        entryFileNames: "[name].cjs",
        chunkFileNames: "shared-[hash].cjs",
    });
    note(output);
}

/** Their types: declarations of CommonJS, which are the same but for the names of files. */
function writeRequiredTypes() {
    const types = folder("js/");
    for (const name of readdirSync(types).filter((each) => each.endsWith(".d.ts"))) {
        const text = readFileSync(`${types}${name}`, "utf8");
        const file = name.replace(".d.ts", ".d.cts");
        writeFileSync(`${made}${file}`, text.replaceAll(/(from "\.\/[\w-]+)\.js"/g, '$1.cjs"'));
    }
}

/** The files of libattn/models. */
function publishModels() {
    const models = folder("../bench/labs/models/");
    for (const name of readdirSync(models).filter((each) => each.endsWith(".model"))) {
        copyFileSync(`${models}${name}`, `${made}${name}`);
        renameSync(`${made}${name}`, folder(`dist/${name}`));
    }
}

/** What package.json ships beside LICENSE. */
function publishNotice() {
    writeFileSync(
        `${made}NOTICE`,
        noticeOf("libattn", [...bundledParts(bundled), ...linkedParts()]),
    );
    renameSync(`${made}NOTICE`, folder("NOTICE"));
}

try {
    for (const names of BUNDLES) await build(names);
    for (const names of REQUIRED) await buildRequired(names);
    writeRequiredTypes();
    publishModels();
    publishNotice();
    publish();
} finally {
    rmSync(made, { recursive: true });
}
