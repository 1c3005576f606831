/* The experiments from the side that computes, an instance of the module in a worker: run.js asks it. */
import { Heap } from "../../../js/engine/heap.js";
import { Session } from "../../../js/engine/session.js";
import { encode } from "../../../js/engine/text.js";

const imports = { clock: { now: () => performance.now() } };

/** For serve(): what describes the experiments, and runs points of one. */
export async function open({ module }) {
    const { exports } = await WebAssembly.instantiate(module, imports);
    exports._initialize();
    return new Labs(new Session(new Heap(exports)));
}

class Labs {
    #session;
    #run;
    #columns;

    constructor(session) {
        this.#session = session;
    }

    describe() {
        return this.#session.describe("attnlabs_describe");
    }

    /** Begins a run; returns its settings. */
    begin({ lab, panel, seed, params, xs }) {
        const session = this.#session;
        this.#run = this.#named("make", "attnlabs_create", [], [lab, panel], seed);
        for (const pair of params) this.#named("run", "attnlabs_set", [this.#run], pair);
        if (xs) {
            session.borrow((loan) =>
                session.run("attnlabs_grid", this.#run, loan.input(xs, "xs"), xs.length),
            );
        }
        session.run("attnlabs_begin", this.#run);
        const settings = session.describe("attnlabs_settings", this.#run);
        this.#columns = settings.columns.length;
        return settings;
    }

    /** The row of a point. */
    point(index) {
        return this.#session.borrow((loan) => {
            const row = loan.output(Float64Array, this.#columns, "a row");
            this.#session.run("attnlabs_point", this.#run, index, row.at);
            return Array.from(row.take());
        });
    }

    /** What the numbers of all rows say. */
    conclude(numbers) {
        const count = numbers.length / this.#columns;
        return this.#session.borrow((loan) =>
            this.#session.describe(
                "attnlabs_conclude",
                this.#run,
                loan.input(numbers, "the rows"),
                count,
            ),
        );
    }

    /** Calls a function with texts among its arguments. */
    #named(how, name, before, texts, after = []) {
        return this.#session.borrow((loan) => {
            const strings = texts.map((text) => loan.input(encode(`${text}\0`), "a text"));
            return this.#session[how](name, ...before, ...strings, ...after);
        });
    }
}
