/* libattn/training. */
import { readUrl } from "#read";
import { makeTraining } from "./labs/training.js";

export { AttnError } from "./problem/errors.js";
export const { init, createStudy } = makeTraining(readUrl);
