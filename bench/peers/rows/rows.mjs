// What is measured, and against what: families of rows (problems), each with its contenders.

import { contenders } from "./contenders.mjs";
import { families as linear } from "./linear.mjs";
import { families as softmax } from "./softmax.mjs";
import { families as sparse } from "./sparse.mjs";
import { families as web } from "./web.mjs";
import { linearOf, valueDimOf } from "../measure/task.mjs";

/**
 * `peak`: which measured peak its contenders are held against, of two threads with two; `unit`: what speed is told in. The first
 * contender of a row is the one the others are compared with.
 */
export const families = [...softmax, ...linear, ...sparse, ...web];

/** What a contender of this library is called as an earlier commit has it. */
const BEFORE = ", before";

const isOwn = (name) => name.startsWith("libattn");

/**
 * Of a row's contenders those that take part: with `newest` also its peers, with `own` none but this
 * library, with `against`, a commit, behind each of the library's the same as it was there.
 */
export const participants = ({ names }, { newest, own, against }) =>
    names
        .filter((name) => (own ? isOwn(name) : newest || !contenders[name].newest))
        .flatMap((name) => (against && isOwn(name) ? [name, name + BEFORE] : name));

/** The contender called `name`, with the task it gets in this row. */
export function contenderOf(name, { task }) {
    const before = name.endsWith(BEFORE);
    const contender = contenders[before ? name.slice(0, -BEFORE.length) : name];
    return { name, ...contender, before, task: { ...task, ...contender.task } };
}

/** Whether an id begins with a word; the empty one, with which all begin, is none. */
const begins = (id, word) => word !== "" && id.startsWith(word);

/** The rows whose family or id begins with one of these words; all when there are none. */
export function selectRows(words) {
    const wanted = (family, { id }) =>
        words.length === 0 || words.some((word) => word === family.id || begins(id, word));
    return families
        .map((family) => ({ ...family, rows: family.rows.filter((one) => wanted(family, one)) }))
        .filter(({ rows }) => rows.length > 0);
}

/**
 * Additions and multiplications of the two products, over the (query, key) pairs that count; of linear
 * attention those of adding to the state and of reading it, once a token and head; of sparse attention over
 * those that are `kept`, of all heads.
 */
export function flopsOf(task, kept = NaN) {
    const { heads, kv_heads: shared, queries, keys, dim, causal: masked } = task;
    const tokens = task.stream ? 1 : keys;
    const onePair = 2 * (dim + valueDimOf(task));
    if (task.sparse) return onePair * kept;
    if (linearOf(task)) return 2 * (heads * queries + shared * tokens) * dim * dim;
    const seen = Math.min(queries, keys);
    const pairs = masked ? (seen * (seen + 1)) / 2 + (queries - seen) * keys : queries * keys;
    return heads * pairs * onePair;
}

/** Bytes that are read and written at least once; of a stream of linear attention those of the state. */
export function bytesOf(task) {
    const { heads, kv_heads: shared, queries, keys, dim, kv = "f32" } = task;
    if (task.stream) return 2 * 4 * shared * dim * (dim + (task.form === "elu1" ? 1 : 0));
    const columns = dim + valueDimOf(task);
    const scales = kv === "i8" ? 2 * 4 : 0; // of a key and its value
    const token = columns * { f32: 4, f16: 2, bf16: 2, i8: 1 }[kv] + scales;
    return token * shared * keys + 4 * columns * heads * queries;
}
