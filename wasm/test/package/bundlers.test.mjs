/*
 * The package's tarball in empty projects that Vite, webpack and esbuild build as they come, and what
 * they made in Chromium and in Node.
 */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { build as esbuild } from "esbuild";
import * as vite from "vite";
import webpack from "webpack";
import { launchChromium } from "../../../web/test/browser.mjs";
import { makeProject, outputOf, pack, readmeExample } from "./projects.mjs";
import { ISOLATION, serve } from "./server.mjs";

const root = mkdtempSync(join(tmpdir(), "libattn-bundlers-"));
const { tarball } = pack(root);

/* Softmax of equal values is that value. */
const ALL = `
    import { init } from "libattn";
    import { init as initSoftmax } from "libattn/softmax";
    import { init as initWorker } from "libattn/worker";

    const x = new Float32Array(64).fill(2);
    const options = { heads: 4, dim: 16 };
    const seen = [];
    for (const start of [init, initSoftmax, initWorker, () => init(null, { threads: 2 })]) {
        const attn = await start();
        seen.push(attn.build, (await attn.attention(x, x, x, options))[0]);
        attn.dispose();
    }
    document.title = seen.join(" ");`;
const ALL_SEEN = "relaxed 2 simd 2 relaxed 2 threads 2";

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
const PAGE = '<!doctype html><title></title><script type="module" src="./main.js"></script>';

/** A project with the tarball and these files, its folder. */
function projectOf(name, files) {
    const project = join(root, name);
    makeProject(project, tarball);
    for (const file in files) writeFileSync(join(project, file), files[file]);
    mkdirSync(join(project, "site"));
    writeFileSync(join(project, "site/index.html"), PAGE);
    return project;
}

let server, browser;
before(async () => {
    server = await serve(root, { texts: { "/favicon.ico": "" } });
    browser = await launchChromium();
});
after(async () => {
    await browser?.close();
    server.close();
    rmSync(root, { recursive: true });
});

/** What the page of a project, here or at another server, has made its title. */
async function titleOf(
    project,
    url = `${server.base}${project.slice(root.length)}/site/index.html`,
) {
    const page = await browser.newPage();
    const errors = [];
    page.on("pageerror", (error) => errors.push(error.message));
    page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
    await page.goto(url);
    await page
        .waitForFunction(() => document.title !== "", null, { timeout: 10_000 })
        .catch((error) => errors.push(error.message));
    assert.deepEqual(errors, []);
    const title = await page.title();
    await page.close();
    return title;
}

test("Vite, its build and its server", async () => {
    const project = projectOf("vite", { "main.js": ALL, "index.html": PAGE });
    const settings = { root: project, base: "./", configFile: false, logLevel: "error" };
    const build = { target: "es2023", outDir: "site" }; // the page waits at its top level
    await vite.build({ ...settings, build });
    assert.equal(await titleOf(project), ALL_SEEN);

    mkdirSync(join(project, "public"));
    writeFileSync(join(project, "public/favicon.ico"), "");
    const address = { host: "127.0.0.1", port: 0, headers: ISOLATION };
    const dev = await vite.createServer({ ...settings, server: address });
    try {
        await dev.listen();
        assert.equal(await titleOf(project, dev.resolvedUrls.local[0]), ALL_SEEN);
    } finally {
        await dev.close();
    }
});

test("webpack", async () => {
    const project = projectOf("webpack", { "main.js": ALL });
    const compiler = webpack({
        ...{ context: project, mode: "production", entry: "./main.js" },
        output: { path: join(project, "site"), filename: "main.js" },
    });
    const stats = await new Promise((resolve, reject) =>
        compiler.run((error, result) => (error ? reject(error) : resolve(result))),
    );
    await new Promise((resolve) => compiler.close(resolve));
    assert.equal(stats.toString({ all: false, errors: true, warnings: true }), "");
    assert.equal(await titleOf(project), ALL_SEEN);
});

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
