/* Softmax alone: its one build, and init() on a platform. */
import { Core } from "./core.js";
import { always, makeInit } from "../engine/loader.js";
import { Runner } from "./runner.js";
import { SmallSession } from "../engine/session.js";

const BUILDS = {
    __proto__: null,
    simd: { file: () => new URL("../../dist/libattn.softmax.wasm", import.meta.url), runs: always },
};

export function makeSmallInit(platform) {
    return makeInit(
        platform,
        BUILDS,
        (engine, more) => new Core(new SmallSession(engine), more, Runner),
    );
}
