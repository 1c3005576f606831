/* libattn for Node. */
import { makeFullInit } from "./full.js";
import { readUrl } from "./read.js";
import { makeOpenPool } from "./pool.js";

export { AttnError } from "./errors.js";
export const init = makeFullInit({
    readUrl,
    openPool: makeOpenPool(async (job) => (await import("./start-node.js")).startThread(job)),
});
