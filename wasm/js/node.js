/* libattn for Node. */
import { makeFullInit } from "./full.js";
import { readUrl } from "./read.js";
import { makeOpenTeam } from "./team.js";

export { AttnError } from "./errors.js";
export const init = makeFullInit({
    readUrl,
    openTeam: makeOpenTeam(async (job) => (await import("./start-node.js")).startThread(job)),
});
