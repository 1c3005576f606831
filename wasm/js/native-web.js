/* libattn/native for browsers, workers and whatever has no addons: WebAssembly serves. */
import { init as initWasm } from "./index.js";
import { makeWebInit } from "./native-options.js";

export { AttnError } from "./errors.js";
export const init = makeWebInit(initWasm);
