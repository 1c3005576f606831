/** How far the panels are, a button that stops them or goes on, and one sentence when they are done. */

import { find, setText } from "./dom";
import { count, significant } from "./format";
import { steps } from "./panel/doing";
import type { Panel } from "./panel/panel";
import type { Summary } from "./types";
import { words } from "./words/words";

const { progress: told, nouns } = words;

export class Progress {
    #root = find(document, "#progress", HTMLElement);
    #bar = find(this.#root, "progress", HTMLProgressElement);
    #words = find(this.#root, "span", HTMLElement);
    #button = find(this.#root, "button", HTMLButtonElement);
    #status = find(document, "#status", HTMLElement);
    #wasBusy = false;

    constructor(onStop: () => void, onGoOn: () => void) {
        this.#button.addEventListener("click", () => (this.#wasBusy ? onStop : onGoOn)());
        this.#root.classList.add("idle");
    }

    /** `input`: that is there; null: none is yet. `isReading`: is another one asked for? */
    show(panels: readonly Panel[], input: Summary | null, isReading: boolean): void {
        const step = steps.find((each) => panels.some((panel) => panel.step === each));
        const isBusy = isReading || step !== undefined;
        const isStopped = !isBusy && panels.some((panel) => panel.isStopped);
        this.#root.classList.toggle("idle", !isBusy && !isStopped);
        setText(this.#button, isStopped ? told.goOn : told.stop);
        const done = isReading ? 0 : panels.reduce((sum, { progress }) => sum + progress, 0);
        this.#bar.value = done / Math.max(1, panels.length);
        this.#button.disabled = isBusy && !input && !isReading; // there is nothing to stop yet
        const isReadFirst = isReading || !input;
        const doing = isReadFirst ? told.reading : told.computing[step ?? "picture"];
        setText(this.#words, isBusy ? doing : isStopped ? told.stopped : "");
        if (this.#wasBusy && !isBusy) this.#status.textContent = sentence(panels, input);
        this.#wasBusy = isBusy;
    }
}

function sentence(panels: readonly Panel[], input: Summary | null): string {
    if (!input) return told.nothing;
    if (panels.some((panel) => panel.isStopped)) return told.notAll;
    const { queries, keys } = input.shape;
    const sizes = [count(queries, nouns.query), count(keys, nouns.key)] as const;
    const errors = panels.flatMap(({ id, error }) => {
        return error === null ? [] : `${id} ${significant(error, 2)}`;
    });
    const problems = panels.flatMap(({ id, problem }) => (problem ? `; ${id}: ${problem}` : []));
    return `${told.done(...sizes, errors.join(", ") || told.unknown)}${problems.join("")}.`;
}
