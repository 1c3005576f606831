/* libattn for Node, where fetch() does not read files. */
import { readFile } from "node:fs/promises";
import { makeInit, responseBytes } from "./loader.js";

export { AttnError } from "./errors.js";
export const init = makeInit(async (url) =>
    url.protocol === "file:" ? readFile(url) : responseBytes(await fetch(url)),
);
