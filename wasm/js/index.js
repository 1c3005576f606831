/* libattn for browsers, workers and whatever has fetch(). Node's entry is node.js. */
import { makeInit, responseBytes } from "./loader.js";

export { AttnError } from "./errors.js";
export const init = makeInit(async (url) => responseBytes(await fetch(url)));
