/** How far the panels are, a button that stops them or goes on, and one sentence when they are done. */

import { find } from "./dom";
import { count, significant } from "./format";
import type { Panel, Step } from "./panel/panel";
import type { Summary } from "./types";

const words: Record<Step, string> = {
    picture: "pictures",
    output: "outputs",
    error: "errors",
    time: "times, by turns",
};
const order = Object.keys(words) as Step[];

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

    show(panels: readonly Panel[], input: Summary | null): void {
        const step = order.find((each) => panels.some((panel) => panel.step === each));
        const isBusy = step !== undefined;
        const isStopped = !isBusy && panels.some((panel) => panel.isStopped);
        this.#root.classList.toggle("idle", !isBusy && !isStopped);
        this.#button.textContent = isStopped ? "Go on" : "Stop";
        const done = panels.reduce((sum, { progress }) => sum + progress, 0);
        this.#bar.value = done / Math.max(1, panels.length);
        this.#button.disabled = isBusy && !input; // there is nothing to stop yet
        const doing = input ? `Computing ${words[step ?? "picture"]}` : "Reading";
        this.#words.textContent = isBusy ? doing : isStopped ? "Stopped" : "";
        if (this.#wasBusy && !isBusy) this.#status.textContent = sentence(panels, input);
        this.#wasBusy = isBusy;
    }
}

function sentence(panels: readonly Panel[], input: Summary | null): string {
    if (!input) return "Nothing is computed.";
    if (panels.some((panel) => panel.isStopped)) return "Stopped before all was computed.";
    const { queries, keys } = input.shape;
    const size = `${count(queries, "query", "queries")} by ${count(keys, "key")}`;
    const errors = panels.flatMap(({ id, error }) => {
        return error === null ? [] : `${id} ${significant(error, 2)}`;
    });
    const problems = panels.flatMap(({ id, problem }) => (problem ? `; ${id}: ${problem}` : []));
    return `Computed on ${size}, with the errors ${errors.join(", ") || "unknown"}${problems.join("")}.`;
}
