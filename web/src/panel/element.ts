import type { Backend } from "libattn";
import { find } from "../dom/dom";
import { withLinks } from "../dom/references";
import { words } from "../words/words";

/** What stands in a panel of its backend, but for controls. */
export function panelElement({ id, name, description, reference }: Backend): HTMLElement {
    const template = find(document, "#panel", HTMLTemplateElement);
    const copy = template.content.cloneNode(true) as DocumentFragment;
    const root = find(copy, "article", HTMLElement);
    root.dataset.backend = id;
    find(root, "h2", HTMLElement).textContent = name;
    find(root, ".description", HTMLElement).textContent = description;
    find(root, ".reference", HTMLElement).append(...withLinks(reference));
    return root;
}

/** Is the panel large? */
export function showEnlarged(root: HTMLElement, isEnlarged: boolean): void {
    root.classList.toggle("enlarged", isEnlarged);
    const button = find(root, ".enlarge", HTMLElement);
    button.ariaPressed = String(isEnlarged);
    button.textContent = isEnlarged ? words.panel.reduce : words.panel.enlarge;
}
