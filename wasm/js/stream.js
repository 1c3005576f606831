import { SCALES, checkRead } from "./arrays.js";
import { outputOf, readCall } from "./call.js";
import { checkBytes, checkInteger } from "./check.js";
import { arrayClass } from "./dtypes.js";
import { Held } from "./held.js";
import { lendJob } from "./job.js";
import { places, quotient } from "./shape.js";

const APPEND = { needed: ["key", "value"], others: ["layout", ...SCALES] };
const QUERY = { needed: ["query"], others: ["out", "layout"] };

/** A KV cache with a backend behind it. Made by Attn.stream() and fork(). */
export class Stream {
    #session;
    #held; // C's stream
    #dtypes;

    constructor(session, address, backend, sizes, dtypes) {
        this.#session = session;
        this.#held = new Held(session, this, "stream", address, destroy(session), backend);
        this.#dtypes = dtypes;
        this.backend = backend;
        this.sizes = sizes;
        Object.freeze(this);
    }

    append(...args) {
        const { arrays, options } = this.#read(args, APPEND, "append");
        const { batch, kvHeads, dim } = this.sizes;
        const known = batch * kvHeads * dim;
        const tokens = quotient(arrays.key.array, "key", "batch * kvHeads * dim", known);
        const place = places({ ...this.sizes, queries: 1, keys: tokens }, options.layout);
        const given = checkRead(arrays, ["key", "value"], place, this.#dtypes);
        this.#lend("append", tokens, { given, outputs: null, place });
        return this;
    }

    query(...args) {
        const { arrays, options } = this.#read(args, QUERY, "query");
        const { batch, heads, dim } = this.sizes;
        const known = batch * heads * dim;
        const queries = quotient(arrays.query.array, "query", "batch * heads * dim", known);
        const place = places({ ...this.sizes, queries, keys: 1 }, options.layout);
        const given = checkRead(arrays, ["query"], place, this.#dtypes);
        const out = outputOf(arrays, "out", place);
        out.type = arrayClass(this.#dtypes.out, out.array ?? given.query.array);
        const lse = outputOf({ __proto__: null }, "lse", place);
        return this.#lend("query", queries, {
            given,
            outputs: { __proto__: null, out, lse },
            place,
        });
    }

    get length() {
        return this.#measure("length");
    }

    get memoryBytes() {
        return this.#measure("memory");
    }

    fork() {
        const address = this.#session.make("attnjs_stream_fork", this.#held.value);
        return new Stream(this.#session, address, this.backend, this.sizes, this.#dtypes);
    }

    truncate(length) {
        this.#run("truncate", checkInteger(length, "length"));
        return this;
    }

    save() {
        const size = this.#measure("save", 0, 0);
        return this.#session.borrow((loan) => {
            const saved = loan.output(Uint8Array, size, "the saved stream");
            this.#measure("save", saved.at, size);
            return saved.take();
        });
    }

    restore(bytes) {
        const saved = checkBytes(bytes, "bytes");
        const { length } = saved;
        this.#session.borrow((loan) => {
            this.#run("restore", loan.input(saved, "the saved stream"), length);
        });
        return this;
    }

    dispose() {
        this.#held.dispose();
    }

    #read(args, names, what) {
        return readCall(args, names, what, () => this.#dtypes);
    }

    /** Calls a function on the arrays of a job of so many tokens; gives its results. */
    #lend(name, tokens, job) {
        return this.#session.borrow((loan) => {
            const { list, take } = lendJob(loan, job);
            this.#run(name, tokens, list);
            return take();
        }, job);
    }

    #run(name, ...args) {
        this.#session.run(`attnjs_stream_${name}`, this.#held.value, ...args);
    }

    #measure(name, ...args) {
        return this.#session.measure(`attnjs_stream_${name}`, this.#held.value, ...args);
    }
}

const destroy = (session) => (address) => session.destroy("attnjs_stream_destroy", address);

if (Symbol.dispose) Stream.prototype[Symbol.dispose] = Stream.prototype.dispose;
