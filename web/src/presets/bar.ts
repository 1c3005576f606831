/** A button for each preset, and what is said of the one that is shown. */

import { element, find } from "../dom/dom";
import { groups, presets, type Preset } from "./list";
import { words } from "../words/words";

const { presets: told } = words;

export class PresetBar {
    #root = find(document, "#presets", HTMLElement);
    #shown = find(document, ".preset-source", HTMLElement);
    #buttons = new Map<Preset, HTMLButtonElement>();

    constructor(onChoice: (preset: Preset) => void, onSave: () => void) {
        for (const group of groups) {
            const list = element("ul", { role: "list" });
            list.setAttribute("aria-label", told[group]);
            for (const preset of presets.filter((each) => each.group === group)) {
                const button = element("button", { type: "button" }, preset.name);
                button.dataset.preset = preset.id;
                button.addEventListener("click", () => onChoice(preset));
                this.#buttons.set(preset, button);
                list.append(element("li", {}, button));
            }
            const name = element("span", { className: "group" }, told[group]);
            name.ariaHidden = "true"; // the list says it
            this.#root.append(element("div", {}, name, list));
        }
        find(this.#shown, ".save", HTMLButtonElement).addEventListener("click", onSave);
        this.show(null);
    }

    /** null: what is shown is no preset. */
    show(preset: Preset | null): void {
        for (const [each, button] of this.#buttons) button.ariaPressed = String(each === preset);
        this.#shown.hidden = preset === null;
        if (!preset) return;
        const { name, why, question, source } = preset;
        find(this.#shown, "h2", HTMLElement).textContent = name;
        find(this.#shown, ".why", HTMLElement).textContent = why;
        const asked = find(this.#shown, ".question", HTMLElement);
        asked.hidden = question === null;
        asked.textContent = question && words.input.question(question.text);
        const link = find(this.#shown, "a", HTMLAnchorElement);
        link.textContent = source.text;
        link.href = source.href;
        link.lang = "en"; // as what it leads to
    }
}
