/* libattn/native for Node. Elsewhere: native-web.js. */
import { Attn } from "./attn.js";
import { makeNativeInit } from "./native-init.js";
import { init as initWasm } from "./node.js";

export { AttnError } from "./errors.js";
export const init = makeNativeInit(Attn, initWasm);
