/*
 * One call of attention() as several smaller ones, so that one can tell how far it is: each takes the
 * queries that share a key/value head. The numbers are those of the whole.
 */

/* Backends whose heads do not know their numbers: a sketch draws other random numbers for each. */
const BY_HEAD = ["softmax", "linear", "sparse"];

/**
 * Calls of attention() by one object, from one with all sizes, whose bias and mask have shapes of four
 * axes. Each makes an equal part of the results, one after the other.
 */
export function split(call) {
    const { backend = "softmax", layout = "bhnd", strides } = call;
    const { batch, heads, kvHeads } = call;
    const blocks = batch * kvHeads;
    const apart = BY_HEAD.includes(backend) && layout === "bhnd" && !strides;
    if (!apart || heads % kvHeads !== 0 || blocks === 1) return [call];
    const group = heads / kvHeads;
    return Array.from({ length: blocks }, (_, index) => {
        const at = { index, blocks, batch: Math.floor(index / kvHeads), group };
        at.head = (index % kvHeads) * group;
        const part = { ...call, batch: 1, heads: group, kvHeads: 1 };
        for (const name in PARTS) {
            if (call[name] !== undefined) part[name] = PARTS[name](call[name], at, call);
        }
        return part;
    });
}

const block = (array, { index, blocks }) => share(array, index, blocks);
const ofHeads = (array, { head, group }) => array.subarray(head, head + group);
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
    const size = array.length / count;
    return array.subarray(size * index, size * (index + 1));
}

function gridOf({ data, shape: [batches, of, rows, columns] }, { batch, head, group }) {
    const begin = ((batches === 1 ? 0 : batch * of) + (of === 1 ? 0 : head)) * rows * columns;
    const count = of === 1 ? 1 : group;
    return {
        data: data.subarray(begin, begin + count * rows * columns),
        shape: [1, count, rows, columns],
    };
}

/** The results of all parts as those of the whole. */
export class Whole {
    #count;
    #done = 0;
    result = { out: null, lse: null, scores: null, degenerateRows: 0 };

    constructor(count) {
        this.#count = count;
    }

    /** Takes the next part's; returns how much is done. */
    add(part) {
        for (const name of ["out", "lse", "scores"]) {
            const some = part[name];
            if (some === null) continue;
            const all = (this.result[name] ??= new some.constructor(some.length * this.#count));
            all.set(some, some.length * this.#done);
        }
        this.result.degenerateRows += part.degenerateRows;
        return ++this.#done / this.#count;
    }
}
