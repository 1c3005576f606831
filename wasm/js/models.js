/* libattn/models for browsers. Node's entry is models-node.js. */
import { fetchBytes } from "./loader.js";
import { makeModels } from "./models-module.js";

export { AttnError } from "./errors.js";
export const { init, models, loadModel } = makeModels(fetchBytes);
