import { SCALES, hold, lend, listed } from "./arrays.js";
import { PLACE, RUN, checkGiven } from "./call.js";
import { checkPositive, checkWithin } from "./check.js";
import { readChecked } from "./options.js";
import { INPUTS } from "./rules.js";
import { Runner, handle, lendJob, placeOf, prepare, read } from "./runner.js";
import { PLACED } from "./shape.js";

const QUERY_KEY = ["query", "key"];
const SHARED = [...INPUTS, ...SCALES, ...PLACE];

/* For Attn. */
export const start = Symbol("start");

/** A problem and the backend that solves it, prepared to run often. Made by Attn.plan(). */
export class Plan extends Runner {
    #session;
    #problem;
    #about;

    constructor(session, address, backend, problem) {
        super(session, address, backend, problem);
        this.#session = session;
        this.#problem = problem;
        Object.freeze(this);
    }

    async runAsync(given, more) {
        const call = this[read](given, [...RUN, "signal"], "runAsync");
        const old = readChecked(more ?? {}, ["signal"], "runAsync");
        const { signal = old.signal } = call.options;
        const job = this[prepare](call);
        signal?.throwIfAborted();
        return this.#session.borrowAsync((loan) => {
            hold(loan, job.given, job.outputs);
            return this[start](job, loan, signal);
        });
    }

    /** Runs a job whose arrays the loan holds, beside this thread where the engine can. */
    async [start](job, loan, signal) {
        const { args, take } = this[lendJob](loan, job);
        return take(await this.#session.start(...args, signal));
    }

    weights(given) {
        const names = [...QUERY_KEY, ...SHARED, "batch", "head", "first", "count"];
        const { queries, keys, batch: batches, heads } = this.sizes;
        const call = this[read](given, names, "weights");
        const { options } = call;
        return this.#lend(call, QUERY_KEY, (loan, args) => {
            const batch = checkWithin(options.batch ?? 0, "batch", 0, batches - 1);
            const head = checkWithin(options.head ?? 0, "head", 0, heads - 1);
            const first = checkWithin(options.first ?? 0, "first", 0, queries - 1);
            const rest = queries - first;
            const count = checkWithin(options.count ?? rest, "count", 1, rest);
            const length = count * keys;
            const rows = loan.output(Float32Array, length, "the weights");
            const which = [batch, head, first, count];
            this.#session.run("attnjs_weights", ...args, ...which, rows.at, length);
            return rows.take();
        });
    }

    error(given, more) {
        const call = this[read](given, [...PLACED, ...SHARED, "stride"], "error");
        const stride = checkPositive(call.options.stride ?? more ?? 1, "stride");
        return this.#lend(call, PLACED, (loan, args) =>
            this.#session.measure("attnjs_oracle_error", ...args, stride),
        );
    }

    get kernel() {
        return this.#describe().kernel;
    }

    get workspaceBytes() {
        return this.#describe().workspaceBytes;
    }

    get cost() {
        return this.#describe().cost;
    }

    get facts() {
        return this.#describe().facts;
    }

    #describe() {
        const plan = this[handle]();
        return (this.#about ??= this.#session.describe("attnjs_plan_describe", plan));
    }

    /** Calls `body` with a loan and the arguments of a call's arrays: those of `names`, and the inputs. */
    #lend(call, names, body) {
        const plan = this[handle]();
        const place = this[placeOf](call.options);
        const given = checkGiven(this.#problem, call.arrays, names, place);
        return this.#session.borrow((loan) => {
            hold(loan, given);
            return body(loan, [plan, listed(loan, lend(loan, given), given, place)]);
        });
    }
}
