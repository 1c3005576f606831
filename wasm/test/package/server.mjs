/* A server for the tests in Chromium: a folder and some texts, under a strict policy. */
import { existsSync, readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join } from "node:path";

const TYPES = { ".html": "text/html", ".js": "text/javascript", ".wasm": "application/wasm" };
const POLICY = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'";
export const ISOLATION = {
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-embedder-policy": "require-corp",
};

/**
 * Serves `folder`, and `texts` by their paths. `isolated(url)`: whether what is at a URL is served for
 * cross-origin isolation. Gives the server's address and what ends it.
 */
export async function serve(folder, { texts = {}, policy = POLICY, isolated = () => true } = {}) {
    const server = createServer((request, response) => {
        const url = new URL(request.url, "http://x");
        const path = join(folder, url.pathname);
        const body = texts[url.pathname] ?? (isFile(path) ? readFileSync(path) : null);
        if (body === null) return response.writeHead(404).end();
        for (const name in ISOLATION) if (isolated(url)) response.setHeader(name, ISOLATION[name]);
        response.setHeader("content-security-policy", policy);
        response.setHeader("content-type", TYPES[extname(url.pathname)] ?? "text/plain");
        response.end(body);
    });
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    return { base: `http://127.0.0.1:${server.address().port}`, close: () => server.close() };
}

function isFile(path) {
    return existsSync(path) && statSync(path).isFile();
}
