import { handed, hold, lend, listed, readArrays } from "./arrays.js";
import { RUN, checkRun } from "./call.js";
import { Held } from "./held.js";
import { readChecked } from "./options.js";
import { places } from "./shape.js";

/* For Plan, which extends Runner, and for Core, which makes them. */
export const handle = Symbol();
export const read = Symbol();
export const placeOf = Symbol();
export const prepare = Symbol();
export const compute = Symbol();
export const lendJob = Symbol();

/** A plan that runs; plan.js has what else one can do. Made by plan() of core.js. */
export class Runner {
    #session;
    #held; // C's plan
    #problem;
    #places = new Map(); // by layout

    constructor(session, address, backend, problem) {
        this.#session = session;
        this.#held = new Held(session, this, "plan", address, destroy(session), backend);
        this.#problem = problem;
        this.backend = backend;
        this.sizes = Object.freeze(problem.sizes);
        this.inputs = Object.freeze(problem.inputs);
    }

    run(arrays) {
        const job = this[prepare](this[read](arrays, RUN, "run"));
        return this.#session.borrow((loan) => {
            hold(loan, job.given, job.outputs);
            return this[compute](job, loan);
        });
    }

    dispose() {
        this.#held.dispose();
    }

    /** C's plan. */
    [handle]() {
        return this.#held.value;
    }

    [read](given, names, what) {
        const options = readChecked(given, names, what);
        return { options, arrays: readArrays(options, this.#problem.dtypes) };
    }

    [placeOf]({ layout, strides }) {
        if (strides) return places(this.sizes, layout, strides);
        if (!this.#places.has(layout)) this.#places.set(layout, places(this.sizes, layout));
        return this.#places.get(layout);
    }

    /** What a run is to do: a call's arrays, checked. */
    [prepare](call) {
        this[handle]();
        return checkRun(this.#problem, call.arrays, this[placeOf](call.options));
    }

    /** Runs a job whose arrays the loan holds. */
    [compute](job, loan) {
        const { args, take } = this[lendJob](loan, job);
        this.#session.run("attnjs_run", ...args);
        return take(this.#session.measure("attnjs_degenerate_rows"));
    }

    /** The arguments of a job, and what takes its results once it has run. */
    [lendJob](loan, { given, outputs, place }) {
        const plan = this[handle]();
        const at = lend(loan, given);
        const rooms = { __proto__: null };
        for (const name in outputs) {
            const { type, length, array, gaps } = outputs[name];
            rooms[name] = loan.output(type, length, name, array, gaps);
            at[name] = rooms[name].at;
        }
        const take = (degenerateRows) => {
            const result = { out: null, lse: null, scores: null, degenerateRows };
            for (const name in rooms) result[name] = handed(outputs[name], rooms[name].take());
            return result;
        };
        return { args: [plan, listed(loan, at, given, place)], take };
    }
}

const destroy = (session) => (address) => session.destroy("attnjs_plan_destroy", address);

if (Symbol.dispose) Runner.prototype[Symbol.dispose] = Runner.prototype.dispose;
