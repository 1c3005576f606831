// One figure for each family as SVG: a group of bars for each row, the measured peak on top.

const WIDTH = 860;
const HEIGHT = 380;
const PLOT = { left: 64, right: 16, top: 52, bottom: 36 };
const LEGEND_LINE = 20;

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
    text { font: 13px system-ui, sans-serif; fill: #222 }
    .title { font-size: 16px; font-weight: 600 }
    .small { font-size: 11px }
    .grid { stroke: #ddd }
    .peak { stroke: #222; stroke-dasharray: 6 4 }
    .interval { stroke: #222 }
    .halo { stroke: #fff; stroke-width: 3px; paint-order: stroke }
    @media (prefers-color-scheme: dark) {
        text { fill: #ddd } .grid { stroke: #444 } .peak, .interval { stroke: #ddd } .halo { stroke: #111 }
    }`;

const escapes = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const escape = (text) => String(text).replaceAll(/[&<>"]/g, (c) => escapes[c]);

function element(name, attributes, ...children) {
    const list = Object.entries(attributes).map(([key, value]) => ` ${key}="${escape(value)}"`);
    return `<${name}${list.join("")}>${children.join("")}</${name}>`;
}

const text = (x, y, words, more = {}) => element("text", { x, y, ...more }, escape(words));
const line = (x1, y1, x2, y2, kind) => element("line", { x1, y1, x2, y2, class: kind });
const round = (value) => Math.round(value * 10) / 10;

/** Steps of 1, 2 or 5 times a power of ten: about five up to `top`. */
function ticks(top) {
    const power = 10 ** Math.floor(Math.log10(top / 5));
    const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => top / size <= 6);
    return Array.from({ length: Math.floor(top / step) + 1 }, (_, i) => i * step);
}

function colorsOf(names) {
    const own = names.filter((name) => name.startsWith("libattn"));
    const colorOf = (name) =>
        own.includes(name)
            ? OWN[own.indexOf(name) % OWN.length]
            : OTHERS.find(([ending]) => ending.test(name))[1];
    return new Map(names.map((name) => [name, colorOf(name)]));
}

/** A bar, what it stands for as a tooltip, its number above and the interval of the median. */
function bar(result, { x, width, scale, color, quantity, unit }) {
    const value = result[quantity];
    const [low, high] = [result.ms_high, result.ms_low].map((ms) => (value * result.ms) / ms);
    const top = scale(value);
    const middle = round(x + width / 2);
    const title = `${result.contender}, ${result.work}: ${value.toPrecision(3)} ${unit}`;
    const number = value < 10 ? value.toFixed(1) : value.toFixed(0);
    const shape = { x: round(x), y: top, width: round(width - 2), height: round(scale(0) - top) };
    return [
        element("rect", { ...shape, fill: color }, element("title", {}, escape(title))),
        line(middle - 1, scale(low), middle - 1, scale(high), "interval"),
        text(middle - 1, Math.min(top, scale(high)) - 4, number, {
            "text-anchor": "middle",
            class: "small halo",
        }),
    ].join("");
}

/** In place of a bar: it failed, or its result was wrong. */
function cross(result, { x, width, scale, color }) {
    const title = element("title", {}, escape(`${result.contender}: ${result.failure}`));
    const at = { x: round(x + width / 2 - 1), y: scale(0) - 4, "text-anchor": "middle" };
    return element("text", { ...at, style: `fill: ${color}` }, "×", title);
}

function legend(colors, top) {
    const perLine = 3;
    const width = (WIDTH - PLOT.left - PLOT.right) / perLine;
    return [...colors].map(([name, fill], i) => {
        const x = round(PLOT.left + (i % perLine) * width);
        const y = top + Math.floor(i / perLine) * LEGEND_LINE;
        const swatch = element("rect", { x, y: y - 10, width: 11, height: 11, rx: 2, fill });
        return swatch + text(x + 17, y, name, { class: "small" });
    });
}

/** The figure of a family: {id, title, unit, peak, rows}; results of other families are ignored. */
export function plot(family, results, peaks) {
    const { quantity, unit, peak: peakName } = family.unit;
    const own = results.filter((one) => one.family === family.id && speaks(one, quantity));
    const names = [...new Set(own.map(({ contender }) => contender))];
    const colors = colorsOf(names);
    const peak = peaks[family.peak];
    const top = 1.04 * Math.max(peak, ...own.map((one) => one[quantity] || 0));
    const bottom = HEIGHT - PLOT.bottom;
    const scale = (value) => round(bottom - (value / top) * (bottom - PLOT.top));
    const right = WIDTH - PLOT.right;

    const axis = ticks(top).map(
        (tick) =>
            line(PLOT.left, scale(tick), right, scale(tick), "grid") +
            text(PLOT.left - 8, scale(tick) + 4, tick, { "text-anchor": "end", class: "small" }),
    );
    const rows = family.rows.filter(({ id }) => own.some(({ row }) => row === id));
    const groupWidth = (right - PLOT.left) / rows.length;
    const groups = rows.map((row, g) => {
        const members = own.filter((one) => one.row === row.id);
        const width = Math.min(64, (0.9 * groupWidth) / members.length);
        const middle = PLOT.left + (g + 0.5) * groupWidth;
        const left = middle - (width * members.length) / 2;
        const marks = members.map((one, i) => {
            const color = colors.get(one.contender);
            const place = { x: left + i * width, width, scale, color, quantity, unit };
            return one.failure ? cross(one, place) : bar(one, place);
        });
        const label = text(round(middle), bottom + 20, row.label, { "text-anchor": "middle" });
        return [...marks, label].join("");
    });
    const peakText = `measured peak of ${peakName}: ${peak.toPrecision(3)} ${unit}`;
    const legendTop = HEIGHT + 6;
    const height = legendTop + Math.ceil(names.length / 3) * LEGEND_LINE;
    return `${element(
        "svg",
        { xmlns: "http://www.w3.org/2000/svg", viewBox: `0 0 ${WIDTH} ${height}`, role: "img" },
        element("title", {}, escape(family.title)),
        element("style", {}, style),
        text(PLOT.left, 20, family.title, { class: "title" }),
        text(PLOT.left - 8, 40, unit, { "text-anchor": "end", class: "small" }),
        ...axis,
        ...groups,
        line(PLOT.left, scale(peak), right, scale(peak), "peak"),
        text(right, scale(peak) - 6, peakText, { "text-anchor": "end", class: "small halo" }),
        ...legend(colors, legendTop),
    )}\n`;
}

/** Has it something to show: a speed, or a failure? An empty call has neither. */
function speaks(result, quantity) {
    return Number.isFinite(result[quantity]) || result.failure !== "";
}
