/* A call of plan.run() or attention(), read and checked before anything is computed or sent. */
import { RESULTS, SCALES, checkPlaced, checkRead, isArray, present, readArrays } from "./arrays.js";
import { checkOneOf } from "./check.js";
import { arrayClass, dtypesOf } from "./dtypes.js";
import { FULL } from "./edition.js";
import { AttnError } from "./errors.js";
import { checkInputs, givenInputs } from "./inputs.js";
import { readChecked } from "./options.js";
import { INPUTS, RULES, SCORES, problemOf } from "./rules.js";
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
    const arrays = readArrays(options, dtypesFor(options));
    for (const name of needed) present(arrays, name);
    return { options, arrays, byName };
}

/** The same of attention(), with its `problem` and `job`, and `result` of a run's: all that was asked for by name. */
export function readAttention(args, more = []) {
    const others = [...PLAN, ...INPUTS, ...SCALES, ...PLACE, "out", ...more];
    const names = { needed: READ, others, named: [...RESULTS, ...MODE] };
    const call = readCall(args, names, "attention", settle);
    const { options, arrays, byName } = call;
    const problem = problemOf(options, inferSizes(options, arrays), givenInputs(arrays));
    const job = checkJob(problem, arrays, places(problem.sizes, options.layout, options.strides));
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

/** The options of a call on a plan for this problem, with the arrays among them as arrays.js reads these. */
export function readPlanCall(given, names, what, { dtypes }) {
    const options = readChecked(given, names, what);
    return Object.assign(options, readArrays(options, dtypes));
}

/**
 * What a call is to do with its arrays, checked: { given, outputs, place }. `needed`: those it reads beside the
 * inputs; a run, where they are not said, has outputs too.
 */
export function checkJob({ sizes, dtypes, inputs }, arrays, place, needed) {
    const given = checkInputs(arrays, inputs, sizes);
    Object.assign(given, checkRead(arrays, needed ?? READ, place, dtypes));
    return { given, outputs: needed ? null : outputsOf(arrays, given, place, dtypes), place };
}

function outputsOf(arrays, given, place, dtypes) {
    const outputs = { __proto__: null, out: outputOf(arrays, "out", place) };
    for (const name of RESULTS) {
        if (arrays[name]) outputs[name] = outputOf(arrays, name, place);
    }
    outputs.out.type = arrayClass(dtypes.out, outputs.out.array ?? given.query.array);
    return outputs;
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
