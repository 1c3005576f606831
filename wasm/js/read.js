/* What Node reads a URL with: fetch() does not read files there. */
import { readFile } from "node:fs/promises";
import { AttnError } from "./errors.js";
import { fetchBytes } from "./loader.js";

export async function readUrl(url) {
    if (url.protocol !== "file:") return fetchBytes(url);
    try {
        return Object.assign(await readFile(url), { from: url.href });
    } catch (cause) {
        throw new AttnError("ATTN_ERROR_LOAD", `${url.href}: ${cause.message}`, { cause });
    }
}
