/** The fields of the problem's rules. */

import { find, showLine } from "../dom";
import { parseRuns, ruleNames, runsText, type Rules } from "./rules";

/** Rules of one number each, whose field has their name. */
const numbers = ["softcap", "alibi", "sink", "length"] as const;
const sides = ["left", "right"] as const;

export class RuleFields {
    #root = find(document, "#rules", HTMLDetailsElement);
    #problem = find(document, "#rules-problem", HTMLElement);

    constructor(onChange: () => void) {
        this.#root.addEventListener("input", () => {
            this.#tell();
            onChange();
        });
    }

    /** As they stand; what is no rule is none. */
    get values(): Rules {
        const rules: Rules = {};
        for (const name of numbers) {
            const value = this.#number(name);
            if (value !== null) rules[name] = value;
        }
        const [left, right] = sides.map((side) => this.#number(side));
        if (left !== null || right !== null) rules.window = [left ?? -1, right ?? -1];
        const hidden = parseRuns(this.#field("hidden").value);
        if (hidden?.length) rules.hidden = hidden;
        return rules;
    }

    /** Rules that are not given are none. */
    set(rules: Rules): void {
        for (const name of numbers) this.#field(name).value = String(rules[name] ?? "");
        sides.forEach((side, i) => {
            const keys = rules.window?.[i] ?? -1;
            this.#field(side).value = keys < 0 ? "" : String(keys);
        });
        this.#field("hidden").value = rules.hidden ? runsText(rules.hidden) : "";
        this.#tell();
        if (this.#count > 0) this.#root.open = true;
    }

    /** Those that a link has, where the reader has not changed anything by now. */
    fill(rules: Rules): void {
        const fields = [...this.#root.querySelectorAll("input")];
        if (fields.every(({ value, defaultValue }) => value === defaultValue)) this.set(rules);
    }

    get #count(): number {
        const { values } = this;
        return ruleNames.filter((name) => values[name] !== undefined).length;
    }

    /** Say how many there are, and what is none. */
    #tell(): void {
        const count = this.#count;
        find(this.#root, "summary span", HTMLElement).textContent = count > 0 ? ` (${count})` : "";
        const field = this.#field("hidden");
        const isWrong = parseRuns(field.value) === null;
        field.ariaInvalid = String(isWrong);
        showLine(
            this.#problem,
            isWrong ? `“${field.value}”: keys are numbers and ranges, such as 0, 4-9` : null,
        );
    }

    #number(name: string): number | null {
        const value = this.#field(name).valueAsNumber;
        return Number.isNaN(value) ? null : value;
    }

    #field(name: string): HTMLInputElement {
        return find(this.#root, `[name=${name}]`, HTMLInputElement);
    }
}
