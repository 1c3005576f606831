import { checkInteger, checkLength, checkOneOf, checkOptions } from "./check.js";
import { AttnError, disposed } from "./errors.js";
import { lengths } from "./shape.js";

const LAYOUTS = ["bhnd", "bnhd"];
const ARRAYS = ["query", "key", "value", "out"];

/** A problem and the backend that solves it, prepared to run often. Made by Attn.plan(). */
export class Plan {
    #session;
    #address;
    #lengths;
    #about;
    #whenDisposed;

    constructor(session, address, backend, sizes, whenDisposed) {
        this.#session = session;
        this.#address = address;
        this.#lengths = lengths(sizes);
        this.#whenDisposed = whenDisposed;
        this.backend = backend;
        this.sizes = Object.freeze(sizes);
        Object.freeze(this);
    }

    run(arrays) {
        checkOptions(arrays, [...ARRAYS, "lse", "layout"], "run");
        this.#alive();
        const { query, key, value } = this.#inputs(arrays, ["query", "key", "value"]);
        const bnhd = layoutFlag(arrays.layout);
        const out = this.#output(arrays.out, "out");
        const lse = arrays.lse
            ? this.#output(arrays.lse === true ? undefined : arrays.lse, "lse")
            : null;

        return this.#session.borrow((loan) => {
            const inputs = [
                loan.copy(query, "query"),
                loan.copy(key, "key"),
                loan.copy(value, "value"),
            ];
            const outAt = loan.floats(out.length, "out");
            const lseAt = lse ? loan.floats(lse.length, "lse") : 0;
            this.#session.run("attnjs_run", this.#address, bnhd, ...inputs, outAt, lseAt);
            const degenerateRows = this.#session.measure("attnjs_degenerate_rows");
            return {
                out: this.#read(outAt, out),
                lse: lse && this.#read(lseAt, lse),
                degenerateRows,
            };
        });
    }

    weights(options) {
        checkOptions(
            options,
            ["query", "key", "layout", "batch", "head", "first", "count"],
            "weights",
        );
        this.#alive();
        const { query, key } = this.#inputs(options, ["query", "key"]);
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
            const inputs = [loan.copy(query, "query"), loan.copy(key, "key")];
            const rows = loan.floats(count * keys, "the weights");
            const range = [batch, head, first, count];
            this.#session.run("attnjs_weights", this.#address, bnhd, ...inputs, ...range, rows);
            return this.#session.floats(rows, count * keys).slice();
        });
    }

    error(arrays, stride = 1) {
        checkOptions(arrays, [...ARRAYS, "layout"], "error");
        this.#alive();
        const given = this.#inputs(arrays, ARRAYS);
        const bnhd = layoutFlag(arrays.layout);
        if (checkInteger(stride, "stride") < 1) throw outside(`stride ${stride}`, Infinity, "rows");

        return this.#session.borrow((loan) => {
            const at = ARRAYS.map((name) => loan.copy(given[name], name));
            return this.#session.measure("attnjs_oracle_error", this.#address, bnhd, ...at, stride);
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
        this.#session.destroyPlan(this.#address);
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

    #inputs(arrays, names) {
        const inputs = {};
        for (const name of names) {
            const { length, meaning } = this.#lengths[name];
            inputs[name] = checkLength(arrays[name], length, name, meaning);
        }
        return inputs;
    }

    /** The array a result goes to, and how long it is. A new one is made when the result is there. */
    #output(array, name) {
        const { length, meaning } = this.#lengths[name];
        if (array !== undefined) checkLength(array, length, name, meaning);
        return { array, length };
    }

    #read(address, { array, length }) {
        const floats = this.#session.floats(address, length);
        if (array === undefined) return floats.slice();
        array.set(floats);
        return array;
    }
}

if (Symbol.dispose) Plan.prototype[Symbol.dispose] = Plan.prototype.dispose;

/** 1 where arrays lie in the order (batch, row, head, column). */
function layoutFlag(layout = "bhnd") {
    return LAYOUTS.indexOf(checkOneOf(layout, LAYOUTS, "layout"));
}

function checkIndex(value, what, limit) {
    checkInteger(value, what);
    if (value < 0 || value >= limit) throw outside(`${what} ${value}`, limit, what);
    return value;
}

function outside(what, limit, of) {
    return new AttnError("ATTN_ERROR_RANGE", `${what} is outside of the ${limit} ${of}`);
}
