/* What one call borrows natively: arrays are used where they are, unless somebody could take them away. */
import { isTensor } from "../problem/check.js";
import { noMemory, store } from "../problem/errors.js";

/**
 * A run beside this thread must not compute in a buffer that JavaScript can resize or transfer, and so
 * free: it has copies, but of shared memory.
 */
export class Loan {
    #engine;
    #beside;
    #used = [];

    constructor(engine, beside) {
        this.#engine = engine;
        this.#beside = beside;
    }

    hold() {}

    input(array, what, length = array.length) {
        const plain = Array.isArray(array) ? Float64Array.from(array) : this.#plain(array);
        const argument = this.#inPlace(plain) ? bits(plain) : copyOf(plain, length, what);
        this.#used.push(argument);
        return argument;
    }

    list(values) {
        return values;
    }

    /** C's outputs must not overlap what it reads: such a one is written elsewhere first. */
    output(type, length, what, given, gaps) {
        const array = this.#plain(given);
        const inPlace =
            array !== undefined &&
            this.#inPlace(array) &&
            !this.#used.some((used) => mayOverlap(used, array));
        const room = inPlace ? array : allocate(type, length, what);
        if (gaps && !inPlace) room.set(array.subarray(0, length));
        if (array !== undefined) this.#used.push(array);
        const take = () => (array === undefined || inPlace ? room : store(room, array, what));
        return { at: bits(room), take };
    }

    end() {}

    #inPlace(array) {
        return !this.#beside || isShared(array.buffer);
    }

    #plain(array) {
        return isTensor(array) ? array.at(this.#engine).view() : array;
    }
}

export function allocate(type, length, what, memory = ArrayBuffer) {
    const bytes = length * type.BYTES_PER_ELEMENT;
    try {
        return new type(new memory(bytes));
    } catch {
        throw noMemory(`the ${bytes} bytes of ${what}`);
    }
}

/** The bytes of an array's first elements. */
function copyOf({ buffer, byteOffset, BYTES_PER_ELEMENT }, length, what) {
    const copy = allocate(Uint8Array, length * BYTES_PER_ELEMENT, what);
    copy.set(new Uint8Array(buffer, byteOffset, copy.length));
    return copy;
}

/** Node-API does not know the Float16Array. */
function bits(array) {
    if (array.BYTES_PER_ELEMENT !== 2) return array;
    return new Uint16Array(array.buffer, array.byteOffset, array.length);
}

function mayOverlap(a, b) {
    const [one, other] = [a.buffer, b.buffer];
    if (one !== other) return isShared(one) && isShared(other); // which may be the same memory
    return a.byteOffset < b.byteOffset + b.byteLength && b.byteOffset < a.byteOffset + a.byteLength;
}

const sharedLength = Object.getOwnPropertyDescriptor(SharedArrayBuffer.prototype, "byteLength").get;

/** What it is, whatever it says that it is. */
function isShared(buffer) {
    try {
        sharedLength.call(buffer);
        return true;
    } catch {
        return false;
    }
}
