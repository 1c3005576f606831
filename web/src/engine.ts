/** All computing happens here, so that the page never waits for it. */

import { expose, transfer } from "comlink";
import { init, type Attn, type Plan } from "libattn";
import { inputFromFiles, inputFromText, type Input } from "./arrays";
import { timeByTurns } from "./measure";
import { emptyGrid, poolRow } from "./pool";
import type { Engine, Grid, Numbers, Problem, Shape, Values } from "./protocol";

/** The latest computation of one backend. */
interface Session {
    input: Input;
    plan: Plan | null;
    out: Float32Array | null;
}

const errorWork = 2 ** 27; // multiplications that an error may cost: about half a second
const chunk = 1 << 19; // weights computed before newer requests get their turn

let attn: Attn;
let input: Input | null = null;
const sessions = new Map<string, Session>();
let era = 0; // of timings: what begins ends them

const engine: Engine = {
    async start() {
        attn = await init();
        const { version, build, tier } = attn;
        return { version, build, tier, backends: attn.backends() };
    },

    async useText(text, dim) {
        input = null; // the text that there was is no more, whatever comes
        return summary((input = inputFromText(attn, text, dim)));
    },

    async useFiles(files) {
        return summary((input = inputFromFiles(attn, files)));
    },

    async loadPlugin({ name, bytes }) {
        const plugin = await attn.loadPlugin(bytes, { name });
        return attn.backends().filter(({ id }) => plugin.backends.includes(id));
    },

    async solve(backend, problem, params) {
        const session = begin(backend);
        await turn();
        if (isStale(backend, session)) return null;
        const plan = (session.plan = makePlan(session.input, backend, problem, params));
        return solve(session, plan);
    },

    async heatmap(backend, batch, head) {
        const session = sessions.get(backend);
        if (!session?.plan) return null;
        const { queries, keys } = session.input.shape;
        const grid = emptyGrid(queries, keys);
        const step = Math.max(1, Math.floor(chunk / (keys * grid.rowsPerCell)));
        for (let row = 0; row < grid.rows; row += step) {
            fillRows(grid, row, Math.min(row + step, grid.rows), session, batch, head);
            await turn();
            if (isStale(backend, session)) return null;
        }
        return transfer(grid, [grid.cells.buffer]);
    },

    async error(backend) {
        const session = sessions.get(backend);
        await turn();
        if (!session?.plan || !session.out || isStale(backend, session)) return null;
        const { query, key, value, shape } = session.input;
        const stride = errorStride(shape);
        const error = session.plan.error({ query, key, value, out: session.out }, stride);
        return { error, stride };
    },

    async time() {
        const own = ++era;
        const solved = [...sessions].filter(([, { plan, out }]) => plan && out);
        const runs = solved.map(([, { plan, out, input: arrays }]) => () => {
            const { query, key, value } = arrays;
            if (out) plan?.run({ query, key, value, out });
        });
        const timings = await timeByTurns(runs, async () => {
            await turn();
            return own === era;
        });
        return timings && Object.fromEntries(solved.map(([id], i) => [id, timings[i]]));
    },
};

/** Rows [first, last) of the grid, from one call for all their weights: each copies Q and K. */
function fillRows(
    grid: Grid,
    first: number,
    last: number,
    session: Session,
    batch: number,
    head: number,
): void {
    const { query, key } = session.input;
    const { rowsPerCell, queries, keys } = grid;
    const from = first * rowsPerCell;
    const count = Math.min(last * rowsPerCell, queries) - from;
    const weights = session.plan?.weights({ query, key, batch, head, first: from, count });
    for (let row = first; weights && row < last; row++) {
        const start = (row - first) * rowsPerCell * keys;
        poolRow(grid, row, weights.subarray(start, start + rowsPerCell * keys));
    }
}

/** The smallest stride over the queries for which the error is not too much work. */
function errorStride({ batch, heads, queries, keys, dim, valueDim }: Shape): number {
    const work = batch * heads * queries * keys * (dim + valueDim);
    return Math.min(queries, Math.max(1, Math.ceil(work / errorWork)));
}

function summary({ shape, tokens, nonfinite }: Input) {
    return { shape, tokens, nonfinite };
}

/** Start anew for a backend: whatever was under way for it is stale from now on. */
function begin(backend: string): Session {
    if (!input) throw new Error("there is no input");
    era++;
    sessions.get(backend)?.plan?.dispose();
    const session: Session = { input, plan: null, out: null };
    sessions.set(backend, session);
    return session;
}

function isStale(backend: string, session: Session): boolean {
    return sessions.get(backend) !== session;
}

function makePlan({ shape }: Input, backend: string, problem: Problem, params: Values): Plan {
    return attn.plan({
        backend,
        ...shape,
        causal: problem.causal && "top-left",
        ...(problem.scale !== null && { scale: problem.scale }),
        params,
    });
}

function solve(session: Session, plan: Plan): Numbers {
    const { query, key, value, shape } = session.input;
    const { out, degenerateRows } = plan.run({ query, key, value });
    session.out = out;
    const { cost } = plan;
    const pairs = shape.batch * shape.heads * shape.queries * shape.keys;
    return {
        flops: cost && cost.flops,
        kept: cost && cost.pairs / pairs,
        workspaceBytes: plan.workspaceBytes,
        kernel: plan.kernel,
        form: cost && cost.form,
        facts: plan.facts,
        degenerateRows,
        nonfinite: attn.countNonfinite(out),
    };
}

const channel = new MessageChannel();
const waiting: (() => void)[] = [];
channel.port1.onmessage = () => waiting.shift()?.();

/** Let the messages that have arrived be read first. */
function turn(): Promise<void> {
    return new Promise((resolve) => {
        waiting.push(resolve);
        channel.port2.postMessage(null);
    });
}

expose(engine);
