/* Softmax alone: its one build, and init() on a platform. */
import { Core } from "./core.js";
import { makeInit } from "./loader.js";
import { Runner } from "./runner.js";
import { SmallSession } from "./session.js";

const FILES = { simd: () => new URL("../dist/libattn.softmax.wasm", import.meta.url) };

export function makeSmallInit(platform) {
    return makeInit(
        platform,
        FILES,
        (engine, more) => new Core(new SmallSession(engine), more, Runner),
    );
}
