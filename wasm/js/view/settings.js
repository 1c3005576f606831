/* Attributes of <attn-view>, which are its properties, too. */
import { typeError } from "../problem/errors.js";

export const ATTRIBUTES = ["text", "dim", "backend", "params", "causal", "scale", "batch", "head"];

/** Gives a class of elements the properties. */
export function reflect(prototype) {
    for (const name of ["text", "backend"]) define(prototype, name, (value) => value ?? "", String);
    for (const name of ["dim", "scale", "batch", "head"]) {
        define(prototype, name, (value) => (value === null ? null : Number(value)), String);
    }
    define(
        prototype,
        "causal",
        (value) => value !== null,
        () => "",
    );
    define(
        prototype,
        "params",
        (value) => (value === null ? null : JSON.parse(value)),
        JSON.stringify,
    );
}

/** A property that is its attribute; what is null, undefined or false takes the attribute away. */
function define(prototype, name, read, write) {
    Object.defineProperty(prototype, name, {
        ...{ configurable: true, enumerable: true },
        get() {
            return read(this.getAttribute(name));
        },
        set(value) {
            const none = value === null || value === undefined || value === false;
            if (none) this.removeAttribute(name);
            else this.setAttribute(name, write(value));
        },
    });
}

/** All of them, as they are to be computed with; throws where one is none. */
export function readSettings(view) {
    let params;
    try {
        params = view.params;
    } catch {
        throw typeError(`params is no JSON: ${view.getAttribute("params")}`);
    }
    const numbers = ["dim", "scale", "batch", "head"].map((name) => {
        const value = view[name];
        if (value !== null && !Number.isFinite(value))
            throw typeError(`${name} is no number: ${view.getAttribute(name)}`);
        return value;
    });
    const [dim, scale, batch, head] = numbers;
    return {
        ...{ text: view.text, dim: dim ?? 64, backend: view.backend || "softmax", params },
        ...{ causal: view.causal, scale, batch: batch ?? 0, head: head ?? 0 },
    };
}
