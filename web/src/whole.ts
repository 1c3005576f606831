/** The switch that loads all of the library. */

import { find } from "./dom";

/** `onChange`: it was switched. */
export function showWhole(isWhole: boolean, onChange: (isWhole: boolean) => Promise<void>): void {
    const box = find(document, "#all-methods", HTMLInputElement);
    box.checked = isWhole;
    box.addEventListener("change", () => void onChange(box.checked));
}
