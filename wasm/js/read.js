/* What Node reads a URL with: fetch() does not read files there. */
import { readFile } from "node:fs/promises";
import { fetchBytes } from "./loader.js";

export async function readUrl(url) {
    return url.protocol === "file:" ? readFile(url) : fetchBytes(url);
}
