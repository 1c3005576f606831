import { SCALES, checkPlaced, checkRead, lend, listed } from "./arrays.js";
import { checkBytes, checkInteger, checkOptions } from "./check.js";
import { arrayClass, checkElements } from "./dtypes.js";
import { disposed } from "./errors.js";
import { places, quotient } from "./shape.js";

/** A KV cache with a backend behind it. Made by Attn.stream() and fork(). */
export class Stream {
    #session;
    #address;
    #dtypes;

    constructor(session, address, backend, sizes, dtypes) {
        this.#session = session;
        this.#address = address;
        this.#dtypes = dtypes;
        this.backend = backend;
        this.sizes = sizes;
        Object.freeze(this);
        session.adopt(this);
    }

    append(key, value, options = {}) {
        checkOptions(options, ["layout", ...SCALES], "append");
        this.#alive();
        const { batch, kvHeads, dim } = this.sizes;
        const tokens = this.#rows(key, "key", "batch * kvHeads * dim", batch * kvHeads * dim);
        const place = places({ ...this.sizes, queries: 1, keys: tokens }, options);
        const arrays = { key, value, ...options };
        const given = checkRead(arrays, ["key", "value"], place, this.#dtypes);
        this.#session.borrow((loan) => {
            this.#run("append", listed(loan, lend(loan, given), given, place), tokens);
        });
        return this;
    }

    query(query, options = {}) {
        checkOptions(options, ["out", "layout"], "query");
        this.#alive();
        const { batch, heads, dim } = this.sizes;
        const queries = this.#rows(query, "query", "batch * heads * dim", batch * heads * dim);
        const place = places({ ...this.sizes, queries, keys: 1 }, options);
        const given = checkRead({ query }, ["query"], place, this.#dtypes);
        const { out: array } = options;
        if (array !== undefined) checkPlaced(array, "out", place, this.#dtypes);
        const type = arrayClass(this.#dtypes.out, array ?? query);
        return this.#session.borrow((loan) => {
            const at = lend(loan, given, { out: { array } });
            const out = loan.output(type, place.out.length, "out", array);
            const lse = loan.output(Float32Array, place.lse.length, "lse");
            const list = { ...at, out: out.at, lse: lse.at };
            this.#run("query", listed(loan, list, given, place), queries);
            return { out: out.take(), lse: lse.take() };
        });
    }

    get length() {
        return this.#measure("length");
    }

    get memoryBytes() {
        return this.#measure("memory");
    }

    fork() {
        this.#alive();
        const address = this.#session.make("attnjs_stream_fork", this.#address);
        return new Stream(this.#session, address, this.backend, this.sizes, this.#dtypes);
    }

    truncate(length) {
        this.#alive();
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
        this.#alive();
        this.#session.borrow((loan) => {
            this.#run("restore", loan.input(saved, "the saved stream"), length);
        });
        return this;
    }

    dispose() {
        if (this.#address === 0) return;
        this.#session.destroy("attnjs_stream_destroy", this.#address);
        this.#address = 0;
        this.#session.forget(this);
    }

    /** How many tokens an array has; `known` is the product of its other sizes. */
    #rows(array, what, names, known) {
        return quotient(checkElements(array, what, this.#dtypes[what]), what, names, known);
    }

    #alive() {
        if (this.#address === 0) throw disposed("the stream");
    }

    #run(name, ...args) {
        this.#session.run(`attnjs_stream_${name}`, this.#address, ...args);
    }

    #measure(name, ...args) {
        this.#alive();
        return this.#session.measure(`attnjs_stream_${name}`, this.#address, ...args);
    }
}

if (Symbol.dispose) Stream.prototype[Symbol.dispose] = Stream.prototype.dispose;
