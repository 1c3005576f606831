/* libattn/softmax for browsers, workers and whatever has fetch(). Node's entry is softmax-node.js. */
import { makeSmallInit } from "./small.js";

export { AttnError } from "./errors.js";
export const init = makeSmallInit({});
