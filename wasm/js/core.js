import { hold } from "./arrays.js";
import { MODE, PLAN, readAttention } from "./call.js";
import { dtypesOf } from "./dtypes.js";
import { readChecked } from "./options.js";
import { problemNumbers } from "./rules.js";
import { compute } from "./runner.js";
import { planSizes } from "./shape.js";

/* For the class that extends Core. */
export const quick = Symbol("quick");

/** What every entry of the package can do: attention and plans. */
export class Core {
    #session;
    #Plan;

    /** `more`: what the instance tells of itself beside what C tells; `Plan`: the class of plans. */
    constructor(session, more, Plan) {
        this.#session = session;
        this.#Plan = Plan;
        Object.assign(this, session.describe("attnjs_about"), more);
    }

    plan(given) {
        const options = readChecked(given, [...PLAN, ...MODE, "inputs"], "plan");
        const { inputs = [] } = options;
        return this.#plan(
            { sizes: planSizes(options), dtypes: dtypesOf(options), inputs },
            options,
        );
    }

    attention(...args) {
        const call = readAttention(args);
        return this.#session.borrow((loan) => {
            const plan = this[quick](call, loan);
            try {
                return call.result(plan[compute](call.job, loan));
            } finally {
                plan.dispose();
            }
        });
    }

    dispose() {
        this.#session.close();
    }

    /** A plan for one call of attention(), whose loan holds its arrays from here on. */
    [quick]({ problem, options, job }, loan) {
        hold(loan, job.given, job.outputs);
        return this.#plan(problem, options);
    }

    #plan(problem, options) {
        const { backend = "softmax", params = {} } = options;
        const numbers = problemNumbers(problem, options);
        const pairs = Object.entries(params).flat();
        const address = this.#session.borrow((loan) =>
            this.#session.make(
                "attnjs_plan_create",
                loan.input(texts(backend), "a text"),
                loan.input(numbers, "the problem"),
                loan.input(texts(...pairs), "the parameters"),
                pairs.length / 2,
            ),
        );
        return new this.#Plan(this.#session, address, backend, problem);
    }
}

if (Symbol.dispose) Core.prototype[Symbol.dispose] = Core.prototype.dispose;

/** Texts one after the other, each ended by a zero. */
export function texts(...list) {
    return new TextEncoder().encode(list.map((text) => `${text}\0`).join(""));
}
