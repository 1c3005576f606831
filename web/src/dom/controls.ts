/** Controls made from what a backend declares of its parameters. */

import type { BooleanParam, ChoiceParam, NumberParam, Param, PlanFact } from "libattn";
import { element } from "./dom";
import { short } from "./format";
import type { Value, Values } from "../state/types";
import { sliderScale } from "./scale";
import { words } from "../words/words";

const { panel } = words;
const mainOnes = 4; // backends declare what matters most first

/** One parameter's control. */
interface Control {
    param: Param;
    element: HTMLElement;
    value(): Value;
    set(value: Value): void;
    /** Show what "automatic" became; called with the plan's facts. */
    reflect(facts: readonly PlanFact[]): void;
}

export interface Controls {
    /** Every parameter's value. */
    values(): Values;
    /** Only those that differ from the default. */
    changed(): Values;
    /** Parameters without a value get their defaults. */
    set(values: Values): void;
    reflect(facts: readonly PlanFact[]): void;
}

/** Fill `root` with controls, set to `initial` where that has a value: the main ones, and the others folded away. */
export function makeControls(
    root: HTMLElement,
    prefix: string,
    params: readonly Param[],
    initial: Values,
    onChange: () => void,
): Controls {
    const changes = () => {
        further?.tell();
        onChange();
    };
    const controls = params.map((param) => {
        const id = `${prefix}-${param.name}`;
        return make(param, id, initial[param.name] ?? param.default, changes);
    });
    const rest = controls.slice(mainOnes);
    const further = rest.length > 1 ? furtherOnes(rest) : null;
    const shown = further ? controls.slice(0, mainOnes) : controls;
    root.append(...shown.map((control) => control.element));
    if (further) root.append(further.element);

    const pick = (wanted: Control[]) =>
        Object.fromEntries(wanted.map((control) => [control.param.name, control.value()]));
    return {
        values: () => pick(controls),
        changed: () => pick(controls.filter(isChanged)),
        set(values) {
            controls.forEach(({ param, set }) => set(values[param.name] ?? param.default));
            further?.tell();
        },
        reflect: (facts) => controls.forEach((control) => control.reflect(facts)),
    };
}

function isChanged({ param, value }: Control): boolean {
    return value() !== param.default;
}

/** Controls in a fold that says how many there are, and how many of them are not as by default. */
function furtherOnes(controls: Control[]): { element: HTMLElement; tell(): void } {
    const summary = element("summary");
    const tell = () => {
        const changed = controls.filter(isChanged).length;
        summary.textContent = panel.further(controls.length, changed);
    };
    tell();
    const elements = controls.map((control) => control.element);
    return { element: element("details", { className: "further" }, summary, ...elements), tell };
}

function make(param: Param, id: string, initial: Value, onChange: () => void): Control {
    if (param.type === "choice") return choice(param, id, String(initial), onChange);
    if (param.type === "boolean") return boolean(param, id, isOn(initial), onChange);
    return slider(param, id, Number(initial), onChange);
}

function isOn(value: Value): boolean {
    return value === true || value === 1 || value === "1" || value === "true";
}

function choice(param: ChoiceParam, id: string, initial: string, onChange: () => void): Control {
    const select = element("select", { id, onchange: onChange });
    select.append(...param.choices.map((name) => element("option", {}, name)));
    const set = (value: Value) => {
        select.value = String(value);
        if (select.selectedIndex < 0) select.value = param.default;
    };
    set(initial);
    return {
        param,
        element: row(param, id, select),
        value: () => select.value,
        set,
        reflect: () => undefined,
    };
}

function boolean(param: BooleanParam, id: string, initial: boolean, onChange: () => void): Control {
    const box = element("input", { id, type: "checkbox", checked: initial, onchange: onChange });
    return {
        param,
        element: row(param, id, box),
        value: () => box.checked,
        set: (value) => (box.checked = isOn(value)),
        reflect: () => undefined,
    };
}

function slider(param: NumberParam, id: string, initial: number, onChange: () => void): Control {
    const scale = sliderScale(param);
    const range = element("input", { type: "range", min: "0", max: String(scale.steps) });
    const number = element("input", {
        id,
        type: "number",
        min: String(param.min),
        max: String(param.max),
        step: param.type === "integer" ? "1" : "any",
    });
    range.setAttribute("aria-label", panel.slider(param.label));
    let value = param.default;

    const isAutomatic = () => param.automatic !== null && value === 0;
    const show = () => {
        range.value = String(scale.positionOf(value));
        number.value = isAutomatic() ? "" : String(value);
        range.setAttribute("aria-valuetext", isAutomatic() ? number.placeholder : String(value));
    };
    const set = (wanted: Value) => {
        const number = Number(wanted);
        value = Number.isFinite(number) ? number : param.default;
        show();
    };
    range.oninput = () => {
        value = scale.valueAt(Number(range.value));
        show();
        onChange();
    };
    number.oninput = () => {
        const typed = number.value === "" ? NaN : Number(number.value);
        if (Number.isNaN(typed) && (param.automatic === null || number.validity.badInput)) return;
        value = Number.isNaN(typed) ? 0 : typed;
        range.value = String(scale.positionOf(value));
        onChange();
    };
    number.onblur = show;
    if (param.automatic !== null) number.placeholder = panel.auto;
    set(initial);

    return {
        param,
        element: row(param, id, range, number),
        value: () => value,
        set,
        reflect(facts) {
            if (param.automatic === null) return;
            const chosen = facts.find((fact) => fact.name === param.name)?.value;
            const text = typeof chosen === "number" ? short(chosen, 6) : chosen;
            const told = isAutomatic() && text ? `${panel.auto} (${text})` : panel.auto;
            if (number.placeholder === told) return; // as it is written there
            number.placeholder = told;
            if (isAutomatic()) show();
        },
    };
}

/** Label, control and one line of help that the control is described by. */
function row(param: Param, id: string, ...inputs: HTMLElement[]): HTMLElement {
    const automatic = param.automatic ? `; ${panel.automatic(param.automatic)}` : "";
    const help = element("p", { id: `${id}-help`, className: "help" }, param.help + automatic);
    for (const input of inputs) input.setAttribute("aria-describedby", help.id);
    const unit = param.unit ? ` (${param.unit})` : "";
    const label = element("label", { htmlFor: id }, param.label + unit);
    const holder = element("div", { className: "inputs" }, ...inputs);
    return element("div", { className: `control ${param.type}` }, label, holder, help);
}
