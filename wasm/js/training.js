/* libattn/training for browsers. Node's entry is training-node.js. */
import { fetchBytes } from "./loader.js";
import { makeTraining } from "./training-module.js";

export { AttnError } from "./errors.js";
export const { init, createStudy } = makeTraining(fetchBytes);
