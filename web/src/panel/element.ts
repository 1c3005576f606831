import type { Backend } from "libattn";
import { find } from "../dom";
import { withLinks } from "../references";

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
