/* libattn/models for Node. */
import { makeModels } from "./models-module.js";
import { readUrl } from "./read.js";

export { AttnError } from "./errors.js";
export const { init, models, loadModel } = makeModels(readUrl);
