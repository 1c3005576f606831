/* What Node reads a URL with: fetch() does not read files there. */
import { readFile } from "node:fs/promises";
import { responseBytes } from "./loader.js";

export async function readUrl(url) {
    return url.protocol === "file:" ? readFile(url) : responseBytes(await fetch(url));
}
