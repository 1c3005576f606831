/** Numbers of a row as pictures: what comes out, and what is kept as a state. */

import { element, svg } from "../dom/dom";
import { bytes, count, significant } from "../dom/format";
import type { State } from "./probe";
import type { Steps } from "./steps";
import { words } from "../words/words";

const { row: said } = words;
type Numbers = Float32Array | Float64Array;

const mostColumns = 64; // of an output
const [width, height] = [320, 48];

/** Bars of the output, and a line across each where exact attention's would end. */
export function outputBars({ out, exact }: Steps): HTMLElement {
    return bars(said.output, out, exact);
}

/** Bars of a key's value, of which the output has as much as the weight says. */
export function valueBars({ value, place }: Steps, name: (index: number) => string): HTMLElement {
    return bars(said.value(name(place.key)), value, null);
}

function bars(name: string, numbers: Numbers, exact: Numbers | null): HTMLElement {
    const shown = Math.min(numbers.length, mostColumns);
    const [heights, truth] = [numbers, exact ?? []].map((all) => Array.from(all).slice(0, shown));
    const finite = [...(heights ?? []), ...(truth ?? [])].filter(Number.isFinite);
    const most = Math.max(...finite.map(Math.abs), Number.MIN_VALUE);
    const each = width / shown;
    const y = (value: number) => (height / 2) * (1 - Math.max(-1, Math.min(1, value / most)));
    const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img" });
    const beside = exact ? said.besideExact : "";
    picture.ariaLabel = `${name}${said.some(shown, count(numbers.length, words.nouns.column))}${beside}`;
    heights?.forEach((value, c) => {
        if (!Number.isFinite(value)) return;
        const top = Math.min(y(value), y(0));
        const size = { x: c * each, y: top, width: 0.8 * each, height: Math.abs(y(value) - y(0)) };
        picture.append(svg("rect", size));
    });
    truth?.forEach((value, c) => {
        if (!Number.isFinite(value)) return;
        const at = { x1: c * each, x2: (c + 0.8) * each, y1: y(value), y2: y(value) };
        picture.append(svg("line", at));
    });
    const first = shown < numbers.length ? said.first(shown, numbers.length) : "";
    const lines = exact ? said.linesExact : "";
    return element("figure", { className: "output" }, caption(`${name}${first}${lines}`), picture);
}

/** What each feature adds to a key's logit, the strongest first, and a line of their sum so far; null: it is not told. */
export function featureBars(
    { features, kind, place }: Steps,
    name: (index: number) => string,
): HTMLElement | null {
    if (!features?.every(Number.isFinite)) return null;
    const sorted = Array.from(features, (part, feature) => ({ part, feature })).sort(
        (one, other) => Math.abs(other.part) - Math.abs(one.part),
    );
    const used = sorted.filter(({ part }) => part !== 0); // a backend may leave some out
    const shown = (used.length > 0 ? used : sorted).slice(0, mostColumns);
    let sum = 0;
    const sums = shown.map(({ part }) => (sum += part));
    const most = Math.max(...[...sums, ...shown.map(({ part }) => part)].map(Math.abs));
    const each = width / shown.length;
    const y = (value: number) => (height / 2) * (1 - value / (most || 1));
    const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img" });
    const of = kind === "exponentials" ? said.ofLogit : said.ofProduct;
    const title = said.features(of, name(place.key));
    const [first] = shown;
    picture.ariaLabel = first
        ? `${title}. ${said.feature(first.feature, significant(first.part, 3))}`
        : title;
    shown.forEach(({ part, feature }, i) => {
        const [top, size] = [Math.min(y(part), y(0)), Math.abs(y(part) - y(0))];
        const bar = svg("rect", { x: i * each, y: top, width: 0.8 * each, height: size });
        const told = svg("title", {});
        told.textContent = said.feature(feature, significant(part, 3));
        bar.append(told);
        picture.append(bar);
    });
    const points = sums.map((value, i) => `${(i + 0.4) * each},${y(value)}`).join(" ");
    picture.append(svg("polyline", { points, fill: "none" }));
    const some = shown.length < sorted.length ? said.strongest(shown.length, sorted.length) : "";
    return element("figure", { className: "output features" }, caption(title + some), picture);
}

/** A state as a matrix, blue and orange by sign: its size does not depend on how many keys were seen. */
export function stateImage({ name, help, rows, columns, values }: State): HTMLElement {
    const isVector = columns === 1; // which lies
    const size = isVector ? { width: rows, height: 1 } : { width: columns, height: rows };
    const canvas = element("canvas", size);
    canvas.ariaLabel = said.states[name] ?? `${name}: ${help}`;
    canvas.role = "img";
    const image = new ImageData(size.width, size.height);
    const most = values.reduce((largest, value) => Math.max(largest, Math.abs(value)), 0) || 1;
    values.forEach((value, i) => {
        const [red, green, blue] = value < 0 ? [207, 107, 76] : [74, 143, 181];
        image.data.set([red, green, blue, 255 * Math.sqrt(Math.abs(value) / most)], 4 * i);
    });
    canvas.getContext("2d")?.putImageData(image, 0, 0);
    return element(
        "figure",
        { className: "state" },
        caption(said.state(help, `${rows} × ${columns}`, bytes(values.byteLength))),
        canvas,
    );
}

function caption(text: string): HTMLElement {
    return element("figcaption", {}, text);
}
