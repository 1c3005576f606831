// The figures of plugins/sparse/README.md: time over the length of a sequence, and over the share of kept pairs.

import * as Plot from "@observablehq/plot";
import { textOf } from "./plot.mjs";
import { peer } from "./worker.mjs";

const colors = { sparse: "#d1495b", dense: "#2e6f95", "onnxruntime SparseAttention": "#edae49" };

/** Lines through {name, x, y}. */
function figureOf(points, title, options) {
    const { document } = new (peer("jsdom").JSDOM)("").window;
    const names = Object.keys(colors).filter((name) => points.some((one) => one.name === name));
    const last = names.map((name) => points.filter((one) => one.name === name).at(-1));
    const { x, y, marks = [] } = options;
    return textOf(
        Plot.plot({
            document,
            width: 640,
            height: 400,
            marginTop: 40,
            marginBottom: 44,
            marginLeft: 60,
            marginRight: 190,
            ariaLabel: title,
            x: { grid: true, labelAnchor: "center", labelArrow: "none", ...x },
            y: {
                grid: true,
                label: "ms a head",
                labelAnchor: "center",
                labelArrow: "none",
                ...y,
            },
            color: { domain: names, range: names.map((name) => colors[name]) },
            marks: [
                ...marks,
                Plot.line(points, { x: "x", y: "y", stroke: "name" }),
                Plot.dot(points, { x: "x", y: "y", fill: "name" }),
                Plot.text(last, {
                    x: "x",
                    y: "y",
                    text: "name",
                    textAnchor: "start",
                    lineAnchor: "bottom",
                    dx: 8,
                }),
                Plot.text([title], {
                    text: String,
                    frameAnchor: "top-left",
                    dy: -30,
                    fontSize: 14,
                    fontWeight: 600,
                }),
            ],
        }),
    );
}

const point = (name, x, { ms, heads }) => ({ name, x, y: ms / heads });

/** Rows of Eq. 6 over n, on logarithmic axes; dense attention where it has a time. */
export function overLength(rows) {
    const points = rows.flatMap((one) => [
        point("sparse", one.keys, one),
        ...(one.dense ? [point("dense", one.keys, one.dense)] : []),
    ]);
    const ticks = rows.map(({ keys }) => keys);
    return figureOf(points, "Eq. 6 (B = sqrt n, k = c = 1), causal, d = 64, one core", {
        x: { type: "log", label: "n", axis: null, grid: false },
        y: { type: "log", ticks: [0.1, 1, 10, 100, 1000], tickFormat: String },
        // A logarithmic scale's own axis leaves labels out that are far above a power of ten.
        marks: [
            Plot.gridX(ticks),
            Plot.axisX(ticks, {
                text: String,
                label: "n",
                labelAnchor: "center",
                labelArrow: "none",
            }),
        ],
    });
}

/**
 * Rows of one length by the share of pairs that they keep, which is known beside dense attention; dashed what that share
 * of dense would take.
 */
export function overDensity(rows) {
    const ordered = rows.filter(({ dense }) => dense).toSorted((a, b) => a.density - b.density);
    const points = ordered.flatMap((one) => [
        point("sparse", 100 * one.density, one),
        point("dense", 100 * one.density, one.dense),
        ...(one.peer ? [point("onnxruntime SparseAttention", 100 * one.density, one.peer)] : []),
    ]);
    const dense = Math.min(...ordered.map((one) => one.dense.ms / one.dense.heads));
    const share = [0, 100].map((density) => ({ x: density, y: (density / 100) * dense }));
    return figureOf(points, "Blocks of 64, causal, n = 4096, d = 64, one core", {
        x: { label: "pairs kept, % of dense's", domain: [0, 60] },
        y: { domain: [0, 1.1 * Math.max(...points.map(({ y }) => y))] },
        marks: [
            Plot.line(share, {
                x: "x",
                y: "y",
                stroke: "currentColor",
                strokeDasharray: "6 4",
                clip: true,
            }),
            Plot.text(["density × dense"], {
                x: 60,
                y: 0.6 * dense,
                text: String,
                textAnchor: "start",
                dx: 4,
            }),
        ],
    });
}
