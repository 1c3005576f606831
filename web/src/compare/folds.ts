/** What is folded away below the panels: costs, streams, heads side by side, lines between tokens. */

import { Costs } from "../cost/costs";
import type { LengthPoint } from "../cost/lengths";
import type { Engine } from "../engine/engine";
import type { InputPanel, View } from "../input/input";
import type { Findings } from "./lines";
import { Heads } from "../look/heads";
import { HeadView } from "../look/headview";
import type { Panels } from "./panels";
import type { Pin } from "../row/place";
import type { Link } from "../state/state";
import { Streaming, type Scene } from "../streaming/streaming";
import type { Label } from "../dom/terms";
import type { Summary, Values } from "../state/types";

interface Around {
    engine: Engine;
    reference: string;
    label: Label;
    panels(): Panels;
    input(): InputPanel;
    /** Of the input; null: there is none. */
    summary(): Summary | null;
    onView(view: View): void;
    onPin(pin: Pin): void;
    onSettings(): void;
    /** What was made of what is shown is of something else now. */
    onStale(): void;
}

type Settings = Pick<Link, "costs" | "streaming" | "token" | "heads" | "strands">;

export class Folds {
    #around: Around;
    #costs: Costs;
    #streaming: Streaming;
    #heads: Heads;
    #strands: HeadView;

    constructor(around: Around) {
        this.#around = around;
        const { engine, reference, label, onSettings, onView, onPin } = around;
        const backends = () => around.panels().all.map(({ id }) => id);
        const count = (onPoint: (point: LengthPoint) => void) => this.#count(onPoint);
        this.#costs = new Costs({
            ...{ reference, label, backends, count, onSettings },
            now: () => around.panels().changed,
            known: (told) => around.panels().known(told),
            retry: (candidates, onTried) => {
                return engine.retry(candidates, around.input().problem, onTried);
            },
        });
        this.#streaming = new Streaming(() => this.#scene(), label, onSettings);
        this.#heads = new Heads({
            shape: () => around.summary()?.shape ?? null,
            backends,
            work: (id) => engine.workOf(id),
            view: () => around.input().view,
            batchName: () => around.input().batchName,
            onView,
            onSettings,
        });
        this.#strands = new HeadView({
            tokens: () => around.summary()?.tokens ?? null,
            backends,
            grid: (id) => around.panels().gridOf(id),
            onPin,
            onSettings,
        });
    }

    /** As a link says, once there are panels. */
    set({ costs, streaming, token, heads, strands }: Settings): void {
        this.#costs.settings = costs;
        this.#streaming.set(streaming, token);
        this.#heads.set(
            heads,
            this.#around.panels().all.map(({ id }) => id),
        );
        this.#strands.set(strands);
    }

    get settings(): Settings {
        return {
            costs: this.#costs.settings,
            streaming: this.#streaming.isOpen,
            token: this.#streaming.token,
            heads: this.#heads.open,
            strands: this.#strands.open,
        };
    }

    note(backend: string, params: Values, findings: Findings): void {
        this.#costs.note(backend, params, findings);
    }

    /** A backend has other parameters. */
    outdate(): void {
        this.#around.onStale();
        this.#costs.outdate();
        this.#streaming.clear();
        this.#heads.clear();
        this.#strands.outdate();
    }

    /** The input or the problem is another: nothing that was tried and played is of it. */
    clear(): void {
        this.#around.onStale();
        this.#costs.clear();
        this.#streaming.clear();
        this.#heads.clear();
        this.#strands.outdate();
    }

    /** Nothing else is under way any more. */
    refresh(): void {
        this.#costs.refresh();
        this.#streaming.refresh();
        this.#heads.refresh();
        this.#strands.refresh();
    }

    /** Another batch or head is shown. */
    refreshView(): void {
        this.#around.onStale();
        this.#streaming.clear();
        this.#streaming.refresh();
        this.#heads.mark();
        this.#strands.outdate();
    }

    /** A panel's picture is another. */
    refreshPictures(): void {
        this.#strands.refresh();
    }

    /** The page's colours are others. */
    paint(): void {
        this.#heads.paint();
    }

    /** What lengths cost with the dimension, problem and parameters of now. */
    #count(onPoint: (point: LengthPoint) => void): Promise<void> {
        const { engine, summary, input, panels } = this.#around;
        const { dim, problem } = input();
        const setting = { dim: summary()?.shape.dim ?? dim, problem };
        return engine.lengths(panels().candidates, setting, onPoint);
    }

    #scene(): Scene | null {
        const { engine, summary, input, panels } = this.#around;
        const { view, problem } = input();
        const player = engine.player(view, problem, panels().candidates);
        const shown = summary();
        return player && shown && { player, input: shown };
    }
}
