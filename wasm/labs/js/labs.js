/* libattn-labs. */
import { openLabs } from "#labs";
import { readUrl } from "../../js/platform/read.js";
import { makeLabs } from "./lab/run.js";

export { AttnError } from "../../js/problem/errors.js";
export const { init, labs, lab } = makeLabs(openLabs, readUrl);
