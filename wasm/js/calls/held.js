/*
 * What C holds for an object of JavaScript's, a plan, a stream or a tensor: until that is disposed, until
 * its library is, or until nobody has the object any more.
 */
import { disposed } from "../problem/errors.js";

/* Some hosts of workers have none: there only dispose() frees. */
const dropped =
    typeof FinalizationRegistry === "undefined"
        ? undefined
        : new FinalizationRegistry((held) => held.drop());
const warned = new Set();

export class Held {
    #session;
    #what;
    #value;
    #free;
    #kept = false;

    /** `object` is not to be reached from `value` or `free(value)`: it would never be dropped. */
    constructor(session, object, what, value, free, backend) {
        this.#session = session;
        this.#what = what;
        this.#value = value;
        this.#free = free;
        this.backend = backend;
        session.adopt(this);
        dropped?.register(object, this, this);
    }

    get value() {
        if (this.#free) return this.#value;
        throw disposed(`the ${this.#what}`);
    }

    /** From now on only dispose() frees it: something else may lead to it than the object. */
    keep() {
        this.#kept = true;
    }

    dispose() {
        const free = this.#free;
        if (!free) return;
        this.#free = null; // first: a plugin's code may trap
        this.#session.forget(this);
        dropped?.unregister(this);
        free(this.#value);
    }

    drop() {
        warn(this.#what, this.#kept);
        if (this.#kept) return;
        try {
            this.dispose();
        } catch {
            return; // a plugin's code trapped, and nobody called it
        }
    }
}

function warn(what, kept) {
    if (!inDevelopment() || warned.has(what)) return;
    warned.add(what);
    const fate = kept ? "its memory stays taken" : "its memory was taken until now";
    console.warn(`libattn: a ${what} was dropped without dispose(): ${fate}`);
}

/** As bundlers write it, which put a text in the place of these words. */
function inDevelopment() {
    try {
        return process.env.NODE_ENV === "development";
    } catch {
        return false;
    }
}
