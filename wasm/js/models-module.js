/* libattn/models: trained models, and the module that answers with them, which the first of them loads. */
import { checkBytes } from "./check.js";
import { disposed } from "./errors.js";
import { Heap } from "./heap.js";
import { compileOwn, instantiate } from "./loader.js";
import { Session } from "./session.js";
import { solve } from "./thought.js";

/* Literal, so that bundlers see it and carry the file along. */
const file = () => new URL("../dist/libattn.models.wasm", import.meta.url);

/** loadModel() for a platform: `readUrl` gives the bytes behind a URL. */
export function makeModels(readUrl) {
    let loading;
    const load = () =>
        (loading ??= open(readUrl).catch((error) => {
            loading = undefined; // it may go better next time
            throw error;
        }));

    return {
        async loadModel(bytes) {
            const given = checkBytes(bytes, "bytes").slice(); // as it is now
            return new Model(await load(), given);
        },
    };
}

async function open(readUrl) {
    const { exports } = await instantiate(await compileOwn(file, readUrl));
    return new Session(new Heap(exports));
}

class Model {
    #session;
    #handle;
    about;

    constructor(session, bytes) {
        this.#session = session;
        this.#handle = session.borrow((loan) =>
            session.make("attnmodel_load", loan.input(bytes, "the model"), bytes.length),
        );
        this.about = Object.freeze(session.describe("attnmodel_describe", this.#handle));
        Object.freeze(this);
    }

    solve(question) {
        if (this.#handle === 0) throw disposed("a model");
        return solve(this.#session, this.#handle, this.about, question);
    }

    dispose() {
        if (this.#handle !== 0) this.#session.destroy("attnmodel_destroy", this.#handle);
        this.#handle = 0;
    }
}
