/*
 * Plugins at run time: a side module of WebAssembly, whose linking stands in link.js, or what the engine has of its
 * own (native/engine.js).
 */
import { forget, texts } from "./core.js";
import { AttnError } from "../problem/errors.js";
import { guard, link } from "../engine/link.js";
import { taken } from "../problem/options.js";
import { readPlugin, refused } from "../engine/plugin-source.js";

/** A plugin that is loaded. Made by Attn.loadPlugin(). */
export class Plugin {
    #unload;

    constructor(name, backends, unload) {
        this.name = name;
        this.backends = Object.freeze(backends);
        this.#unload = unload;
        Object.freeze(this);
    }

    unload() {
        this.#unload?.();
        this.#unload = null;
    }
}

if (Symbol.dispose) Plugin.prototype[Symbol.dispose] = Plugin.prototype.unload;

export async function loadPlugin(attn, { engine, session, readUrl }, given, more) {
    attn.backends(); // an error where the library is disposed
    const { name, register, unregister, release } = engine.readPlugin
        ? await engine.readPlugin(given, more)
        : await linked(attn, engine, readPlugin(given, more, readUrl));
    let end = release;
    try {
        const before = attn.backends().length;
        session.borrow((loan) => register(session, loan));
        session.renew();
        end = () => {
            session.borrow((loan) => unregister(session, loan));
            session.renew();
            release();
        };
        const added = attn.backends().slice(before);
        const arrays = added.flatMap((backend) => backend.arrays.filter(({ own }) => own));
        const names = taken();
        const bad = arrays.find((array) => names.includes(array.name));
        if (bad) throw refused(name, `its array ${bad.name} has the name of an option`);
        const backends = added.map(({ id }) => id);
        return adopted(attn, session, name, backends, end);
    } catch (error) {
        end();
        throw error;
    }
}

/** A module in this instance: its name, and what registers it, takes it back, and frees its memory. */
async function linked(attn, engine, reading) {
    reading.catch(() => {}); // it may be for nothing
    const c = engine.adapt(guard);
    if (!c.attnjs_plugin_register) {
        const message = `the ${attn.build} build cannot load plugins`;
        throw new AttnError("ATTN_ERROR_UNSUPPORTED", message);
    }
    const [name, module] = await reading;
    const { entry, release } = await link(engine, c, module, name);
    return {
        ...{ name, release },
        register: (session, loan) =>
            session.run("attnjs_plugin_register", entry, loan.input(texts(name), "a text")),
        unregister: (session) => session.run("attnjs_plugin_unregister", entry),
    };
}

/** The plugin; it ends with the library, or before, when its backends' plans are gone. */
function adopted(attn, session, name, backends, end) {
    const child = { dispose: () => (child.gone = true) };
    session.adopt(child);
    return new Plugin(name, backends, () => {
        attn[forget]();
        const isUser = ({ backend }) => backends.includes(backend);
        const { length } = [...session.children].filter(isUser);
        if (length > 0) {
            const who = `plans or streams that use it: ${length}`;
            throw refused(name, `cannot unload: ${who}; dispose() them first`);
        }
        session.forget(child);
        if (!child.gone) end();
    });
}
