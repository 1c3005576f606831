/**
 * A line of what is pointed at is read out where keys move the crosshair of what is in `within`, and not as the pointer passes
 * over it: that would be a sentence for each cell.
 */
export function speakOfKeys(line: HTMLElement, within: HTMLElement): void {
    const speak = () => {
        if (!line.hasAttribute("aria-live")) line.setAttribute("aria-live", "polite");
    };
    const hush = () => line.removeAttribute("aria-live");
    const options = { capture: true, passive: true }; // before the line changes
    for (const name of ["focusin", "keydown"]) within.addEventListener(name, speak, options);
    for (const name of ["focusout", "pointerdown", "pointermove"])
        within.addEventListener(name, hush, options);
}
