/* libattn/native. */
import { makeNativeInit } from "#addon";
import { init as initWasm } from "./index.js";

export { AttnError } from "./problem/errors.js";
export const init = makeNativeInit(initWasm);
