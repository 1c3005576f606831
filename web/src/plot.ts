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
