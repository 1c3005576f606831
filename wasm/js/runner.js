import { SCALES, checkPlaced, checkRead, lend, listed } from "./arrays.js";
import { checkOptions } from "./check.js";
import { arrayClass } from "./dtypes.js";
import { disposed } from "./errors.js";
import { checkInputs } from "./inputs.js";
import { INPUTS } from "./rules.js";
import { PLACED, places } from "./shape.js";

const READ = ["query", "key", "value"];
const RESULTS = ["lse", "scores"];
export const PLACE = ["layout", "strides"];
const RUN = [...PLACED, ...INPUTS, ...SCALES, ...RESULTS, ...PLACE];

/* For the class that extends Runner, and nobody else. */
export const lendTo = Symbol("lendTo");
export const alive = Symbol("alive");
export const describe = Symbol("describe");
export const prepare = Symbol("prepare");
export const lendJob = Symbol("lendJob");

/** A plan that runs; plan.js has what else one can do. Made by plan() of core.js. */
export class Runner {
    #session;
    #address;
    #dtypes;
    #places = new Map(); // by layout

    constructor(session, address, backend, sizes, dtypes, inputs) {
        this.#session = session;
        this.#address = address;
        this.#dtypes = dtypes;
        this.backend = backend;
        this.sizes = Object.freeze(sizes);
        this.inputs = Object.freeze([...inputs]);
        session.adopt(this);
    }

    run(arrays) {
        const job = this[prepare](arrays);
        return this.#session.borrow((loan) => {
            const { args, take } = this[lendJob](loan, job);
            this.#session.run("attnjs_run", ...args);
            return take(this.#session.measure("attnjs_degenerate_rows"));
        });
    }

    dispose() {
        if (this.#address === 0) return;
        const address = this.#address;
        this.#address = 0; // first: a plugin's code may trap
        this.#session.forget(this);
        this.#session.destroy("attnjs_plan_destroy", address);
    }

    /** Calls `body` with a loan and the arguments of these arrays, those of `names` and the inputs. */
    [lendTo](names, arrays, body) {
        this[alive]();
        const place = this.#place(arrays);
        const given = this.#given(arrays, names, place);
        return this.#session.borrow((loan) =>
            body(loan, [this.#address, listed(loan, lend(loan, given), given, place)]),
        );
    }

    [describe]() {
        this[alive]();
        return this.#session.describe("attnjs_plan_describe", this.#address);
    }

    [alive]() {
        if (this.#address === 0) throw disposed("the plan");
    }

    #place({ layout, strides }) {
        if (strides !== undefined) return places(this.sizes, { layout, strides });
        if (!this.#places.has(layout)) this.#places.set(layout, places(this.sizes, { layout }));
        return this.#places.get(layout);
    }

    /** The arrays to read, checked: { array, length, shape } by name. */
    #given(arrays, names, place) {
        return {
            ...checkInputs(arrays, this.inputs, this.sizes),
            ...checkRead(arrays, names, place, this.#dtypes),
        };
    }

    /** What a run is to do: its arrays, checked. */
    [prepare](arrays) {
        checkOptions(arrays, RUN, "run");
        this[alive]();
        const place = this.#place(arrays);
        const given = this.#given(arrays, READ, place);
        const outputs = { out: this.#output(arrays.out, "out", place) };
        for (const name of RESULTS) {
            const array = arrays[name];
            if (array)
                outputs[name] = this.#output(array === true ? undefined : array, name, place);
        }
        outputs.out.type = arrayClass(this.#dtypes.out, arrays.out ?? arrays.query);
        return { given, outputs, place };
    }

    /** The arguments of a job, and what takes its results once it has run. */
    [lendJob](loan, { given, outputs, place }) {
        this[alive]();
        const at = lend(loan, given, outputs);
        const rooms = {};
        for (const name in outputs) {
            const { type = Float32Array, length, array, gaps } = outputs[name];
            rooms[name] = loan.output(type, length, name, array, gaps);
            at[name] = rooms[name].at;
        }
        const take = (degenerateRows) => {
            const result = { lse: null, scores: null, degenerateRows };
            for (const name in rooms) result[name] = rooms[name].take();
            return result;
        };
        return { args: [this.#address, listed(loan, at, given, place)], take };
    }

    /** The array a result goes to, and how long it is. A new one is made when the result is there. */
    #output(array, name, place) {
        if (array !== undefined) return checkPlaced(array, name, place, this.#dtypes);
        if (place[name].gaps) throw new TypeError(`strides.${name} needs ${name}, an array`);
        return { length: place[name].length };
    }
}

if (Symbol.dispose) Runner.prototype[Symbol.dispose] = Runner.prototype.dispose;
