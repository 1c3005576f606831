import { checkLength, checkOptions } from "./check.js";
import { disposed } from "./errors.js";
import { checkInputs } from "./inputs.js";
import { INPUTS } from "./rules.js";
import { layoutFlag, lengths } from "./shape.js";

const READ = ["query", "key", "value"];
const ARRAYS = [...READ, "out"];
const ADDRESSES = [...ARRAYS, "lse", ...INPUTS, "scores"]; // in the order of src/bindings.h

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
    #lengths;

    constructor(session, address, backend, sizes, inputs) {
        this.#session = session;
        this.#address = address;
        this.#lengths = lengths(sizes);
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
        const given = this.#given(arrays, names);
        const bnhd = layoutFlag(arrays.layout);
        return this.#session.borrow((loan) =>
            body(loan, [this.#address, bnhd, listed(loan, lend(loan, given), given)]),
        );
    }

    [describe]() {
        this[alive]();
        return this.#session.describe("attnjs_plan_describe", this.#address);
    }

    [alive]() {
        if (this.#address === 0) throw disposed("the plan");
    }

    /** The arrays to read, checked: { array, shape } by name. */
    #given(arrays, names) {
        const given = checkInputs(arrays, this.inputs, this.sizes);
        for (const name of names) {
            const { length, meaning } = this.#lengths[name];
            given[name] = { array: checkLength(arrays[name], length, name, meaning) };
        }
        return given;
    }

    /** What a run is to do: its arrays, checked. */
    [prepare](arrays) {
        checkOptions(arrays, [...ARRAYS, ...INPUTS, "lse", "scores", "layout"], "run");
        this[alive]();
        const given = this.#given(arrays, READ);
        const bnhd = layoutFlag(arrays.layout);
        const outputs = { out: this.#output(arrays.out, "out") };
        for (const name of ["lse", "scores"]) {
            const array = arrays[name];
            if (array) outputs[name] = this.#output(array === true ? undefined : array, name);
        }
        return { given, outputs, bnhd };
    }

    /** The arguments of a job, and what takes its results once it has run. */
    [lendJob](loan, { given, outputs, bnhd }) {
        this[alive]();
        const at = lend(loan, given);
        const rooms = {};
        for (const name in outputs) {
            const { array, length } = outputs[name];
            rooms[name] = loan.output(Float32Array, length, name, array);
            at[name] = rooms[name].at;
        }
        const take = (degenerateRows) => {
            const result = { lse: null, scores: null, degenerateRows };
            for (const name in rooms) result[name] = rooms[name].take();
            return result;
        };
        return { args: [this.#address, bnhd, listed(loan, at, given)], take };
    }

    /** The array a result goes to, and how long it is. A new one is made when the result is there. */
    #output(array, name) {
        const { length, meaning } = this.#lengths[name];
        if (array !== undefined) checkLength(array, length, name, meaning);
        return { array, length };
    }
}

if (Symbol.dispose) Runner.prototype[Symbol.dispose] = Runner.prototype.dispose;

/** Arrays as arguments, by name. */
function lend(loan, given) {
    const at = {};
    for (const name in given) at[name] = loan.input(given[name].array, name);
    return at;
}

/** Arguments, and the extents of bias and mask, as src/bindings.h lists them. */
function listed(loan, at, { bias, mask }) {
    const extents = [bias, mask].flatMap((grid) => (grid?.shape ?? [0, 0, 0]).slice(0, 3));
    return loan.list([...ADDRESSES.map((name) => at[name] ?? 0), ...extents]);
}
