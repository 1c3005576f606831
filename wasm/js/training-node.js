/* libattn/training for Node. */
import { readUrl } from "./read.js";
import { makeTraining } from "./training-module.js";

export { AttnError } from "./errors.js";
export const { init, createStudy } = makeTraining(readUrl);
