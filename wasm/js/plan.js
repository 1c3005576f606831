import { checkInteger, checkOptions } from "./check.js";
import { AttnError } from "./errors.js";
import { SCALES } from "./arrays.js";
import { INPUTS } from "./rules.js";
import { PLACE, Runner, alive, describe, lendJob, lendTo, prepare } from "./runner.js";
import { PLACED } from "./shape.js";

const QUERY_KEY = ["query", "key"];

/** A problem and the backend that solves it, prepared to run often. Made by Attn.plan(). */
export class Plan extends Runner {
    #session;
    #about;

    constructor(session, ...rest) {
        super(session, ...rest);
        this.#session = session;
        Object.freeze(this);
    }

    async runAsync(arrays, options = {}) {
        checkOptions(options, ["signal"], "runAsync");
        const { signal } = options;
        checkSignal(signal);
        const job = this[prepare](arrays);
        signal?.throwIfAborted();
        return this.#session.borrowAsync(async (loan) => {
            const { args, take } = this[lendJob](loan, job);
            const rows = await this.#session.start(...args, signal);
            return take(rows);
        });
    }

    weights(options) {
        const which = ["batch", "head", "first", "count"];
        checkOptions(options, [...QUERY_KEY, ...INPUTS, ...SCALES, ...PLACE, ...which], "weights");
        const { queries, keys, batch: batches, heads } = this.sizes;
        return this[lendTo](QUERY_KEY, options, (loan, args) => {
            const batch = checkIndex(options.batch ?? 0, "batch", batches);
            const head = checkIndex(options.head ?? 0, "head", heads);
            const first = checkIndex(options.first ?? 0, "first", queries);
            const count = checkInteger(options.count ?? queries - first, "count");
            if (count < 1 || first + count > queries) {
                throw outside(`count ${count} from query ${first} on`, queries, "queries");
            }
            const rows = loan.output(Float32Array, count * keys, "the weights");
            this.#session.run("attnjs_weights", ...args, batch, head, first, count, rows.at);
            return rows.take();
        });
    }

    error(arrays, stride = 1) {
        checkOptions(arrays, [...PLACED, ...INPUTS, ...SCALES, ...PLACE], "error");
        if (checkInteger(stride, "stride") < 1) throw outside(`stride ${stride}`, Infinity, "rows");
        return this[lendTo](PLACED, arrays, (loan, args) =>
            this.#session.measure("attnjs_oracle_error", ...args, stride),
        );
    }

    get kernel() {
        return this.#describe().kernel;
    }

    get workspaceBytes() {
        return this.#describe().workspaceBytes;
    }

    get cost() {
        return this.#describe().cost;
    }

    get facts() {
        return this.#describe().facts;
    }

    #describe() {
        this[alive]();
        return (this.#about ??= this[describe]());
    }
}

function checkSignal(signal) {
    if (signal === undefined || typeof signal?.throwIfAborted === "function") return;
    throw new TypeError("signal must be an AbortSignal");
}

function checkIndex(value, what, limit) {
    checkInteger(value, what);
    if (value < 0 || value >= limit) throw outside(`${what} ${value}`, limit, what);
    return value;
}

function outside(what, limit, of) {
    return new AttnError("ATTN_ERROR_RANGE", `${what} is outside of the ${limit} ${of}`);
}
