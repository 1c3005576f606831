/**
 * What the library refuses: `code` is the name of the C side's status and `message` its one line.
 * Two codes are of this package alone: ATTN_ERROR_DISPOSED and ATTN_ERROR_LOAD.
 */
export class AttnError extends Error {
    constructor(code, message, options) {
        super(message, options);
        this.name = "AttnError";
        this.code = code;
    }
}

export function disposed(what) {
    return new AttnError("ATTN_ERROR_DISPOSED", `${what} was used after dispose()`);
}
