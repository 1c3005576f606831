/** What the steps of the story draw, by their names, and what they say of it. */

import type { Backend } from "libattn";
import { lengthsFigure } from "../cost/figures";
import { extrapolate, valueAtLength, type Candidate, type LengthPoint } from "../cost/lengths";
import { element } from "../dom/dom";
import { bytes, short, significant } from "../dom/format";
import type { Held } from "../engine/held";
import { seriesColour } from "../dom/plot";
import { presetOf } from "../presets/list";
import type { Settings } from "../state/state";
import type { Table } from "../take/menu";
import type { Problem } from "../state/types";
import { bars, type Bars } from "./bars";
import type { Library, Row } from "./library";
import { words } from "../words/words";

const { story: said } = words;

/** What a step draws from. */
export interface Scene {
    library: Library;
    backends: readonly Backend[];
    settings: Settings;
    /** The text's vectors. */
    held: Held;
    /** The token that asks. */
    query: number;
    /** Pixels. */
    width: number;
    signal: AbortSignal;
}

export interface Drawn {
    figure: Element;
    words: (Node | string)[];
    /** What the figure shows. */
    table: Table;
}

export type Step = (scene: Scene) => Promise<Drawn>;

/** What all steps have that depend on the text. */
export const textSteps: Record<string, Step> = {
    scores: async (scene) => {
        const { dots } = await textRow(scene, "softmax");
        const scale = scaleOf(scene);
        const scores = dots.map((dot) => scale * dot);
        const seen = scores.subarray(0, scene.settings.causal ? scene.query + 1 : undefined);
        const best = largest(seen);
        return {
            figure: barsOf(scene, { label: said.score, behind: null, values: scores }, "softmax"),
            table: keyTable(scene, aboutRow(scene, "softmax"), { score: scores }),
            words: [said.highest(token(scene, best)), number(seen[best]), "."],
        };
    },

    shares: async (scene) => {
        const { weights } = await textRow(scene, "softmax");
        const best = largest(weights);
        const few = topCount(weights, 0.9);
        return {
            figure: barsOf(scene, { label: said.share, behind: null, values: weights }, "softmax"),
            table: keyTable(scene, aboutRow(scene, "softmax"), { weight: weights }),
            words: [said.largest(token(scene, best)), number(weights[best]), said.nineTenths(few)],
        };
    },

    sparse: async (scene) => {
        const row = await textRow(scene, "sparse");
        const { queries, keys } = scene.held.input.shape;
        const { causal } = scene.settings;
        const all = causal ? (queries * (queries + 1)) / 2 : queries * keys;
        const [of, left] = said.pairs(all);
        const kept = row.pairs === null ? [] : [of, whole(row.pairs), left];
        return { ...comparedRow(scene, row, "sparse"), words: [...kept, ...off(row)] };
    },

    linear: async (scene) => {
        const row = await textRow(scene, "linear");
        return { ...comparedRow(scene, row, "linear"), words: off(row) };
    },

    sketch: async (scene) => {
        const row = await textRow(scene, "sketch");
        return { ...comparedRow(scene, row, "sketch"), words: off(row) };
    },

    costs: async (scene) => {
        const { library, backends, settings, signal, width } = scene;
        const { dim, causal, costs } = settings;
        const candidates = backends.map(({ id }) => candidateOf(settings, id));
        const points = await library.costs(candidates, dim, { causal, scale: null }, signal);
        const ids = backends.map(({ id }) => id);
        const figure = lengthsFigure(points, [], ids, "flops", costs.length, width);
        const lines = ids.map((id) => extrapolate(points.filter((point) => point.backend === id)));
        const at = (i: number, quantity: "flops" | "memory") =>
            valueAtLength(lines[i] ?? [], quantity, costs.length);
        const rows = backends.map(({ name }, i) => [
            name,
            number(at(i, "flops") ?? NaN),
            element("span", {}, bytes(Math.round(at(i, "memory") ?? NaN))),
        ]);
        const shown = table([said.attention, said.operations, said.memory], rows);
        return { figure, words: [shown], table: costTable(points, settings) };
    },
};

/** What all steps have that show a preset: it breaks the backend, and not the others. */
export const presetSteps: Record<string, Step> = {
    needle: (scene) => broken(scene, "needle", "sparse"),
    saturated: (scene) => broken(scene, "saturated", "linear"),
    outliers: (scene) => broken(scene, "outliers", "sketch"),
};

async function broken(scene: Scene, id: string, backend: string): Promise<Drawn> {
    const { library, backends, signal } = scene;
    const preset = presetOf(id);
    if (!preset) throw new Error(`there is no preset ${id}`);
    const held = await library.ofPreset(id);
    const query = preset.pin?.query ?? 0;
    const rows = new Map<string, Row>();
    for (const { id: each } of backends) {
        const candidate = { backend: each, params: preset.params[each] ?? {} };
        rows.set(each, await library.row(held, candidate, preset.problem, query, signal));
    }
    const row = rows.get(backend);
    if (!row) throw new Error(`there is no backend ${backend}`);
    const lines = backends.map(({ id: each, name }) => [
        name,
        number(rows.get(each)?.error ?? NaN),
    ]);
    const params = preset.params[backend] ?? {};
    const about = { preset: id, backend, params, query, error: row.error };
    return {
        ...compared({ ...scene, held, query: NaN }, row, backend, about),
        words: [table([said.attention, said.howFar], lines)],
    };
}

// ---- rows ------------------------------------------------------------------------------------

export function problemOf({ causal, scale }: Settings): Problem {
    return { causal, scale };
}

export function candidateOf({ params }: Settings, backend: string): Candidate {
    return { backend, params: params.get(backend) ?? {} };
}

function textRow({ library, held, settings, query, signal }: Scene, backend: string): Promise<Row> {
    return library.row(held, candidateOf(settings, backend), problemOf(settings), query, signal);
}

function scaleOf({ settings, held }: Scene): number {
    return settings.scale ?? 1 / Math.sqrt(held.input.shape.dim);
}

function largest(values: ArrayLike<number>): number {
    let best = 0;
    for (let i = 1; i < values.length; i++) if ((values[i] ?? 0) > (values[best] ?? 0)) best = i;
    return best;
}

/** So many of the largest add up to `share`. */
function topCount(weights: Float32Array, share: number): number {
    let sum = 0;
    const sorted = [...weights].sort((one, other) => other - one);
    return 1 + sorted.findIndex((weight) => (sum += weight) >= share);
}

// ---- what is shown -----------------------------------------------------------------------------

function barsOf(
    scene: Scene,
    drawn: Pick<Bars, "label" | "behind" | "values">,
    backend: string,
): Element {
    const { tokens } = scene.held.input;
    const name = scene.backends.find(({ id }) => id === backend)?.name ?? backend;
    const best = largest(drawn.values);
    const most = tokens?.[best] ?? said.keyNumber(best);
    return bars(
        {
            ...drawn,
            name: said.bars(name, drawn.label, most),
            tokens,
            series: name,
            reference: scene.backends.find(({ id }) => id === "softmax")?.name ?? "softmax",
            colour: seriesColour(scene.backends.findIndex(({ id }) => id === backend)),
            marked: Number.isNaN(scene.query) ? null : scene.query,
        },
        scene.width,
    );
}

/** A row beside softmax's. */
function compared(
    scene: Scene,
    { weights, exact }: Row,
    backend: string,
    about: Table["about"],
): Pick<Drawn, "figure" | "table"> {
    return {
        figure: barsOf(scene, { label: said.share, behind: exact, values: weights }, backend),
        table: keyTable(scene, about, { weight: weights, softmax: exact }),
    };
}

function comparedRow(scene: Scene, row: Row, backend: string) {
    return compared(scene, row, backend, { ...aboutRow(scene, backend), error: row.error });
}

/** Of the text: enough to compute it again. */
export function aboutRow(scene: Scene, backend: string): Table["about"] {
    const { settings, query } = scene;
    const { params } = candidateOf(settings, backend);
    const { text, dim, causal } = settings;
    return { backend, params, text, dim, causal, scale: scaleOf(scene), query };
}

/** Numbers of each key, by what they are. */
function keyTable(
    { held }: Scene,
    about: Table["about"],
    numbers: Readonly<Record<string, ArrayLike<number>>>,
): Table {
    const { tokens, shape } = held.input;
    const rows = Array.from({ length: shape.keys }, (_, key) => {
        const own = Object.values(numbers).map((values) => values[key] ?? NaN);
        return [key, ...(tokens ? [tokens[key] ?? ""] : []), ...own];
    });
    return { columns: ["key", ...(tokens ? ["token"] : []), ...Object.keys(numbers)], rows, about };
}

function costTable(points: readonly LengthPoint[], { dim, causal }: Settings): Table {
    const rows = points.map(({ backend, params, length, flops, memory }) => {
        return [backend, JSON.stringify(params), length, flops, memory];
    });
    const columns = ["backend", "params", "tokens", "flops", "bytes"];
    return { columns, rows, about: { dim, causal } };
}

function off({ error }: Row): (Node | string)[] {
    const [before, behind] = said.off;
    return [before, number(error), behind];
}

function token({ held }: Scene, key: number): string {
    const text = held.input.tokens?.[key];
    return text === undefined ? said.keyNumber(key) : words.picture.quoted(text);
}

function number(value: number | undefined): HTMLElement {
    return element("data", { value: String(value) }, significant(value ?? NaN, 3));
}

function whole(value: number): HTMLElement {
    return element("data", { value: String(value) }, short(value));
}

function table(head: string[], rows: (Node | string)[][]): HTMLElement {
    const cells = (tag: "th" | "td", texts: (Node | string)[]) =>
        texts.map((text, i) => element(i === 0 ? "th" : tag, {}, text));
    return element(
        "table",
        { className: "streams" },
        element("thead", {}, element("tr", {}, ...cells("th", head))),
        element("tbody", {}, ...rows.map((row) => element("tr", {}, ...cells("td", row)))),
    );
}
