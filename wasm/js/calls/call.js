/* A call of plan.run(), attention() or a stream, read and checked before anything is computed or sent. */
import { checkJob, isArray, present, readArrays } from "../problem/arrays.js";
import { checkOneOf } from "../problem/check.js";
import { READ, inputsOf, namesOf } from "../problem/declared.js";
import { dtypesOf } from "../problem/dtypes.js";
import { typeError } from "../problem/errors.js";
import { readChecked } from "../problem/options.js";
import { RULES, SCORES, problemOf } from "../problem/rules.js";
import { SIZES, inferSizes, places } from "../problem/shape.js";

export const PLACE = ["layout", "strides"];
/** The options of a problem; `kinds`: those that the library has a choice of (session.js). */
export const planned = ({ kinds }) => [...SIZES, ...RULES, ...kinds];

/**
 * A call from its arguments: either one object with all options, or the arrays `needed` one after the
 * other and then an object with `others`. `named`: what the first form has besides. `declare(options, byName)`:
 * the arrays that may be among the options. { options, arrays, declared, byName }: those that are there
 * once more in `arrays`.
 */
export function readCall(args, { needed, others, named = [], declare }, what, dtypesFor) {
    if (args.slice(needed.length + 1).some((value) => value !== undefined)) {
        const most = `${needed.join(", ")} and one object of options`;
        throw typeError(`${what} takes ${most}, not ${args.length} arguments`);
    }
    const [first] = args;
    const [more] = args.slice(needed.length);
    const byName = args.length === 1 && !isArray(first);
    let declared;
    const options = readChecked(
        byName ? first : (more ?? {}),
        (read) => {
            declared = declare(read, byName);
            const names = [...namesOf(declared), ...others];
            return byName ? [...names, ...named] : names.filter((name) => !needed.includes(name));
        },
        what,
    );
    if (!byName) {
        args.slice(0, needed.length).forEach((array, i) => {
            options[needed[i]] = array ?? undefined;
        });
    }
    const arrays = readArrays(options, declared, dtypesFor(options));
    for (const name of needed) present(arrays, name);
    return { options, arrays, declared, byName };
}

/** The same of attention(), with its `problem`. */
export function readAttention(args, more, session) {
    const declare = ({ backend }, byName) =>
        session.arraysOf(backend).filter(({ presence }) => byName || presence !== "optional");
    const others = [...planned(session), ...PLACE, ...more];
    const names = { needed: READ, others, named: session.modes, declare };
    const call = readCall(args, names, "attention", settle);
    const { options, arrays, declared } = call;
    const inputs = inputsOf(declared).filter((name) => arrays[name]);
    return { ...call, problem: problemOf(options, inferSizes(options, arrays), inputs, declared) };
}

/**
 * That call with its `job`, and `result` of a run's: all that was asked for by name. `shapes`: those that the plan says
 * (shapesOf()).
 */
export function placeAttention(call, shapes) {
    const { options, arrays, declared, byName, problem } = call;
    const place = places(declared, problem.sizes, options, shapes);
    const job = checkJob(problem, arrays, place);
    return { ...call, job, result: byName ? (result) => result : ({ out }) => out };
}

/** `scores: "weights"` is true and the mode. Returns the types of arrays. */
function settle(options) {
    if (typeof options.scores === "string") {
        options.scoresMode = checkOneOf(options.scores, SCORES, "scores");
        options.scores = true;
    }
    return dtypesOf(options);
}
