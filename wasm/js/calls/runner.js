import { checkJob, readArrays } from "../problem/arrays.js";
import { PLACE } from "./call.js";
import { namesOf } from "../problem/declared.js";
import { Held } from "./held.js";
import { compute, shapesOf } from "./job.js";
import { readChecked } from "../problem/options.js";
import { places } from "../problem/shape.js";

/* For Plan, which extends Runner. */
export const handle = Symbol();
export const read = Symbol();

/** A plan that runs; plan.js has what else one can do. Made by plan() of core.js. */
export class Runner {
    #session;
    #held; // C's plan
    #problem;
    #shapes; // of the backend-specific tensors
    #places = { __proto__: null }; // of a run's arrays, by layout

    constructor(session, address, problem) {
        const { backend, sizes, inputs } = problem;
        this.#session = session;
        this.#held = new Held(session, this, "plan", address, destroy(session), backend);
        this.#problem = problem;
        this.backend = backend;
        this.sizes = Object.freeze(sizes);
        this.inputs = Object.freeze(inputs);
    }

    run(arrays) {
        const { job } = this[read](arrays, [], "run");
        return this.#session.borrow(
            (loan) => compute(this.#session, this[handle](), job, loan),
            job,
        );
    }

    dispose() {
        this.#held.dispose();
    }

    /** C's plan. */
    [handle]() {
        return this.#held.value;
    }

    /**
     * A call, { options, job }, that takes the options `more` besides; `take(arrays)`: those that it has of a
     * run's.
     */
    [read](given, more, what, take) {
        const { arrays, dtypes } = this.#problem;
        const declared = take ? take(arrays) : arrays;
        const options = readChecked(given, [...namesOf(declared), ...PLACE, ...more], what);
        const there = readArrays(options, declared, dtypes);
        const plan = this[handle]();
        const { layout, strides } = options;
        const make = () => {
            this.#shapes ??= shapesOf(this.#session, arrays, plan);
            return places(declared, this.sizes, options, this.#shapes);
        };
        const place = take || strides ? make() : (this.#places[layout] ??= make());
        return { options, job: checkJob(this.#problem, there, place) };
    }
}

const destroy = (session) => (address) => session.destroy("attnjs_plan_destroy", address);

if (Symbol.dispose) Runner.prototype[Symbol.dispose] = Runner.prototype.dispose;
