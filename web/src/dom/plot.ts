/** What all figures by Observable Plot have. */

import type { InitializerFunction } from "@observablehq/plot";

/** Of backends in their order. */
export function seriesColour(index: number): string {
    return `var(--series-${index % 6})`;
}

/** As a picture with one name; the page's policy takes no styles from scripts. */
export function finish(plot: Element): Element {
    for (const style of plot.querySelectorAll("style")) style.remove();
    plot.setAttribute("role", "img");
    for (const part of plot.querySelectorAll("[aria-label]")) part.removeAttribute("aria-label");
    return plot;
}

const tickRoom = 56; // pixels of a label and what is between it and the next

/** Of a logarithmic axis so many pixels long: what was measured, as far as labels have room beside each other. */
export function measuredTicks(values: readonly number[], extent: number): number[] {
    const sorted = values.filter((value) => value > 0).sort((one, other) => one - other);
    const [least = 1, most = 1] = [sorted[0], sorted.at(-1)];
    const rounding = 1e-9; // what is evenly spaced has gaps that differ by that
    const gap = ((1 - rounding) * Math.log(most / least) * tickRoom) / extent;
    let last = -Infinity;
    return sorted.filter((value) => {
        const hasRoom = Math.log(value) >= last + gap;
        if (hasRoom) last = Math.log(value);
        return hasRoom;
    });
}

/** The same of round numbers between what is drawn. */
export function roundTicks(values: readonly number[], extent: number): number[] {
    const drawn = values.filter((value) => value > 0);
    const [least, most] = [Math.min(...drawn), Math.max(...drawn)];
    if (!(most > least)) return drawn.slice(0, 1);
    const gap = (Math.log(most / least) * tickRoom) / extent;
    const ticks: number[] = [];
    for (let power = 10 ** Math.floor(Math.log10(least)); power <= most; power *= 10) {
        for (const round of [1, 2, 5].map((digit) => digit * power)) {
            const hasRoom = Math.log(round) >= Math.log(ticks.at(-1) ?? 0) + gap;
            if (round >= least && round <= most && hasRoom) ticks.push(round);
        }
    }
    return ticks.length > 1 ? ticks : [least, most];
}

export const lineHeight = 15; // pixels
const letterWidth = 7; // pixels, at most on the whole

/** Texts that begin at the ends of lines: each as near to its own as those beside it leave room, in their order. */
export const apart: InitializerFunction = (_data, facets, channels, scales, dimensions) => {
    const valuesOf = (name: string) => Array.from(channels[name]?.value as ArrayLike<unknown>);
    const [texts, xs, ys] = [valuesOf("text"), valuesOf("x"), valuesOf("y")];
    const names = texts.map((text, i) => {
        const x = Number(scales.x?.(xs[i]));
        return { x, end: x + letterWidth * String(text).length, y: Number(scales.y?.(ys[i])) };
    });
    const down = [...names].sort((one, other) => one.y - other.y);
    down.forEach((name, i) => {
        const above = down.slice(0, i).filter((other) => areBeside(name, other));
        name.y = Math.max(name.y, ...above.map(({ y }) => y + lineHeight));
    });
    down.reverse().forEach((name, i) => {
        const below = down.slice(0, i).filter((other) => areBeside(name, other));
        const bottom = dimensions.height - dimensions.marginBottom;
        name.y = Math.min(name.y, bottom, ...below.map(({ y }) => y - lineHeight));
    });
    return { facets, channels: { y: { value: names.map(({ y }) => y) } } };
};

export const dotRadius = 5; // pixels
const near = 4; // pixels between dots of which one would cover the other
const ringWidth = near + 1; // the other, and half of its line's width, touch none of the ring

/**
 * Dots that would cover those of another series are larger and lie below them, as rings, each where it belongs. Of a
 * series' own at one place the one above has the titles of all.
 */
export function rings<T>(
    seriesOf: (datum: T) => string,
    titleOf: (datum: T) => string,
): InitializerFunction {
    return (data, facets, channels, scales) => {
        const [xs, ys] = ["x", "y"].map((name) =>
            Array.from(channels[name]?.value as ArrayLike<unknown>),
        );
        const dots: { x: number; y: number; series: string; title: string; level: number }[] = [];
        Array.from(data as T[]).forEach((datum, i) => {
            const place = { x: Number(scales.x?.(xs?.[i])), y: Number(scales.y?.(ys?.[i])) };
            const within = (pixels: number) =>
                dots.filter(({ x, y }) => Math.hypot(x - place.x, y - place.y) < pixels);
            const series = seriesOf(datum);
            const titles = within(1).filter((dot) => dot.series === series);
            const title = [...titles.map((dot) => dot.title), titleOf(datum)].join("\n");
            const others = within(near).filter((dot) => dot.series !== series);
            let level = 0;
            while (others.some((dot) => dot.level === level)) level++;
            dots.push({ ...place, series, title, level });
        });
        return {
            facets,
            channels: {
                r: { value: dots.map(({ level }) => dotRadius + ringWidth * level) },
                title: { value: dots.map(({ title }) => title) },
            },
        };
    };
}

interface Extent {
    x: number;
    end: number;
}

function areBeside(one: Extent, other: Extent): boolean {
    return one.x < other.end && other.x < one.end;
}
