/* The arrays of a checked call on their way to C, and its results on their way back. */
import { isTensor } from "../problem/check.js";

/** All arrays of a job that are there. */
export function arraysOf({ given, outputs }) {
    const all = [...Object.values(given), ...Object.values(outputs)];
    return all.map(({ array }) => array).filter((array) => array !== undefined);
}

/**
 * A job, { given, outputs } (arrays.js), as the list that src/arrays.c reads, and take(), which gives its results
 * by name once C has written them.
 */
export function lendJob(loan, { given, outputs }) {
    const records = [];
    const add = ({ number, extents, strides }, at) =>
        records.push([number, at, ...extents, ...strides]);
    for (const name in given) {
        add(given[name], loan.input(given[name].array, name, given[name].length));
    }
    const rooms = [];
    for (const name in outputs) {
        const { type, length, array, gaps } = outputs[name];
        const room = loan.output(type, length, name, array, gaps);
        add(outputs[name], room.at);
        rooms.push([name, room]);
    }
    const take = () =>
        Object.fromEntries(rooms.map(([name, room]) => [name, taken(room, outputs[name])]));
    return { list: loan.list([records.length, ...records.flat()]), take };
}

/** A result in the array that was given for it. */
function taken(room, { array, given }) {
    const result = room.take();
    if (isTensor(array)) return array.data;
    return result === array ? given : result;
}

/** Has the plan a say in the extents of these arrays? */
export const askPlan = (arrays) => arrays.some(({ axes }) => axes.includes("plan"));

/** The extents that a plan, or a stream, gives backend-specific tensors; undefined where it has no say in them. */
export function shapesOf(session, arrays, address, kind = "plan") {
    if (askPlan(arrays)) return session.describe(`attnjs_${kind}_describe`, address).own;
    return undefined;
}

/** Runs C's plan on a job whose arrays the loan holds. */
export function compute(session, plan, job, loan) {
    const { list, take } = lendJob(loan, job);
    return resultOf(session.measure("attnjs_run", plan, list), take);
}

/** The same beside this thread, where the engine can. */
export async function computeBeside(session, plan, job, loan, signal) {
    const { list, take } = lendJob(loan, job);
    return resultOf(await session.start(plan, list, signal), take);
}

function resultOf(degenerateRows, take) {
    return { out: null, lse: null, scores: null, degenerateRows, ...take() };
}
