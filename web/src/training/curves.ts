/** The curves of models that learn, drawn by Observable Plot. */

import * as Plot from "@observablehq/plot";
import { frame } from "../cost/figures";
import { tick } from "../dom/format";
import { finish, lineHeight, seriesColour as colour } from "../dom/plot";
import recorded from "./recorded.json";
import { said } from "./words";

export interface Point {
    attention: string;
    step: number;
    value: number;
}

const fewest = 10; // steps of an axis: ticks are whole ones
const mostPoints = 300; // of a curve: neighbours are one, their mean

/** What a run of the task was like that stands behind the curves: made by web/record.mjs. */
export function recordedOf(task: string, what: "losses" | "answers"): Point[] {
    const runs = recorded[task as keyof typeof recorded]?.runs ?? {};
    return Object.entries(runs).flatMap(([attention, run]) =>
        run[what].map(([step = NaN, value = NaN]) => ({ attention, step, value })),
    );
}

/** `before`: recorded, in grey; `most`: where the scale ends; null: by the points. */
export function curves(
    points: readonly Point[],
    before: readonly Point[],
    attentions: readonly string[],
    label: string,
    most: number | null,
    width: number,
): Element {
    const series = { x: "step" as const, y: "value" as const };
    const all = [...points, ...before];
    const top = most ?? Math.max(1, ...all.map(({ value }) => value));
    return finish(
        Plot.plot({
            ...frame(width, label),
            height: Math.min(300, 0.6 * width),
            x: {
                domain: [0, Math.max(fewest, ...all.map(({ step }) => step))],
                label: said.axes.steps,
                labelAnchor: "center",
                labelArrow: "none",
                tickFormat: tick,
            },
            y: { label, domain: [0, top], grid: true, labelArrow: "none" },
            color: {
                domain: attentions,
                range: attentions.map((_, i) => colour(i)),
                legend: false,
            },
            marks: [
                Plot.frame({ stroke: "var(--line)" }),
                ...attentions.map((attention, i) =>
                    Plot.line(
                        before.filter((point) => point.attention === attention),
                        { ...series, ...grey, ...(i > 0 && { strokeDasharray: "4 3" }) },
                    ),
                ),
                Plot.line(points, {
                    ...series,
                    z: "attention",
                    stroke: "attention",
                    strokeWidth: 2,
                }),
                // Beside the frame: curves may end alike.
                ...attentions.map((attention, i) =>
                    Plot.text([attention], {
                        ...{ frameAnchor: "top-right", textAnchor: "start", dx: 6 },
                        ...{ dy: lineHeight * (i + 0.5), fill: colour(i) },
                    }),
                ),
            ],
        }),
    );
}

const grey = { className: "recorded", stroke: "var(--edge)", strokeWidth: 1.5 };

/** As many points as can be told apart, each the mean of its steps. */
export function thinned(attention: string, values: readonly number[]): Point[] {
    const each = Math.ceil(values.length / mostPoints);
    const points = [];
    for (let from = 0; from < values.length; from += each) {
        const some = values.slice(from, from + each);
        const value = some.reduce((sum, one) => sum + one, 0) / some.length;
        points.push({ attention, step: from + some.length, value });
    }
    return points;
}
