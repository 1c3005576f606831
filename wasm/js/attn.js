import { readArray } from "./arrays.js";
import { readAttention } from "./call.js";
import { checkBytes, checkInteger, checkLength, checkSize, isTensor } from "./check.js";
import { Core, makeFor, planFor } from "./core.js";
import { arrayClass, checkDtype } from "./dtypes.js";
import { AttnError, missing } from "./errors.js";
import { computeBeside } from "./job.js";
import { readChecked } from "./options.js";
import { Plan } from "./plan.js";
import { loadPlugin } from "./plugin.js";
import { RULES, problemOf } from "./rules.js";
import { Session } from "./session.js";
import { planSizes } from "./shape.js";
import { Stream } from "./stream.js";
import { Tensor } from "./tensor.js";

const SHAPE = ["batch", "heads", "kvHeads", "dim", "valueDim", "maxKeys"];
const STREAM = [
    ...SHAPE,
    "dtype",
    "kvDtype",
    "backend",
    "params",
    ...RULES.filter((name) => name !== "past"),
];

/** The library in one instance of the module, or of the addon. Made by init(). */
export class Attn extends Core {
    #session;
    #load;

    /** `readUrl` gives the bytes behind a URL: what plugins are read with. */
    constructor(engine, more = {}, readUrl) {
        if (!engine.has("attnjs_backends")) {
            const message = "the module is softmax alone, which libattn/softmax takes, not libattn";
            throw new AttnError("ATTN_ERROR_LOAD", message);
        }
        const session = new Session(engine);
        super(session, { ...more, blocking: engine.blocking }, Plan);
        this.#session = session;
        this.#load = { engine, session, readUrl };
        Object.freeze(this);
    }

    backends() {
        const backends = this.#session.describe("attnjs_backends");
        for (const param of backends.flatMap((backend) => backend.params)) {
            if (param.type === "boolean") param.default = Boolean(param.default); // C says 0 or 1
        }
        return backends;
    }

    async loadPlugin(source, options) {
        return loadPlugin(this, this.#load, source, options);
    }

    tensor(given, type) {
        const dtype = checkDtype(type ?? "f32", "dtype");
        if (typeof given === "number") return this.#tensor(given, dtype, {});
        const read = readArray(given, "elements", { __proto__: null, elements: dtype });
        const { array, shape } = read;
        const from = isTensor(array) ? array.data : array;
        const meaning = shape?.join(" * ");
        const length = shape?.reduce((product, size) => product * size, 1) ?? array.length;
        checkLength(array, "elements", { length, meaning });
        return this.#tensor(length, dtype, { like: array, from, shape });
    }

    #tensor(length, dtype, { like, from, shape }) {
        checkSize(length, "length");
        return new Tensor(this.#session, arrayClass(dtype, like), length, dtype, from, shape);
    }

    async attentionAsync(...args) {
        const { problem, job, result, options } = readAttention(args, ["signal"]);
        const { signal } = options;
        signal?.throwIfAborted();
        return this.#session.borrowAsync(async (loan) => {
            const plan = this[planFor](problem);
            return result(await computeBeside(this.#session, plan, job, loan, signal));
        }, job);
    }

    stream(given) {
        const options = readChecked(given, STREAM, "stream");
        const { maxKeys } = options;
        if (maxKeys === undefined) throw missing("maxKeys");
        options.queries = 1;
        const problem = problemOf(options, planSizes(options), []);
        const { batch, heads, kvHeads, dim, valueDim } = problem.sizes;
        const address = makeFor(this.#session, problem, "attnjs_stream_create", maxKeys);
        const { features } = this.backends().find(({ id }) => id === problem.backend);
        return new Stream(this.#session, address, {
            backend: problem.backend,
            sizes: Object.freeze({ batch, heads, kvHeads, dim, valueDim, maxKeys }),
            dtypes: problem.dtypes,
            hasLse: features.includes("lse"),
        });
    }

    embed(text, dim) {
        if (typeof text !== "string") throw new TypeError("text must be a string");
        if (checkInteger(dim, "dim") < 2) {
            throw new AttnError("ATTN_ERROR_SHAPE", `dim is ${dim}, must be at least 2`);
        }
        const bytes = new TextEncoder().encode(text);
        return this.#session.borrow((loan) => {
            const at = loan.input(bytes, "the text");
            const bounds = this.#session.describe("attnjs_tokens", at, bytes.length);
            const rows = bounds.length / 2;
            const out = loan.output(Float32Array, rows * dim, "the vectors");
            this.#session.run("attnjs_embed", at, bytes.length, dim, out.at, rows * dim);
            return { x: out.take(), tokens: cut(bytes, bounds), rows, dim };
        });
    }

    readNpy(bytes) {
        const file = checkBytes(bytes, "bytes");
        const { length } = file; // now: memory that grows may take it away
        return this.#session.borrow((loan) => {
            const at = loan.scratch(file, "the .npy file");
            const about = this.#session.describe("attnjs_read_npy", at, length);
            const { offset, half, shape } = about;
            const count = shape.reduce((product, size) => product * size, 1);
            const type = half ? Uint16Array : Float32Array;
            const elements = loan.elements(type, at, offset, count);
            return { data: half ? Float32Array.from(elements, widen) : elements, shape };
        });
    }

    countNonfinite(array) {
        const { array: floats } = readArray(array, "array");
        const { length } = floats;
        return this.#session.borrow((loan) => {
            const at = loan.input(floats, "array");
            return this.#session.measure("attnjs_count_nonfinite", at, length);
        });
    }
}

/** What the bits of an IEEE 754 binary16 are. */
function widen(bits) {
    const exponent = (bits >> 10) & 31;
    const fraction = bits & 1023;
    const size = exponent ? (1024 + fraction) * 2 ** (exponent - 25) : fraction * 2 ** -24;
    const value = exponent < 31 ? size : fraction ? NaN : Infinity;
    return bits & 0x8000 ? -value : value;
}

/** The pieces of a UTF-8 text between start and end, start and end, ... */
function cut(bytes, bounds) {
    const decoder = new TextDecoder();
    const pieces = [];
    for (let i = 0; i < bounds.length; i += 2) {
        pieces.push(decoder.decode(bytes.subarray(bounds[i], bounds[i + 1])));
    }
    return pieces;
}
