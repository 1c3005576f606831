/* C's errors in the words of JavaScript: what is kv_heads there is kvHeads here. */
import { SCALES } from "./arrays.js";
import { FULL } from "./edition.js";
import { AttnError } from "./errors.js";
import { INPUTS } from "./rules.js";
import { SIZES } from "./shape.js";

const NAMES = [...SIZES, ...INPUTS, ...SCALES, ...(FULL ? ["kvDtype", "maxKeys"] : [])];

/* By C's names, where these are others. */
const WORDS = new Map(
    NAMES.map((name) => [name.replace(/[A-Z]/, (c) => `_${c.toLowerCase()}`), name]),
);

/** The error of a status; what is quoted in its message stays. */
export function fromC(code, message) {
    const translated = message.replace(/'[^']*'|[a-z]+_[a-z]+/g, (word) => WORDS.get(word) ?? word);
    return new AttnError(code, translated);
}
