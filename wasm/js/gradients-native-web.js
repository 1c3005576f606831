/* libattn/gradients/native for browsers, workers and whatever has no addons: WebAssembly serves. */
import { init as initWasm } from "./gradients.js";
import { makeWebInit } from "./native-options.js";

export { AttnError } from "./errors.js";
export const init = makeWebInit(initWasm);
