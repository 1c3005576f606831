/*
 * One instance of the module: its context, its errors and its memory.
 *
 * Memory that grows detaches every view of it, so no view is kept: each use makes its own.
 * Addresses are unsigned, and WebAssembly hands them out signed: hence `>>> 0`.
 */
import { AttnError, disposed } from "./errors.js";

const INTERFACE = 2; // src/bindings.h
const encoder = new TextEncoder();
const decoder = new TextDecoder();

export class Session {
    #c;
    #handle;

    /** `c`: the exports of the module. */
    constructor(c) {
        if (c.attnjs_interface?.() !== INTERFACE) {
            throw new AttnError("ATTN_ERROR_LOAD", "the module is not this version's libattn");
        }
        this.#c = c;
        this.#handle = c.attnjs_open() >>> 0;
        if (this.#handle === 0) throw new AttnError("ATTN_ERROR_MEMORY", "no memory for a context");
    }

    close() {
        this.#c.attnjs_close(this.#handle);
        this.#handle = 0;
    }

    /** Calls a function that returns a status; throws unless it is 0. */
    run(name, ...args) {
        if (this.#call(name, args) !== 0) throw this.#error();
    }

    /** Calls a function that returns an address; throws when it is 0. */
    make(name, ...args) {
        const address = this.#call(name, args) >>> 0;
        if (address === 0) throw this.#error();
        return address;
    }

    /** Calls a function that returns a number; throws when it is below 0. */
    measure(name, ...args) {
        const number = this.#call(name, args);
        if (number < 0) throw this.#error();
        return number;
    }

    /** Calls a function that returns JSON, and reads it. */
    describe(name, ...args) {
        const address = this.make(name, ...args);
        const text = this.#readText(address);
        this.free(address);
        return JSON.parse(text);
    }

    /** The address of so many bytes, or 0. */
    allocate(bytes) {
        if (this.#handle === 0) throw disposed("libattn");
        return this.#c.attnjs_allocate(bytes) >>> 0;
    }

    free(address) {
        this.#c.attnjs_free(address);
    }

    /** Calls a function that frees, also when the library is gone. */
    destroy(name, address) {
        this.#c[name](address);
    }

    /** A copy of so many floats: in `array`, or in a new one. */
    read(address, length, array) {
        const floats = this.floats(address, length);
        if (array === undefined) return floats.slice();
        array.set(floats);
        return array;
    }

    floats(address, length) {
        return new Float32Array(this.#c.memory.buffer, address, length);
    }

    bytes(address, length) {
        return new Uint8Array(this.#c.memory.buffer, address, length);
    }

    /** Calls `body` with memory that lasts as long as the call: arguments for C. */
    borrow(body) {
        const loan = new Loan(this);
        try {
            return body(loan);
        } finally {
            loan.giveBack();
        }
    }

    #call(name, args) {
        if (this.#handle === 0) throw disposed("libattn");
        return this.#c[name](this.#handle, ...args);
    }

    #error() {
        const code = this.#readText(this.#c.attnjs_error_code(this.#handle) >>> 0);
        return new AttnError(
            code,
            this.#readText(this.#c.attnjs_error_message(this.#handle) >>> 0),
        );
    }

    #readText(address) {
        const bytes = new Uint8Array(this.#c.memory.buffer, address);
        return decoder.decode(bytes.slice(0, bytes.indexOf(0)));
    }
}

/** What one call borrows of the heap. */
class Loan {
    #session;
    #addresses = [];

    constructor(session) {
        this.#session = session;
    }

    /** Room for `count` floats; `what` names them in the error when there is none. */
    floats(count, what) {
        return this.take(4 * count, what);
    }

    /** A copy of a Float32Array, a Uint8Array, or numbers as doubles. */
    copy(array, what) {
        if (Array.isArray(array)) return this.doubles(array, what);
        if (array.BYTES_PER_ELEMENT === 1) return this.bytes(array, what);
        const address = this.floats(array.length, what);
        this.#session.floats(address, array.length).set(array);
        return address;
    }

    /** A copy of a Uint8Array. */
    bytes(array, what) {
        const address = this.take(array.length, what);
        this.#session.bytes(address, array.length).set(array);
        return address;
    }

    /** A copy of numbers, as doubles. */
    doubles(numbers, what) {
        const floats = Float64Array.from(numbers);
        return this.bytes(new Uint8Array(floats.buffer), what);
    }

    /** Texts one after the other, each ended by a zero. */
    texts(...texts) {
        return this.bytes(encoder.encode(texts.map((text) => `${text}\0`).join("")), "a text");
    }

    giveBack() {
        for (const address of this.#addresses) this.#session.free(address);
    }

    /** Room for so many bytes. */
    take(bytes, what) {
        const address = this.#session.allocate(bytes);
        if (address === 0) {
            throw new AttnError("ATTN_ERROR_MEMORY", `no memory for the ${bytes} bytes of ${what}`);
        }
        this.#addresses.push(address);
        return address;
    }
}
