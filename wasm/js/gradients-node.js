/* libattn/gradients for Node. */
import { makeGradientsInit } from "./gradients-full.js";
import { readUrl } from "./read.js";

export { AttnError } from "./errors.js";
export const init = makeGradientsInit({ readUrl });
