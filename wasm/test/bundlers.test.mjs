/* The package in Vite's, webpack's and esbuild's hands, as they come, and what they made in Chromium. */
import assert from "node:assert/strict";
import {
    cpSync,
    existsSync,
    mkdirSync,
    mkdtempSync,
    readFileSync,
    rmSync,
    writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { launchChromium } from "../../web/test/browser.mjs";

const packageFolder = fileURLToPath(new URL("..", import.meta.url));
const root = mkdtempSync(join(tmpdir(), "libattn-bundlers-"));
const TYPES = { ".html": "text/html", ".js": "text/javascript", ".wasm": "application/wasm" };
const POLICY = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'";
const MAIN = `
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
    document.body.textContent = seen.join(" ");
    document.title = "done";`;
const PAGE = `<!doctype html><title>page</title><body><script type="module" src="SRC"></script>`;

const bundlers = {
    async vite(project) {
        writeFileSync(join(project, "index.html"), PAGE.replace("SRC", "./main.js"));
        const { build } = await import("vite");
        // The page is of 2023 and later, as it waits at its top level; its folder is anywhere.
        const settings = { target: "es2023" };
        await build({
            root: project,
            base: "./",
            logLevel: "error",
            configFile: false,
            build: settings,
        });
    },
    async webpack(project) {
        const { default: webpack } = await import("webpack");
        const compiler = webpack({
            ...{ context: project, mode: "production", entry: "./main.js" },
            ...{ output: { path: join(project, "dist"), filename: "main.js" } },
        });
        const stats = await new Promise((resolve, reject) =>
            compiler.run((error, result) => (error ? reject(error) : resolve(result))),
        );
        await new Promise((resolve) => compiler.close(resolve));
        assert.equal(stats.toString({ all: false, errors: true, warnings: true }), "");
        writeFileSync(join(project, "dist", "index.html"), PAGE.replace("SRC", "./main.js"));
    },
    // esbuild leaves URLs as they are: README says what to copy beside the bundle.
    async esbuild(project) {
        const { build } = await import("esbuild");
        const outfile = join(project, "dist", "app", "main.js");
        const entryPoints = [join(project, "main.js")];
        await build({ entryPoints, outfile, bundle: true, format: "esm", logLevel: "error" });
        cpSync(join(project, "node_modules/libattn/dist"), join(project, "dist/dist"), {
            recursive: true,
        });
        for (const name of ["thread.js", "served.js"]) {
            cpSync(join(packageFolder, "dist", name), join(project, "dist/app", name));
        }
        writeFileSync(join(project, "dist", "index.html"), PAGE.replace("SRC", "./app/main.js"));
    },
};

let server, browser, base;

before(async () => {
    server = createServer((request, response) => {
        const file = join(root, new URL(request.url, "http://x").pathname);
        if (!existsSync(file)) return response.writeHead(404).end();
        response.setHeader("content-type", TYPES[extname(file)] ?? "text/plain");
        response.setHeader("content-security-policy", POLICY);
        response.setHeader("cross-origin-opener-policy", "same-origin");
        response.setHeader("cross-origin-embedder-policy", "require-corp");
        response.end(readFileSync(file));
    });
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    base = `http://127.0.0.1:${server.address().port}`;
    browser = await launchChromium();
});
after(async () => {
    await browser?.close();
    server.close();
    rmSync(root, { recursive: true });
});

for (const name in bundlers) {
    test(name, async () => {
        const project = join(root, name);
        const installed = join(project, "node_modules", "libattn");
        mkdirSync(installed, { recursive: true });
        for (const part of ["package.json", "dist"]) {
            cpSync(join(packageFolder, part), join(installed, part), { recursive: true });
        }
        writeFileSync(join(project, "package.json"), '{ "private": true, "type": "module" }');
        writeFileSync(join(project, "main.js"), MAIN);
        await bundlers[name](project);
        const page = await browser.newPage();
        const errors = [];
        page.on("pageerror", (error) => errors.push(error.message));
        page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
        await page.goto(`${base}/${name}/dist/index.html`);
        await page
            .waitForFunction(() => document.title === "done", null, { timeout: 10000 })
            .catch(() => {});
        const text = await page.textContent("body");
        assert.equal(text, "relaxed 2 simd 2 relaxed 2 threads 2", errors.join("\n"));
        await page.close();
    });
}
