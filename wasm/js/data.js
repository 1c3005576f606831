/* libattn/data. */
import { readUrl } from "#read";
import { makeData } from "./engine/data.js";

export { AttnError } from "./problem/errors.js";
export const { init, embed, readNpy } = makeData(readUrl);
