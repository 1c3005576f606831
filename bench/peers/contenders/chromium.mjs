// A contender in a page of headless Chromium: page/CONTENDER.mjs gets the task's arrays from a server
// of this process. Calls are timed in the page, so that what passes between processes is not counted.

import { createReadStream, statSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize, resolve } from "node:path";
import { launchChromium } from "../../../web/test/support/browser.mjs";
import { encodeModel, makers } from "./models.mjs";
import { inRoot } from "../measure/paths.mjs";
import { serve } from "./worker.mjs";

const types = {
    ".html": "text/html",
    ".js": "text/javascript",
    ".mjs": "text/javascript",
    ".wasm": "application/wasm",
};
const roots = {
    libattn: resolve(import.meta.dirname, "../../../wasm"),
    peers: inRoot("node_modules"),
    bench: import.meta.dirname,
};

function sendFile(response, path) {
    const size = statSync(path, { throwIfNoEntry: false })?.size;
    if (size === undefined) return response.writeHead(404).end();
    response.writeHead(200, {
        "content-type": types[extname(path)] ?? "application/octet-stream",
        "content-length": size,
    });
    createReadStream(path).pipe(response);
}

/** Arrays under /array/NAME, an empty page under /, and the folders of `roots`. Isolated. */
async function serveFiles(arrays) {
    const server = createServer((request, response) => {
        const [root, ...rest] = normalize(decodeURIComponent(request.url)).slice(1).split("/");
        response.setHeader("cross-origin-opener-policy", "same-origin");
        response.setHeader("cross-origin-embedder-policy", "require-corp");
        response.setHeader("cross-origin-resource-policy", "same-origin");
        if (root === "") {
            response.writeHead(200, { "content-type": "text/html" });
            return response.end("<!doctype html><title>contender</title>");
        }
        if (root === "array" && rest[0] in arrays) return response.end(bytesOf(arrays[rest[0]]));
        if (root in roots) return sendFile(response, join(roots[root], ...rest));
        response.writeHead(404).end();
    });
    await new Promise((done) => server.listen(0, "localhost", done));
    return `http://localhost:${server.address().port}/`;
}

const bytesOf = ({ buffer, byteOffset, byteLength }) =>
    new Uint8Array(buffer, byteOffset, byteLength);

/** What the page gets beside arrays: sizes, and a model with the names and shapes of its inputs. */
function describe(task, model) {
    const sizes = Object.entries(task).filter(([, value]) => !ArrayBuffer.isView(value));
    const inputs = Object.entries(model?.inputs ?? {}).map(([name, { type, dims }]) => ({
        name,
        type: type ?? "float32",
        dims,
    }));
    return { ...Object.fromEntries(sizes), inputs };
}

await serve(async (task) => {
    const model = task.model && makers[task.model](task);
    const arrays = { query: task.query, key: task.key, value: task.value };
    if (model) {
        for (const [name, { data }] of Object.entries(model.inputs)) arrays[`input-${name}`] = data;
        arrays.model = encodeModel(model);
    }
    const browser = await launchChromium();
    const page = await browser.newPage();
    await page.goto(await serveFiles(arrays));
    const about = await page.evaluate(
        async ([contender, sizes]) => {
            const { start } = await import("/bench/page/start.mjs");
            return start(contender, sizes);
        },
        [task.contender, describe(task, model)],
    );
    let out;
    return {
        about: `${about}, in Chromium ${browser.version()}`,
        run: async () => {
            await page.evaluate(() => globalThis.contender.run());
            const text = await page.evaluate(() => globalThis.contender.outputText());
            const floats = new Float32Array(new Uint8Array(Buffer.from(text, "base64")).buffer);
            out = model ? model.result({ out: floats }) : floats;
        },
        time: (seconds) => page.evaluate((s) => globalThis.contender.time(s), seconds),
        output: () => out,
    };
});
