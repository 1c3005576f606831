// One figure for each family as SVG: a bar for each result, by rows, the measured peak as a line.

import * as Plot from "@observablehq/plot";
import { peer } from "../contenders/worker.mjs";

const WIDTH = 1000;
const BAR = 20;

// libattn in one hue; everybody else by what its name ends with, the same in all figures.
const OWN = ["#d1495b", "#e58a95", "#f0b9c0"];
const OTHERS = [
    [/MultiHeadAttention$/, "#2e6f95"],
    [/GroupQueryAttention$/, "#8c6bb1"],
    [/ Attention$/, "#5fa8d3"],
    [/MatMul$/, "#8d99ae"],
    [/oneDNN$/, "#66a182"],
    [/OpenBLAS$/, "#edae49"],
    [/./, "#777777"],
];

const style = `
    svg { color: #222; font: 12px system-ui, sans-serif }
    @media (prefers-color-scheme: dark) { svg { color: #ddd } }`;

function colorsOf(names) {
    const own = names.filter((name) => name.startsWith("libattn"));
    return names.map((name) =>
        own.includes(name)
            ? OWN[own.indexOf(name) % OWN.length]
            : OTHERS.find(([ending]) => ending.test(name))[1],
    );
}

/** Has it something to show: a speed, or a failure? An empty call has neither. */
function speaks(result, quantity) {
    return Number.isFinite(result[quantity]) || result.failure !== "";
}

/** The figure of a family: {id, title, unit, rows}; results of other families are ignored. */
export function plot(family, results) {
    const { quantity, unit, peak: peakName } = family.unit;
    const own = results.filter((one) => one.family === family.id && speaks(one, quantity));
    const measured = own.filter(({ failure }) => failure === "");
    const names = [...new Set(own.map(({ contender }) => contender))];
    const rows = [...new Set(own.map(({ work }) => work))];
    const held = measured.filter(({ peak }) => Number.isFinite(peak));
    const top = 1.04 * Math.max(...own.flatMap((one) => [one[quantity] || 0, one.peak || 0]));
    const place = { y: "contender", fy: "work" };
    const { document } = new (peer("jsdom").JSDOM)("").window;
    const figure = Plot.plot({
        document,
        width: WIDTH,
        height: 100 + rows.length * (names.length + 1) * BAR,
        marginTop: 60,
        marginBottom: 40,
        marginLeft: 270,
        marginRight: 260, // names of rows
        ariaLabel: family.title,
        x: { label: unit, labelAnchor: "center", labelArrow: "none", domain: [0, top], grid: true },
        y: { label: null, domain: names, tickSize: 0 },
        fy: { label: null, domain: rows },
        color: { domain: names, range: colorsOf(names) },
        marks: [
            Plot.barX(measured, {
                ...place,
                x: quantity,
                fill: "contender",
                title: (one) =>
                    `${one.contender}, ${one.work}: ${one[quantity].toPrecision(3)} ${unit}`,
            }),
            // The interval of the median, which speed is the inverse of.
            Plot.ruleY(measured, {
                ...place,
                x1: (one) => (one[quantity] * one.ms) / one.ms_high,
                x2: (one) => (one[quantity] * one.ms) / one.ms_low,
                stroke: "currentColor",
                className: "interval",
            }),
            Plot.text(own, {
                ...place,
                x: (one) => (one.failure ? 0 : (one[quantity] * one.ms) / one.ms_low),
                text: (one) =>
                    one.failure ? "×" : one[quantity].toFixed(one[quantity] < 10 ? 1 : 0),
                title: "failure",
                textAnchor: "start",
                dx: 4,
            }),
            Plot.tickX(held, {
                ...place,
                x: "peak",
                stroke: "currentColor",
                strokeDasharray: "3 2",
                className: "peak",
            }),
            heading(family.title, { dy: -46, fontSize: 16, fontWeight: 600 }),
            heading(`dashed: the peak of ${peakName}, measured by turns with the row`, {
                dy: -28,
            }),
        ],
    });
    return textOf(figure);
}

/** A figure as the text of a file that follows the reader's light or dark. */
export function textOf(figure) {
    const sheet = figure.ownerDocument.createElementNS(figure.namespaceURI, "style");
    figure.append(Object.assign(sheet, { textContent: style }));
    figure.setAttribute("xmlns", figure.namespaceURI);
    return `${figure.outerHTML}\n`;
}

/** A line of text above all bars. */
function heading(text, options) {
    return Plot.text([text], {
        text: String,
        frameAnchor: "top-left",
        facetAnchor: "top",
        ...options,
    });
}
