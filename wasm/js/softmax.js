/* libattn/softmax. */
import { readUrl } from "#read";
import { makeSmallInit } from "./calls/small.js";

export { AttnError } from "./problem/errors.js";
export const init = makeSmallInit({ readUrl });
