/** How far the panels are, a button that stops them or goes on, and one sentence when they are done. */

import { find, setText } from "../dom/dom";
import { count, significant } from "../dom/format";
import { steps } from "../panel/doing";
import type { Panel } from "../panel/panel";
import type { Summary } from "../state/types";
import { words } from "../words/words";

const { progress: told, nouns } = words;

const patience = 400; // milliseconds: what is done sooner needs no bar, which a browser would draw again and again
const pace = 100; // between two drawings of it

/** What is said of panels. */
interface State {
    isBusy: boolean;
    isStopped: boolean;
    /** From 0 to 1. */
    part: number;
    doing: string;
    /** There is something that Stop would stop. */
    isStoppable: boolean;
}

export class Progress {
    #root = find(document, "#progress", HTMLElement);
    #bar = find(this.#root, "progress", HTMLProgressElement);
    #words = find(this.#root, "span", HTMLElement);
    #button = find(this.#root, "button", HTMLButtonElement);
    #status = find(document, "#status", HTMLElement);
    #state: State | null = null;
    /** 0: the bar shows what there is to be seen. */
    #timer = 0;

    constructor(onStop: () => void, onGoOn: () => void) {
        this.#button.addEventListener("click", () => (this.#state?.isBusy ? onStop : onGoOn)());
        this.#root.classList.add("idle");
    }

    /** `input`: that is there; null: none is yet. `isReading`: is another one asked for? */
    show(panels: readonly Panel[], input: Summary | null, isReading: boolean): void {
        const wasBusy = this.#state?.isBusy ?? false;
        const { isBusy } = (this.#state = stateOf(panels, input, isReading));
        this.#root.ariaBusy = String(isBusy);
        if (!isBusy) this.#draw();
        else this.#timer ||= setTimeout(() => this.#draw(), this.#isSeen ? pace : patience);
        if (wasBusy && !isBusy) this.#status.textContent = sentence(panels, input);
    }

    get #isSeen(): boolean {
        return !this.#root.classList.contains("idle");
    }

    #draw(): void {
        clearTimeout(this.#timer);
        this.#timer = 0;
        if (!this.#state) return;
        const { isBusy, isStopped, part, doing, isStoppable } = this.#state;
        this.#root.classList.toggle("idle", !isBusy && !isStopped);
        setText(this.#button, isStopped ? told.goOn : told.stop);
        this.#button.disabled = isBusy && !isStoppable;
        if (this.#bar.value !== part) this.#bar.value = part;
        setText(this.#words, doing);
    }
}

function stateOf(panels: readonly Panel[], input: Summary | null, isReading: boolean): State {
    const step = steps.find((each) => panels.some((panel) => panel.step === each));
    const isBusy = isReading || step !== undefined;
    const isStopped = !isBusy && panels.some((panel) => panel.isStopped);
    const done = isReading ? 0 : panels.reduce((sum, { progress }) => sum + progress, 0);
    const isReadFirst = isReading || !input;
    const doing = isReadFirst ? told.reading : told.computing[step ?? "picture"];
    return {
        isBusy,
        isStopped,
        part: done / Math.max(1, panels.length),
        doing: isBusy ? doing : isStopped ? told.stopped : "",
        isStoppable: input !== null || isReading,
    };
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
