import { SCALES, checkRead } from "./arrays.js";
import { outputOf, readCall } from "./call.js";
import { checkBytes, checkInteger } from "./check.js";
import { arrayClass } from "./dtypes.js";
import { Held } from "./held.js";
import { lendJob } from "./job.js";
import { places, quotient } from "./shape.js";

const APPEND = { needed: ["key", "value"], others: ["layout", ...SCALES] };
const QUERY = { needed: ["query"], others: ["out", "layout"] };

/** What a backend keeps of tokens that arrive. Made by Attn.stream() and fork(). */
export class Stream {
    #session;
    #held; // C's stream
    #about; // { backend, sizes, dtypes, hasLse }

    constructor(session, address, about) {
        this.#session = session;
        this.#held = new Held(session, this, "stream", address, destroy(session), about.backend);
        this.#about = about;
        this.backend = about.backend;
        this.sizes = about.sizes;
        Object.freeze(this);
    }

    append(...args) {
        const { arrays, options } = this.#read(args, APPEND, "append");
        const { batch, kvHeads, dim } = this.sizes;
        const known = batch * kvHeads * dim;
        const tokens = quotient(arrays.key.array, "key", "batch * kvHeads * dim", known);
        const place = places({ ...this.sizes, queries: 1, keys: tokens }, options.layout);
        const given = checkRead(arrays, ["key", "value"], place, this.#about.dtypes);
        this.#lend("run", "append", tokens, { given, outputs: null, place });
        return this;
    }

    query(...args) {
        const { arrays, options } = this.#read(args, QUERY, "query");
        const { batch, heads, dim } = this.sizes;
        const known = batch * heads * dim;
        const queries = quotient(arrays.query.array, "query", "batch * heads * dim", known);
        const place = places({ ...this.sizes, queries, keys: 1 }, options.layout);
        const { dtypes, hasLse } = this.#about;
        const given = checkRead(arrays, ["query"], place, dtypes);
        const out = outputOf(arrays, "out", place);
        out.type = arrayClass(dtypes.out, out.array ?? given.query.array);
        const outputs = { __proto__: null, out };
        if (hasLse) outputs.lse = outputOf({ __proto__: null }, "lse", place);
        const { called, results } = this.#lend("measure", "query", queries, {
            given,
            outputs,
            place,
        });
        return { out: null, lse: null, degenerateRows: called, ...results };
    }

    get length() {
        return this.#measure("length");
    }

    get memoryBytes() {
        return this.#measure("memory");
    }

    fork() {
        const address = this.#session.make("attnjs_stream_fork", this.#held.value);
        return new Stream(this.#session, address, this.#about);
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
        return readCall(args, names, what, () => this.#about.dtypes);
    }

    /** Calls a function, by the session's `how`, on the arrays of a job of so many tokens. */
    #lend(how, name, tokens, job) {
        return this.#session.borrow((loan) => {
            const { list, take } = lendJob(loan, job);
            const called = this.#session[how](
                `attnjs_stream_${name}`,
                this.#held.value,
                tokens,
                list,
            );
            return { called, results: take() };
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
