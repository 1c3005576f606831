import { RUN, checkJob, readPlanCall } from "./call.js";
import { Held } from "./held.js";
import { compute } from "./job.js";
import { places } from "./shape.js";

/* For Plan, which extends Runner. */
export const handle = Symbol();
export const read = Symbol();

/** A plan that runs; plan.js has what else one can do. Made by plan() of core.js. */
export class Runner {
    #session;
    #held; // C's plan
    #problem;
    #places = new Map(); // by layout

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
        const { job } = this[read](arrays, RUN, "run");
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

    /** A call, { options, job }, that takes these options; `needed`: which arrays it reads, a run's if not said. */
    [read](given, names, what, needed) {
        const options = readPlanCall(given, names, what, this.#problem);
        this[handle]();
        return { options, job: checkJob(this.#problem, options, this.#placeOf(options), needed) };
    }

    #placeOf({ layout, strides }) {
        if (strides) return places(this.sizes, layout, strides);
        if (!this.#places.has(layout)) this.#places.set(layout, places(this.sizes, layout));
        return this.#places.get(layout);
    }
}

const destroy = (session) => (address) => session.destroy("attnjs_plan_destroy", address);

if (Symbol.dispose) Runner.prototype[Symbol.dispose] = Runner.prototype.dispose;
