import type { Backend } from "libattn";
import { element, find } from "../dom/dom";
import { withLinks } from "../dom/references";

/** What a backend has on the page: its panel, controls among the settings, a tab on phones, a row's arithmetic. */
export interface Elements {
    panel: HTMLElement;
    controls: HTMLElement;
    tab: HTMLButtonElement;
    arithmetic: HTMLElement;
}

export function elementsOf(backend: Backend): Elements {
    const { id, name } = backend;
    const controls = element("fieldset", { className: "controls" }, element("legend", {}, name));
    const tab = element("button", { type: "button" }, name, " ", element("span"));
    tab.dataset.method = id;
    const all = { panel: panelElement(backend), controls, tab, arithmetic: arithmeticOf(backend) };
    controls.dataset.backend = id;
    return all;
}

/** Where a row of the backend is shown step by step. */
export function arithmeticOf({ id, name }: Backend): HTMLElement {
    const row = element("div", { className: "row", hidden: true });
    const article = element("article", { className: "arithmetic" }, element("h3", {}, name), row);
    article.dataset.backend = id;
    return article;
}

/** A panel, without what it is to be filled with. */
export function panelElement({ id, name, description, reference }: Backend): HTMLElement {
    const template = find(document, "#panel", HTMLTemplateElement);
    const copy = template.content.cloneNode(true) as DocumentFragment;
    const root = find(copy, "article", HTMLElement);
    root.dataset.backend = id;
    find(root, "h2", HTMLElement).textContent = root.ariaLabel = name;
    const enlarge = find(root, ".enlarge", HTMLElement);
    enlarge.ariaLabel = `${enlarge.textContent.trim()}: ${name}`;
    find(root, ".description", HTMLElement).textContent = description;
    find(root, ".reference", HTMLElement).append(...withLinks(reference));
    return root;
}

/** Is the panel large? */
export function showEnlarged(root: HTMLElement, isEnlarged: boolean): void {
    root.classList.toggle("enlarged", isEnlarged);
    find(root, ".enlarge", HTMLElement).ariaPressed = String(isEnlarged);
}
