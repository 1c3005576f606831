/*
 * attention() in a worker: one call as several smaller ones, so that one can tell how far it is, and stop.
 * Each takes the queries that share a key/value head. The numbers are those of the whole.
 */
import { isTensor } from "../problem/check.js";
import { readCall } from "./core.js";
import { ARRAYS, isOwn } from "../problem/declared.js";
import { store } from "../problem/errors.js";
import { product } from "../problem/shape.js";

/* Backends whose heads do not know their numbers: a sketch draws other random numbers for each. */
const BY_HEAD = ["softmax", "linear", "sparse"];

/**
 * What attention(...args) computes: { result, byName }, the result as it is by one object, and whether it
 * was asked for so. `watch`, where there is one, is awaited with each part that is done.
 */
export async function attend(library, args, watch) {
    const call = library[readCall](args);
    const { byName } = call;
    const blocks = watch ? blocksOf(call) : 1;
    if (blocks === 1) {
        const result = library.attention(...args);
        return { result: byName ? result : { out: result }, byName };
    }
    const parts = new Parts(call, blocks);
    for (let index = 0; index < blocks; index++) {
        parts.add(library.attention(parts.part(index)));
        if (index < blocks - 1) await watch((index + 1) / blocks);
    }
    return { result: parts.result(), byName };
}

/** A call that was read as one object, with all sizes. */
function wholeCall({ problem, options, job: { given, outputs } }) {
    const call = { __proto__: null, ...options, ...problem.sizes };
    for (const name in given) call[name] = shaped(given[name], given[name].array);
    for (const name in outputs) call[name] = outputs[name].array ?? (name === "out" ? null : true);
    return call;
}

/** Elements, with their shape where that may be another one. */
function shaped({ number, extents }, data, shape = extents) {
    return ARRAYS[number].broadcast.includes(true) ? { data, shape } : data;
}

/** How many parts a call has. Backend-specific tensors may have no heads. */
function blocksOf({ options, problem, job: { given, outputs } }) {
    const { batch, heads, kvHeads } = problem.sizes;
    const { layout = "bhnd", strides } = options;
    const isWhole = [...Object.values(given), ...Object.values(outputs)].some(isOwn);
    const apart = BY_HEAD.includes(problem.backend) && layout === "bhnd" && !strides && !isWhole;
    return apart && heads % kvHeads === 0 ? batch * kvHeads : 1;
}

/** The part of an array that one batch, and of it the heads from `head` on, have. */
function share(place, { batch, kvHead, group }) {
    const [batches, heads, ...rest] = place.extents;
    const { axes } = ARRAYS[place.number];
    const count = heads > 1 && axes[1] === "heads" ? group : 1;
    const first = heads > 1 ? kvHead * count : 0;
    const begin = ((batches > 1 ? batch * heads : 0) + first) * product(rest);
    const elements = elementsOf(place.array).subarray(begin, begin + count * product(rest));
    return shaped(place, elements, [1, count, ...rest]);
}

/** Now: memory that grows takes a tensor's away. */
function elementsOf(array) {
    return isTensor(array) ? array.data : array;
}

/** The parts of a call, and their results as those of the whole. */
class Parts {
    #call;
    #job;
    #blocks;
    #done = 0;
    #result = { out: null, lse: null, scores: null, degenerateRows: 0 };

    constructor(call, blocks) {
        this.#call = wholeCall(call);
        this.#job = call.job;
        this.#blocks = blocks;
    }

    part(index) {
        const { given, outputs } = this.#job;
        const { heads, kvHeads } = this.#call;
        const group = heads / kvHeads;
        const at = { batch: Math.floor(index / kvHeads), kvHead: index % kvHeads, group };
        const part = { ...this.#call, batch: 1, heads: group, kvHeads: 1 };
        for (const name in given) part[name] = share(given[name], at);
        for (const name in outputs) part[name] = name === "out" ? null : true;
        return part;
    }

    /** Takes the next part's. */
    add(part) {
        for (const name in this.#job.outputs) {
            const some = part[name];
            const all = (this.#result[name] ??= new some.constructor(some.length * this.#blocks));
            all.set(some, some.length * this.#done);
        }
        this.#result.degenerateRows += part.degenerateRows;
        this.#done++;
    }

    /** In the arrays that were given for it. */
    result() {
        const { outputs } = this.#job;
        for (const name in outputs) {
            const { array } = outputs[name];
            if (array) this.#result[name] = store(this.#result[name], elementsOf(array), name);
        }
        return this.#result;
    }
}
