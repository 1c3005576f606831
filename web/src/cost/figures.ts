/** The figures of costs, drawn by Observable Plot: it comes when the first of them is opened. */

import * as Plot from "@observablehq/plot";
import { tick } from "../dom/format";
import {
    apart,
    dotRadius,
    finish,
    measuredTicks,
    rings,
    roundTicks,
    seriesColour as colour,
} from "../dom/plot";
import { lengths, type LengthPoint, type Quantity } from "./lengths";
import { settingOf, type Cost, type Point } from "./trials";
import { words } from "../words/words";

const { costs: told } = words;

/**
 * Axes that nobody sees. Browsers compile a function when it is first called, and half of the time that the first figure
 * took was that of 448 functions.
 */
export function rehearse(): void {
    const domain = [1, 10];
    Plot.plot({
        ...frame(200, ""),
        x: { ...scale, ...centred, domain },
        y: { ...scale, domain, grid: true },
    });
}

/** A label stays readable where a line runs through it. */
const halo = { stroke: "var(--paper)", strokeWidth: 4, paintOrder: "stroke" } as const;

const leastError = 1e-9; // of an axis of powers of ten: 0 has no place there

/** In the order of panels: their colours and symbols. */
export function paretoFigure(
    points: readonly Point[],
    backends: readonly string[],
    against: Cost,
    width: number,
): Element {
    const height = ({ trial }: Point) => Math.max(leastError, trial.error);
    const place = { x: "cost" as const, y: height };
    const series = (point: Point) => point.trial.backend;
    const costs = points.map(({ cost }) => cost);
    const ticks = roundTicks(costs, width - marginLeft - marginRight);
    return finish(
        Plot.plot({
            ...frame(width, told.errorAgainstCost),
            x: { ...scale, ...centred, label: told.axes[against], ticks },
            y: { ...scale, label: told.errorAgainstExact, grid: true },
            color: { domain: backends, range: backends.map((_, i) => colour(i)), legend: false },
            symbol: { domain: backends, legend: false },
            marks: [
                Plot.line(points, { ...place, z: series, stroke: series, strokeOpacity: 0.35 }),
                Plot.line(
                    points.filter(({ isBest }) => isBest),
                    { ...place, curve: "step-after", stroke: "var(--ink)", strokeDasharray: "3 3" },
                ),
                Plot.dot(points, {
                    ...place,
                    ...{ stroke: series, symbol: series, r: dotRadius, strokeWidth: 2 },
                    fill: (point: Point) =>
                        point.isBest ? colour(backends.indexOf(series(point))) : "var(--paper)",
                    initializer: rings(
                        series,
                        (point: Point) => `${series(point)}: ${settingOf(point.trial)}`,
                    ),
                }),
                Plot.text(lastOfEach(points), {
                    ...place,
                    ...{ text: series, dx: 12, textAnchor: "start", fill: "var(--ink)", ...halo },
                    initializer: apart,
                }),
            ],
        }),
    );
}

function lastOfEach(points: readonly Point[]): Point[] {
    return [...new Map(points.map((point) => [point.trial.backend, point])).values()];
}

/** Where a line comes below the reference's. */
interface Crossing {
    length: number;
    value: number;
}

export function lengthsFigure(
    points: readonly LengthPoint[],
    crossings: readonly Crossing[],
    backends: readonly string[],
    quantity: Quantity,
    length: number,
    width: number,
): Element {
    const known = points.filter((point) => point[quantity] !== null);
    const place = { x: "length" as const, y: quantity };
    const series = { z: "backend" as const, stroke: "backend" as const };
    const dashed = quantity === "time" ? { strokeDasharray: "5 4" } : {};
    const measured = known.filter(({ isMeasured }) => isMeasured && quantity === "time");
    const last = known.filter((point) => point.length === known.at(-1)?.length);
    return finish(
        Plot.plot({
            ...frame(width, told.costAgainstLength),
            x: {
                ...byTwo,
                ...centred,
                label: told.tokens,
                ticks: measuredTicks(lengths, width - marginLeft - marginRight),
                tickFormat: inPowers,
            },
            y: { ...costScale(quantity, known), label: told.axes[quantity], grid: true },
            color: { domain: backends, range: backends.map((_, i) => colour(i)), legend: false },
            marks: [
                Plot.ruleX([length], { stroke: "var(--accent)" }),
                Plot.line(known, { ...place, ...series, ...dashed }),
                Plot.line(measured, { ...place, ...series, strokeWidth: 2.5 }),
                Plot.dot(measured, { ...place, fill: "backend", r: 3 }),
                Plot.dot(crossings, {
                    x: "length",
                    y: "value",
                    r: 6,
                    stroke: "var(--ink)",
                    strokeWidth: 2,
                }),
                Plot.text(last, {
                    ...place,
                    ...{ text: "backend", dx: 6, textAnchor: "start", fill: "var(--ink)", ...halo },
                    initializer: apart,
                }),
            ],
        }),
    );
}

const scale = { type: "log" as const, tickFormat: tick, labelArrow: "none" as const };
/** Lengths and bytes go by powers of two. */
const byTwo = { ...scale, base: 2 };
const bytesTicks = Array.from({ length: 14 }, (_, i) => 2 ** (3 * i));
const bytesFormat = (value: number) => `${inPowers(value)}B`;

function costScale(quantity: Quantity, points: readonly LengthPoint[]) {
    if (quantity !== "memory") return scale;
    const values = points.map(({ memory }) => memory ?? NaN);
    const [least, most] = [Math.min(...values), Math.max(...values)];
    const ticks = bytesTicks.filter((value) => value >= least && value <= most);
    return { ...byTwo, ticks, tickFormat: bytesFormat };
}

/** 64, 1 Ki, 256 Ki, 1 Mi. */
function inPowers(value: number): string {
    const power = Math.min(3, Math.floor(Math.log2(value) / 10));
    return `${value / 1024 ** power} ${["", "Ki", "Mi", "Gi"][power]}`.trimEnd();
}

const centred = { labelAnchor: "center" as const };

const [marginLeft, marginRight] = [64, 72];

export function frame(width: number, ariaLabel: string) {
    const margins = { marginLeft, marginBottom: 42, marginTop: 26, marginRight };
    return { className: "plot", width, height: Math.min(420, 0.7 * width), ariaLabel, ...margins };
}
