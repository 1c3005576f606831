/*
 * The experiments from the side that asks for them: lab() starts workers, hands out points one by one,
 * and gathers rows. points.js is the other side.
 */
import {
    checkFinite,
    checkFunction,
    checkInteger,
    checkPlain,
    checkSignal,
    checkText,
    checkWithin,
    readOptions,
} from "../../../js/problem/check.js";
import { AttnError, oneLine } from "../../../js/problem/errors.js";
import { makeOwnModule } from "../../../js/engine/own-module.js";
import { Remote } from "../../../js/worker/remote.js";
import { callOn } from "../../../js/worker/remote-object.js";

/* Literal, so that bundlers see it and carry the file along. */
const file = () => new URL("../../dist/libattn.labs.wasm", import.meta.url);
const MOST_WORKERS = 256;
const OPTIONS = ["panel", "seed", "xs", "workers", "signal", "onProgress"];

/** init(), labs() and lab() for a platform: `start` as remote.js wants it, `readUrl` gives the bytes behind a URL. */
export function makeLabs(start, readUrl) {
    const { load, init } = makeOwnModule({
        ...{ file, readUrl, open: (module) => module },
        ...{ name: "libattn-labs/labs.wasm", needed: "attnlabs_create" },
    });
    const functions = {
        async labs() {
            const helper = new Helper(start, await load());
            try {
                return await helper.ask("describe");
            } finally {
                helper.stop();
            }
        },

        async lab(name, params, more) {
            const options = readLabOptions(more ?? {});
            const { seed = 1, workers, signal, onProgress } = options;
            const request = readRequest(name, params ?? {}, options);
            signal?.throwIfAborted();
            const module = await load();
            const hire = () => new Helper(start, module);
            const run = new Run({ lab: name, seed, request, hire, onProgress });
            return unlessAborted(signal, () => run.result(workers)).finally(() => run.stop());
        },
    };
    return { ...functions, init: (given) => init(given).then(() => functions) };
}

/* ---- what the caller says ------------------------------------------------------------------------ */

function readRequest(name, params, { panel = "", seed = 1, xs }) {
    return {
        lab: checkText(name, "the experiment's name"),
        panel: checkText(panel, "panel"),
        seed: readSeed(seed),
        params: Object.entries(checkPlain(params, "params"))
            .filter(([, value]) => value !== undefined && value !== null)
            .map(([key, value]) => [checkText(key, "a parameter's name"), readValue(value, key)]),
        xs: xs === undefined ? null : readPoints(xs),
    };
}

function readLabOptions(given) {
    const options = readOptions(given, OPTIONS, "lab");
    const { workers = 1, signal, onProgress } = options;
    checkWithin(workers, "workers", 1, MOST_WORKERS);
    checkSignal(signal);
    checkFunction(onProgress, "onProgress");
    return { ...options, workers, __proto__: null };
}

/** Two halves of 32 bits. */
function readSeed(seed) {
    const whole = typeof seed === "bigint" ? seed : BigInt(checkInteger(seed, "seed"));
    if (whole !== BigInt.asUintN(64, whole)) {
        throw new AttnError("ATTN_ERROR_RANGE", `seed: ${seed} is outside 0 to 2^64 - 1`);
    }
    return [Number(whole >> 32n), Number(whole & 0xffffffffn)];
}

/** As a person writes it: C reads it. */
function readValue(value, name) {
    if (typeof value === "number" || typeof value === "boolean") return String(value);
    return checkText(value, `parameter "${oneLine(name)}"`);
}

function readPoints(xs) {
    const points = Float64Array.from(xs, (x) => checkFinite(x, "a point of xs"));
    if (points.length > 0) return points;
    throw new AttnError("ATTN_ERROR_RANGE", "xs has no points");
}

/** What `body` promises, or the signal's reason as soon as it is aborted. */
async function unlessAborted(signal, body) {
    if (!signal) return body();
    signal.throwIfAborted();
    let abort;
    const aborted = new Promise((_, reject) => {
        abort = () => reject(signal.reason);
        signal.addEventListener("abort", abort);
    });
    try {
        return await Promise.race([body(), aborted]);
    } finally {
        signal.removeEventListener("abort", abort);
    }
}

/* ---- a run ----------------------------------------------------------------------------------------- */

class Run {
    #what;
    #crew = [];
    #stopped = false;
    #settings;
    #rows = [];
    #next = 0;
    #done = { points: 0, cost: 0 };
    #total;
    #began;

    constructor(what) {
        this.#what = what;
    }

    /** No worker is left, and none comes. */
    stop() {
        this.#stopped = true;
        for (const helper of this.#crew) helper.stop();
    }

    async result(workers) {
        const [first, settings] = await this.#hire();
        const { xs, costs, serial, columns, panel, params } = settings;
        this.#settings = settings;
        this.#total = costs.reduce((sum, cost) => sum + cost, 0);
        this.#began = performance.now();
        const count = serial ? 1 : Math.min(workers, xs.length);
        const others = Array.from({ length: count - 1 }, () => this.#hire());
        await Promise.all([
            this.#work(first),
            ...others.map((hired) => hired.then(([helper]) => this.#work(helper))),
        ]);
        const seconds = this.#seconds();
        const rows = this.#rows;
        const inOrder = [...rows].sort(([a], [b]) => a - b);
        const conclusion = await first.ask("conclude", Float64Array.from(inOrder.flat()));
        const within = rows.map((row) => conclusion.within[inOrder.indexOf(row)]);
        const { lab, seed } = this.#what;
        return { lab, panel, seed, params, columns, rows, ...conclusion, within, seconds };
    }

    /** A helper that has begun, with the settings it found. */
    async #hire() {
        const { hire, request } = this.#what;
        if (this.#stopped) throw new Error("the run has ended");
        const helper = hire();
        this.#crew.push(helper);
        return [helper, await helper.ask("begin", request)];
    }

    async #work(helper) {
        while (this.#next < this.#settings.xs.length) {
            const index = this.#next++;
            this.#finish(index, await helper.ask("point", index));
        }
    }

    #finish(index, row) {
        const { costs, xs } = this.#settings;
        this.#rows[index] = row;
        this.#done.points++;
        this.#done.cost += costs[index];
        const fraction = this.#done.points === xs.length ? 1 : this.#done.cost / this.#total;
        const seconds = this.#seconds();
        this.#what.onProgress?.({
            ...{ index, row, fraction, seconds },
            done: this.#done.points,
            total: xs.length,
            secondsLeft: (seconds * (1 - fraction)) / fraction,
        });
    }

    #seconds() {
        return (performance.now() - this.#began) / 1e3;
    }
}

/** A worker with an instance of the module: points.js says what it can be asked. */
class Helper {
    #remote;

    constructor(start, module) {
        this.#remote = new Remote(start, { module });
    }

    async ask(method, ...args) {
        return (await callOn(this.#remote, 0, method, args)).value;
    }

    stop() {
        this.#remote.dispose();
    }
}
