/* What Node reads a URL with: fetch() does not read files there. */
import { readFile } from "node:fs/promises";
import { fetchBytes } from "./loader.js";

export async function readUrl(url) {
    if (url.protocol !== "file:") return fetchBytes(url);
    return Object.assign(await readFile(url), { from: url.href });
}
