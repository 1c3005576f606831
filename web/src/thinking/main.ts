/** The page of trained models: a question, the chain of thought that answers it, and its heads. */

import "../shell/trusted"; // first: workers are started by what follows
import type { Backend } from "libattn";
import { onTheme, readTheme } from "../map/colors";
import { dumpLine, quote } from "../input/command";
import { element, find, isAbort, message, showLine } from "../dom/dom";
import type { Cell } from "../map/drawing";
import { Engine } from "../engine/engine";
import { count, percent } from "../dom/format";
import { Hash } from "../state/hash";
import { drawLegend } from "../map/legend";
import { Command } from "../panel/command";
import { start } from "../shell/start";
import { modelScale } from "../source/scale";
import type { Thought } from "../source/trained";
import type { Table } from "../take/menu";
import { words } from "../words/words";
import { Chain, lastOf } from "./chain";
import { outcomes, type Outcome } from "./compute";
import { Heads } from "./heads";
import { Kept } from "./kept";
import { models, type Model } from "./models";
import { Player } from "./player";
import { readChoice, writeChoice, type Choice } from "./state";
import { View } from "./view";
import { said } from "./words";

class Page {
    #engine = new Engine();
    #backends: Backend[] = [];
    /** Of what is shown. */
    #choice = readChoice(location.hash);
    #thought: Thought | null = null;
    #outcomes: Outcome[] = [];
    #views = new Map<View, Outcome>();
    #theme = readTheme();
    #hash = new Hash();
    #command = new Command(find(document, ".command", HTMLDetailsElement));
    #asked = 0;
    #isLoading = false;
    #isComputing = false;
    #chain = new Chain((token) => {
        this.#player.go(token);
        this.#remember(true);
    });
    #heads = new Heads(
        (layer, head) => this.#choose(layer, head),
        () => this.#about(),
    );
    #kept = new Kept(() => this.#about());
    #player = new Player((token) => this.#read(token));
    #form = find(document, "#ask", HTMLFormElement);
    #model = find(document, "#model", HTMLSelectElement);
    #question = find(document, "#question", HTMLInputElement);

    async open(): Promise<void> {
        start();
        const { version, build, tier, backends } = await this.#engine.start();
        this.#backends = backends;
        this.#fill();
        this.#listen();
        find(document, "#about", HTMLElement).textContent = words.progress.about(
            version,
            build,
            tier,
        );
        await this.#think(this.#choice);
    }

    #fill(): void {
        const { model, question } = this.#choice;
        this.#model.append(...models.map(({ id, name }) => element("option", { value: id }, name)));
        this.#model.value = model.id;
        this.#question.value ||= question; // typed already, while the page loaded?
        find(document, "#think", HTMLButtonElement).disabled = false;
        this.#showModel(model);
    }

    #listen(): void {
        this.#form.onsubmit = (event) => {
            event.preventDefault();
            this.#ask(this.#chosen, this.#question.value);
        };
        this.#model.onchange = () => this.#ask(this.#chosen, this.#chosen.example);
        addEventListener("hashchange", () => location.reload()); // a link pasted over this one
        new ResizeObserver(() => this.#showKept()).observe(find(document, "#growth", HTMLElement));
        onTheme(() => {
            this.#theme = readTheme();
            this.#paint();
        });
    }

    get #chosen(): Model {
        return models.find(({ id }) => id === this.#model.value) ?? this.#choice.model;
    }

    #showModel({ asks }: Model): void {
        find(document, "#asks", HTMLElement).textContent = asks;
    }

    #ask(model: Model, question: string): void {
        this.#question.value = question;
        this.#showModel(model);
        void this.#think({ ...this.#choice, model, question, token: null });
    }

    /** `isStep`: Back leads to what is shown now. */
    #remember(isStep = false): void {
        const choice = this.#choice;
        this.#hash.write(() => writeChoice(choice), isStep);
    }

    /** Where that is no question, what is shown stays. */
    async #think(choice: Choice): Promise<void> {
        const asked = ++this.#asked;
        this.#hold(true);
        this.#isLoading = true;
        this.#showBusy();
        this.#fail(null);
        try {
            const thought = await this.#engine.useThought(choice.model.id, choice.question);
            if (!thought || asked !== this.#asked) return;
            const isStep = this.#thought !== null;
            this.#begin(thought, choice);
            if (isStep) this.#remember(true);
            void this.#compute(thought);
        } catch (error) {
            if (asked !== this.#asked || isAbort(error)) return;
            this.#fail(message(error));
            if (this.#thought) this.#hold(false);
            else this.#clear();
        }
        this.#isLoading = false;
        this.#showBusy();
    }

    async #compute(thought: Thought): Promise<void> {
        const isShown = () => thought === this.#thought;
        this.#isComputing = true;
        try {
            for await (const outcome of outcomes(this.#engine, this.#backends, thought)) {
                if (!isShown()) return;
                this.#add(outcome);
            }
        } catch (error) {
            if (isShown() && !isAbort(error)) this.#fail(message(error));
        }
        if (!isShown()) return;
        this.#isComputing = false;
        this.#showBusy();
    }

    /** What is shown stays until there is another thought, and chooses nothing for that. */
    #hold(isHeld: boolean): void {
        if (isHeld) this.#player.clear();
        else if (this.#thought) this.#play(this.#thought, this.#choice.token ?? Infinity);
        const buttons = document.querySelectorAll<HTMLButtonElement>(
            "#chain button, #heads button",
        );
        for (const button of buttons) button.disabled = isHeld;
    }

    /** null: it plays from the question's end on, where nothing moves by itself from its end. */
    #play(thought: Thought, token: number | null): void {
        const { question } = thought;
        const last = lastOf(thought);
        const isStill = matchMedia("(prefers-reduced-motion: reduce)").matches;
        const from = token ?? (isStill ? last : question);
        this.#player.set(Math.min(from, last), question, last, token === null && !isStill);
    }

    #begin(thought: Thought, choice: Choice): void {
        this.#clear();
        this.#thought = thought;
        this.#choice = choice;
        this.#showCommand();
        const { layers, heads, tests, answers, width, attention } = thought.about;
        const { layer, head, token } = this.#choice;
        this.#choice.layer = Math.min(layer, layers - 1);
        this.#choice.head = Math.min(head, heads - 1);
        this.#chain.show(thought);
        find(document, "#about-model", HTMLElement).textContent =
            said.model(
                count(layers, said.layers),
                count(heads, words.nouns.head),
                width,
                attention,
            ) + said.scored(percent(answers / tests), count(tests, said.tests));
        this.#play(thought, token);
    }

    #clear(): void {
        this.#thought = null;
        this.#showCommand();
        this.#outcomes = [];
        this.#views.clear();
        this.#chain.clear();
        this.#heads.show([], []);
        this.#player.clear();
        this.#kept.clear();
        find(document, "#views", HTMLElement).replaceChildren();
        find(document, "#about-model", HTMLElement).textContent = "";
    }

    #add(outcome: Outcome): void {
        const { backend, isOwn, made } = outcome;
        this.#outcomes.push(outcome);
        const title = isOwn ? said.own(backend.name) : backend.name;
        const tokens = this.#thought?.input.tokens ?? [];
        const about = () => {
            const { layer, head } = this.#choice;
            return { layer: layer + 1, head: head + 1, ...this.#about() };
        };
        const view = new View(title, made, tokens, (cell) => this.#point(cell), about);
        this.#views.set(view, outcome);
        find(document, "#views", HTMLElement).append(view.element);
        if (isOwn && typeof made !== "string") this.#heads.show(made.grids, tokens);
        this.#paint();
    }

    /** So many tokens are read now. */
    #read(token: number): void {
        const { token: before } = this.#choice;
        const isLast = this.#thought !== null && token === lastOf(this.#thought);
        this.#choice.token = isLast || this.#player.isPlaying ? null : token; // what passes is not chosen
        if (this.#choice.token !== before) this.#remember();
        this.#chain.read(token);
        this.#paint();
    }

    #choose(layer: number, head: number): void {
        this.#choice = { ...this.#choice, layer, head };
        this.#remember(true);
        this.#paint();
    }

    #paint(): void {
        const { layer, head } = this.#choice;
        const { token } = this.#player;
        this.#heads.choose(layer, head);
        this.#heads.paint(token, this.#theme);
        for (const [view, { made }] of this.#views) {
            const grid = typeof made === "string" ? undefined : made.grids[layer]?.[head];
            if (grid) view.show(grid, token, this.#theme);
        }
        find(document, "#views-title", HTMLElement).textContent = said.under(layer + 1, head + 1);
        const scale = { max: 1, signed: false, law: "shared", clipped: false } as const;
        drawLegend(find(document, "#legend", HTMLElement), scale, this.#theme);
        this.#showKept();
    }

    #point(cell: Cell | null): void {
        const inside = cell && cell.row < this.#player.token ? cell : null;
        for (const view of this.#views.keys()) view.point(inside, this.#player.token);
    }

    /** Of which thought, for files. */
    #about(): Table["about"] {
        const { model, question } = this.#choice;
        const { token } = this.#player;
        return { model: model.id, question, tokensRead: token, address: location.href };
    }

    #showKept(): void {
        this.#kept.show(this.#outcomes, this.#player.token);
    }

    #showCommand(): void {
        const { model, question } = this.#choice;
        const { task, attention } = model;
        const lines = [
            `attn lab solve ${task} ${quote(question)} --attention ${attention} --states`,
        ];
        if (this.#thought) {
            const scale = modelScale(this.#thought.input.shape.dim); // linear's own is another
            lines.push(
                dumpLine({ task, attention, text: question }),
                `attn compare --q q.npy --k k.npy --v v.npy --causal --scale ${scale}`,
            );
        }
        this.#command.show(lines.join("\n"));
    }

    #showBusy(): void {
        const isBusy = this.#isLoading || this.#isComputing;
        find(document, "main", HTMLElement).ariaBusy = String(isBusy);
    }

    #fail(reason: string | null): void {
        showLine(find(document, "#problem", HTMLElement), reason);
        this.#question.ariaInvalid = reason === null ? null : "true";
    }
}

new Page().open().catch((error: unknown) => {
    const line = element("p", { className: "problem", role: "alert" }, message(error));
    find(document, "main", HTMLElement).replaceChildren(line);
});
