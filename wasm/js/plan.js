import { checkInteger, checkLength, checkOptions } from "./check.js";
import { AttnError, disposed } from "./errors.js";
import { checkInputs } from "./inputs.js";
import { INPUTS } from "./rules.js";
import { layoutFlag, lengths } from "./shape.js";

const QUERY_KEY = ["query", "key"];
const READ = [...QUERY_KEY, "value"];
const ARRAYS = [...READ, "out"];
const ADDRESSES = [...ARRAYS, "lse", ...INPUTS, "scores"]; // in the order of src/bindings.h

/** A problem and the backend that solves it, prepared to run often. Made by Attn.plan(). */
export class Plan {
    #session;
    #address;
    #lengths;
    #about;
    #whenDisposed;

    constructor(session, address, backend, sizes, inputs, whenDisposed) {
        this.#session = session;
        this.#address = address;
        this.#lengths = lengths(sizes);
        this.#whenDisposed = whenDisposed;
        this.backend = backend;
        this.sizes = Object.freeze(sizes);
        this.inputs = Object.freeze([...inputs]);
        Object.freeze(this);
    }

    run(arrays) {
        checkOptions(arrays, [...ARRAYS, ...INPUTS, "lse", "scores", "layout"], "run");
        this.#alive();
        const given = this.#given(arrays, READ);
        const bnhd = layoutFlag(arrays.layout);
        const outputs = { out: this.#output(arrays.out, "out") };
        for (const name of ["lse", "scores"]) {
            const array = arrays[name];
            if (array) outputs[name] = this.#output(array === true ? undefined : array, name);
        }

        return this.#session.borrow((loan) => {
            const at = this.#lend(loan, given);
            for (const name in outputs) at[name] = loan.floats(outputs[name].length, name);
            this.#session.run("attnjs_run", this.#address, bnhd, listed(loan, at, given));
            const result = { lse: null, scores: null };
            for (const name in outputs) {
                const { length, array } = outputs[name];
                result[name] = this.#session.read(at[name], length, array);
            }
            result.degenerateRows = this.#session.measure("attnjs_degenerate_rows");
            return result;
        });
    }

    weights(options) {
        const which = ["batch", "head", "first", "count"];
        checkOptions(options, [...QUERY_KEY, ...INPUTS, "layout", ...which], "weights");
        this.#alive();
        const given = this.#given(options, QUERY_KEY);
        const bnhd = layoutFlag(options.layout);
        const { queries, keys, batch: batches, heads } = this.sizes;
        const batch = checkIndex(options.batch ?? 0, "batch", batches);
        const head = checkIndex(options.head ?? 0, "head", heads);
        const first = checkIndex(options.first ?? 0, "first", queries);
        const count = checkInteger(options.count ?? queries - first, "count");
        if (count < 1 || first + count > queries) {
            throw outside(`count ${count} from query ${first} on`, queries, "queries");
        }

        return this.#session.borrow((loan) => {
            const at = listed(loan, this.#lend(loan, given), given);
            const rows = loan.floats(count * keys, "the weights");
            const range = [batch, head, first, count];
            this.#session.run("attnjs_weights", this.#address, bnhd, at, ...range, rows);
            return this.#session.read(rows, count * keys);
        });
    }

    error(arrays, stride = 1) {
        checkOptions(arrays, [...ARRAYS, ...INPUTS, "layout"], "error");
        this.#alive();
        const given = this.#given(arrays, ARRAYS);
        const bnhd = layoutFlag(arrays.layout);
        if (checkInteger(stride, "stride") < 1) throw outside(`stride ${stride}`, Infinity, "rows");

        return this.#session.borrow((loan) => {
            const at = listed(loan, this.#lend(loan, given), given);
            return this.#session.measure("attnjs_oracle_error", this.#address, bnhd, at, stride);
        });
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

    dispose() {
        if (this.#address === 0) return;
        this.#session.destroy("attnjs_plan_destroy", this.#address);
        this.#address = 0;
        this.#whenDisposed(this);
    }

    #alive() {
        if (this.#address === 0) throw disposed("the plan");
    }

    #describe() {
        this.#alive();
        this.#about ??= this.#session.describe("attnjs_plan_describe", this.#address);
        return this.#about;
    }

    /** The arrays to read, checked: { array, shape } by name. */
    #given(arrays, names) {
        const given = checkInputs(arrays, this.inputs, this.sizes);
        for (const name of names) {
            const { length, meaning } = this.#lengths[name];
            given[name] = { array: checkLength(arrays[name], length, name, meaning) };
        }
        return given;
    }

    /** Copies of them in the module's memory: addresses by name. */
    #lend(loan, given) {
        const at = {};
        for (const name in given) at[name] = loan.copy(given[name].array, name);
        return at;
    }

    /** The array a result goes to, and how long it is. A new one is made when the result is there. */
    #output(array, name) {
        const { length, meaning } = this.#lengths[name];
        if (array !== undefined) checkLength(array, length, name, meaning);
        return { array, length };
    }
}

if (Symbol.dispose) Plan.prototype[Symbol.dispose] = Plan.prototype.dispose;

/** Addresses, and the extents of bias and mask, as src/bindings.h lists them. */
function listed(loan, at, { bias, mask }) {
    const extents = [bias, mask].flatMap((grid) => (grid?.shape ?? [0, 0, 0]).slice(0, 3));
    return loan.doubles([...ADDRESSES.map((name) => at[name] ?? 0), ...extents], "addresses");
}

function checkIndex(value, what, limit) {
    checkInteger(value, what);
    if (value < 0 || value >= limit) throw outside(`${what} ${value}`, limit, what);
    return value;
}

function outside(what, limit, of) {
    return new AttnError("ATTN_ERROR_RANGE", `${what} is outside of the ${limit} ${of}`);
}
