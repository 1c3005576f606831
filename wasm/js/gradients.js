/* libattn/gradients for browsers, workers and whatever has fetch(). Node's entry is gradients-node.js. */
import { makeGradientsInit } from "./gradients-full.js";

export { AttnError } from "./errors.js";
export const init = makeGradientsInit({});
