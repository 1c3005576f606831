/* The engine of Node: the addon. Its arguments are the arrays themselves. engine.js says what an engine is. */
import { readPluginPath } from "./plugin.js";
import { encode } from "../engine/text.js";
import { fromC } from "../engine/words.js";
import { Loan, allocate } from "./loan.js";

export class Native {
    blocking = false;
    #c;
    #options;

    /** `c`: the exports of an addon with this INTERFACE. `tier` is the highest instruction set to use. */
    constructor(c, { threads, tier }) {
        this.#c = c;
        this.#options = [threads, tier === undefined ? 0 : encode(`${tier}\0`)];
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

    /** A native plugin, from its path: the library reads the file, and keeps it until it ends. */
    async readPlugin(given, more) {
        const { path, name } = await readPluginPath(given, more);
        const text = (loan) => loan.input(encode(`${path}\0`), "a path");
        return {
            ...{ name, release() {} },
            register: (session, loan) => session.run("attnjs_plugin_load", text(loan)),
            unregister: (session, loan) => session.run("attnjs_plugin_unload", text(loan)),
        };
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
