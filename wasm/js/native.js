/* libattn/native for Node. Elsewhere: native-web.js. */
import { makeNativeInit } from "./native-init.js";
import { init as initWasm } from "./node.js";

export { AttnError } from "./errors.js";
export const init = makeNativeInit(initWasm);
