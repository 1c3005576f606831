import type { Backend } from "libattn";
import type { Cell } from "../map/drawing";
import type { Engine } from "../engine/engine";
import type { Findings, Line } from "../compare/lines";
import type { Pin } from "../row/place";
import type { Label, Term } from "../dom/terms";
import type { Grid, Problem } from "../state/types";
import type { Viewport, Zoom } from "../zoom/zoom";
import type { Panel } from "./panel";

/** What a panel needs from the page around it. */
export interface Surroundings {
    engine: Engine;
    problem(): Problem;
    view(): { batch: number; head: number };
    /** What pictures show of the view. */
    viewport(): Viewport | null;
    zoom: Pick<Zoom, "by" | "move" | "all">;
    tokens(): string[] | null;
    /** Is it the backend whose weights a difference is taken from? */
    isReference(backend: string): boolean;
    /** Those weights, where they are known. */
    reference(): Grid | null;
    commandLine(panel: Panel): string;
    /**
     * The panel's picture changed: colours are shared, so all may have to be drawn again. Resolves when they are:
     * what is computed after it does not hold it up.
     */
    onPicture(): Promise<void>;
    /** A panel has found numbers, which are to be drawn by drawNumbers(), or errors of rows. */
    onNumbers(): void;
    showsDifference(): boolean;
    /** A label that explains itself. */
    term(line: Line, backend: Backend): Node;
    /** The same of any words. */
    label: Label;
    /** What is no label explains itself, too. */
    explain(whole: HTMLElement, term: Term): void;
    /** The query that is looked at closely. */
    pin(): Pin | null;
    onPin(pin: Pin): void;
    /** The same of a row of this batch and head. */
    onRow(view: { batch: number; head: number }, pin: Pin): void;
    /** There are numbers. */
    onFindings(panel: Panel, findings: Findings): void;
    onSettings(): void;
    /** The panel takes the large place. */
    onEnlarge(panel: Panel): void;
    isLarge(panel: Panel): boolean;
    onPoint(cell: Cell | null): void;
    onProgress(): void;
    /** Everything is computed, or failed, but for the time a run takes. */
    onSolved(): void;
}
