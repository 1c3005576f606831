/** The figure of a panel, drawn by Observable Plot from the rows there are. */

import * as Plot from "@observablehq/plot";
import type { LabAxis, LabPanel, LabResult } from "libattn-labs";
import { tick } from "../dom/format";
import { measuredTicks } from "../dom/plot";
import type { Curve } from "./curves";
import { said } from "./words";

export type Row = readonly number[];

const [marginLeft, marginRight] = [56, 16];
const decadesWithSteps = 2; // up to so many, a logarithmic axis has ticks between powers of ten

/** From one x to another. */
export type Span = readonly [from: number, to: number];

export interface Picture {
    panel: LabPanel;
    curves: readonly Curve[];
    /** Finished rows in the order of x. */
    rows: readonly Row[];
    /** Of a shipped run, in grey behind them. */
    recorded: readonly Row[];
    /** Values of x, also where nothing is yet. */
    xs: readonly number[];
    /** Where the premises of the claim do not hold. */
    outside: readonly Span[];
    width: number;
}

/** An SVG element. Its `value` is the row that is pointed at, and "input" says that it changed. */
export function drawFigure(picture: Picture): Element & { value?: Row } {
    const { panel, curves, rows, recorded, xs, outside, width } = picture;
    const plot = Plot.plot({
        className: "plot",
        width,
        height: Math.round(Math.min(460, Math.max(260, width * 0.58))),
        marginLeft,
        marginBottom: 42,
        marginTop: 26,
        marginRight,
        ariaLabel: panel.title,
        ariaDescription: said.over(panel.y.label, panel.x.label),
        x: { ...axis(panel.x, xs), ...centred, nice: false, ...(panel.x.log && { axis: null }) },
        y: {
            ...axis(panel.y, valuesOf(curves, [...recorded, ...rows])),
            grid: true,
            labelArrow: "none",
        },
        marks: [
            shade(outside),
            Plot.frame({ stroke: "var(--line)" }),
            ...(panel.x.log ? [measuredAxis(panel.x, xs, width)] : []),
            ...curves.flatMap((curve) => behind(curve, recorded, panel)),
            ...curves.flatMap((curve) => band(curve, rows, panel)),
            ...curves.flatMap((curve) => line(curve, rows, panel)),
            Plot.ruleX(rows, Plot.pointerX({ x: (row: Row) => row[0], stroke: "var(--edge)" })),
        ],
    });
    // The page's policy takes no styles from scripts: labs.css has Plot's few rules.
    for (const style of plot.querySelectorAll("style")) style.remove();
    // One picture with a name: parts of it may have none, and the table has the numbers.
    plot.setAttribute("role", "img");
    for (const part of plot.querySelectorAll("[aria-label]")) part.removeAttribute("aria-label");
    return plot;
}

const centred = { labelAnchor: "center", labelArrow: "none" } as const;

/** A logarithmic axis leaves out the words of ticks that are no few times a power of ten, but not given ones. */
function measuredAxis({ label, unit }: LabAxis, xs: readonly number[], width: number) {
    const ticks = measuredTicks(xs, width - marginLeft - marginRight);
    return Plot.axisX(ticks, { ...centred, text: tick, label: axisLabel(label, unit) });
}

function axisLabel(label: string, unit: string): string {
    return unit ? `${label} (${unit})` : label;
}

/** All values that are drawn: the y axis is made for them. */
function valuesOf(curves: readonly Curve[], rows: readonly Row[]): number[] {
    const columns = curves.flatMap(({ y, low, high }) => [y, low ?? y, high ?? y]);
    return rows.flatMap((row) => columns.map((column) => row[column] ?? NaN));
}

function axis({ label, unit, log, low, high }: LabAxis, values: readonly number[]) {
    const [least, most] = extent(values, log);
    const domain: [number, number] = [low ?? least, high ?? most];
    const decades = Math.log10(domain[1] / domain[0]);
    return {
        type: log ? ("log" as const) : ("linear" as const),
        label: axisLabel(label, unit),
        domain,
        tickFormat: tick,
        ...(log && decades > decadesWithSteps && { ticks: powersOfTen(domain) }),
        ...(!log && low === null && { nice: true }),
    };
}

function extent(values: readonly number[], log: boolean): [number, number] {
    const drawn = values.filter((value) => Number.isFinite(value) && (!log || value > 0));
    if (drawn.length === 0) return log ? [1, 10] : [0, 1];
    const least = drawn.reduce((a, b) => Math.min(a, b));
    const most = drawn.reduce((a, b) => Math.max(a, b));
    if (least < most) return [least, most];
    return log
        ? [least / 2, most * 2]
        : [least - (Math.abs(least) || 1) / 2, most + (Math.abs(most) || 1) / 2];
}

/** At most about eight of them. */
function powersOfTen([low, high]: [number, number]): number[] {
    const first = Math.ceil(Math.log10(low) - 1e-9);
    const last = Math.floor(Math.log10(high) + 1e-9);
    const step = Math.ceil((last - first + 1) / 8);
    const powers = [];
    for (let power = first; power <= last; power += step) powers.push(10 ** power);
    return powers;
}

/** Where a finished row is not within the claim's premises: half way to its neighbours. */
export function outsideOf({ x: axis }: LabPanel, { rows, within }: LabResult): Span[] {
    const points = rows.map((row, i) => ({ x: row[0] ?? NaN, isWithin: within[i] ?? true }));
    points.sort((a, b) => a.x - b.x);
    const between = (a: number, b: number) => (axis.log ? Math.sqrt(a * b) : (a + b) / 2);
    return points.flatMap(({ x, isWithin }, i): Span[] => {
        if (isWithin) return [];
        const [before = x, after = x] = [points[i - 1]?.x, points[i + 1]?.x];
        return [[between(before, x), between(x, after)]];
    });
}

/** What is outside of where the paper defines the experiment, as far as that is known before a run. */
export function undefinedOf({ x, grid, defined }: LabPanel): Span[] {
    const [from, to] = extent(grid, x.log);
    const [low, high] = defined ?? [from, to];
    const spans: Span[] = [
        [from, Math.min(low, to)],
        [Math.max(high, from), to],
    ];
    return spans.filter(([x1, x2]) => x1 < x2);
}

function shade(spans: readonly Span[]) {
    return Plot.rectX(spans, {
        x1: (span: Span) => span[0],
        x2: (span: Span) => span[1],
        fill: "var(--outside)",
    });
}

function pick(column: number, log: boolean) {
    return (row: Row) => {
        const value = row[column] ?? NaN;
        return Number.isFinite(value) && (!log || value > 0) ? value : NaN;
    };
}

/** What the panel is about, of a run that stands behind. */
function behind({ mark, y: column }: Curve, rows: readonly Row[], { x, y }: LabPanel) {
    const grey = { className: "recorded", stroke: "var(--edge)" };
    const place = { x: pick(0, x.log), y: pick(column, y.log), ...grey };
    if (mark === "points") return [Plot.dot(rows, { ...place, r: 2.5 })];
    return mark === "line" ? [Plot.lineY(rows, { ...place, strokeWidth: 1.5 })] : [];
}

function band({ low, high, color }: Curve, rows: readonly Row[], { x, y }: LabPanel) {
    if (low === null || high === null) return [];
    const edges = { y1: pick(low, y.log), y2: pick(high, y.log) };
    return [Plot.areaY(rows, { x: pick(0, x.log), ...edges, fill: color, fillOpacity: 0.16 })];
}

function line({ mark, y: column, color }: Curve, rows: readonly Row[], { x, y }: LabPanel) {
    const place = { x: pick(0, x.log), y: pick(column, y.log) };
    const dots = Plot.dot(rows, { ...place, r: 2.5, fill: color });
    if (mark === "points") return [dots];
    if (mark === "bound") {
        return [Plot.lineY(rows, { ...place, stroke: color, strokeDasharray: "6 4" })];
    }
    if (mark === "faint") return [Plot.lineY(rows, { ...place, stroke: color, strokeWidth: 1 })];
    const stroke = Plot.lineY(rows, { ...place, stroke: color, strokeWidth: 2 });
    return rows.length <= 100 ? [stroke, dots] : [stroke];
}
