/* libattn/native for browsers, workers and whatever has no addons: WebAssembly serves. */
import { init as initWasm } from "./index.js";
import { readNative, withoutAddon } from "./native-options.js";

export { AttnError } from "./errors.js";

export async function init(given) {
    return withoutAddon(initWasm, readNative(given), "addons are for Node");
}
