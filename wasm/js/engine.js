/*
 * What runs the library: an engine. There are two, Heap (heap.js), an instance of the WebAssembly
 * module, and Native, the addon. Both call the functions of src/bindings.h. An engine has
 *
 *   open()                   the handle of a new context; throws an AttnError
 *   has(name)                is there that function?
 *   call(name, ...args)      calls a function that returns a number
 *   make(name, ...args)      one that returns a handle: 0 or null when it failed
 *   text(name, ...args)      one that returns a text
 *   describe(name, ...args)  one that returns a text to be freed: null when it failed
 *   start(session, plan, list, signal)
 *                            attnjs_run beside this thread, where the engine can: the degenerate
 *                            rows, or a promise of them; -1 when it failed
 *   room(type, length, elements)
 *                            a Tensor's, zeros or a copy of elements: {engine, view, free}
 *   blocking                 does start() compute in this thread?
 *   lend(beside)             a loan; `beside`: for a start()
 *
 * and a loan, which makes arguments of arrays that last until its end():
 *
 *   hold(array)              to be called with each array before the first becomes an argument:
 *                            it may lie in memory that moves meanwhile
 *   input(array, what, length)
 *                            an array to read, of which so many elements count (all); a list of
 *                            numbers becomes doubles
 *   scratch(array, what)     a copy, which C may change
 *   list(values)             arguments and numbers in one
 *   output(type, length, what, array, gaps)
 *                            {at, take}: room for a result, and take() is it: `array`, of which
 *                            what is in gaps stays, or a new one
 *   elements(type, at, offset, length)   a copy of what is in a scratch
 */
import { isTensor } from "./check.js";
import { noMemory, store } from "./errors.js";
import { fromC } from "./words.js";

export const INTERFACE = 4; // src/bindings.h

/** The addon. Its arguments are the arrays themselves. */
export class Native {
    blocking = false;
    #c;
    #options;

    /** `c`: the exports of an addon with this INTERFACE. `tier` is the highest instruction set to use. */
    constructor(c, { threads, tier }) {
        this.#c = c;
        this.#options = [threads, tier === undefined ? 0 : new TextEncoder().encode(`${tier}\0`)];
    }

    open() {
        return translated(() => this.#c.attnjs_open(...this.#options));
    }

    has(name) {
        return name in this.#c;
    }

    call(name, ...args) {
        return this.#c[name](...args);
    }

    make(name, ...args) {
        return this.#c[name](...args);
    }

    text(name, ...args) {
        return this.#c[name](...args);
    }

    describe(name, ...args) {
        return this.#c[name](...args);
    }

    start(session, plan, list, signal) {
        if (signal === undefined) return settled(this.#c.attnjs_start(session, plan, list, 0));
        // The addon looks at a flag: shared memory is never moved or detached.
        const flag = new Int32Array(new SharedArrayBuffer(4));
        const started = this.#c.attnjs_start(session, plan, list, flag);
        return started === -1 ? started : stoppable(settled(started), flag, signal);
    }

    /** In shared memory, which runs beside this thread may use: nobody can take it away. */
    room(type, length, elements) {
        const array = allocate(type, length, "a tensor", SharedArrayBuffer);
        if (elements) array.set(elements);
        return { engine: this, view: () => array, free() {} };
    }

    lend(beside) {
        return new Loan(this, beside);
    }
}

/** Errors of the addon have a code and a line: the C side's. */
function translate(error) {
    return typeof error?.code === "string" && error.code.startsWith("ATTN_")
        ? fromC(error.code, error.message)
        : error;
}

function translated(body) {
    try {
        return body();
    } catch (error) {
        throw translate(error);
    }
}

function settled(started) {
    if (typeof started === "number") return started;
    return started.catch((error) => {
        throw translate(error);
    });
}

async function stoppable(promise, flag, signal) {
    const stop = () => Atomics.store(flag, 0, 1);
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
    try {
        return await promise;
    } catch (error) {
        signal.throwIfAborted();
        throw error;
    } finally {
        signal.removeEventListener("abort", stop);
    }
}

/**
 * A run beside this thread must not compute in a buffer that JavaScript can resize or transfer, and so
 * free: it has copies, but of shared memory.
 */
class Loan {
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

    scratch(array, what) {
        return copyOf(array, array.length, what);
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

    elements(type, at, offset, length) {
        return new type(at.buffer, at.byteOffset + offset, length).slice();
    }

    end() {}

    #inPlace(array) {
        return !this.#beside || isShared(array.buffer);
    }

    #plain(array) {
        return isTensor(array) ? array.at(this.#engine).view() : array;
    }
}

function allocate(type, length, what, memory = ArrayBuffer) {
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
