/*
 * The experiments from the side that computes: an instance of the module that begins a run and answers
 * for its points. Messages: {module, request} begins and is answered by the settings; {index} by {row};
 * {conclude: numbers} by {note, verdict, sure, found, within}; each by {error: {code, message}} where it fails.
 */
import { AttnError } from "./errors.js";
import { Heap } from "./heap.js";
import { Session } from "./session.js";

const encoder = new TextEncoder();
const imports = { clock: { now: () => performance.now() } };

export async function openSession(module) {
    const { exports } = await WebAssembly.instantiate(module, imports);
    exports._initialize();
    return new Session(new Heap(exports));
}

/** What a worker answers a message with. */
export function makeAnswer() {
    let points;
    return async (message) => {
        try {
            if (message.module) {
                points = new Points(await openSession(message.module), message.request);
                return points.settings;
            }
            if (message.conclude) return points.conclude(message.conclude);
            return { row: points.row(message.index) };
        } catch (error) {
            const code = error instanceof AttnError ? error.code : null;
            return { error: { code, message: code ? error.message : String(error) } };
        }
    };
}

class Points {
    #session;
    #run;

    constructor(session, { lab, panel, seed, params, xs }) {
        this.#session = session;
        this.#run = this.#named("make", "attnlabs_create", [], [lab, panel], seed);
        for (const pair of params) this.#named("run", "attnlabs_set", [this.#run], pair);
        if (xs) {
            session.borrow((loan) =>
                session.run("attnlabs_grid", this.#run, loan.input(xs, "xs"), xs.length),
            );
        }
        session.run("attnlabs_begin", this.#run);
        this.settings = session.describe("attnlabs_settings", this.#run);
    }

    row(index) {
        return this.#session.borrow((loan) => {
            const row = loan.output(Float64Array, this.settings.columns.length, "a row");
            this.#session.run("attnlabs_point", this.#run, index, row.at);
            return Array.from(row.take());
        });
    }

    conclude(numbers) {
        const count = numbers.length / this.settings.columns.length;
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
            const strings = texts.map((text) => loan.input(encoder.encode(`${text}\0`), "a text"));
            return this.#session[how](name, ...before, ...strings, ...after);
        });
    }
}
