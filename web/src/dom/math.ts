/** Formulas in MathML. */

type Part = Node | string | number;

const space = "http://www.w3.org/1998/Math/MathML";

function make(tag: string, ...parts: (Node | string)[]): MathMLElement {
    const made = document.createElementNS(space, tag) as MathMLElement;
    made.append(...parts);
    return made;
}

/** Numbers are numbers, words and single letters names, and all other text operators. */
function leaf(part: Part): Node {
    if (part instanceof Node) return part;
    const text = String(part).replaceAll("-", "−");
    if (/^−?[\d.]/.test(text)) return make("mn", text);
    return make(/^\p{L}/u.test(text) ? "mi" : "mo", text);
}

export function row(...parts: Part[]): MathMLElement {
    return make("mrow", ...parts.map(leaf));
}

export function fraction(over: Part, under: Part): MathMLElement {
    return make("mfrac", leaf(over), leaf(under));
}

export function sub(base: Part, index: Part): MathMLElement {
    return make("msub", leaf(base), leaf(index));
}

export function power(base: Part, exponent: Part): MathMLElement {
    return make("msup", leaf(base), leaf(exponent));
}

/** The sum over an index. */
export function sum(index: Part): MathMLElement {
    return make("munder", leaf("∑"), leaf(index));
}

/** A formula in a line of its own. */
export function formula(...parts: Part[]): MathMLElement {
    const made = make("math", row(...parts));
    made.setAttribute("display", "block");
    return made;
}
