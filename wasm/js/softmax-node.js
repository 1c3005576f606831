/* libattn/softmax for Node. */
import { readUrl } from "./read.js";
import { makeSmallInit } from "./small.js";

export { AttnError } from "./errors.js";
export const init = makeSmallInit({ readUrl });
