/* A call of plan.run() or attention(), read and checked before anything is computed or sent. */
import { RESULTS, SCALES, checkPlaced, checkRead, isArray, present, readArrays } from "./arrays.js";
import { checkOneOf } from "./check.js";
import { arrayClass, dtypesOf } from "./dtypes.js";
import { FULL } from "./edition.js";
import { AttnError } from "./errors.js";
import { checkInputs, givenInputs } from "./inputs.js";
import { readChecked } from "./options.js";
import { INPUTS, RULES, SCORES } from "./rules.js";
import { PLACED, SIZES, inferSizes, places } from "./shape.js";

export const PLACE = ["layout", "strides"];
export const READ = ["query", "key", "value"];
export const MODE = FULL ? ["scoresMode"] : [];
const KINDS = FULL ? ["dtype", "kvDtype", "backend", "params"] : [];
export const PLAN = [...SIZES, ...RULES, ...KINDS];
export const RUN = [...PLACED, ...INPUTS, ...SCALES, ...RESULTS, ...PLACE];

/**
 * A call from its arguments: either one object with all options, or the arrays `needed` one after the
 * other and then an object with `others`. `named`: what the first form has besides. { options, arrays,
 * byName }: the options that are arrays once more in `arrays`.
 */
export function readCall(args, { needed, others, named = [] }, what, dtypesFor) {
    const [first] = args;
    const byName = args.length === 1 && !isArray(first);
    const [more] = args.slice(needed.length);
    const options = byName
        ? readChecked(first, [...needed, ...others, ...named], what)
        : readChecked(more ?? {}, others, what);
    if (!byName) {
        args.slice(0, needed.length).forEach((array, i) => {
            options[needed[i]] = array ?? undefined;
        });
    }
    const dtypes = dtypesFor(options);
    const arrays = readArrays(options, dtypes);
    for (const name of needed) present(arrays, name);
    return { options, arrays, dtypes, byName };
}

/** The same of attention(), with its `problem` and `job`, and `result` of a run's: all that was asked for by name. */
export function readAttention(args, more = []) {
    const others = [...PLAN, ...INPUTS, ...SCALES, ...PLACE, "out", ...more];
    const names = { needed: READ, others, named: [...RESULTS, ...MODE] };
    const call = readCall(args, names, "attention", settle);
    const { options, arrays, dtypes, byName } = call;
    const problem = { sizes: inferSizes(options, arrays), dtypes, inputs: givenInputs(arrays) };
    const job = checkRun(problem, arrays, places(problem.sizes, options.layout, options.strides));
    return { ...call, problem, job, result: byName ? (result) => result : ({ out }) => out };
}

/** `scores: "weights"` is true and the mode. Returns the types of arrays. */
function settle(options) {
    if (FULL && typeof options.scores === "string") {
        options.scoresMode = checkOneOf(options.scores, SCORES, "scores");
        options.scores = true;
    }
    return dtypesOf(options);
}

/** The arrays that a call reads, checked: { array, length, shape } by name. */
export function checkGiven({ sizes, dtypes, inputs }, arrays, names, place) {
    const given = checkInputs(arrays, inputs, sizes);
    return Object.assign(given, checkRead(arrays, names, place, dtypes));
}

/** What a run is to do: { given, outputs, place }. */
export function checkRun(problem, arrays, place) {
    const given = checkGiven(problem, arrays, READ, place);
    const outputs = { __proto__: null, out: outputOf(arrays, "out", place) };
    for (const name of RESULTS) {
        if (arrays[name]) outputs[name] = outputOf(arrays, name, place);
    }
    outputs.out.type = arrayClass(problem.dtypes.out, outputs.out.array ?? given.query.array);
    return { given, outputs, place };
}

/** The array a result goes to, and how long it is. A new one is made when the result is there. */
export function outputOf(arrays, name, place) {
    const type = Float32Array;
    if (arrays[name]?.array !== undefined) {
        return { type, ...checkPlaced(arrays, name, place) };
    }
    if (place[name].gaps) {
        throw new AttnError("ATTN_ERROR_ARGUMENT", `strides.${name} needs ${name}, an array`);
    }
    return { type, array: undefined, given: undefined, length: place[name].length, gaps: false };
}
