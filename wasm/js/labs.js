/* libattn/labs. */
import { openLabs } from "#labs";
import { readUrl } from "#read";
import { makeLabs } from "./labs/run.js";

export { AttnError } from "./problem/errors.js";
export const { init, labs, lab } = makeLabs(openLabs, readUrl);
