// Where run.sh has built and installed what the measurements need.

import { join, resolve } from "node:path";

const root = resolve(process.env.ATTN_PEERS ?? "build/peers");

export const inRoot = (...names) => join(root, ...names);
export const program = (name) => inRoot("c", name);
/** The command line, as `./dev build` has put it. */
export const attn = resolve("build/attn");
export const dataFile = (name) => inRoot("data", `${name}.f32`);
