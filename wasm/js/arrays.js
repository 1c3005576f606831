/* The arrays of one call, in the list that src/arrays.c reads. */
import { checkLength } from "./check.js";
import { checkElements } from "./dtypes.js";
import { INPUTS } from "./rules.js";
import { PLACED } from "./shape.js";

export const SCALES = ["keyScales", "valueScales"];

const ADDRESSES = [...PLACED, "lse", ...INPUTS, ...SCALES, "scores"];

/** The array `name`, checked, and how long it is: { array, length, gaps }. */
export function checkPlaced(array, name, place, dtypes) {
    checkElements(array, name, dtypes[name] ?? "f32");
    checkLength(array, name, place[name]);
    return { array, length: place[name].length, gaps: place[name].gaps };
}

/**
 * These arrays, and the scales of those in i8. Others that are there go along: C says what is wrong
 * with them.
 */
export function checkRead(arrays, names, place, dtypes) {
    const given = {};
    for (const name of names) {
        given[name] = checkPlaced(arrays[name], name, place, dtypes);
        const scales = `${name}Scales`;
        if (dtypes[name] === "i8" || (SCALES.includes(scales) && arrays[scales] !== undefined)) {
            given[scales] = checkPlaced(arrays[scales], scales, place, dtypes);
        }
    }
    return given;
}

/** Arrays to read as arguments, by name; `written` are the call's others. All are held first. */
export function lend(loan, given, written = {}) {
    for (const { array } of Object.values({ ...given, ...written })) if (array) loan.hold(array);
    const at = {};
    for (const name in given) at[name] = loan.input(given[name].array, name, given[name].length);
    return at;
}

/** Arguments, the extents of bias and mask, and the strides of what has a place. */
export function listed(loan, at, { bias, mask }, places) {
    const extents = [bias, mask].flatMap((grid) => (grid?.shape ?? [0, 0, 0]).slice(0, 3));
    return loan.list([...ADDRESSES.map((name) => at[name] ?? 0), ...extents, ...places.strides]);
}
