// Makes of a package's js/ what is shipped in its dist/: bundled, and for browsers minified, because comments are half of
// it. A browser's entries are a file each. Node's share what they are made of: few files, because each that is imported
// takes Node a millisecond, and more than one, because to read what is not needed takes it two.

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
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { bundledParts, linkedParts, modulesIn, noticeOf } from "./notice.mjs";

/* Bundles stand in dist/, beside the modules and beside the threads that they start. */
const beside = (node) => ({
    name: "beside",
    transform: (code) =>
        code
            .replaceAll(/"(\.\.\/)+dist\//g, `"../dist/`)
            .replaceAll(`new URL("../dist/`, `new URL("./`)
            .replaceAll(
                /new URL\("[./\w-]*\/([\w-]+)\.js"/g,
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

const list = (where) => readdirSync(where).filter((name) => /\.(jsx?|cjs|d\.cts)$/.test(name));

/**
 * A package that is to be published: `folder` its URL, `name`, and
 * - bundles: the names of files in dist/, those that share what they are made of in one list, the first being the one
 *   that most import; required: the same for require()
 * - sources: the files in js/ of names that have another one there. X-node and X-web are of js/X.js
 * - node: the names, beside X-node, of what Node imports
 * - withFiles: browsers' entries that find files beside them by `new URL(..., import.meta.url)`
 * - external: by a name of bundles, what it imports as a file of its own
 * - files: what is shipped as it is
 */
export class Package {
    #about;
    #made;
    #bundled = new Set(); // the modules that are in what is written

    constructor(about) {
        this.#about = { sources: {}, node: [], external: {}, files: [], ...about };
        mkdirSync(this.#path("dist"), { recursive: true });
        // Of its own, because builds may run beside each other.
        this.#made = `${mkdtempSync(this.#path("dist/.new-"))}/`;
    }

    async publish() {
        const { bundles, required } = this.#about;
        try {
            for (const names of bundles) await this.#build(names);
            for (const names of required) await this.#buildRequired(names);
            this.#writeRequiredTypes();
            this.#publishFiles();
            this.#publishNotice();
            this.#publishCode();
        } finally {
            rmSync(this.#made, { recursive: true });
        }
    }

    #path(name) {
        return fileURLToPath(new URL(name, this.#about.folder));
    }

    #sourceOf(name) {
        const plain = name.replace(/-(node|web)$/, "");
        return this.#path(`js/${this.#about.sources[plain] ?? plain}.js`);
    }

    /** Does it stand under the condition "node" in package.json, or is it started by what does? */
    #isNode(name) {
        return this.#about.node.includes(name) || name.endsWith("-node");
    }

    #bundle(names, external = this.#about.external[names[0]] ?? EXTERNAL, changes = []) {
        const node = names.some((name) => this.#isNode(name));
        return rolldown({
            input: Object.fromEntries(names.map((name) => [name, this.#sourceOf(name)])),
            platform: "neutral",
            resolve: { conditionNames: [node ? "node" : "browser", "import"] },
            external,
            moduleTypes: { ".wasm": "base64" },
            plugins: [beside(node), ...changes],
        });
    }

    /** The files that an entry cannot do without. */
    async #madeOf(name) {
        const { output } = await (await this.#bundle([name])).generate({ format: "es" });
        return new Set(output.find(({ isEntry }) => isEntry).moduleIds);
    }

    /** What entries share, as the bundler wants it told. */
    async #sharedBy([first]) {
        const own = await this.#madeOf(first);
        return [
            { name: "shared-first", minShareCount: 2, test: (id) => own.has(id), priority: 1 },
            { name: "shared", minShareCount: 2 },
        ];
    }

    #note(output) {
        modulesIn(output).forEach((id) => this.#bundled.add(id));
    }

    async #build(names) {
        const groups = names.length > 1 ? await this.#sharedBy(names) : [];
        const { output } = await (
            await this.#bundle(names)
        ).write({
            dir: this.#made,
            format: "es",
            minify: !names.some((name) => name.endsWith("-node")), // Node prints the line that threw
            entryFileNames: "[name].js",
            chunkFileNames: "shared-[hash].js",
            codeSplitting: { groups },
        });
        this.#note(output);
        output
            .filter(({ name }) => this.#about.withFiles.includes(name))
            .forEach((entry) => this.#writeStaying(entry));
    }

    /**
     * The entry under the condition "development". Up to version 7 Vite's server bundles dependencies into a
     * folder of its own, without the files beside them. What has a query and no name of JavaScript's stays.
     */
    #writeStaying({ name, exports }) {
        const names = exports.join(", ");
        const write = (file, from) =>
            writeFileSync(`${this.#made}${file}`, `export { ${names} } from "./${from}";\n`);
        write(`${name}.dev.js`, `${name}.stay.jsx?stay`);
        write(`${name}.stay.jsx`, `${name}.js`);
    }

    /**
     * For require(), of Node and of test runners that know no ES modules: the same of CommonJS. The threads that they
     * start are the ES modules beside them.
     */
    async #buildRequired(names) {
        const bundler = await this.#bundle(names, EXTERNAL, [hereRequired]);
        const { output } = await bundler.write({
            dir: this.#made,
            format: "cjs",
            exports: "named",
            banner: `const ${HERE} = require("node:url").pathToFileURL(__filename).href;`,
            entryFileNames: "[name].cjs",
            chunkFileNames: "shared-[hash].cjs",
        });
        this.#note(output);
    }

    /** Their types: declarations of CommonJS, which are the same but for the names of files. */
    #writeRequiredTypes() {
        const types = this.#path("js/");
        for (const name of readdirSync(types).filter((each) => each.endsWith(".d.ts"))) {
            const text = readFileSync(`${types}${name}`, "utf8");
            const file = name.replace(".d.ts", ".d.cts");
            const renamed = text.replaceAll(/(from "\.\/[\w-]+)\.js"/g, '$1.cjs"');
            writeFileSync(`${this.#made}${file}`, renamed);
        }
    }

    #publishFiles() {
        for (const file of this.#about.files) {
            const name = basename(file);
            copyFileSync(file, `${this.#made}${name}`);
            renameSync(`${this.#made}${name}`, this.#path(`dist/${name}`));
        }
    }

    /** What package.json ships beside LICENSE. */
    #publishNotice() {
        const parts = [...bundledParts(this.#bundled), ...linkedParts(this.#path("dist/"))];
        writeFileSync(`${this.#made}NOTICE`, noticeOf(this.#about.name, parts));
        renameSync(`${this.#made}NOTICE`, this.#path("NOTICE"));
    }

    /** What is shared first, so that no entry is there without what it imports; the old ones go last. */
    #publishCode() {
        const files = list(this.#made);
        const rank = (name) => (name.startsWith("shared-") ? 0 : name.endsWith(".dev.js") ? 2 : 1);
        for (const name of files.toSorted((a, b) => rank(a) - rank(b)))
            renameSync(`${this.#made}${name}`, this.#path(`dist/${name}`));
        for (const name of list(this.#path("dist/"))) {
            if (!files.includes(name)) rmSync(this.#path(`dist/${name}`), { force: true });
        }
    }
}
