/* libattn-labs/models. */
import { readUrl } from "../../js/platform/read.js";
import { makeModels } from "./model/models.js";

export { AttnError } from "../../js/problem/errors.js";
export const { init, models, writers, loadModel, loadWriter } = makeModels(readUrl);
