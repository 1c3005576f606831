import { readArray } from "../problem/arrays.js";
import { adviseBy, checkLength, checkSize, isTensor } from "../problem/check.js";
import { Core, makeFor, planFor, planOf, readCall, readPlan, readProblem } from "./core.js";
import { inWords } from "../problem/declared.js";
import { arrayClass, checkDtype } from "../problem/dtypes.js";
import { AttnError, missing } from "../problem/errors.js";
import { GradientsPlan } from "./gradients-plan.js";
import { readGradients } from "./gradients.js";
import { hints } from "../problem/hints.js";
import { computeBeside } from "./job.js";
import { readChecked } from "../problem/options.js";
import { Plan } from "./plan.js";
import { loadPlugin } from "./plugin.js";
import { RULES } from "../problem/rules.js";
import { Session } from "../engine/session.js";
import { product } from "../problem/shape.js";
import { Stream } from "./stream.js";
import { Tensor } from "./tensor.js";

adviseBy(hints);

const SHAPE = ["batch", "heads", "kvHeads", "dim", "valueDim", "maxKeys"];
const STREAM = [
    ...SHAPE,
    "dtype",
    "kvDtype",
    "backend",
    "params",
    "inputs",
    ...RULES.filter((name) => name !== "past"),
];

/** The library in one instance of the module, or of the addon. Made by init(). */
export class Attn extends Core {
    #session;
    #load;

    /** `readUrl` gives the bytes behind a URL: what plugins are read with. */
    constructor(engine, more = {}, readUrl) {
        if (!engine.has("attnjs_backends")) {
            const message = "the module is softmax alone, which libattn/softmax takes, not libattn";
            throw new AttnError("ATTN_ERROR_LOAD", message);
        }
        const session = new Session(engine);
        super(session, { ...more, blocking: engine.blocking }, Plan);
        this.#session = session;
        this.#load = { engine, session, readUrl };
    }

    backends() {
        const backends = this.#session.describe("attnjs_backends");
        for (const param of backends.flatMap((backend) => backend.params)) {
            if (param.type === "boolean") param.default = Boolean(param.default); // C says 0 or 1
        }
        return backends.map((one) => ({ ...one, arrays: one.arrays.map(inWords) }));
    }

    async loadPlugin(source, options) {
        return loadPlugin(this, this.#load, source, options);
    }

    tensor(given, type) {
        const dtype = checkDtype(type ?? "f32", "dtype");
        if (typeof given === "number") return this.#tensor(given, dtype, {});
        const read = readArray(given, "elements", dtype);
        const { array, shape } = read;
        const from = isTensor(array) ? array.data : array;
        const meaning = () => shape.join(" * ");
        const length = shape ? product(shape) : array.length;
        checkLength(array, "elements", { length, meaning });
        return this.#tensor(length, dtype, { like: array, from, shape });
    }

    #tensor(length, dtype, { like, from, shape }) {
        checkSize(length, "length");
        return new Tensor(this.#session, arrayClass(dtype, like), length, dtype, from, shape);
    }

    plan(given) {
        const { options, problem } = readPlan(given, this.#session, ["gradients"]);
        return options.gradients ? this.#gradientsPlan(problem) : this[planOf](problem);
    }

    gradients(...args) {
        const { problem, rest } = readGradients(args, this.#session);
        const plan = this.#gradientsPlan(problem);
        try {
            return plan.gradients(rest);
        } finally {
            plan.dispose();
        }
    }

    #gradientsPlan(problem) {
        return this[planOf](problem, GradientsPlan, "attnjs_gradients_create");
    }

    async attentionAsync(...args) {
        const { problem, job, result, options } = this[readCall](args, ["signal"]);
        const { signal } = options;
        signal?.throwIfAborted();
        return this.#session.borrowAsync(async (loan) => {
            const plan = this[planFor](problem);
            return result(await computeBeside(this.#session, plan, job, loan, signal));
        }, job);
    }

    stream(given) {
        const options = readChecked(given, STREAM, "stream");
        const { maxKeys } = options;
        if (maxKeys === undefined) throw missing("maxKeys");
        options.queries = 1;
        const problem = readProblem(options, this.#session);
        const { batch, heads, kvHeads, dim, valueDim } = problem.sizes;
        const address = makeFor(this.#session, problem, "attnjs_stream_create", maxKeys);
        const { features } = this.backends().find(({ id }) => id === problem.backend);
        const sizes = Object.freeze({ batch, heads, kvHeads, dim, valueDim, maxKeys });
        const hasLse = features.includes("lse");
        return new Stream(this.#session, address, { ...problem, sizes, hasLse });
    }

    countNonfinite(array) {
        const { array: given } = readArray(array, "array");
        return this.#session.borrow(() => {
            let count = 0;
            for (const x of isTensor(given) ? given.data : given) count += !Number.isFinite(x);
            return count;
        });
    }
}
