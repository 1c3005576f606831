import { SCALES } from "./arrays.js";
import { checkFinite, checkOptions, checkText } from "./check.js";
import { checkElements, dtypesOf } from "./dtypes.js";
import { givenInputs } from "./inputs.js";
import { INPUTS, RULES, problemNumbers } from "./rules.js";
import { PLACE } from "./runner.js";
import { SIZES, inferSizes, planSizes } from "./shape.js";

const PLAN = [...SIZES, "dtype", "kvDtype", "backend", ...RULES, "params"];
const RUN = [...INPUTS, ...SCALES, ...PLACE, "out"]; // beside query, key and value

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

    plan(options) {
        checkOptions(options, [...PLAN, "scoresMode", "inputs"], "plan");
        return this.#plan(planSizes(options), options);
    }

    attention(query, key, value, options) {
        const { plan, arrays } = this[quick](query, key, value, options);
        try {
            return plan.run(arrays).out;
        } finally {
            plan.dispose();
        }
    }

    dispose() {
        this.#session.close();
    }

    /** A plan for one run, and its arrays. */
    [quick](query, key, value, options) {
        checkOptions(options, [...PLAN, ...RUN], "attention");
        const arrays = { query, key, value };
        const dtypes = dtypesOf(options);
        for (const name in arrays) checkElements(arrays[name], name, dtypes[name]);
        for (const name of RUN) arrays[name] = options[name];
        const sizes = options.strides ? planSizes(options) : inferSizes(options, query, key, value);
        return { plan: this.#plan(sizes, { ...options, inputs: givenInputs(options) }), arrays };
    }

    #plan(sizes, options) {
        const { backend = "softmax", params = {}, inputs = [] } = options;
        checkText(backend, "backend");
        const dtypes = dtypesOf(options);
        const numbers = problemNumbers(sizes, dtypes, options);
        const pairs = paramTexts(params);
        const address = this.#session.borrow((loan) =>
            this.#session.make(
                "attnjs_plan_create",
                loan.input(texts(backend), "a text"),
                loan.input(numbers, "the problem"),
                loan.input(texts(...pairs), "the parameters"),
                pairs.length / 2,
            ),
        );
        return new this.#Plan(this.#session, address, backend, sizes, dtypes, inputs);
    }
}

if (Symbol.dispose) Core.prototype[Symbol.dispose] = Core.prototype.dispose;

/** Texts one after the other, each ended by a zero. */
export function texts(...list) {
    return new TextEncoder().encode(list.map((text) => `${text}\0`).join(""));
}

/** Parameters as text, the way a person writes them: name and value by turns. */
function paramTexts(params) {
    if (params === null || typeof params !== "object") {
        throw new TypeError("params must be an object of names and values");
    }
    const texts = [];
    for (const [name, value] of Object.entries(params)) {
        if (value === undefined) continue;
        const what = `params.${name}`;
        checkText(name, "the name of a parameter");
        if (typeof value === "boolean") texts.push(name, String(value));
        else if (typeof value === "number") texts.push(name, String(checkFinite(value, what)));
        else texts.push(name, checkText(value, what));
    }
    return texts;
}
