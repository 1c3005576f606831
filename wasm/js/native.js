/* libattn/native: the addon for Node where there is one, and else the WebAssembly module. */
import Module from "node:module"; // as a whole: webpack would read what createRequire() is given
import { resolve } from "node:path";
import { Attn } from "./attn.js";
import { checkText, checkWithin, readOptions } from "./check.js";
import { INTERFACE, Native } from "./engine.js";
import { AttnError } from "./errors.js";
import { init as initWasm } from "./node.js";

export { AttnError };

/* The package that npm installs for this platform, then a build of one's own. */
const PLACES = [`@libattn/${process.platform}-${process.arch}`, "../dist/libattn.node"];

/* From where they are looked for: a bundle may know only where this file stood, or only where it stands. */
const BASES = [import.meta.url, process.argv[1]].filter(Boolean);

const MOST_THREADS = 1024; // the C library's

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

export async function init(given) {
    const names = ["threads", "tier", "fallback", "addon"];
    const {
        threads = 1,
        tier,
        fallback = true,
        addon: place,
    } = readOptions(given ?? {}, names, "init");
    checkWithin(threads, "threads", 1, MOST_THREADS);
    if (tier !== undefined) checkText(tier, "tier");
    if (place !== undefined) checkText(place, "addon");
    const { addon, reason } =
        place === undefined ? (found ??= find(PLACES)) : find([resolve(place)]);
    if (addon) return new Attn(new Native(addon, { threads, tier }), { threads, reason });
    if (!fallback) throw new AttnError("ATTN_ERROR_LOAD", `no addon: ${reason}`);
    return initWasm(null, null, { threads: 1, reason });
}
