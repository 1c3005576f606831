/**
 * What the page computes, by the library in its worker. The worker holds all arrays: the input, and the
 * latest output of each backend.
 */

import type { Backend } from "libattn";
import { init, type Attn, type Plan, type Tensor } from "libattn/worker";
import { inputFromFiles, inputFromText, release, type Input } from "./arrays";
import { timeByTurns } from "./measure";
import { emptyGrid, poolRow } from "./pool";
import type {
    Accuracy,
    ArrayFile,
    Grid,
    Numbers,
    Problem,
    Role,
    Shape,
    Summary,
    Timing,
    Values,
} from "./types";

/** The latest computation of one backend. */
interface Session {
    input: Input;
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
    #input: Input | null = null;
    #inputs = new Set<Input>(); // that the worker holds
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
        return this.#use(inputFromText(await this.#attn, text, dim));
    }

    async useFiles(files: Record<Role, ArrayFile>): Promise<Summary> {
        return this.#use(inputFromFiles(await this.#attn, files));
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
            const { query, key, value, shape } = session.input;
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
        const { query, key, shape } = session.input;
        const { queries, keys } = shape;
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
        const { query, key, value, shape } = session.input;
        const stride = errorStride(shape);
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
        const runs = [...this.#sessions].flatMap(([id, { input, solved }]) => {
            if (!solved) return [];
            names.push(id);
            const { query, key, value } = input;
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
        this.#inputs.add(input);
        if (asked === this.#asked) this.#input = input;
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
        const session = { input: this.#input, solved: null, end: new AbortController() };
        this.#sessions.set(backend, session);
        this.#sweep();
        return session;
    }

    /** Gives back inputs that nothing is computed on any more. */
    #sweep(): void {
        const used = new Set([this.#input]);
        for (const { input } of this.#sessions.values()) used.add(input);
        for (const input of this.#inputs) {
            if (used.has(input)) continue;
            this.#inputs.delete(input);
            release(input);
        }
    }
}

/** A session's plan, and a place for its output. */
async function prepare(
    attn: Attn,
    session: Session,
    backend: string,
    { causal, scale }: Problem,
    params: Values,
): Promise<{ plan: Plan; out: Tensor }> {
    const { shape } = session.input;
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
