/* libattn/gradients/native for Node. Elsewhere: gradients-native-web.js. */
import { GradientsAttn } from "./gradients-attn.js";
import { init as initWasm } from "./gradients-node.js";
import { makeNativeInit } from "./native-init.js";

export { AttnError } from "./errors.js";
export const init = makeNativeInit(GradientsAttn, initWasm);
