/** What all figures by Observable Plot have. */

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
