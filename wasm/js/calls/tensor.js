/*
 * Elements that stay where the engine computes: in WebAssembly's memory, which spares each run their
 * copies. Natively an array like any other.
 */
import { markTensor } from "../problem/check.js";
import { AttnError } from "../problem/errors.js";
import { Held } from "./held.js";

export class Tensor {
    #held; // the engine's room

    /** `owner`: its session; `type`: the class of its array; zeros without `elements`. */
    constructor(owner, type, length, dtype, elements, shape) {
        const room = owner.room(type, length, elements);
        this.#held = new Held(owner, this, "tensor", room, () => room.free());
        this.dtype = dtype;
        this.length = length;
        this.shape = shape ? Object.freeze(shape) : null;
        markTensor(this);
        Object.freeze(this);
    }

    /** A view as of now. It may outlive the tensor. */
    get data() {
        const array = this.at().view();
        this.#held.keep();
        return array;
    }

    dispose() {
        this.#held.dispose();
    }

    /** The engine's room, which must be that engine's where one is given. */
    at(engine) {
        const room = this.#held.value;
        if (engine === undefined || engine === room.engine) return room;
        throw new AttnError("ATTN_ERROR_ARGUMENT", "the tensor is another instance's");
    }
}

if (Symbol.dispose) Tensor.prototype[Symbol.dispose] = Tensor.prototype.dispose;
