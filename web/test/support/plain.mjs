/** A static server as they come: files as they are, by their types, and no other header. */

import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";

const types = {
    ".css": "text/css",
    ".html": "text/html",
    ".js": "text/javascript",
    ".wasm": "application/wasm",
};

/** Serves a folder below a path. Resolves to { url, close }. */
export async function servePlainly(folder, path) {
    const server = createServer((request, response) => {
        const { pathname } = new URL(request.url, "http://localhost");
        const name = pathname.startsWith(path) ? pathname.slice(path.length) || "index.html" : "";
        readFile(join(folder, normalize(`/${name}`))).then(
            (bytes) => {
                const type = types[extname(name)] ?? "application/octet-stream";
                response.writeHead(200, { "Content-Type": type }).end(bytes);
            },
            () => response.writeHead(404).end(),
        );
    });
    await new Promise((resolve) => server.listen(0, "localhost", resolve));
    const close = () => {
        server.closeAllConnections();
        return new Promise((resolve) => server.close(resolve));
    };
    return { url: `http://localhost:${server.address().port}${path}`, close };
}
