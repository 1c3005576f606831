/*
 * C's errors in the words of JavaScript: what is kv_heads there is kvHeads here. A message is a sentence that is written
 * where the rule is checked, for programs in C and the command line as well, and names its fields as C does. Only words with an
 * underscore are looked up, which no English word has. A code and arguments for each message, or marks around
 * its names, would tell no more, and every module would carry them.
 */
import { ARRAYS, namesOf } from "../problem/declared.js";
import { AttnError } from "../problem/errors.js";
import { SIZES } from "../problem/shape.js";

/* By C's names, where these are others. */
const WORDS = new Map();
addWords([...SIZES, ...namesOf(ARRAYS), "kvDtype", "maxKeys"]);

/** Names that C's errors may have. */
export function addWords(names) {
    for (const name of names)
        WORDS.set(
            name.replace(/[A-Z]/g, (c) => `_${c.toLowerCase()}`),
            name,
        );
}

/** The error of a status; what is quoted in its message stays. */
export function fromC(code, message) {
    const translated = message.replace(/'[^']*'|[a-z]\w*_\w+/g, (word) => WORDS.get(word) ?? word);
    return new AttnError(code, translated);
}
