/*
 * The package's tarball in empty projects that Vite, webpack and esbuild build as they come, and what
 * they made in Chromium and in Node.
 */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdtempSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { build as esbuild } from "esbuild";
import * as vite8 from "vite";
import { PAGE, openWorkshop, runWebpack } from "./bundled.mjs";
import { vite5, vite6, vite7 } from "./bundlers/index.mjs";
import { outputOf, readmeExample } from "./projects.mjs";
import { ISOLATION } from "./server.mjs";

let root, projectOf, titleOf, close;
before(async () => {
    ({ root, projectOf, titleOf, close } = await openWorkshop("bundlers"));
});
after(() => close());

/* Softmax of equal values is that value. */
const ALL = `
    import { init } from "libattn";
    import { init as initNative } from "libattn/native";
    import { init as initSoftmax } from "libattn/softmax";
    import { defineView } from "libattn/view";
    import { init as initWorker } from "libattn/worker";

    async function main() {
        const x = new Float32Array(64).fill(2);
        const options = { heads: 4, dim: 16 };
        const seen = [];
        const initThreads = () => init({ threads: 2 });
        for (const start of [init, initSoftmax, initWorker, initThreads, initNative]) {
            const attn = await start();
            seen.push(attn.build, (await attn.attention(x, x, x, options))[0]);
            if (start === initNative) seen.push(attn.reason);
            attn.dispose();
        }
        defineView();
        const view = document.createElement("attn-view");
        view.text = "one one";
        document.body.append(view);
        await new Promise((resolve) => view.addEventListener("update", resolve));
        seen.push(view.problem ?? view.weights.length);
        document.title = seen.join(" ");
    }
    main();`;
const ALL_SEEN = "relaxed 2 simd 2 relaxed 2 threads 2 relaxed 2 addons are for Node 4";

/* Without modules' await, which other formats of esbuild do not have. */
const INLINE = `
    import { init } from "libattn/inline";

    export async function compute() {
        const attn = await init();
        const x = new Float32Array(64).fill(2);
        const [out] = attn.attention(x, x, x, { heads: 4, dim: 16 });
        const plugin = await attn.loadPlugin(new Uint8Array(9)).catch(({ code }) => code);
        return [attn.build, out, plugin].join(" ");
    }`;
const INLINE_SEEN = "simd 2 ATTN_ERROR_PLUGIN";

/* A dependency of the project that has libattn from it: what it imports is bundled along with it. */
const between = {
    "node_modules/between/package.json":
        '{ "name": "between", "type": "module", "main": "index.js" }',
    "node_modules/between/index.js": ALL,
    "between.html": PAGE.replace("main", "through"),
    "through.js": 'import "between";',
};

for (const vite of [vite5, vite6, vite7, vite8]) {
    test(`Vite ${vite.version}, its build and its server`, async () => {
        const pages = { "main.js": ALL, "index.html": PAGE, "public/favicon.ico": "" };
        const project = projectOf(`vite${vite.version}`, { ...pages, ...between });
        const settings = { root: project, base: "./", configFile: false, logLevel: "error" };
        delete process.env.NODE_ENV; // which Vite sets: for users each command is a process of its own
        await vite.build({ ...settings, build: { outDir: "site" } });
        assert.equal(await titleOf(project), ALL_SEEN);

        delete process.env.NODE_ENV;
        const address = { host: "127.0.0.1", port: 0, headers: ISOLATION };
        const dev = await vite.createServer({ ...settings, base: "/", server: address });
        try {
            await dev.listen();
            const base = dev.resolvedUrls.local[0];
            assert.equal(await titleOf(project, base), ALL_SEEN);
            assert.equal(await titleOf(project, `${base}between.html`), ALL_SEEN);
        } finally {
            await dev.close();
        }
    });
}

for (const mode of ["production", "development"]) {
    test(`webpack, ${mode}`, async () => {
        const project = projectOf(`webpack-${mode}`, { "main.js": ALL });
        // Modules are above webpack's hint, which goes by bytes before compression.
        const performance = { maxAssetSize: 450_000 };
        const options = { context: project, mode, devtool: false, performance }; // none that needs eval
        await runWebpack(options);
        assert.equal(await titleOf(project), ALL_SEEN);
    });
}

/** Bundles main.js and worker.js of a project by esbuild, without a warning. */
async function bundle(project, options = {}) {
    const { warnings } = await esbuild({
        entryPoints: ["main.js", "worker.js"],
        ...{ absWorkingDir: project, bundle: true, outdir: "site", logLevel: "error" },
        ...options,
    });
    assert.deepEqual(warnings, []);
}

const inPageAndWorker = {
    "compute.js": INLINE,
    "main.js": `
        import { compute } from "./compute.js";
        const worker = new Worker("worker.js");
        worker.onmessage = async ({ data }) => (document.title = [await compute(), data].join());`,
    "worker.js": 'import { compute } from "./compute.js"; compute().then(postMessage);',
};

test("esbuild without options: libattn/inline in a page and a worker", async () => {
    const project = projectOf("esbuild", inPageAndWorker);
    await bundle(project);
    assert.equal(await titleOf(project), `${INLINE_SEEN},${INLINE_SEEN}`);
});

test("esbuild with an alias: libattn is libattn/inline", async () => {
    const files = { ...inPageAndWorker, "compute.js": INLINE.replace("libattn/inline", "libattn") };
    const project = projectOf("alias", files);
    await bundle(project, { alias: { libattn: "libattn/inline" } });
    assert.equal(await titleOf(project), `${INLINE_SEEN},${INLINE_SEEN}`);
});

test("esbuild for Node: one file that needs no other", async () => {
    const code = 'import { compute } from "./compute.js"; compute().then(console.log);';
    const project = projectOf("node", { "compute.js": INLINE, "main.js": code });
    const alone = mkdtempSync(join(root, "alone-"));
    for (const [format, file] of Object.entries({ esm: "main.mjs", cjs: "main.cjs" })) {
        await bundle(project, { entryPoints: ["main.js"], platform: "node", format });
        copyFileSync(join(project, "site/main.js"), join(alone, file));
        assert.equal(outputOf(alone, file), `${INLINE_SEEN}\n`);
    }
});

test("README's command for esbuild, which carries the files of everything", async () => {
    const project = projectOf("everything", { "main.js": ALL });
    const command = readmeExample("npx esbuild", "sh");
    const program = fileURLToPath(import.meta.resolve("esbuild/bin/esbuild"));
    const options = { cwd: project, stdio: "pipe", encoding: "utf8" };
    execFileSync("sh", ["-c", command.replace("npx esbuild", program)], options);
    assert.equal(await titleOf(project), ALL_SEEN);
});
