/** The settings of an experiment: controls made from its declarations, and words for wrong values. */

import type { Lab, LabPanel, Param } from "libattn-labs";
import { makeControls, type Controls } from "../dom/controls";
import { element, find, showLine } from "../dom/dom";
import { tick } from "../dom/format";
import type { Value, Values } from "../state/types";
import { defaultSeed, isTaken, type Choice } from "./state";
import { said } from "./words";

const largestSeed = 2n ** 64n - 1n;
const named = /parameter '(\w+)':? ?(.*)/;

export class Form {
    #labs: readonly Lab[];
    #lab: Lab;
    #panel: LabPanel;
    #controls: Controls;
    #onChange: () => void;
    #labSelect = find(document, "#lab", HTMLSelectElement);
    #panelSelect = find(document, "#panel", HTMLSelectElement);
    #seed = find(document, "#seed", HTMLInputElement);
    #fields = find(document, "#params", HTMLFieldSetElement);

    constructor(labs: readonly Lab[], choice: Choice, onChange: () => void) {
        this.#labs = labs;
        this.#onChange = onChange;
        this.#labSelect.append(
            ...labs.map(({ name, title }) => element("option", { value: name }, title)),
        );
        this.#labSelect.onchange = () => this.#choose(this.#labSelect.value, "");
        this.#panelSelect.onchange = () => this.#choose(this.#lab.name, this.#panelSelect.value);
        this.#seed.oninput = () => this.#changed();
        find(document, "#defaults", HTMLButtonElement).onclick = () => {
            this.#seed.value = defaultSeed;
            this.#choose(this.#lab.name, this.#panel.id);
        };
        this.#lab = choice.lab;
        this.#panel = choice.panel;
        this.#seed.value ||= choice.seed; // typed already, while the page loaded?
        this.#controls = this.#fill(choice.params);
        this.check();
    }

    get choice(): Choice {
        const params = this.#controls.changed();
        return { lab: this.#lab, panel: this.#panel, seed: this.#seed.value.trim(), params };
    }

    /** Say beside each control what is wrong with it; false when something is. */
    check(): boolean {
        const values = this.#controls.values();
        const seed = seedProblem(this.#seed.value.trim());
        this.#show(this.#seed, seed);
        const problems = this.#params().map((param) => {
            const input = this.#input(param.name);
            const problem = valueProblem(param, values[param.name], input);
            this.#show(input, problem);
            return problem;
        });
        showLine(this.#line, null);
        return seed === null && problems.every((problem) => problem === null);
    }

    /** Say what the library had against the settings: beside the control, where it names one. */
    fail(reason: string): void {
        const [, name = "", words = ""] = named.exec(reason) ?? [];
        const known = this.#params().some((param) => param.name === name);
        if (!known) return showLine(this.#line, reason);
        const input = this.#input(name);
        this.#show(input, reason.startsWith("parameter") ? words : reason);
        input.focus();
    }

    /** Go to the first control with a wrong value. */
    showProblem(): void {
        find(document, "#settings [aria-invalid=true]", HTMLElement).focus();
    }

    get #line(): HTMLElement {
        return find(document, "#problem", HTMLElement);
    }

    #choose(lab: string, panel: string): void {
        this.#lab = this.#labs.find(({ name }) => name === lab) ?? this.#lab;
        const { panels } = this.#lab;
        this.#panel = panels.find(({ id }) => id === panel) ?? panels[0] ?? this.#panel;
        this.#controls = this.#fill({});
        this.#changed();
    }

    #changed(): void {
        this.check();
        this.#onChange();
    }

    #fill(initial: Values): Controls {
        const { panels, summary, name } = this.#lab;
        this.#labSelect.value = name;
        this.#panelSelect.replaceChildren(
            ...panels.map(({ id, title }) => element("option", { value: id }, `${id}: ${title}`)),
        );
        this.#panelSelect.value = this.#panel.id;
        find(document, "#summary", HTMLElement).textContent = summary;
        this.#fields.replaceChildren(element("legend", { className: "hidden" }, said.parameters));
        return makeControls(this.#fields, "set", this.#params(), initial, () => this.#changed());
    }

    /**
     * The parameters with the panel's values as defaults; not the one that is its axis, none that is
     * idle, and no choice that it makes: another choice is another panel. What asks for patience comes
     * first.
     */
    #params(): Param[] {
        const { fixed } = this.#panel;
        const shown = this.#lab.params.filter(
            ({ name, type }) => isTaken(this.#panel, name) && !(type === "choice" && name in fixed),
        );
        const ordered = [
            ...shown.filter(({ name }) => name === "trials"),
            ...shown.filter(({ name }) => name !== "trials"),
        ];
        return ordered.map(
            (param) => ({ ...param, default: fixed[param.name] ?? param.default }) as Param,
        );
    }

    #input(name: string): HTMLElement {
        return find(this.#fields, `#set-${name}`, HTMLElement);
    }

    #show(input: HTMLElement, problem: string | null): void {
        const control = input.closest(".control") ?? this.#fields;
        let line = control.querySelector<HTMLElement>(".problem");
        if (!line) control.append((line = element("p", { className: "problem", role: "alert" })));
        if (problem === null) input.removeAttribute("aria-invalid");
        else input.setAttribute("aria-invalid", "true");
        showLine(line, problem);
    }
}

function valueProblem(param: Param, value: Value | undefined, input: HTMLElement): string | null {
    if (param.type === "choice" || param.type === "boolean") return null;
    if (input instanceof HTMLInputElement && input.validity.badInput) return said.noNumber;
    const number = Number(value);
    if (param.automatic !== null && number === 0) return null;
    if (!(number >= param.min && number <= param.max)) {
        return said.isOutside(tick(number), tick(param.min), tick(param.max));
    }
    if (param.type === "integer" && !Number.isInteger(number)) {
        return said.notWhole(tick(number));
    }
    return null;
}

function seedProblem(text: string): string | null {
    if (!/^\d+$/.test(text)) return said.wrongSeed;
    return BigInt(text) > largestSeed ? said.largestSeed(largestSeed) : null;
}
