/* libattn/data for browsers. Node's entry is data-node.js. */
import { makeData } from "./data-module.js";
import { fetchBytes } from "./loader.js";

export { AttnError } from "./errors.js";
export const { init, embed, readNpy } = makeData(fetchBytes);
