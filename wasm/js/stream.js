import { checkBytes, checkFloats, checkInteger, checkLength, checkOptions } from "./check.js";
import { disposed } from "./errors.js";
import { extent, layoutFlag, quotient } from "./shape.js";

/** A KV cache with a backend behind it. Made by Attn.stream() and fork(). */
export class Stream {
    #session;
    #address;

    constructor(session, address, backend, sizes) {
        this.#session = session;
        this.#address = address;
        this.backend = backend;
        this.sizes = sizes;
        Object.freeze(this);
        session.adopt(this);
    }

    append(key, value, options = {}) {
        checkOptions(options, ["layout"], "append");
        this.#alive();
        const { batch, kvHeads, dim, valueDim } = this.sizes;
        const tokens = rows(key, "key", "batch * kvHeads * dim", batch * kvHeads * dim);
        const { length, meaning } = extent(
            "batch * kvHeads * tokens * valueDim",
            batch,
            kvHeads,
            tokens,
            valueDim,
        );
        checkLength(value, length, "value", meaning);
        const bnhd = layoutFlag(options.layout);
        this.#session.borrow((loan) => {
            const at = [loan.input(key, "key"), loan.input(value, "value")];
            this.#run("append", bnhd, ...at, tokens);
        });
        return this;
    }

    query(query, options = {}) {
        checkOptions(options, ["out", "layout"], "query");
        this.#alive();
        const { batch, heads, dim, valueDim } = this.sizes;
        const queries = rows(query, "query", "batch * heads * dim", batch * heads * dim);
        const { length, meaning } = extent(
            "batch * heads * queries * valueDim",
            batch,
            heads,
            queries,
            valueDim,
        );
        const given = options.out;
        if (given !== undefined) checkLength(given, length, "out", meaning);
        const bnhd = layoutFlag(options.layout);
        const lseLength = batch * heads * queries;
        return this.#session.borrow((loan) => {
            const at = loan.input(query, "query");
            const out = loan.output(Float32Array, length, "out", given);
            const lse = loan.output(Float32Array, lseLength, "lse");
            this.#run("query", bnhd, at, queries, out.at, lse.at);
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
        return new Stream(this.#session, address, this.backend, this.sizes);
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
        this.#alive();
        this.#session.borrow((loan) => {
            this.#run("restore", loan.input(saved, "the saved stream"), saved.length);
        });
        return this;
    }

    dispose() {
        if (this.#address === 0) return;
        this.#session.destroy("attnjs_stream_destroy", this.#address);
        this.#address = 0;
        this.#session.forget(this);
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

/** How many tokens an array has; `known` is the product of its other sizes. */
function rows(array, what, names, known) {
    return quotient(checkFloats(array, what), what, names, known);
}
