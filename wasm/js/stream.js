import { checkBytes, checkFloats, checkInteger, checkLength, checkOptions } from "./check.js";
import { disposed } from "./errors.js";
import { extent, layoutFlag, quotient } from "./shape.js";

/** A KV cache with a backend behind it. Made by Attn.stream() and fork(). */
export class Stream {
    #session;
    #address;
    #adopt;

    /** `adopt(address, this)` makes a fork; `adopt(0, this)` forgets this stream. */
    constructor(session, address, backend, sizes, adopt) {
        this.#session = session;
        this.#address = address;
        this.#adopt = adopt;
        this.backend = backend;
        this.sizes = sizes;
        Object.freeze(this);
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
            const at = [loan.copy(key, "key"), loan.copy(value, "value")];
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
        if (options.out !== undefined) checkLength(options.out, length, "out", meaning);
        const bnhd = layoutFlag(options.layout);
        const lseLength = batch * heads * queries;
        return this.#session.borrow((loan) => {
            const at = loan.copy(query, "query");
            const outAt = loan.floats(length, "out");
            const lseAt = loan.floats(lseLength, "lse");
            this.#run("query", bnhd, at, queries, outAt, lseAt);
            return {
                out: this.#session.read(outAt, length, options.out),
                lse: this.#session.read(lseAt, lseLength),
            };
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
        return this.#adopt(this.#session.make("attnjs_stream_fork", this.#address), this);
    }

    truncate(length) {
        this.#alive();
        this.#run("truncate", checkInteger(length, "length"));
        return this;
    }

    save() {
        const size = this.#measure("save", 0, 0);
        return this.#session.borrow((loan) => {
            const at = loan.take(size, "the saved stream");
            this.#measure("save", at, size);
            return this.#session.bytes(at, size).slice();
        });
    }

    restore(bytes) {
        const saved = checkBytes(bytes, "bytes");
        this.#alive();
        this.#session.borrow((loan) => {
            this.#run("restore", loan.bytes(saved, "the saved stream"), saved.length);
        });
        return this;
    }

    dispose() {
        if (this.#address === 0) return;
        this.#session.destroy("attnjs_stream_destroy", this.#address);
        this.#address = 0;
        this.#adopt(0, this);
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
