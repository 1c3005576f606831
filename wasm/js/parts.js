/*
 * attention() in a worker: one call as several smaller ones, so that one can tell how far it is, and stop.
 * Each takes the queries that share a key/value head. The numbers are those of the whole.
 */
import { readAttention } from "./call.js";
import { isTensor } from "./check.js";
import { store } from "./errors.js";

/* Backends whose heads do not know their numbers: a sketch draws other random numbers for each. */
const BY_HEAD = ["softmax", "linear", "sparse"];

/**
 * What attention(...args) computes: { result, byName }, the result as it is by one object, and whether it
 * was asked for so. `watch`, where there is one, is awaited with each part that is done.
 */
export async function attend(library, args, watch) {
    const call = readAttention(args);
    const { byName } = call;
    const whole = wholeCall(call);
    const blocks = watch ? blocksOf(whole) : 1;
    if (blocks === 1) return { result: library.attention(whole), byName };
    const parts = new Parts(whole, blocks);
    for (let index = 0; index < blocks; index++) {
        parts.add(library.attention(parts.part(index)));
        if (index < blocks - 1) await watch((index + 1) / blocks);
    }
    return { result: parts.result(call.job.outputs), byName };
}

/** A call that was read as one object, with all sizes; bias and mask have shapes of four axes. */
function wholeCall({ problem, options, arrays, job: { given, outputs } }) {
    const call = { __proto__: null, ...options, ...problem.sizes };
    for (const name in given) {
        const { array, shape } = given[name];
        if (name === "kvLengths") call[name] = arrays[name].array;
        else call[name] = name === "bias" || name === "mask" ? { data: array, shape } : array;
    }
    for (const name in outputs) call[name] = outputs[name].array ?? (name === "out" ? null : true);
    return call;
}

/** How many parts a call has. */
function blocksOf({ backend = "softmax", layout = "bhnd", strides, batch, heads, kvHeads }) {
    const apart = BY_HEAD.includes(backend) && layout === "bhnd" && !strides;
    return apart && heads % kvHeads === 0 ? batch * kvHeads : 1;
}

const block = (array, { index, blocks }) => share(array, index, blocks);
const ofHeads = (array, { head, group }) => elementsOf(array).subarray(head, head + group);
const PARTS = {
    query: block,
    key: block,
    value: block,
    keyScales: block,
    valueScales: block,
    bias: gridOf,
    mask: gridOf,
    kvLengths: (list, { batch }) => [list[batch]],
    sinks: ofHeads,
    slopes: ofHeads,
};

/** One of so many equal parts of an array. */
function share(array, index, count) {
    const elements = elementsOf(array);
    const size = elements.length / count;
    return elements.subarray(size * index, size * (index + 1));
}

/** Now: memory that grows takes a tensor's away. */
function elementsOf(array) {
    return isTensor(array) ? array.data : array;
}

function gridOf({ data, shape: [batches, of, rows, columns] }, { batch, head, group }) {
    const begin = ((batches === 1 ? 0 : batch * of) + (of === 1 ? 0 : head)) * rows * columns;
    const count = of === 1 ? 1 : group;
    return {
        data: elementsOf(data).subarray(begin, begin + count * rows * columns),
        shape: [1, count, rows, columns],
    };
}

/** The parts of a call, and their results as those of the whole. */
class Parts {
    #call;
    #blocks;
    #done = 0;
    #result = { out: null, lse: null, scores: null, degenerateRows: 0 };

    constructor(call, blocks) {
        this.#call = call;
        this.#blocks = blocks;
    }

    part(index) {
        const call = this.#call;
        const { kvHeads } = call;
        const group = call.heads / kvHeads;
        const at = { index, blocks: this.#blocks, batch: Math.floor(index / kvHeads), group };
        at.head = (index % kvHeads) * group;
        const part = { ...call, batch: 1, heads: group, kvHeads: 1 };
        for (const name in PARTS) {
            if (call[name] !== undefined) part[name] = PARTS[name](call[name], at);
        }
        return { ...part, out: null, lse: !!call.lse, scores: !!call.scores };
    }

    /** Takes the next part's. */
    add(part) {
        for (const name of ["out", "lse", "scores"]) {
            const some = part[name];
            if (some === null) continue;
            const all = (this.#result[name] ??= new some.constructor(some.length * this.#blocks));
            all.set(some, some.length * this.#done);
        }
        this.#result.degenerateRows += part.degenerateRows;
        this.#done++;
    }

    /** In the arrays that were given for it. */
    result(outputs) {
        for (const name in outputs) {
            const { array } = outputs[name];
            if (array) this.#result[name] = store(this.#result[name], elementsOf(array), name);
        }
        return this.#result;
    }
}
