import { NEW, checkJob } from "../problem/arrays.js";
import { readCall } from "./call.js";
import { checkBytes, checkInteger } from "../problem/check.js";
import { OVER_KEYS, READ, namesOf } from "../problem/declared.js";
import { Held } from "./held.js";
import { lendJob, shapesOf } from "./job.js";
import { places, product, quotient } from "../problem/shape.js";

/* What comes with tokens, and not with queries. */
const isAppended = ({ axes }) => axes.includes("keys") && !axes.includes("queries");

/* What no query of a stream has. */
const NEVER = [...OVER_KEYS, "scores"];

/** What a backend keeps of tokens that arrive. Made by Attn.stream() and fork(). */
export class Stream {
    #session;
    #held; // C's stream
    #about; // the problem (rules.js), with its `sizes`, and `hasLse`

    constructor(session, address, about) {
        this.#session = session;
        this.#held = new Held(session, this, "stream", address, destroy(session), about.backend);
        this.#about = about;
        this.backend = about.backend;
        this.sizes = about.sizes;
        Object.freeze(this);
    }

    append(...args) {
        this.#call(args, "append", "run", isAppended);
        return this;
    }

    query(...args) {
        const isAsked = (array) => !isAppended(array) && !NEVER.includes(array.name);
        const { called, results } = this.#call(args, "query", "measure", isAsked);
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

    /** Calls a function, by the session's `how`, on the arrays of the user's call that are of its kind. */
    #call(args, name, how, isOfKind) {
        const { dtypes, hasLse } = this.#about;
        const all = this.#about.arrays.filter(isOfKind);
        const needed = READ.filter((one) => namesOf(all).includes(one));
        const declare = () => all.filter(({ name }) => name !== "lse");
        const names = { needed, others: ["layout"], declare };
        const { arrays, options } = readCall(args, names, name, () => dtypes);
        if (hasLse && name === "query") arrays.lse = NEW;
        const sizes = this.#sizesOf(arrays[needed[0]].array, needed[0]);
        const shapes = shapesOf(this.#session, all, this.#held.value, "stream");
        const place = places(all, sizes, options, shapes);
        const job = checkJob(this.#about, arrays, place);
        return this.#session.borrow((loan) => {
            const { list, take } = lendJob(loan, job);
            const called = this.#session[how](`attnjs_stream_${name}`, this.#held.value, list);
            return { called, results: take() };
        }, job);
    }

    /** The sizes of a call with these queries or keys, whose number follows from how many elements there are. */
    #sizesOf(array, name) {
        const isQuery = name === "query";
        const known = ["batch", isQuery ? "heads" : "kvHeads", "dim"];
        const tokens = quotient(
            array,
            name,
            known.join(" * "),
            product(known.map((k) => this.sizes[k])),
        );
        const { maxKeys } = this.sizes;
        return { ...this.sizes, queries: isQuery ? tokens : 1, keys: isQuery ? maxKeys : tokens };
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
