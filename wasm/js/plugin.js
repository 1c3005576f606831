/* Plugins at run time, from a side module of WebAssembly. What linking one takes stands in link.js. */
import { checkBytes, checkText, readOptions } from "./check.js";
import { forget, texts } from "./core.js";
import { AttnError } from "./errors.js";
import { guard, link, refused } from "./link.js";
import { compile } from "./loader.js";

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
    const options = readOptions(more ?? {}, ["name"], "loadPlugin");
    attn.backends(); // an error where the library is disposed
    const c = engine.adapt?.(guard);
    if (!c?.attnjs_plugin_register) {
        const message = `the ${attn.build} build cannot load plugins`;
        throw new AttnError("ATTN_ERROR_UNSUPPORTED", message);
    }
    const source = await given;
    const name = checkText(options.name ?? addressOf(source), "name");
    const module = await compile(source ?? checkBytes(source, "source"), readUrl).catch((error) => {
        throw error.code === "ATTN_ERROR_LOAD" ? refused(name, error.message, error) : error;
    });
    const { entry, release } = await link(engine, c, module, name);
    let end = release;
    try {
        const before = attn.backends().length;
        session.borrow((loan) => {
            session.run("attnjs_plugin_register", entry, loan.input(texts(name), "a text"));
        });
        end = () => {
            session.run("attnjs_plugin_unregister", entry);
            release();
        };
        const added = attn.backends().slice(before);
        return adopted(
            attn,
            session,
            name,
            added.map(({ id }) => id),
            end,
        );
    } catch (error) {
        end();
        throw error;
    }
}

/** The plugin; it ends with the library, or before. */
function adopted(attn, session, name, backends, end) {
    const child = { dispose: () => (child.gone = true) };
    session.adopt(child);
    return new Plugin(name, backends, () => {
        attn[forget]();
        checkUnused(session, name, backends);
        session.forget(child);
        if (!child.gone) end();
    });
}

/** Where a source has an address, else a word for it. */
function addressOf(source) {
    return typeof source === "string" ? source : source?.href || source?.url || "plugin.wasm";
}

/** The plans of a backend must be gone before it. */
function checkUnused(session, name, backends) {
    const users = [...session.children].filter(({ backend }) => backends.includes(backend));
    if (users.length === 0) return;
    const who = `plans or streams that use it: ${users.length}`;
    throw refused(name, `cannot unload: ${who}; dispose() them first`);
}
