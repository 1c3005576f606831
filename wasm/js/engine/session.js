/* One instance of the library: its context and its errors. The work is an engine's (engine.js). */
import { ARRAYS, ARRAYS_OF_F32, namesOf, withOwn } from "../problem/declared.js";
import { disposed } from "../problem/errors.js";
import { arraysOf } from "../calls/job.js";
import { KINDS, MODES } from "../problem/rules.js";
import { addWords, fromC } from "./words.js";

/** What softmax alone needs of it. */
export class SmallSession {
    children = new Set(); // what dispose() ends with it: plans, streams and plugins
    engine;
    /* The options that it has beside those of every problem: of problems, and of plans alone. */
    kinds = [];
    modes = [];
    #handle;

    constructor(engine) {
        this.engine = engine;
        this.#handle = engine.open();
    }

    adopt(child) {
        this.children.add(child);
    }

    forget(child) {
        this.children.delete(child);
    }

    close() {
        for (const child of this.children) child.dispose();
        if (this.#handle !== 0) this.engine.call("attnjs_close", this.#handle);
        this.#handle = 0;
    }

    /** Calls a function that returns a handle; throws when there is none. */
    make(name, ...args) {
        const made = this.engine.make(name, this.alive(), ...args);
        if (!made) throw this.error();
        return made;
    }

    /** Calls a function that returns a number; throws when it is below 0. */
    measure(name, ...args) {
        const number = this.engine.call(name, this.alive(), ...args);
        if (number < 0) throw this.error();
        return number;
    }

    /** Calls a function that returns JSON, and reads it. */
    describe(name, ...args) {
        const text = this.engine.describe(name, this.alive(), ...args);
        if (text === null) throw this.error();
        return JSON.parse(text);
    }

    /** Calls a function that frees, also when the library is gone. */
    destroy(name, handle) {
        this.engine.call(name, handle);
    }

    /** Calls `body` with a loan that lasts as long as the call, and holds the arrays of a job. */
    borrow(body, job) {
        const loan = this.lend(job);
        try {
            return body(loan);
        } finally {
            loan.end();
        }
    }

    lend() {
        this.alive();
        return this.engine.lend();
    }

    /** What runs with a backend may have (declared.js). */
    arraysOf() {
        return ARRAYS_OF_F32;
    }

    /** Its handle. */
    alive() {
        if (this.#handle === 0) throw disposed("libattn");
        return this.#handle;
    }

    /** That of the call before. */
    error() {
        return fromC(
            this.engine.text("attnjs_error_code", this.#handle),
            this.engine.text("attnjs_error_message", this.#handle),
        );
    }
}

export class Session extends SmallSession {
    kinds = KINDS;
    modes = MODES;
    #arrays; // by backend

    /** Calls a function that returns a status; throws unless it is 0. */
    run(name, ...args) {
        if (this.engine.call(name, this.alive(), ...args) !== 0) throw this.error();
    }

    /** The engine's room for a Tensor. */
    room(...args) {
        this.alive();
        return this.engine.room(...args);
    }

    /** Runs a plan by the engine's start(). */
    async start(...args) {
        const rows = this.engine.start(this.alive(), ...args);
        if (rows === -1) throw this.error();
        return rows;
    }

    /** borrow() for a start(), until the promise is settled that `body` returns. */
    async borrowAsync(body, job) {
        const loan = this.lend(job, true);
        try {
            return await body(loan);
        } finally {
            loan.end();
        }
    }

    lend(job, beside = false) {
        this.alive();
        const loan = this.engine.lend(beside);
        if (job) arraysOf(job).forEach((array) => loan.hold(array));
        return loan;
    }

    /** Softmax has none of its own: a first call with it does not wait for the description of all. */
    arraysOf(backend = "softmax") {
        if (backend === "softmax" && this.alive()) return ARRAYS;
        this.#arrays ??= new Map(
            this.describe("attnjs_backends").map(({ id, arrays }) => [id, withOwn(arrays)]),
        );
        const arrays = this.#arrays.get(backend) ?? ARRAYS;
        addWords(namesOf(arrays));
        return arrays;
    }

    /** Backends have come, or gone. */
    renew() {
        this.#arrays = undefined;
    }
}
