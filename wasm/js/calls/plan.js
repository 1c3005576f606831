import { checkPositive, checkWithin } from "../problem/check.js";
import { computeBeside, lendJob } from "./job.js";
import { Runner, handle, read } from "./runner.js";

/* Of a run's arrays, what weights() reads, and error(), where `out` is given. */
const weighed = (arrays) => arrays.filter(({ name, role }) => role === "input" && name !== "value");
const judged = (arrays) =>
    arrays
        .filter(({ presence }) => presence !== "optional")
        .map((array) => ({ ...array, role: "input", replaces: [] })); // exact attention takes them

/** A problem and the backend that solves it, prepared to run often. Made by Attn.plan(). */
export class Plan extends Runner {
    #session;
    #about;

    constructor(session, ...rest) {
        super(session, ...rest);
        this.#session = session;
    }

    async runAsync(given) {
        const { options, job } = this[read](given, ["signal"], "runAsync");
        const { signal } = options;
        signal?.throwIfAborted();
        return this.#session.borrowAsync(
            (loan) => computeBeside(this.#session, this[handle](), job, loan, signal),
            job,
        );
    }

    weights(given) {
        const names = ["batch", "head", "first", "count"];
        const { queries, keys, batch: batches, heads } = this.sizes;
        const { options, job } = this[read](given, names, "weights", weighed);
        const { batch = 0, head = 0, first = 0, count = queries - first } = options;
        checkWithin(batch, "batch", 0, batches - 1);
        checkWithin(head, "head", 0, heads - 1);
        checkWithin(first, "first", 0, queries - 1);
        checkWithin(count, "count", 1, queries - first);
        const length = count * keys;
        return this.#lend(job, (loan, ...args) => {
            const rows = loan.output(Float32Array, length, "the weights");
            const which = [batch, head, first, count];
            this.#session.run("attnjs_weights", ...args, ...which, rows.at, length);
            return rows.take();
        });
    }

    error(given) {
        const { options, job } = this[read](given, ["stride"], "error", judged);
        const stride = checkPositive(options.stride ?? 1, "stride");
        return this.#lend(job, (loan, ...args) =>
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

    /** Calls `body` with a loan, C's plan and the list of a job's arrays. */
    #lend(job, body) {
        return this.#session.borrow(
            (loan) => body(loan, this[handle](), lendJob(loan, job).list),
            job,
        );
    }
}
