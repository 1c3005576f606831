// Figures that say the same but for one letter or number: what they are over, for one.

const isSymbol = (word) => /^([a-z]?\d*)$/i.test(word);
const wordsOf = (text) => text.match(/[a-z0-9]+|[^a-z0-9]/gi) ?? [];

/** Lists of figures, in their order: those of a list are variants of each other, with one verdict. */
export function variantsOf(figures) {
    const lists = [];
    for (const figure of figures) {
        const list = lists.find(([first]) => areVariants(first, figure));
        if (list) list.push(figure);
        else lists.push([figure]);
    }
    return lists;
}

function areVariants(one, other) {
    if (one.lab !== other.lab || one.verdict !== other.verdict) return false;
    const places = differences(wordsOf(said(one)), wordsOf(said(other)));
    return places !== null && places.every((pair) => pair.every(isSymbol));
}

/** All that a card says of a figure before what came out of its run. */
function said({ panel: { title, plain, claim, where, ours, own, serial } }) {
    return [title, plain, claim, where, ours ?? "", own, serial].join("\n");
}

/** The words of two texts that differ; null: more than one of them does, or there are not as many. */
function differences(one, other) {
    if (one.length !== other.length) return null;
    const pairs = one.map((word, i) => [word, other[i]]).filter(([a, b]) => a !== b);
    return pairs.length > 1 ? null : pairs;
}

/** One title for all of them: the words that differ stand beside each other. */
export function commonTitle(titles) {
    const [first, ...others] = titles.map(wordsOf);
    return first
        .map((word, i) => [...new Set([word, ...others.map((words) => words[i])])].join(", "))
        .join("");
}
