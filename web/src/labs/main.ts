/** The page of experiments: settings on one side, the figure that grows on the other. */

import "../shell/trusted"; // first: workers are started by what follows
import { lab, labs, type LabProgress } from "libattn-labs";
import { element, find, message } from "../dom/dom";
import { count, tick } from "../dom/format";
import { Hash } from "../state/hash";
import { Command } from "../panel/command";
import { start } from "../shell/start";
import { estimate, trialsOf } from "./estimate";
import { Form } from "./form";
import { legendItems } from "./legend";
import { inLanguage } from "./offering";
import { commandLine, readChoice, writeChoice, type Choice } from "./state";
import { Result } from "./result";
import { said } from "./words";

const mostWorkers = 8;
const manyTrials = 100_000; // are not begun before the reader knows how long they take
const workers = Math.max(1, Math.min(mostWorkers, navigator.hardwareConcurrency || 1));

async function open(): Promise<void> {
    start();
    const all = (await labs()).map(inLanguage);
    const result = new Result();
    const hash = new Hash();
    const command = new Command(find(document, ".command", HTMLDetailsElement));
    const form = new Form(all, readChoice(location.hash, all), changed);
    let running: AbortController | null = null;
    let isWarned = false; // of how long the present choice takes

    find(document, "#about", HTMLElement).textContent = said.atMost(count(workers, said.worker));
    find(document, "#settings", HTMLFormElement).onsubmit = (event) => {
        event.preventDefault();
        void run();
    };
    for (const selector of ["#run", "#defaults"]) button(selector).disabled = false;
    button("#stop").onclick = () => running?.abort();
    addEventListener("hashchange", () => location.reload()); // a link pasted over this one
    show(form.choice, command);
    result.begin(form.choice);

    /** The settings are others now: what is shown no longer is theirs. */
    function changed(): void {
        running?.abort();
        running = null; // nobody waits for its end
        isWarned = false;
        busy(false);
        const { choice } = form;
        hash.write(() => writeChoice(choice));
        show(choice, command);
        if (choice.panel !== result.panel) result.begin(choice);
        else result.outdate();
    }

    async function run(): Promise<void> {
        running?.abort();
        if (!form.check()) return form.showProblem();
        const { choice } = form;
        const controller = (running = new AbortController());
        const isLatest = () => running === controller;
        result.begin(choice);
        busy(true);
        const { signal } = controller;
        const left = estimate(choice, workers, signal).catch(() => null); // the run says what is wrong
        try {
            if (!isWarned && (trialsOf(choice) ?? 0) >= manyTrials) {
                const seconds = await left;
                signal.throwIfAborted();
                isWarned = true;
                return result.warn(trialsOf(choice) ?? 0, seconds);
            }
            void left.then((seconds) => isLatest() && result.estimate(seconds));
            const finished = await lab(choice.lab.name, choice.params, {
                panel: choice.panel.id,
                seed: BigInt(choice.seed),
                workers,
                signal,
                onProgress: (progress: LabProgress) => isLatest() && result.add(progress),
            });
            if (isLatest()) result.finish(finished);
        } catch (error) {
            if (!isLatest()) return;
            if (!signal.aborted) form.fail(message(error));
            result.stop(signal.aborted);
        } finally {
            if (isLatest()) {
                running = null;
                busy(false);
            }
        }
    }
}

function show(choice: Choice, command: Command): void {
    const { lab, panel } = choice;
    const { x, grid } = panel;
    find(document, "#title", HTMLElement).textContent = `${panel.id}: ${panel.title}`;
    find(document, "#plain", HTMLElement).textContent = panel.plain;
    find(document, "#claim", HTMLElement).textContent = panel.claim;
    find(document, "#criterion", HTMLElement).textContent = panel.criterion;
    for (const name of ["where", "ours"] as const) {
        const line = find(document, `#${name}`, HTMLElement);
        line.textContent = panel[name];
        if (line.parentElement) line.parentElement.hidden = panel[name] === null;
    }
    const points = count(grid.length, said.point);
    const ends = [tick(grid[0] ?? NaN), tick(grid.at(-1) ?? NaN)] as const;
    find(document, "#reference", HTMLElement).textContent =
        `${lab.reference}. ${said.grid(points, x.label, ...ends)}`;
    command.show(commandLine(choice));
    find(document, "#legend", HTMLElement).replaceChildren(...legendItems(panel));
}

function busy(isBusy: boolean): void {
    button("#stop").disabled = !isBusy;
    find(document, ".lab-result", HTMLElement).ariaBusy = String(isBusy);
}

function button(selector: string): HTMLButtonElement {
    return find(document, selector, HTMLButtonElement);
}

open().catch((error: unknown) => {
    const line = element("p", { className: "problem", role: "alert" }, message(error));
    find(document, "main", HTMLElement).replaceChildren(line);
});
