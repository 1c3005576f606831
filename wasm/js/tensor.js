/*
 * Floats that stay where the engine computes: in WebAssembly's memory, which spares each run their
 * copies. Natively an array like any other.
 */
import { AttnError, disposed } from "./errors.js";

export class Tensor {
    #floats; // the engine's
    #owner;

    /** `owner`: the session that forgets it. */
    constructor(engine, owner, length) {
        this.#floats = engine.floats(length);
        this.#owner = owner;
        this.length = length;
        owner.adopt(this);
        Object.freeze(this);
    }

    /** A view as of now. */
    get data() {
        return this.at().view();
    }

    dispose() {
        if (!this.#owner) return;
        this.#owner.forget(this);
        this.#owner = null;
        this.#floats.free();
    }

    /** The engine's floats, which must be that engine's where one is given. */
    at(engine = this.#floats.engine) {
        if (!this.#owner) throw disposed("the tensor");
        if (engine === this.#floats.engine) return this.#floats;
        throw new AttnError("ATTN_ERROR_ARGUMENT", "the tensor is another instance's");
    }
}

if (Symbol.dispose) Tensor.prototype[Symbol.dispose] = Tensor.prototype.dispose;
