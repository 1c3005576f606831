/** Papers in a text, as links. */

import { element } from "./dom";

const arxiv = /arXiv:(\d{4}\.\d{5})/;

/** The text with a link for each paper's number. */
export function withLinks(text: string): (Node | string)[] {
    const parts = text.split(arxiv); // every other one is a number
    return parts.map((part, i) => {
        if (i % 2 === 0) return part;
        return element("a", { href: `https://arxiv.org/abs/${part}` }, `arXiv:${part}`);
    });
}
