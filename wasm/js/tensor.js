/*
 * Elements that stay where the engine computes: in WebAssembly's memory, which spares each run their
 * copies. Natively an array like any other.
 */
import { markTensor } from "./check.js";
import { AttnError, disposed } from "./errors.js";

export class Tensor {
    #room; // the engine's
    #owner;

    /** `owner`: its session; `type`: the class of its array; zeros without `elements`. */
    constructor(owner, type, length, dtype, elements) {
        this.#room = owner.room(type, length, elements);
        this.#owner = owner;
        this.dtype = dtype;
        this.length = length;
        owner.adopt(this);
        markTensor(this);
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
        this.#room.free();
    }

    /** The engine's room, which must be that engine's where one is given. */
    at(engine = this.#room.engine) {
        if (!this.#owner) throw disposed("the tensor");
        if (engine === this.#room.engine) return this.#room;
        throw new AttnError("ATTN_ERROR_ARGUMENT", "the tensor is another instance's");
    }
}

if (Symbol.dispose) Tensor.prototype[Symbol.dispose] = Tensor.prototype.dispose;
