/** The fields of the problem's rules. */

import { find, message, setText, showLine } from "../dom/dom";
import { count } from "../dom/format";
import type { Shape } from "../state/types";
import { fits, type Mask } from "./mask";
import { readMask } from "./maskfile";
import { parseRuns, ruleNames, runsText, type Rules } from "./rules";
import { words } from "../words/words";

const { rules: told } = words;

/** Rules of one number each, whose field has their name. */
const numbers = ["softcap", "alibi", "sink", "length"] as const;
const sides = ["left", "right"] as const;

export class RuleFields {
    #root = find(document, "#rules", HTMLDetailsElement);
    #problem = find(document, "#rules-problem", HTMLElement);

    /** Of a file; null: there is none. */
    #mask: Mask | null = null;
    /** Why a file is none. */
    #wrongFile: string | null = null;
    #shape: Shape | null = null;
    #onChange: () => void;

    constructor(onChange: () => void) {
        this.#onChange = onChange;
        this.#root.addEventListener("input", ({ target }) => {
            if (target === this.#field("mask")) return void this.#read();
            this.#tell();
            onChange();
        });
        find(this.#root, "button", HTMLButtonElement).addEventListener("click", () => {
            this.#setMask(null);
            onChange();
        });
    }

    /** What a mask has to fit. */
    fit(shape: Shape): void {
        this.#shape = shape;
        this.#tell();
    }

    async #read(): Promise<void> {
        const field = this.#field("mask");
        const [file] = field.files ?? [];
        field.value = ""; // so that the same file can be chosen again
        if (!file) return;
        try {
            this.#setMask(await readMask(file));
        } catch (error) {
            this.#setMask(null, message(error));
        }
        this.#onChange();
    }

    #setMask(mask: Mask | null, wrong: string | null = null): void {
        this.#mask = mask;
        this.#wrongFile = wrong;
        this.#tell();
    }

    get #fitting(): Mask | null {
        const [mask, shape] = [this.#mask, this.#shape];
        return mask && (!shape || fits(mask, shape)) ? mask : null; // of what is to come nobody knows yet
    }

    /** What is wrong with the mask; null: nothing. */
    #wrongMask(): string | null {
        const [mask, shape] = [this.#mask, this.#shape];
        if (!mask || !shape || this.#fitting) return this.#wrongFile;
        const { batch, heads, queries, keys } = shape;
        const wanted = [batch, heads, queries, keys].join(", ");
        return told.doesNotFit(mask.name, mask.shape.join(", "), wanted);
    }

    /** As they stand; what is wrong, which is told, is none. */
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
        const mask = this.#fitting;
        if (mask) rules.mask = mask;
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
        this.#mask = rules.mask ?? null;
        this.#wrongFile = null;
        this.#tell();
        if (this.#count > 0 || !this.#problem.hidden) this.#root.open = true;
    }

    /** Those that a link has, where the reader has not changed anything by now. */
    fill(rules: Rules): void {
        const fields = [...this.#root.querySelectorAll("input")];
        if (fields.every(({ value, defaultValue }) => value === defaultValue)) this.set(rules);
    }

    get #count(): number {
        const { values } = this;
        const count = ruleNames.filter((name) => values[name] !== undefined).length;
        return count + Number(values.mask !== undefined);
    }

    /** Say how many there are, and what is wrong. */
    #tell(): void {
        const count = this.#count;
        const counted = find(this.#root, "summary span", HTMLElement);
        setText(counted, count > 0 ? ` (${count})` : "");
        const problems: string[] = [];
        const mask = find(this.#root, ".mask", HTMLElement);
        mask.hidden = !this.#mask;
        const { name = "", shape = [], isKept = false } = this.#mask ?? {};
        const named = this.#mask ? told.mask(name, shape.join(" × "), isKept) : "";
        setText(find(mask, "span", HTMLElement), named);
        const wrong = this.#wrongMask();
        if (wrong) problems.push(wrong);
        for (const field of this.#root.querySelectorAll("input")) {
            if (field.type === "file") continue;
            const problem = field.name === "hidden" ? wrongRuns(field) : wrongNumber(field);
            field.ariaInvalid = problem && "true";
            const line = problem ?? this.#fewerKeys(field.name);
            if (line) problems.push(line);
        }
        showLine(this.#problem, problems.join(" "));
    }

    /** What names keys behind the last does no harm, but the reader may have miscounted; null: nothing does. */
    #fewerKeys(name: string): string | null {
        const { length = 0, hidden = [] } = this.values;
        const named = { length, hidden: Math.max(0, ...hidden.map(([, last]) => last + 1)) }[name];
        const keys = this.#shape?.keys ?? Infinity;
        if (named === undefined || named <= keys) return null;
        return told.fewerKeys(this.#field(name).value, count(keys, words.nouns.key));
    }

    #number(name: string): number | null {
        const field = this.#field(name);
        const value = field.valueAsNumber;
        return Number.isNaN(value) || wrongNumber(field) ? null : value;
    }

    #field(name: string): HTMLInputElement {
        return find(this.#root, `[name=${name}]`, HTMLInputElement);
    }
}

function wrongRuns({ value }: HTMLInputElement): string | null {
    if (parseRuns(value)) return null;
    return told.wrongKeys(value);
}

/** What is wrong with the number in a field, by what the field says of itself; null: nothing. */
function wrongNumber({ validity, min, max, labels }: HTMLInputElement): string | null {
    if (validity.valid) return null;
    const label = labels?.[0]?.textContent.trim() ?? "";
    return told.wrongNumber(label, validity.stepMismatch, min, max);
}
