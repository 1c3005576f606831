/* libattn/data for Node. */
import { makeData } from "./data-module.js";
import { readUrl } from "./read.js";

export { AttnError } from "./errors.js";
export const { init, embed, readNpy } = makeData(readUrl);
