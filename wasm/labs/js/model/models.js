/* libattn-labs/models: trained models, and the module that answers with them, which the first of them loads. */
import { checkBytes } from "../../../js/problem/check.js";
import { AttnError, disposed, notLoaded, oneLine } from "../../../js/problem/errors.js";
import { Heap } from "../../../js/engine/heap.js";
import { instantiate } from "../../../js/engine/loader.js";
import { makeOwnModule } from "../../../js/engine/own-module.js";
import { Session } from "../../../js/engine/session.js";
import { solve } from "./thought.js";
import { Writer } from "./writer.js";

/* Literal, so that bundlers see them and carry the files along. */
const file = () => new URL("../../dist/libattn.models.wasm", import.meta.url);
const files = {
    __proto__: null,
    "arithmetic-linear": () => new URL("../../dist/arithmetic-linear.model", import.meta.url),
    "arithmetic-softmax": () => new URL("../../dist/arithmetic-softmax.model", import.meta.url),
    "arithmetic-sparse": () => new URL("../../dist/arithmetic-sparse.model", import.meta.url),
    "ed-linear": () => new URL("../../dist/ed-linear.model", import.meta.url),
    "ed-softmax": () => new URL("../../dist/ed-softmax.model", import.meta.url),
    "ed-sparse": () => new URL("../../dist/ed-sparse.model", import.meta.url),
    "ed_local-linear": () => new URL("../../dist/ed_local-linear.model", import.meta.url),
    "ed_local-softmax": () => new URL("../../dist/ed_local-softmax.model", import.meta.url),
    "ed_local-sparse": () => new URL("../../dist/ed_local-sparse.model", import.meta.url),
    "lis-linear": () => new URL("../../dist/lis-linear.model", import.meta.url),
    "lis-softmax": () => new URL("../../dist/lis-softmax.model", import.meta.url),
    "lis-sparse": () => new URL("../../dist/lis-sparse.model", import.meta.url),
};

const texts = {
    __proto__: null,
    linear: () => new URL("../../dist/text-linear.model", import.meta.url),
    softmax: () => new URL("../../dist/text-softmax.model", import.meta.url),
    sparse: () => new URL("../../dist/text-sparse.model", import.meta.url),
};

/** init(), loadModel() and loadWriter() for a platform: `readUrl` gives the bytes behind a URL. */
export function makeModels(readUrl) {
    const { load, init } = makeOwnModule({
        ...{ file, readUrl, open },
        ...{ name: "libattn-labs/models.wasm", needed: "attnmodel_load" },
    });
    const functions = {
        models: Object.freeze(Object.keys(files)),

        writers: Object.freeze(Object.keys(texts)),

        async loadModel(model) {
            return new Model(...(await Promise.all([load(), bytesOf(model, files, readUrl)])));
        },

        async loadWriter(model) {
            const [session, bytes] = await Promise.all([load(), bytesOf(model, texts, readUrl)]);
            return makeWriter(session, bytes);
        },
    };
    return { ...functions, init: (given) => init(given).then(() => functions) };
}

function bytesOf(model, files, readUrl) {
    if (typeof model === "string") return readNamed(model, files, readUrl);
    return checkBytes(model, "a model that is not named").slice(); // as it is now
}

/** The bytes of a model that the package has. */
async function readNamed(name, files, readUrl) {
    const url = files[name];
    if (!url) {
        const known = `there are ${Object.keys(files).join(", ")}`;
        throw new AttnError("ATTN_ERROR_NOT_FOUND", `no model "${oneLine(name)}" (${known})`);
    }
    try {
        return new Uint8Array(await readUrl(url()));
    } catch (cause) {
        throw notLoaded(cause, "pass the bytes of the file");
    }
}

async function open(module) {
    const { exports } = await instantiate(module);
    return new Session(new Heap(exports));
}

/** C's model of a file's bytes. */
function loadBytes(session, bytes) {
    return session.borrow((loan) =>
        session.make("attnmodel_load", loan.input(bytes, "the model"), bytes.length),
    );
}

function makeWriter(session, bytes) {
    const writer = new Writer(session, loadBytes(session, bytes));
    const { task } = writer.about;
    if (task === "text") return writer;
    writer.dispose();
    throw new AttnError("ATTN_ERROR_ARGUMENT", `this is a model of ${task}, not of text`);
}

class Model {
    #session;
    #handle;
    about;

    constructor(session, bytes) {
        this.#session = session;
        this.#handle = loadBytes(session, bytes);
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
