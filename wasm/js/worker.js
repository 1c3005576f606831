/* libattn/worker. */
import { readUrl } from "#read";
import { openServed } from "#served";
import { makeRemoteInit } from "./worker/remote-attn.js";

export { AttnError } from "./problem/errors.js";
export const init = makeRemoteInit(openServed, readUrl);
