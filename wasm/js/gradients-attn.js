/* The library of libattn/gradients: with plans that have gradients, and gradients in one call. */
import { Attn } from "./attn.js";
import { PLAN, readCall } from "./call.js";
import { checkBoolean } from "./check.js";
import { PLANNED, planOf, readProblem } from "./core.js";
import { READ, inputsOf } from "./declared.js";
import { dtypesOf } from "./dtypes.js";
import { AttnError } from "./errors.js";
import { BACKWARD, GradientsPlan, backwardArrays } from "./gradients-plan.js";
import { readChecked } from "./options.js";
import { problemOf } from "./rules.js";
import { Session } from "./session.js";
import { inferSizes } from "./shape.js";

const NEEDED = [...READ, "outGradient"];

export class GradientsAttn extends Attn {
    #session;

    constructor(engine, more, readUrl) {
        if (!engine.has("attnjs_backward")) {
            const message = "the module has no gradients, which libattn/gradients needs";
            throw new AttnError("ATTN_ERROR_LOAD", message);
        }
        const session = new Session(engine);
        super(engine, more, readUrl, session);
        this.#session = session;
    }

    plan(given) {
        const options = readChecked(given, [...PLANNED, "gradients"], "plan");
        const { gradients = false } = options;
        checkBoolean(gradients, "gradients");
        const problem = readProblem(options, this.#session);
        return gradients ? this.#gradientsPlan(problem) : this[planOf](problem);
    }

    gradients(...args) {
        const declare = ({ backend }) => backwardArrays(this.#session.arraysOf(backend));
        const others = [...PLAN, ...BACKWARD];
        const call = readCall(args, { needed: NEEDED, others, declare }, "gradients", dtypesOf);
        const { options, arrays, declared } = call;
        const sizes = inferSizes(options, arrays);
        const inputs = inputsOf(declared).filter((name) => arrays[name]);
        const known = this.#session.arraysOf(options.backend);
        const plan = this.#gradientsPlan(problemOf(options, sizes, inputs, known));
        const rest = Object.entries(options).filter(([name]) => !PLAN.includes(name));
        try {
            return plan.gradients(Object.fromEntries(rest));
        } finally {
            plan.dispose();
        }
    }

    #gradientsPlan(problem) {
        return this[planOf](problem, GradientsPlan, "attnjs_gradients_create");
    }
}
