/** The text as it is when the page is left: a browser reloads the address that there was before. */

const place = "typed";

/** `hash`: of the address as it was typed; one that has changed since has the text, or is another link. */
export function keepTyped(text: string, hash: string | null): void {
    if (hash !== location.hash) return;
    try {
        sessionStorage.setItem(place, JSON.stringify([hash, text]));
    } catch {
        // no room, or a browser set to keep nothing: what is in the address is there
    }
}

/** What was typed before a reload of this address; null: nothing. */
export function typedBefore(): string | null {
    const [entry] = performance.getEntriesByType("navigation");
    if (!(entry instanceof PerformanceNavigationTiming) || entry.type !== "reload") return null;
    try {
        const kept = JSON.parse(sessionStorage.getItem(place) ?? "[]") as string[];
        sessionStorage.removeItem(place);
        const [hash, text = null] = kept;
        return hash === location.hash ? text : null;
    } catch {
        return null;
    }
}
