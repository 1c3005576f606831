/* libattn/native where there are no addons: WebAssembly serves. */
import { readNative, withoutAddon } from "./options.js";

/** init(), with what serves instead. */
export const makeNativeInit = (initWasm) => async (given) =>
    withoutAddon(initWasm, readNative(given), "addons are for Node");
