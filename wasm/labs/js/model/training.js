/* libattn-labs/training: models that learn, and the module that trains them, which the first of them loads. */
import {
    checkFinite,
    checkInteger,
    checkText,
    checkWithin,
    readOptions,
} from "../../../js/problem/check.js";
import { AttnError, disposed } from "../../../js/problem/errors.js";
import { Heap } from "../../../js/engine/heap.js";
import { instantiate } from "../../../js/engine/loader.js";
import { makeOwnModule } from "../../../js/engine/own-module.js";
import { Session } from "../../../js/engine/session.js";
import { encode } from "../../../js/engine/text.js";
import { solve } from "./thought.js";

/* Literal, so that bundlers see it and carry the file along. */
const file = () => new URL("../../dist/libattn.training.wasm", import.meta.url);
/* Those that are numbers, in the order of src/training.c; 0: the task's. */
const NUMBERS = {
    size: 6,
    modulus: 5,
    band: 2,
    width: 32,
    layers: 3,
    heads: 4,
    batch: 64,
    samples: 0,
    rate: 0,
    embedding: 0,
    warm: 0.05,
    dropout: 0,
    seed: 1,
};
const WHOLE = ["size", "modulus", "band", "width", "layers", "heads", "batch", "seed"];
const PARTS = ["warm", "dropout"];
const MOST = 65536; // steps or samples of a call

/** init() and createStudy() for a platform: `readUrl` gives the bytes behind a URL. */
export function makeTraining(readUrl) {
    const { load, init } = makeOwnModule({
        ...{ file, readUrl, open },
        ...{ name: "libattn-labs/training.wasm", needed: "attnstudy_create" },
    });
    const functions = {
        async createStudy(options) {
            const settings = readSettings(options);
            return new Study(await load(), settings);
        },
    };
    return { ...functions, init: (given) => init(given).then(() => functions) };
}

async function open(module) {
    const { exports } = await instantiate(module);
    return new Session(new Heap(exports));
}

function readSettings(given) {
    const options = readOptions(given, ["task", "attention", ...Object.keys(NUMBERS)], "a study");
    const numbers = { ...NUMBERS, ...options };
    return {
        task: checkText(options.task, "task"),
        attention: checkText(options.attention ?? "softmax", "attention"),
        numbers: Float64Array.from(Object.keys(NUMBERS), (name) => readNumber(numbers[name], name)),
    };
}

function readNumber(value, name) {
    if (WHOLE.includes(name)) {
        if (name === "seed") return checkAtLeast0(checkInteger(value, name), name);
        return checkWithin(value, name, 1, MOST);
    }
    const number = checkAtLeast0(checkFinite(value, name), name);
    if (!PARTS.includes(name) || number < 1) return number;
    throw new AttnError("ATTN_ERROR_RANGE", `${name}: ${number} is not below 1`);
}

function checkAtLeast0(number, name) {
    if (number >= 0) return number;
    throw new AttnError("ATTN_ERROR_RANGE", `${name}: ${number} is below 0`);
}

class Study {
    #session;
    #handle;
    #model;
    #step = 0;
    about;

    constructor(session, { task, attention, numbers }) {
        this.#session = session;
        this.#handle = session.borrow((loan) => {
            const [name, backend] = [task, attention].map((text) =>
                loan.input(encode(`${text}\0`), "a name"),
            );
            const settings = loan.input(numbers, "the settings");
            return session.make("attnstudy_create", name, backend, settings, numbers.length);
        });
        this.#model = session.make("attnstudy_model", this.#handle);
        this.about = Object.freeze(session.describe("attnstudy_describe", this.#handle));
        Object.freeze(this);
    }

    get step() {
        return this.#step;
    }

    train(steps) {
        const count = checkWithin(steps, "steps", 1, MOST);
        const handle = this.#alive();
        return this.#session.borrow((loan) => {
            const losses = loan.output(Float64Array, count, "the losses");
            const train = (most) =>
                this.#session.measure("attnstudy_train", handle, losses.at, most);
            const done = train(count);
            this.#step += done;
            if (done < count) train(count - done); // it is at its end, or throws that it diverges
            return losses.take().slice(0, done);
        });
    }

    score(samples) {
        checkWithin(samples, "samples", 1, MOST);
        return this.#session.describe("attnstudy_score", this.#alive(), samples);
    }

    solve(question) {
        this.#alive();
        return solve(this.#session, this.#model, this.about, question);
    }

    dispose() {
        if (this.#handle !== 0) this.#session.destroy("attnstudy_destroy", this.#handle);
        this.#handle = 0;
    }

    #alive() {
        if (this.#handle === 0) throw disposed("a study");
        return this.#handle;
    }
}
