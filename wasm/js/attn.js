import {
    checkBytes,
    checkFinite,
    checkFloats,
    checkInteger,
    checkOptions,
    checkText,
} from "./check.js";
import { AttnError } from "./errors.js";
import { Plan } from "./plan.js";
import { givenInputs } from "./inputs.js";
import { INPUTS, RULES, problemNumbers } from "./rules.js";
import { Session } from "./session.js";
import { SIZES, inferSizes, planSizes } from "./shape.js";
import { Stream } from "./stream.js";

const PLAN = [...SIZES, "backend", ...RULES, "params"];
const SHAPE = ["batch", "heads", "kvHeads", "dim", "valueDim", "maxKeys"];
const STREAM = [...SHAPE, "backend", ...RULES.filter((name) => name !== "past")];

/** The library in one instance of the module. Made by init(). */
export class Attn {
    #session;
    #children = new Set(); // plans and streams

    constructor(exports) {
        this.#session = new Session(exports);
        Object.assign(this, this.#session.describe("attnjs_about"));
        Object.freeze(this);
    }

    backends() {
        const backends = this.#session.describe("attnjs_backends");
        for (const param of backends.flatMap((backend) => backend.params)) {
            if (param.type === "boolean") param.default = Boolean(param.default); // C says 0 or 1
        }
        return backends;
    }

    plan(options) {
        checkOptions(options, [...PLAN, "scoresMode", "inputs"], "plan");
        return this.#plan(planSizes(options), options);
    }

    attention(query, key, value, options) {
        checkOptions(options, [...PLAN, ...INPUTS, "layout", "out"], "attention");
        checkFloats(query, "query");
        checkFloats(key, "key");
        checkFloats(value, "value");
        const arrays = { query, key, value, layout: options.layout, out: options.out };
        const inputs = givenInputs(options);
        for (const name of inputs) arrays[name] = options[name];
        const sizes = inferSizes(options, query, key, value);
        const plan = this.#plan(sizes, { ...options, inputs });
        try {
            return plan.run(arrays).out;
        } finally {
            plan.dispose();
        }
    }

    stream(options) {
        checkOptions(options, STREAM, "stream");
        const { backend = "softmax", maxKeys } = options;
        const { queries, keys, ...sizes } = planSizes({ ...options, queries: 1 });
        checkText(backend, "backend");
        checkInteger(maxKeys, "maxKeys");
        const numbers = problemNumbers({ ...sizes, queries, keys }, options);
        const address = this.#session.borrow((loan) =>
            this.#session.make(
                "attnjs_stream_create",
                loan.texts(backend),
                loan.doubles(numbers, "the problem"),
                maxKeys,
            ),
        );
        return this.#adoptStream(address, backend, Object.freeze({ ...sizes, maxKeys }));
    }

    embed(text, dim) {
        if (typeof text !== "string") throw new TypeError("text must be a string");
        if (checkInteger(dim, "dim") < 2) {
            throw new AttnError("ATTN_ERROR_SHAPE", `dim is ${dim}, must be at least 2`);
        }
        const bytes = new TextEncoder().encode(text);
        return this.#session.borrow((loan) => {
            const at = loan.bytes(bytes, "the text");
            const bounds = this.#session.describe("attnjs_tokens", at, bytes.length);
            const rows = bounds.length / 2;
            const out = loan.floats(rows * dim, "the vectors");
            this.#session.run("attnjs_embed", at, bytes.length, dim, out);
            const x = this.#session.floats(out, rows * dim).slice();
            return { x, tokens: cut(bytes, bounds), rows, dim };
        });
    }

    readNpy(bytes) {
        const file = checkBytes(bytes, "bytes");
        return this.#session.borrow((loan) => {
            const at = loan.bytes(file, "the .npy file");
            const { offset, shape } = this.#session.describe("attnjs_read_npy", at, file.length);
            const length = shape.reduce((product, size) => product * size, 1);
            return { data: this.#session.floats(at + offset, length).slice(), shape };
        });
    }

    countNonfinite(array) {
        checkFloats(array, "array");
        return this.#session.borrow((loan) => {
            const at = loan.copy(array, "array");
            return this.#session.measure("attnjs_count_nonfinite", at, array.length);
        });
    }

    dispose() {
        for (const child of this.#children) child.dispose();
        this.#session.close();
    }

    #plan(sizes, options) {
        const { backend = "softmax", params = {}, inputs = [] } = options;
        checkText(backend, "backend");
        const numbers = problemNumbers(sizes, options);
        const pairs = paramTexts(params);
        const address = this.#session.borrow((loan) =>
            this.#session.make(
                "attnjs_plan_create",
                loan.texts(backend),
                loan.doubles(numbers, "the problem"),
                loan.texts(...pairs),
                pairs.length / 2,
            ),
        );
        const plan = new Plan(this.#session, address, backend, sizes, inputs, (done) =>
            this.#children.delete(done),
        );
        this.#children.add(plan);
        return plan;
    }

    #adoptStream(address, backend, sizes) {
        const stream = new Stream(this.#session, address, backend, sizes, (fork, parent) => {
            if (fork !== 0) return this.#adoptStream(fork, backend, sizes);
            this.#children.delete(parent);
        });
        this.#children.add(stream);
        return stream;
    }
}

if (Symbol.dispose) Attn.prototype[Symbol.dispose] = Attn.prototype.dispose;

/** The pieces of a UTF-8 text between start and end, start and end, ... */
function cut(bytes, bounds) {
    const decoder = new TextDecoder();
    const pieces = [];
    for (let i = 0; i < bounds.length; i += 2) {
        pieces.push(decoder.decode(bytes.subarray(bounds[i], bounds[i + 1])));
    }
    return pieces;
}

/** Parameters as text, the way a person writes them: name and value by turns. */
function paramTexts(params) {
    if (params === null || typeof params !== "object") {
        throw new TypeError("params must be an object of names and values");
    }
    const texts = [];
    for (const [name, value] of Object.entries(params)) {
        if (value === undefined) continue;
        const what = `params.${name}`;
        checkText(name, "the name of a parameter");
        if (typeof value === "boolean") texts.push(name, String(value));
        else if (typeof value === "number") texts.push(name, String(checkFinite(value, what)));
        else texts.push(name, checkText(value, what));
    }
    return texts;
}
