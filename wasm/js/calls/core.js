import { placeAttention, planned, readAttention } from "./call.js";
import { askPlan, compute, shapesOf } from "./job.js";
import { readChecked } from "../problem/options.js";
import { problemOf, readInputs } from "../problem/rules.js";
import { planSizes } from "../problem/shape.js";
import { encode } from "../engine/text.js";

/* For the classes that extend Core. */
export const planOf = Symbol();
export const planFor = Symbol();
export const readCall = Symbol();
export const forget = Symbol();

const CREATE = "attnjs_plan_create";

/** What every entry of the package can do: attention and plans. */
export class Core {
    #session;
    #Plan;
    #last; // C's plan of the last attention()
    #what; // and what it is for

    /** `more`: what the instance tells of itself beside what C tells; `Plan`: the class of plans. */
    constructor(session, more, Plan) {
        this.#session = session;
        this.#Plan = Plan;
        Object.assign(this, session.describe("attnjs_about"), more);
    }

    plan(given) {
        return this[planOf](readPlan(given, this.#session).problem);
    }

    attention(...args) {
        const { problem, job, result } = this[readCall](args);
        return this.#session.borrow(
            (loan) => result(compute(this.#session, this[planFor](problem), job, loan)),
            job,
        );
    }

    dispose() {
        this[forget]();
        this.#session.close();
    }

    [planOf](problem, Plan = this.#Plan, create = CREATE) {
        const plan = makeFor(this.#session, problem, create);
        return Object.freeze(new Plan(this.#session, plan, problem));
    }

    /** A call of attention(), with options that it has besides. */
    [readCall](args, more = []) {
        const call = readAttention(args, more, this.#session);
        const { declared, problem } = call;
        const plan = askPlan(declared) ? this[planFor](problem) : undefined;
        return placeAttention(call, shapesOf(this.#session, declared, plan));
    }

    /** C's plan for a call of attention(): that of the last call, where this is the same problem. */
    [planFor](problem) {
        const { backend, numbers, params } = problem;
        const what = [backend, ...numbers, ...params].join("\0");
        if (this.#what !== what) this[forget](makeFor(this.#session, problem, CREATE), what);
        return this.#last;
    }

    /** Ends that plan, for which another one may stand; runs under way keep what they have. */
    [forget](plan, what) {
        const last = this.#last;
        this.#last = plan;
        this.#what = what; // first: a plugin's code may trap
        if (last) this.#session.destroy("attnjs_plan_destroy", last);
    }
}

if (Symbol.dispose) Core.prototype[Symbol.dispose] = Core.prototype.dispose;

/** plan()'s options, those in `more` too, and the problem that they say: { options, problem }. */
export function readPlan(given, session, more = []) {
    const names = [...planned(session), ...session.modes, "inputs", ...more];
    const options = readChecked(given, names, "plan");
    return { options, problem: readProblem(options, session) };
}

/** The problem of checked options that say all sizes. */
export function readProblem(options, session) {
    const arrays = session.arraysOf(options.backend);
    const inputs = readInputs(options.inputs ?? [], arrays);
    return problemOf(options, planSizes(options), inputs, arrays);
}

/** C's plan or stream for a problem, which `more` belongs to. */
export function makeFor(session, { backend, numbers, params }, name, ...more) {
    return session.borrow((loan) =>
        session.make(
            name,
            loan.input(texts(backend), "a text"),
            loan.input(numbers, "the problem"),
            loan.input(texts(...params), "the parameters"),
            params.length / 2,
            ...more,
        ),
    );
}

/** Texts one after the other, each ended by a zero. */
export function texts(...list) {
    return encode(list.map((text) => `${text}\0`).join(""));
}
