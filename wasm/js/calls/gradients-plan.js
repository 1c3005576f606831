/* A plan that also has gradients of a loss (attn/ext/backward.h). */
import { NEW, checkJob, readArrays } from "../problem/arrays.js";
import { PLACE } from "./call.js";
import { checkOneOf, readList } from "../problem/check.js";
import { ARRAYS, namesOf } from "../problem/declared.js";
import { arrayClass, typeOf } from "../problem/dtypes.js";
import { lendJob, shapesOf } from "./job.js";
import { readChecked } from "../problem/options.js";
import { Plan } from "./plan.js";
import { handle } from "./runner.js";
import { fit, places } from "../problem/shape.js";

const OUT = ARRAYS.find(({ name }) => name === "out");
/* What a run has computed, and the way back reads. */
const KEPT = ["out", "lse"];

/** What gradients() takes beside arrays. */
export const BACKWARD = [...PLACE, "by"];

/** The arrays that gradients() takes, of those that runs may have: inputs, what runs computed, and dL/dout. */
export function backwardArrays(arrays) {
    const all = arrays.map((array) =>
        KEPT.includes(array.name) ? { ...array, role: "input", presence: "kept" } : array,
    );
    const lossOf = { ...OUT, name: "outGradient", role: "input" };
    return [...all.filter(({ role }) => role === "input"), lossOf];
}

export class GradientsPlan extends Plan {
    #session;
    #problem;
    #about; // what there are gradients of
    #shapes; // of the backend-specific tensors

    constructor(session, address, problem) {
        super(session, address, problem);
        this.#session = session;
        this.#problem = problem;
    }

    gradients(given) {
        const call = this.#read(given);
        const { outGradient, ...arrays } = call.given;
        const job = { given: { ...arrays, outGradient }, outputs: {} };
        return this.#session.borrow((loan) => {
            const list = this.#listRun(loan, arrays, call.place);
            const back = lendJob(loan, { given: { outGradient }, outputs: call.gradients });
            this.#session.run("attnjs_backward", this[handle](), list, back.list);
            return back.take();
        }, job);
    }

    /** A checked call: its arrays, where those of its kinds are, and the gradients it asks for. */
    #read(given) {
        const { arrays, dtypes } = this.#problem;
        const plan = this[handle]();
        const declared = backwardArrays(arrays);
        const options = readChecked(given, [...namesOf(declared), ...BACKWARD], "gradients");
        const there = readArrays(options, declared, dtypes);
        const { layout } = options;
        this.#shapes ??= shapesOf(this.#session, arrays, plan);
        const place = places(arrays, this.sizes, { layout }, this.#shapes); // of what is new
        const wanted = {
            ...places(declared, this.sizes, options, this.#shapes),
            outGradient: { ...place.out, name: "outGradient", role: "input" },
        };
        const job = checkJob(this.#problem, there, wanted);
        const names = this.#namesOf(job.given, options.by);
        const gradients = Object.fromEntries(
            names.map((name) => [name, gradientOf(job.given[name], place[name], dtypes)]),
        );
        return { given: job.given, place, gradients };
    }

    /** The list of a run's arrays once it has run: it runs here unless `given` has what it computed. */
    #listRun(loan, given, place) {
        const needed = KEPT.filter((name) => name === "out" || this.#describe().lse);
        if (needed.every((name) => given[name])) return lendJob(loan, { given, outputs: {} }).list;
        const { dtypes } = this.#problem;
        const inputs = Object.entries(given).filter(([name]) => !KEPT.includes(name));
        const outputs = Object.fromEntries(
            needed.map((name) => [name, newArray(place[name], dtypes)]),
        );
        const { list } = lendJob(loan, { given: Object.fromEntries(inputs), outputs });
        this.#session.measure("attnjs_run", this[handle](), list);
        return list;
    }

    /** The names of those that are asked for: all that there are gradients of, unless `by` says which. */
    #namesOf(given, by) {
        const { arrays } = this.#describe();
        const names = Object.keys(given).filter((name) => arrays.includes(given[name].number));
        return by === undefined
            ? names
            : readList(by, "by", (name, what) => checkOneOf(name, names, what));
    }

    #describe() {
        const plan = this[handle]();
        return (this.#about ??= this.#session.describe("attnjs_gradients_describe", plan));
    }
}

/** A result in a new array, of the class of `like` where there are two for its type. */
function newArray(place, dtypes, like) {
    return { ...place, ...NEW, type: arrayClass(typeOf(place.dtype, dtypes), like) };
}

/** The gradient of an array as a result: as long as that array is, which may be the same for all of an axis. */
function gradientOf({ array, extents, broadcast }, place, dtypes) {
    const shape = place.order.map((k) => extents[k]);
    const where = broadcast.includes(true) ? fit(place, array, shape) : place;
    return newArray(where, dtypes, array);
}
