/*
 * The engine of WebAssembly: an instance of the module, and arrays that are copied into its memory
 * and back. engine.js says what an engine is.
 *
 * Memory that grows detaches every view of it, so no view is kept: each use makes its own. Users have
 * views too (a tensor's data) and may give them back: what counts then is their place (inside()).
 * Addresses are unsigned, and WebAssembly hands them out signed: hence `>>> 0`.
 */
import { isTensor } from "../problem/check.js";
import { INTERFACE } from "./engine.js";
import { AttnError, noMemory, store } from "../problem/errors.js";
import { decode } from "./text.js";

export class Heap {
    blocking = true;
    c;
    #opened;

    /** `c`: the exports of the module; `opened`: the handle of a context, where there is one. */
    constructor(c, opened) {
        if (c.attnjs_interface?.() !== INTERFACE) {
            throw new AttnError("ATTN_ERROR_LOAD", "the module is not this version's libattn");
        }
        this.c = c;
        this.#opened = opened;
    }

    open() {
        if (this.#opened !== undefined) return this.#opened;
        const handle = this.make("attnjs_open");
        if (handle === 0) throw noMemory("a context");
        return handle;
    }

    call(name, ...args) {
        if (this.c[name]) return this.c[name](...args);
        throw new AttnError("ATTN_ERROR_UNSUPPORTED", `this build has no ${name}`);
    }

    make(name, ...args) {
        return this.call(name, ...args) >>> 0;
    }

    text(name, ...args) {
        return this.#read(this.make(name, ...args));
    }

    describe(name, ...args) {
        const address = this.make(name, ...args);
        if (address === 0) return null;
        const text = this.#read(address);
        this.free(address);
        return text;
    }

    has(name) {
        return name in this.c;
    }

    /** Nothing runs beside this thread: it has run when this returns. */
    start(session, ...args) {
        return this.call("attnjs_run", session, ...args);
    }

    lend() {
        return new Loan(this);
    }

    /** What a Tensor is made of: zeros, or a copy of `elements`. */
    room(type, length, elements) {
        const inside = elements && this.inside(elements);
        const address = this.allocate(type.BYTES_PER_ELEMENT * length, "a tensor");
        const view = () => this.view(type, address, length);
        if (elements) view().set(inside?.(type) ?? elements);
        else view().fill(0);
        return { engine: this, address, view, free: () => this.free(address) };
    }

    /** Of an array in this memory, what views its place as a type from now on; undefined for others. */
    inside({ buffer, byteOffset, byteLength }) {
        if (buffer !== this.memory) return undefined;
        return (type) => this.view(type, byteOffset, byteLength / type.BYTES_PER_ELEMENT);
    }

    /** Replaces the exports by what `change` makes of them. */
    adapt(change) {
        return (this.c = change(this.c));
    }

    /** The address of so many bytes. */
    allocate(bytes, what) {
        const address = this.make("attnjs_allocate", bytes);
        if (address === 0) throw noMemory(`the ${bytes} bytes of ${what}`);
        return address;
    }

    free(address) {
        this.c.attnjs_free(address);
    }

    /** So many elements of a type from an address on. */
    view(type, address, length) {
        return new type(this.memory, address, length);
    }

    get memory() {
        return this.c.memory.buffer;
    }

    #read(address) {
        const bytes = new Uint8Array(this.memory, address);
        return decode(bytes.slice(0, bytes.indexOf(0)));
    }
}

/** What one call borrows of the heap. */
class Loan {
    #heap;
    #inside = new Map(); // by array
    #addresses = [];
    #read = []; // where tensors are read in place

    constructor(heap) {
        this.#heap = heap;
    }

    hold(array) {
        this.#inside.set(array, this.#heap.inside(array));
    }

    input(array, what, length = array.length) {
        if (isTensor(array)) {
            const { address } = array.at(this.#heap);
            this.#read.push(address);
            return address;
        }
        const from = Array.isArray(array) ? Float64Array.from(array) : array;
        if (!this.#inside.has(from)) this.hold(from);
        const size = length * from.BYTES_PER_ELEMENT;
        const at = this.#take(size, what);
        const bytes = this.#inside.get(from)?.(Uint8Array) ?? bytesOf(from);
        this.#heap.view(Uint8Array, at, size).set(bytes.subarray(0, size));
        return at;
    }

    list(values) {
        return this.input(values, "addresses");
    }

    /** C's outputs must not be what it reads: such a tensor is written elsewhere first. */
    output(type, length, what, array, gaps) {
        if (isTensor(array)) {
            const { address, view } = array.at(this.#heap);
            if (!this.#read.includes(address)) {
                this.#read.push(address);
                return { at: address, take: view };
            }
        }
        const at = this.#take(length * type.BYTES_PER_ELEMENT, what);
        const room = () => this.#heap.view(type, at, length);
        const target = () => {
            if (isTensor(array)) return array.data;
            return array.length === 0 ? (this.#inside.get(array)?.(type) ?? array) : array;
        };
        if (gaps) room().set(target().subarray(0, length));
        const take = () => (array === undefined ? room().slice() : store(room(), target(), what));
        return { at, take };
    }

    end() {
        for (const address of this.#addresses) this.#heap.free(address);
    }

    #take(bytes, what) {
        const address = this.#heap.allocate(bytes, what);
        this.#addresses.push(address);
        return address;
    }
}

function bytesOf({ buffer, byteOffset, byteLength }) {
    return new Uint8Array(buffer, byteOffset, byteLength);
}
