/* libattn-labs/training. */
import { readUrl } from "../../js/platform/read.js";
import { makeTraining } from "./model/training.js";

export { AttnError } from "../../js/problem/errors.js";
export const { init, createStudy } = makeTraining(readUrl);
