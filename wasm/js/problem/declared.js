/*
 * The arrays of a run as they are declared: the library's (table.js), and behind them those that a
 * backend declares of its own. Each is { number, name, role, presence, dtype, axes, broadcast }, and of own
 * ones `replaces`, the names of those for which they stand.
 */
import { ROWS, ROWS_OF_F32 } from "./table.js";

/** The library's, in the order of their numbers. */
export const ARRAYS = ROWS.map((row, number) => {
    const [name, role, presence, dtype, ...words] = row.split(" ");
    const axes = words.map((word) => word.replace("?", ""));
    const broadcast = words.map((word, k) => word !== axes[k]);
    return { number, name, role, presence, dtype, axes, broadcast };
});

/** Those of softmax alone. */
export const ARRAYS_OF_F32 = ARRAYS.slice(0, ROWS_OF_F32.length);

/** The number of a backend's first own one. */
export const OWN = ARRAYS.length;

/** Those of runs with a backend, from what C says of its arrays. */
export function withOwn(described) {
    const own = described.filter((array) => array.own);
    return [...ARRAYS, ...own.map((array, index) => ({ ...inWords(array), number: OWN + index }))];
}

export const isOwn = ({ number }) => number >= OWN;

/** What C says of an array, in the words of JavaScript. */
export function inWords(array) {
    return { ...array, name: camel(array.name), axes: array.axes.map(camel) };
}

function camel(name) {
    return name.replace(/_(\w)/g, (_, letter) => letter.toUpperCase());
}

export const namesOf = (arrays) => arrays.map(({ name }) => name);
const having = (presence, arrays = ARRAYS) =>
    namesOf(arrays.filter((array) => array.presence === presence));

/** query, key, value and out: those whose place in memory users choose. */
export const PLACED = having("required");
/** Those of them that are read. */
export const READ = PLACED.filter((name, number) => ARRAYS[number].role === "input");
/** What a problem may name as its inputs. */
export const inputsOf = (arrays) => having("named", arrays);

/** Those of the library's that streams do not take: they are over keys, which grow, or count them. */
export const OVER_KEYS = ["bias", "mask", "kvLengths"];

/** The bits of a problem's inputs, in two numbers: the library's, and the backend's own. */
export function bitsOf(arrays, inputs) {
    const sum = (bits, [name, bit]) => bits + (inputs.includes(name) ? 2 ** bit : 0);
    const own = arrays.filter(isOwn).map(({ name, number }) => [name, number - OWN]);
    const shared = inputsOf(ARRAYS).map((name, bit) => [name, bit]);
    return [shared.reduce(sum, 0), own.reduce(sum, 0)];
}
