/* The addon of Node, where there is one, and else the WebAssembly module. */
import Module from "node:module"; // as a whole: webpack would read what createRequire() is given
import { resolve } from "node:path";
import { Attn } from "../calls/attn.js";
import { INTERFACE } from "../engine/engine.js";
import { Native } from "./engine.js";
import { addonName } from "./name.js";
import { readNative, withoutAddon } from "./options.js";

/* The package that npm installs for this platform, then a build of one's own. */
const placesOf = (process) => [addonName(process), "../../dist/libattn.node"];

/* From where they are looked for: a bundle may know only where this file stood, or only where it stands. */
const BASES = [import.meta.url, process.argv[1]].filter(Boolean);

/** The addon and why there is none: one of the two is null. */
let found;

function checkAddon(addon) {
    if (addon.interface === INTERFACE) return addon;
    throw new Error("no addon of this version of libattn");
}

function load(place) {
    let first;
    for (const base of BASES) {
        try {
            return Module.createRequire(base)(place);
        } catch (error) {
            first ??= error;
        }
    }
    throw first;
}

function find(places) {
    const reasons = [];
    for (const place of places) {
        try {
            return { addon: checkAddon(load(place)), reason: null };
        } catch (error) {
            const absent = error.code === "MODULE_NOT_FOUND";
            reasons.push(`${place}: ${absent ? "not installed" : error.message.split("\n")[0]}`);
        }
    }
    return { addon: null, reason: reasons.join("; ") };
}

/** init(), with what serves where there is no addon. */
export const makeNativeInit = (initWasm) => async (given) => {
    const options = readNative(given);
    const { addon: place, threads, tier } = options;
    const { addon, reason } =
        place === undefined ? (found ??= find(placesOf(process))) : find([resolve(place)]);
    if (!addon) return withoutAddon(initWasm, options, reason);
    return Object.freeze(new Attn(new Native(addon, { threads, tier }), { threads, reason }));
};
