/**
 * What the page computes, by the library in its worker. The worker holds all arrays: the input, and the
 * latest output of each backend.
 */

import type { Backend } from "libattn";
import { init, type Attn, type Plan, type Tensor } from "libattn/worker";
import { timeByTurns } from "./measure";
import { emptyGrid, poolRow } from "./pool";
import { Source } from "./source/source";
import type {
    Accuracy,
    ArrayFile,
    Grid,
    Input,
    Numbers,
    Problem,
    Role,
    Shape,
    Summary,
    Timing,
    Values,
} from "./types";

/** An input whose arrays the worker holds, each once. */
interface Held {
    input: Input;
    query: Tensor;
    key: Tensor;
    value: Tensor;
}

/** The latest computation of one backend. */
interface Session {
    held: Held;
    /** What is computed by it, once it is there. */
    solved: { plan: Plan; out: Tensor } | null;
    /** Aborted when a newer one begins. */
    end: AbortController;
}

const errorWork = 2 ** 27; // multiplications that an error may cost: about half a second
const chunk = 1 << 19; // weights computed before newer requests get their turn

/**
 * solve() begins a computation for a backend; heatmap() and error() continue the latest one. Each
 * resolves to null when a newer solve() of that backend has made it stale. time() times the latest
 * computations of all backends, and resolves to null after any newer call of it or of solve().
 */
export class Engine {
    #attn: Promise<Attn> = init();
    #source = new Source();
    #input: Held | null = null;
    #inputs = new Set<Held>();
    #asked = 0; // inputs asked for
    #sessions = new Map<string, Session>();
    #timing = new AbortController();

    async start(): Promise<{ version: string; build: string; tier: string; backends: Backend[] }> {
        const attn = await this.#attn;
        const { version, build, tier } = attn;
        return { version, build, tier, backends: attn.backends() };
    }

    async useText(text: string, dim: number): Promise<Summary> {
        this.#input = null; // the text that there was is no more, whatever comes
        return this.#use(this.#source.text(text, dim));
    }

    async useFiles(files: Record<Role, ArrayFile>): Promise<Summary> {
        return this.#use(this.#source.files(files));
    }

    /** The backends that a plugin, a .wasm file, brings. */
    async loadPlugin({ name, bytes }: ArrayFile): Promise<Backend[]> {
        const attn = await this.#attn;
        const plugin = await attn.loadPlugin(bytes, { name });
        return attn.backends().filter(({ id }) => plugin.backends.includes(id));
    }

    async solve(backend: string, problem: Problem, params: Values): Promise<Numbers | null> {
        const session = this.#begin(backend);
        return unlessEnded(session.end, async () => {
            const attn = await this.#attn;
            const { plan, out } = await prepare(attn, session, backend, problem, params);
            const { query, key, value } = session.held;
            const { shape } = session.held.input;
            const { signal } = session.end;
            const { degenerateRows } = await plan.run({ query, key, value, out, signal });
            const { cost, workspaceBytes, kernel, facts } = plan;
            const pairs = shape.batch * shape.heads * shape.queries * shape.keys;
            return {
                flops: cost && cost.flops,
                kept: cost && cost.pairs / pairs,
                form: cost && cost.form,
                ...{ workspaceBytes, kernel, facts, degenerateRows },
                nonfinite: await attn.countNonfinite(out),
            };
        });
    }

    async heatmap(backend: string, batch: number, head: number): Promise<Grid | null> {
        const session = this.#sessions.get(backend);
        if (!session?.solved) return null;
        const { plan } = session.solved;
        const { query, key } = session.held;
        const { queries, keys } = session.held.input.shape;
        return unlessEnded(session.end, async () => {
            const { signal } = session.end;
            const grid = emptyGrid(queries, keys);
            const step = Math.max(1, Math.floor(chunk / (keys * grid.rowsPerCell)));
            for (let row = 0; row < grid.rows; row += step) {
                const first = row * grid.rowsPerCell;
                const count = Math.min(step * grid.rowsPerCell, queries - first);
                const part = { query, key, batch, head, first, count };
                fillRows(grid, row, await plan.weights({ ...part, signal }));
            }
            return grid;
        });
    }

    async error(backend: string): Promise<Accuracy | null> {
        const session = this.#sessions.get(backend);
        if (!session?.solved) return null;
        const { plan, out } = session.solved;
        const { query, key, value } = session.held;
        const stride = errorStride(session.held.input.shape);
        return unlessEnded(session.end, async () => {
            const { signal } = session.end;
            const error = await plan.error({ query, key, value, out, stride, signal });
            return { error, stride };
        });
    }

    async time(): Promise<Record<string, Timing | undefined> | null> {
        this.#timing.abort();
        const end = (this.#timing = new AbortController());
        const { signal } = end;
        const names: string[] = [];
        const runs = [...this.#sessions].flatMap(([id, { held, solved }]) => {
            if (!solved) return [];
            names.push(id);
            const { query, key, value } = held;
            const arrays = { query, key, value, out: solved.out, signal };
            return async (repeats: number) =>
                (await solved.plan.run({ ...arrays, repeats })).milliseconds;
        });
        const timings = await unlessEnded(end, () => timeByTurns(runs));
        return timings && Object.fromEntries(names.map((id, i) => [id, timings[i]]));
    }

    /** The input that is asked for last is the one to compute on. */
    async #use(coming: Promise<Input>): Promise<Summary> {
        const asked = ++this.#asked;
        const input = await coming;
        const held = await hold(await this.#attn, input);
        this.#inputs.add(held);
        if (asked === this.#asked) this.#input = held;
        this.#sweep();
        const { shape, tokens, nonfinite } = input;
        return { shape, tokens, nonfinite };
    }

    /** Start anew for a backend: whatever was under way for it is stale from now on. */
    #begin(backend: string): Session {
        if (!this.#input) throw new Error("there is no input");
        this.#timing.abort();
        const old = this.#sessions.get(backend);
        old?.end.abort();
        if (old?.solved) discard(old.solved);
        const session = { held: this.#input, solved: null, end: new AbortController() };
        this.#sessions.set(backend, session);
        this.#sweep();
        return session;
    }

    /** Gives back inputs that nothing is computed on any more. */
    #sweep(): void {
        const used = new Set([this.#input]);
        for (const { held } of this.#sessions.values()) used.add(held);
        for (const held of this.#inputs) {
            if (used.has(held)) continue;
            this.#inputs.delete(held);
            for (const tensor of [held.query, held.key, held.value]) tensor.dispose();
        }
    }
}

async function hold(attn: Attn, input: Input): Promise<Held> {
    const query = await attn.tensor(input.query);
    const key = input.key === input.query ? query : await attn.tensor(input.key);
    const value = input.value === input.query ? query : await attn.tensor(input.value);
    return { input, query, key, value };
}

/** A session's plan, and a place for its output. */
async function prepare(
    attn: Attn,
    session: Session,
    backend: string,
    { causal, scale }: Problem,
    params: Values,
): Promise<{ plan: Plan; out: Tensor }> {
    const { shape } = session.held.input;
    const plan = await attn.plan({
        ...{ backend, ...shape, params },
        causal: causal && "top-left",
        ...(scale !== null && { scale }),
    });
    const out = await attn.tensor(shape.batch * shape.heads * shape.queries * shape.valueDim);
    const solved = { plan, out };
    if (session.end.signal.aborted) discard(solved);
    else session.solved = solved;
    return solved;
}

function discard({ plan, out }: { plan: Plan; out: Tensor }): void {
    plan.dispose();
    out.dispose();
}

/** What `body` promises; null, whatever comes of it, once it is stale. */
async function unlessEnded<T>(
    { signal }: AbortController,
    body: () => Promise<T>,
): Promise<T | null> {
    try {
        const result = await body();
        return signal.aborted ? null : result;
    } catch (error) {
        if (signal.aborted) return null;
        throw error;
    }
}

/** Rows of the grid from `row` on, from the weights of their queries. */
function fillRows(grid: Grid, row: number, weights: Float32Array): void {
    const perRow = grid.rowsPerCell * grid.keys;
    for (let start = 0; start < weights.length; start += perRow, row++) {
        poolRow(grid, row, weights.subarray(start, start + perRow));
    }
}

/** The smallest stride over the queries for which the error is not too much work. */
function errorStride({ batch, heads, queries, keys, dim, valueDim }: Shape): number {
    const work = batch * heads * queries * keys * (dim + valueDim);
    return Math.min(queries, Math.max(1, Math.ceil(work / errorWork)));
}
