const BRAND = Symbol.for("libattn.AttnError");

/**
 * What the library refuses: `code` is the name of the C side's status and `message` its one line.
 * Codes of this package alone: ATTN_ERROR_DISPOSED, ATTN_ERROR_LOAD and ATTN_ERROR_TRAP.
 */
export class AttnError extends Error {
    constructor(code, message, options) {
        super(oneLine(message), options);
        this.code = code;
    }

    /** Also of the class of another file: each entry for browsers has its own. */
    static [Symbol.hasInstance](value) {
        return super[Symbol.hasInstance](value) || (this === AttnError && !!value?.[BRAND]);
    }

    get [BRAND]() {
        return true;
    }

    /** Also where the class has another name, in a minified file. */
    get name() {
        return "AttnError";
    }
}

/** A file of this package did not load: bundlers leave such behind. `way`: what else there is to do. */
export function notLoaded(cause, way) {
    const { input = "", message } = cause; // Node's error of a URL without a base has it
    const advice =
        cause instanceof ReferenceError
            ? ["this host has none", way].filter(Boolean).join(": ")
            : `if bundled, make libattn external or ${way ?? "import libattn/inline"}`;
    return new AttnError("ATTN_ERROR_LOAD", `${message} ${input} (${advice})`, { cause });
}

export function disposed(what) {
    return new AttnError("ATTN_ERROR_DISPOSED", `${what} was used after dispose()`);
}

export function missing(what) {
    return new AttnError("ATTN_ERROR_ARGUMENT", `${what} is missing`);
}

export function noMemory(what) {
    return new AttnError("ATTN_ERROR_MEMORY", `no memory for ${what}`);
}

/** Writes a result to its array, which nobody may have taken away in the meantime. */
export function store(result, array, what) {
    if (array.length >= result.length) {
        array.set(result);
        return array;
    }
    throw new AttnError("ATTN_ERROR_SHAPE", `${what} was transferred or resized during the run`);
}

/** What a user named may have line breaks and control characters, and an error is one line without. */
export function oneLine(text) {
    return text.replace(/[\n\r\u2028\u2029]/g, " ").replace(CONTROL, escapeOne);
}

const CONTROL = /[\p{Cc}\p{Surrogate}]/gu;

function escapeOne(letter) {
    const code = letter.charCodeAt(0).toString(16);
    return code.length > 2 ? `\\u${code}` : `\\x${code.padStart(2, "0")}`;
}

/** What a caller passed is none of what may be there. */
export function typeError(message) {
    return new TypeError(oneLine(message));
}
