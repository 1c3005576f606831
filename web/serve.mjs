/**
 * A small static server for the built page: `node serve.mjs [--port N]`. It listens on localhost
 * only, answers to no other name, lets no foreign page embed it, and prints its address. The page needs nothing of it but files, so any other server will do;
 * this one also isolates the page from other origins, which gives it a finer clock, sends files packed,
 * and lets browsers keep them.
 */

import { lstat, readFile, realpath, stat } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";

const dist = fileURLToPath(new URL("dist", import.meta.url));
const defaultPort = 8017;

const types = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".wasm": "application/wasm",
    ".webmanifest": "application/manifest+json",
};

const packers = {
    br: (bytes) =>
        promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
    gzip: promisify(gzip),
};

const headers = {
    "Cross-Origin-Embedder-Policy": "require-corp",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "frame-ancestors 'self'", // which a page's own <meta> cannot say
};

/**
 * Serve a folder. Resolves to {url, close} when it listens; port 0 takes any that is free. `packs`: files are packed for
 * browsers that take it, which takes seconds for all of the page's.
 */
export async function serve({ root = dist, port = 0, packs = true } = {}) {
    const folder = await realpath(root);
    const server = createServer((request, response) => {
        if (!packs) delete request.headers["accept-encoding"];
        void answer(folder, request, response);
    });
    await new Promise((resolve, reject) => {
        server.once("error", reject);
        server.listen(port, "localhost", resolve);
    });
    const close = () => {
        server.closeAllConnections();
        return new Promise((resolve) => server.close(resolve));
    };
    return { url: `http://localhost:${server.address().port}/`, close };
}

/** Names of this machine itself. Another one that leads here is a foreign page's, which would read the answers. */
function isOwn(host = "") {
    return /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/i.test(host);
}

async function answer(folder, request, response) {
    if (!isOwn(request.headers.host)) {
        return refuse(
            response,
            421,
            "only localhost is served: open http://localhost and this port",
        );
    }
    if (request.method !== "GET" && request.method !== "HEAD") {
        return refuse(response, 405, "only GET and HEAD are answered");
    }
    const file = await locate(folder, request.url);
    if (!file) return refuse(response, 404, "no such file");
    const own = { ...headers, ...cachingOf(folder, file), Vary: "Accept-Encoding" };
    if (request.headers["if-none-match"]?.includes(own.ETag)) {
        response.writeHead(304, own);
        return response.end();
    }
    try {
        const { encoding, bytes } = await packed(file, request.headers["accept-encoding"] ?? "");
        const type = types[extname(file.path)] ?? "application/octet-stream";
        const length = { "Content-Type": type, "Content-Length": bytes.length };
        response.writeHead(200, {
            ...own,
            ...length,
            ...(encoding && { "Content-Encoding": encoding }),
        });
        response.end(request.method === "HEAD" ? undefined : bytes);
    } catch {
        refuse(response, 404, "no such file"); // any more
    }
}

/** What the bundler has named by its content never changes; all else is asked for again. */
function cachingOf(folder, { path, size, time }) {
    const isNamed = path.startsWith(join(folder, "assets") + sep);
    return {
        "Cache-Control": isNamed ? "public, max-age=31536000, immutable" : "no-cache",
        ETag: `W/"${size.toString(36)}-${Math.round(time).toString(36)}"`,
    };
}

const kept = new Map(); // of each file and encoding: its bytes, and of when they are

/** A file's bytes as the browser takes them. */
async function packed(file, accepted) {
    const encoding = Object.keys(packers).find((name) => accepted.includes(name)) ?? null;
    const { path, time } = file;
    const key = `${encoding} ${path}`;
    const known = kept.get(key);
    if (known?.time === time) return known;
    const entry = { encoding, bytes: await bytesOf(file, encoding), time };
    kept.set(key, entry);
    return entry;
}

async function bytesOf({ path, before }, encoding) {
    if (encoding === "br" && before) return readFile(before);
    const bytes = await readFile(path);
    return encoding ? packers[encoding](bytes) : bytes;
}

/** The file that a URL names, or null: also for whatever lies outside of the folder, by links too. */
async function locate(folder, url) {
    try {
        const { pathname } = new URL(`http://localhost${url}`);
        const asked = join(folder, decodeURIComponent(pathname));
        const path = await realpath(pathname.endsWith("/") ? join(asked, "index.html") : asked);
        const found = await stat(path);
        if (!path.startsWith(folder + sep) || !found.isFile()) return null;
        const before = await packedBefore(path, found.mtimeMs);
        return { path, before, size: found.size, time: found.mtimeMs };
    } catch {
        return null;
    }
}

/** What the build has packed of a file, beside it; null: nothing, or of what it was before. */
async function packedBefore(path, time) {
    const beside = `${path}.br`;
    const found = await lstat(beside).catch(() => null);
    return found?.isFile() && found.mtimeMs >= time ? beside : null;
}

function refuse(response, status, reason) {
    response.writeHead(status, { ...headers, "Content-Type": types[".txt"] });
    response.end(`${reason}\n`);
}

async function main() {
    const { values } = parseArgs({ options: { port: { type: "string" } } });
    const port = values.port === undefined ? defaultPort : Number(values.port);
    if (!Number.isInteger(port) || port < 0 || port > 65535) {
        throw new Error(`--port ${values.port} is not a port: 0 to 65535`);
    }
    const { url } = await serve({ port }).catch((error) => {
        // Nobody asked for this very port: another will do.
        if (error.code === "EADDRINUSE" && values.port === undefined) return serve();
        if (error.code === "ENOENT") throw new Error(`${dist} is not there: build the page first`);
        throw error;
    });
    console.log(`the page is at ${url}   (Ctrl-C ends it)`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
    main().catch((error) => {
        console.error(`serve: ${error.message}`);
        process.exitCode = 2;
    });
}
