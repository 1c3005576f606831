/* libattn/models. */
import { readUrl } from "#read";
import { makeModels } from "./labs/models.js";

export { AttnError } from "./problem/errors.js";
export const { init, models, loadModel } = makeModels(readUrl);
