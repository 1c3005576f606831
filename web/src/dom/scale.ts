/** Where a value stands on its slider, and back. */

import type { NumberParam } from "libattn";

export interface SliderScale {
    /** The slider runs over the integers 0 to `steps`. */
    steps: number;
    valueAt(position: number): number;
    positionOf(value: number): number;
}

const fine = 200;

/**
 * Wide ranges are logarithmic. Where 0 means automatic it is the slider's leftmost place, and the
 * rest of the slider begins at the smallest value that is one.
 */
export function sliderScale(param: NumberParam): SliderScale {
    const { min, max } = param;
    const integer = param.type === "integer";
    const hasZero = min === 0;
    const low = hasZero ? (integer ? 1 : max / 1e4) : min;
    const round = integer ? Math.round : (value: number) => Number(value.toPrecision(3));
    const inside = (value: number) => Math.min(max, Math.max(min, round(value)));

    if (low > 0 && max / low > 100) {
        const ratio = Math.log(max / low);
        return {
            steps: fine,
            valueAt: (position) =>
                hasZero && position === 0 ? 0 : inside(low * Math.exp((ratio * position) / fine)),
            positionOf: (value) =>
                value <= low
                    ? Number(value > 0 && hasZero)
                    : Math.round((fine * Math.log(value / low)) / ratio),
        };
    }
    const steps = integer ? Math.min(max - min, fine) : fine;
    return {
        steps,
        valueAt: (position) => inside(min + ((max - min) * position) / steps),
        positionOf: (value) => Math.round((steps * (value - min)) / (max - min)),
    };
}
