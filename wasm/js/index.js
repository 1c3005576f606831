/* libattn. */
import { readUrl } from "#read";
import { startThread } from "#threads";
import { makeFullInit } from "./calls/full.js";
import { makeOpenPool } from "./threads/pool.js";

export { AttnError } from "./problem/errors.js";
export const init = makeFullInit({ readUrl, openPool: makeOpenPool(startThread) });
