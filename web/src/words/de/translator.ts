/** What the library says, in German: fixed words by a table, those with numbers in them by patterns. */

type Said = Readonly<Record<string, string>>;
export type Pattern = readonly [pattern: RegExp, german: string | ((...found: string[]) => string)];

/** What neither knows, such as a plugin's words, stays as it is. */
export function translator(said: Said, patterns: readonly Pattern[]): (text: string) => string {
    return (text) => {
        const known = Object.hasOwn(said, text) ? said[text] : undefined;
        if (known !== undefined) return known;
        const pattern = patterns.find(([each]) => each.test(text));
        return pattern ? replaced(text, pattern) : text;
    };
}

/** Of a sentence all clauses that are known, one after another. */
export function clauses(patterns: readonly Pattern[]): (text: string) => string {
    return (text) => patterns.reduce(replaced, text);
}

function replaced(text: string, [pattern, german]: Pattern): string {
    return typeof german === "string"
        ? text.replace(pattern, german)
        : text.replace(pattern, (...found) => german(...(found as string[])));
}
